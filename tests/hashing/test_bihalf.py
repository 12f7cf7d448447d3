import numpy as np
import pytest
from sklearn.datasets import load_digits

torch = pytest.importorskip("torch")

from zshash.hashing.bihalf import BiHalf, half_half, way  # noqa: E402
from zshash.hashing.steps.heads import through  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("n", [2, 7, 40])
def test_bits_halve_a_batch_and_are_nearest_to_the_outputs(n):
    u = np.random.RandomState(0).standard_normal((n, 5)) + np.array([0, 1, 5, -5, 0])
    bits = half_half(torch.from_numpy(u)).numpy()
    np.testing.assert_array_equal((bits == 1).sum(axis=0), n // 2)
    np.testing.assert_array_equal((bits == -1).sum(axis=0), n - n // 2)
    for column, own in zip(u.T, bits.T, strict=True):
        assert column[own == 1].min() >= column[own == -1].max()


def test_equal_outputs_are_halved_too():
    bits = half_half(torch.zeros(6, 2)).numpy()
    np.testing.assert_array_equal(bits.sum(axis=0), 0)


def test_the_gradient_is_that_of_the_paper():
    """By u: the gradient by b, and γ (u − b) / size."""
    rng = np.random.RandomState(0)
    u = torch.from_numpy(rng.standard_normal((8, 3))).requires_grad_()
    slopes = torch.from_numpy(rng.standard_normal((8, 3)))
    bits = half_half(u)
    ((through(u, bits) * slopes).sum() + way(u, bits, 6.0)).backward()
    expected = slopes + 6.0 * (u.detach() - bits) / u.numel()
    np.testing.assert_allclose(u.grad, expected)


def test_a_fit():
    X, _ = load_digits(return_X_y=True)
    hasher = BiHalf(32, n_steps=300, random_state=0).fit(X)
    assert hasher.loss_[-20:].mean() < hasher.loss_[:20].mean() / 1.5
    assert np.all(np.abs(hasher.transform(X).mean(axis=0) - 0.5) < 0.15)
    assert not hasattr(hasher, "classes_")
