"""Sums over blocks of rows against NumPy in float64, on features far from the origin."""

import numpy as np
import pytest

from zshash.hashing.linear import LinearHasher, cross, gram, mean_row, top_eigenvectors


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

    def fit(self, X, y=None):  # noqa: ARG002
        X = self._training_features(X)
        self._check_axes(X.shape[1])
        self._keep(mean_row(X), np.eye(X.shape[1], self.n_bits))
        return self


def test_mean_row(far):
    X, mean = far
    found = mean_row(X)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, mean.astype(np.float32))


def test_gram(far):
    X, _ = far
    mean = mean_row(X)
    centred = X - mean.astype(np.float64)
    expected = centred.T @ centred
    found = gram(X, mean)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.trace(expected))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_cross(far, dtype):
    X, _ = far
    mean = mean_row(X)
    T = (5 * np.random.RandomState(1).standard_normal((3000, 2))).astype(dtype)
    expected = (X - mean.astype(np.float64)).T @ T.astype(np.float64)
    found = cross(X, mean, T)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=0.05)


def test_top_eigenvectors():
    A = np.random.RandomState(0).standard_normal((7, 7))
    M = A + A.T
    for count in (1, 3, 7):
        values, vectors = top_eigenvectors(M, count)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(M)[::-1][:count], atol=1e-12)
        np.testing.assert_allclose(M @ vectors, vectors * values, atol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_entry_of_an_eigenvector_is_positive(seed):
    A = np.random.RandomState(seed).standard_normal((6, 6))
    _, vectors = top_eigenvectors(A @ A.T, 6)
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(6)]
    assert (largest > 0).all()


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
