"""Sums over blocks of rows against NumPy in float64; ridge regression against least squares."""

import numpy as np
import pytest
from scipy import linalg

from zshash.hashing.steps.linear import (
    cross,
    factorize,
    gram,
    mean_row,
    ridge,
    solve,
    top_eigenvectors,
    whiten,
)
from zshash.hashing.steps.rows import Rows


@pytest.fixture(scope="module")
def far():
    """A few blocks of rows whose mean is a thousand times their spread, and their exact mean."""
    rng = np.random.RandomState(0)
    spread = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    X = (rng.standard_normal((3000, 5)) * spread + [1e3, -2e3, 500, 0, 3e3]).astype(np.float32)
    return X, X.astype(np.float64).mean(axis=0)


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


@pytest.fixture(params=[(50, 6), (4, 6)], ids=["tall", "wide"])
def problem(request):
    """A, T, μ and the P that least squares finds."""
    rng = np.random.RandomState(0)
    n, m = request.param
    A, T, penalty = rng.standard_normal((n, m)), rng.standard_normal((n, 3)), 0.7
    below = np.sqrt(penalty) * np.eye(m), np.zeros((m, 3))
    P = np.linalg.lstsq(np.vstack([A, below[0]]), np.vstack([T, below[1]]), rcond=None)[0]
    return A, T, penalty, P


def test_ridge(problem):
    A, T, penalty, P = problem
    AtA = A.T @ A
    before = AtA.copy()
    np.testing.assert_allclose(ridge(AtA, A.T @ T, penalty), P, atol=1e-12)
    np.testing.assert_array_equal(AtA, before)


def test_a_factor_serves_many_right_sides(problem):
    A, T, penalty, P = problem
    factor = factorize(A.T @ A + penalty * np.eye(6))
    AtT = A.T @ T
    np.testing.assert_allclose(solve(factor, AtT), P, atol=1e-12)
    np.testing.assert_allclose(solve(factor, -2 * AtT), -2 * P, atol=1e-12)


@pytest.mark.parametrize("M", [-np.eye(3), np.diag([1.0, 0.0, 1.0]), np.ones((3, 3)) - np.eye(3)])
def test_a_system_that_is_not_positive_definite_is_said(M):
    message = "too alike for so small a penalty: raise it .* or use fewer anchors"
    with pytest.raises(ValueError, match=message):
        factorize(M)


@pytest.fixture(scope="module")
def X():
    """Rows that vary thirty times as much along some directions as along others."""
    rng = np.random.RandomState(0)
    axes = linalg.orth(rng.standard_normal((6, 6))) * [3, 2, 1, 0.5, 0.3, 0.1]
    return (rng.standard_normal((2500, 6)) @ axes.T + 5).astype(np.float32)


def whitened(X, shrinkage):
    rows = Rows(np.asarray(X, dtype=np.float32))
    return whiten(rows, shrinkage)(rows).X.astype(np.float64)


def test_without_shrinkage_all_directions_vary_alike(X):
    Z = whitened(X, 0)
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.eye(6) / 6, atol=2e-4)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-4)


@pytest.mark.parametrize("shrinkage", [0.02, 0.5, 30])
def test_the_metric_against_a_matrix_square_root(X, shrinkage):
    metric = whiten(Rows(X), shrinkage)
    C = np.cov(X.T.astype(np.float64), bias=True)
    T = linalg.inv(linalg.sqrtm(C + shrinkage * np.trace(C) / 6 * np.eye(6)))
    T /= np.sqrt(np.trace(T @ C @ T))
    np.testing.assert_allclose(metric.T, T, rtol=1e-3, atol=1e-3 * np.abs(T).max())
    np.testing.assert_allclose(metric.mean, X.mean(axis=0, dtype=np.float64), rtol=1e-5)


@pytest.mark.parametrize("shrinkage", [0, 1e-3, 0.02, 1, 1e6, 1e300])
def test_the_mean_squared_length_is_one(X, shrinkage):
    assert np.square(whitened(X, shrinkage)).sum(axis=1).mean() == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("shrinkage", [1e8, 1e300])
def test_much_shrinkage_leaves_features_as_they_are(X, shrinkage):
    centred = X - X.mean(axis=0, dtype=np.float64)
    expected = centred / np.sqrt(np.square(centred).sum(axis=1).mean())
    np.testing.assert_allclose(whitened(X, shrinkage), expected, atol=1e-5)


def test_without_shrinkage_no_invertible_map_of_the_features_matters(X):
    rng = np.random.RandomState(1)
    Z, other = whitened(X, 0), whitened(X @ rng.standard_normal((6, 6)) + rng.randn(6), 0)
    np.testing.assert_allclose(other[:200] @ other[:200].T, Z[:200] @ Z[:200].T, atol=0.01)


def test_shrinkage_keeps_what_scale_features_have(X):
    np.testing.assert_allclose(whitened(X * 1e-9, 0.02), whitened(X, 0.02), atol=1e-4)


def test_axes_are_directions_of_falling_variance(X):
    axes = whiten(Rows(X), 0.02).axes
    variances = np.var(X.astype(np.float64) @ axes, axis=0)
    assert (np.diff(variances) < 0).all()
    np.testing.assert_allclose(axes.T @ axes, np.eye(6), atol=1e-10)
    assert (axes[np.abs(axes).argmax(axis=0), np.arange(6)] > 0).all()


@pytest.mark.parametrize("more", [0.5, 2.0])
def test_milder_axes_give_the_lengths_of_a_milder_whitening(X, more):
    rows, metric = Rows(X), whiten(Rows(X), 0.02)
    Z = metric(rows).X @ metric.milder(more)
    shrinkage = 0.02 + more * 1.02  # of a mean variance that is 0.02 larger than that of X
    expected = whitened(X, shrinkage) @ metric.axes
    np.testing.assert_allclose(Z / np.std(Z[:, 0]), expected / np.std(expected[:, 0]), atol=1e-3)


@pytest.mark.parametrize("shrinkage", [0, 0.02])
def test_constant_columns_stay_finite_and_say_nothing(X, shrinkage):
    padded = np.hstack([X, np.full((len(X), 2), 7, dtype=np.float32)])
    Z = whitened(padded, shrinkage)
    np.testing.assert_allclose(Z[:, 6:], 0, atol=1e-6)
    scale = 6 / 8 * shrinkage  # the mean variance is less where two columns have none
    np.testing.assert_allclose(Z[:, :6], whitened(X, scale), atol=1e-4)


def test_fewer_rows_than_features():
    Z = whitened(np.random.RandomState(0).standard_normal((5, 40)), 0)
    distances = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    np.testing.assert_allclose(distances[~np.eye(5, dtype=bool)], distances[0, 1], rtol=1e-3)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("size", [1e-30, 1e25])
def test_variances_that_float32_can_not_hold_are_refused(X, size):
    with pytest.raises(ValueError, match="X varies too little or too much for float32: rescale X"):
        whiten(Rows(X * np.float32(size)), 0.02)
