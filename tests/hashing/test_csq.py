import numpy as np
import pytest
from scipy import special
from sklearn.datasets import load_digits

torch = pytest.importorskip("torch")

from zshash.hashing.csq import CSQ, central_loss, quantization_loss  # noqa: E402

pytestmark = pytest.mark.torch


def test_the_losses():
    rng = np.random.RandomState(0)
    u, centers = 3 * rng.standard_normal((6, 8)), np.sign(rng.standard_normal((6, 8)))
    h, c = (1 + np.tanh(u)) / 2, (1 + centers) / 2
    found = central_loss(torch.from_numpy(u), torch.from_numpy(centers))
    assert found.item() == pytest.approx(
        -(special.xlogy(c, h) + special.xlogy(1 - c, 1 - h)).mean()
    )
    found = quantization_loss(torch.from_numpy(np.tanh(u)))
    assert found.item() == pytest.approx(np.log(np.cosh(np.abs(2 * h - 1) - 1)).mean())


def test_the_loss_of_large_outputs_is_finite():
    u = torch.tensor([[200.0, -200.0]], requires_grad=True)
    loss = central_loss(u, torch.tensor([[-1.0, -1.0]]))
    loss.backward()
    assert loss.item() == pytest.approx(200)
    assert u.grad.numpy() == pytest.approx(np.array([[1, 0]]))  # 2/2 bits, on the wrong side


def test_a_fit():
    X, y = load_digits(return_X_y=True)
    hasher = CSQ(32, rate=3e-3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(hasher.centers_ @ hasher.centers_.T, 32 * np.eye(10))
    assert hasher.loss_[-20:].mean() < hasher.loss_[:20].mean() / 2
    signs = np.where(hasher.project(X) >= 0, 1, -1)
    assert np.mean(signs == hasher.centers_[y]) > 0.9


def test_several_labels_gather_around_the_majority():
    """Samples of three classes at once, which then agree with most of their centres."""
    X, y = load_digits(return_X_y=True)
    several = np.eye(10)[y]
    several[y == 0] = np.eye(10)[[1, 2, 3]].sum(axis=0)
    hasher = CSQ(64, rate=3e-3, random_state=0).fit(X, several.astype(int))
    assert hasher.centers_.shape == (9, 64)  # nothing is called 0 now
    signs = np.where(hasher.project(X[y == 0]) >= 0, 1, -1)
    assert np.mean(signs == np.sign(hasher.centers_[:3].sum(axis=0))) > 0.9
