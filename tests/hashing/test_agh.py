"""Eigenvectors and thresholds against dense formulas."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tests.hashing.anchor_weights import anchor_weights
from zshash.hashing.agh import AGH, second_layer, smooth_functions


@pytest.fixture(scope="module")
def X():
    rng = np.random.RandomState(0)
    centers = 2 * rng.standard_normal((5, 6))
    return (centers[rng.randint(0, 5, 600)] + rng.standard_normal((600, 6))).astype(np.float32)


@pytest.fixture(scope="module")
def graph(X):
    """Z, and A as a dense matrix."""
    Z = anchor_weights(X, X[:40], 3)
    dense = Z.toarray().astype(float)
    return Z, dense / dense.sum(axis=0) @ dense.T


def test_columns_are_the_leading_eigenvectors(graph):
    Z, A = graph
    Y = Z @ smooth_functions(Z, 12)
    np.testing.assert_allclose(A.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(Y.T @ Y, len(Y) * np.eye(12), atol=1e-1)
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-4)
    values = np.linalg.eigvalsh(A)[::-1]
    values = values[values < 1 - 1e-3][:12]
    np.testing.assert_allclose(A @ Y, Y * values, atol=1e-4)


def test_components_of_the_graph_give_no_bits():
    """Three groups far apart: the constant vector and two others have the eigenvalue 1."""
    rng = np.random.RandomState(0)
    X = np.repeat(np.eye(3) * 100, 50, axis=0) + rng.standard_normal((150, 3))
    X = X.astype(np.float32)
    Z = anchor_weights(X, X[::10], 2)
    W = smooth_functions(Z, 12)
    for group in np.split(Z @ W, 3):
        np.testing.assert_allclose(group.sum(axis=0), 0, atol=1e-3)
    with pytest.raises(ValueError, match="15 anchors has 12 useful eigenvectors and 13 are needed"):
        smooth_functions(Z, 13)


def test_thresholds_are_the_numerical_optimum(graph):
    Z, A = graph
    W = smooth_functions(Z, 4).astype(np.float32)
    L = np.eye(len(A)) - A
    for y, upper, lower in zip((Z @ W).T.astype(float), *second_layer(Z, W), strict=True):
        P, N = (y >= 0).astype(float), (y < 0).astype(float)

        def loss(upper, y=y, P=P, N=N):
            lower = (upper * P.sum() - np.abs(y).sum()) / N.sum()  # 1ᵀu = 0
            u = np.abs(y) - upper * P + lower * N
            return u @ L @ u

        assert upper * P.sum() - lower * N.sum() == pytest.approx(np.abs(y).sum(), rel=1e-4)
        assert upper == pytest.approx(minimize_scalar(loss).x, abs=1e-3)


def test_the_second_layer_cuts_both_halves(X):
    one, two = (AGH(bits, n_anchors=60, n_layers=bits // 8, random_state=0) for bits in (8, 16))
    Y = one.fit(X).project(X)
    projections = two.fit(X).project(X)
    np.testing.assert_array_equal(projections[:, :8], Y)
    upper, lower = two.thresholds_
    assert (upper > 0).all()
    assert (lower < 0).all()
    expected = np.where(Y >= 0, upper < Y, lower > Y)
    np.testing.assert_array_equal(projections[:, 8:] >= 0, expected)


def test_training_samples_get_the_eigenvectors(X):
    hasher = AGH(16, n_anchors=60, n_layers=1, random_state=0).fit(X)
    Y = hasher.project(X)
    np.testing.assert_allclose(Y.T @ Y, len(X) * np.eye(16), atol=1e-1)
    assert hasher.thresholds_.shape == (2, 0)


def test_bad_parameters(X):
    with pytest.raises(ValueError, match=r"n_bits=9 is odd, .* use an even n_bits or n_layers=1"):
        AGH(9).fit(X)
    with pytest.raises(ValueError, match="n_layers must be one of 1, 2, got 3"):
        AGH(9, n_layers=3).fit(X)
    with pytest.raises(ValueError, match=r"use more anchors \(n_anchors, .* or fewer bits"):
        AGH(64, n_anchors=20).fit(X)
