"""Linear hash functions."""

import numpy as np
import pytest

from zshash.hashing.steps.kinds import LinearHasher
from zshash.hashing.steps.linear import mean_row


@pytest.fixture(scope="module")
def far():
    """A few blocks of rows whose mean is a thousand times their spread, and their exact mean."""
    rng = np.random.RandomState(0)
    spread = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    X = (rng.standard_normal((3000, 5)) * spread + [1e3, -2e3, 500, 0, 3e3]).astype(np.float32)
    return X, X.astype(np.float64).mean(axis=0)


class Axes(LinearHasher):
    """The first axes of X."""

    def __init__(self, n_bits=8, *, normalize=False):
        self.n_bits = n_bits
        self.normalize = normalize

    def check_parameters(self):
        """Any number of bits will do."""

    def learn(self, samples):
        d = samples.n_features
        self._check_axes(d)
        self._keep(mean_row(samples), np.eye(d, self.n_bits))


def test_bits_are_the_sides_of_the_mean(far):
    X, mean = far
    hasher = Axes(3).fit(X)
    assert hasher.mean_.dtype == hasher.projection_.dtype == np.float32
    np.testing.assert_allclose(hasher.project(X), (X - mean)[:, :3], atol=1e-3)
    np.testing.assert_array_equal(hasher.transform(X), X[:, :3] >= hasher.mean_[:3])


def test_more_bits_than_axes_are_refused(far):
    X, _ = far
    assert Axes(5).fit(X).projection_.shape == (5, 5)
    message = (
        r"n_bits=6 is more than the dimension of X \(n_features=5\), and Axes needs an axis for "
        "every bit: use n_bits of at most 5, or a method without this limit"
    )
    with pytest.raises(ValueError, match=message):
        Axes(6).fit(X)
