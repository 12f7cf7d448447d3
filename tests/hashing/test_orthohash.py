import numpy as np
import pytest
from scipy import special
from sklearn.datasets import load_digits

torch = pytest.importorskip("torch")

from zshash.hashing.orthohash import (  # noqa: E402
    TINY,
    OrthoHash,
    cosines_with,
    margin_loss,
    normalised,
    with_normalisation,
)
from zshash.hashing.steps.heads import random_head  # noqa: E402
from zshash.hashing.steps.samples import Samples  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(name="rng")
def random_numbers():
    return np.random.RandomState(0)


def by_numpy(u, gain, shift):
    """Columns with this deviation and mean."""
    return (u - u.mean(axis=0)) / np.sqrt(u.var(axis=0) + TINY) * gain + shift


def test_normalised_columns(rng):
    u, gain, shift = rng.standard_normal((9, 4)) * 3 + 1, rng.uniform(1, 2, 4), rng.randn(4)
    found = normalised(*map(torch.from_numpy, (u, gain, shift)))
    np.testing.assert_allclose(found, by_numpy(u, gain, shift))
    v = found.numpy()
    np.testing.assert_allclose(v.mean(axis=0), shift)
    np.testing.assert_allclose(v.std(axis=0), gain, rtol=1e-4)


def test_the_loss(rng):
    v, targets = rng.standard_normal((5, 8)), np.sign(rng.standard_normal((3, 8)))
    labels = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]])
    cosines = v @ targets.T / np.linalg.norm(v, axis=1)[:, None] / np.linalg.norm(targets, axis=1)
    own = cosines_with(torch.from_numpy(v), torch.from_numpy(targets))
    np.testing.assert_allclose(own, cosines)
    wanted = labels / labels.sum(axis=1, keepdims=True)
    logits = 8.0 * (cosines - 0.2 * labels)
    expected = -np.mean((wanted * special.log_softmax(logits, axis=1)).sum(axis=1))
    found = margin_loss(own, torch.from_numpy(wanted), 8.0, 0.2)
    assert found.item() == pytest.approx(expected)


@pytest.mark.parametrize("n_units", [0, 6])
def test_the_normalisation_becomes_part_of_the_head(n_units, rng):
    X = rng.standard_normal((3000, 10)).astype(np.float32)  # several blocks of rows
    weights = random_head(10, 4, n_units, rng)
    weights.O[:] = 0.5
    gain, shift = np.float32([1, 2, 3, 4]), np.float32([0, 1, -1, 2])
    whole = with_normalisation(weights, Samples(X, None), gain, shift)
    u, v = (own.outputs(X, own.hidden(X)) for own in (weights, whole))
    np.testing.assert_allclose(v, by_numpy(u, gain, shift), rtol=1e-3, atol=1e-4)


def test_a_fit():
    X, y = load_digits(return_X_y=True)
    hasher = OrthoHash(32, n_steps=200, random_state=0).fit(X, y)
    np.testing.assert_array_equal(hasher.targets_ @ hasher.targets_.T, 32 * np.eye(10))
    assert hasher.loss_[-20:].mean() < hasher.loss_[:20].mean() / 2
    nearest = (hasher.project(X) @ hasher.targets_.T).argmax(axis=1)
    assert np.mean(nearest == y) > 0.9
    assert np.all(np.abs(hasher.transform(X).mean(axis=0) - 0.5) < 0.35)
