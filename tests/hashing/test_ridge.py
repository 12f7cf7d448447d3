"""Ridge regression against least squares on the system with √μ I below A."""

import numpy as np
import pytest

from zshash.hashing.ridge import factorize, ridge, solve


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
