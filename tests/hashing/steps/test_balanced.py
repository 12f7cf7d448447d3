import numpy as np
import pytest
from scipy import linalg

from zshash.hashing.steps import balanced


def scatter_column(Q, p):
    """The column by distances between points, from a Cholesky factor as the paper derives it."""
    m = len(p)
    c = 2 * p - 4 * Q.sum(axis=1)
    Qbar = np.block([[4 * Q, c[:, None] / 2], [c[None] / 2, np.zeros((1, 1))]])
    U = linalg.cholesky(1e4 * np.eye(m + 1) - Qbar / abs(Qbar).max()).T  # rows are points
    best, lowest = None, np.inf
    for u in U:
        near = np.argsort(np.square(U[:m] - u).sum(axis=1), kind="stable")
        chosen = [*near[: m // 2], m]
        scatter = np.square(U[chosen] - U[chosen].mean(axis=0)).sum()
        if scatter < lowest:
            best, lowest = near[: m // 2], scatter
    b = np.full(m, -1.0)
    b[best] = 1
    return b


@pytest.mark.parametrize("m", [2, 3, 6, 7, 20])
def test_the_column_is_that_of_least_scatter(m):
    rng = np.random.RandomState(m)
    for _ in range(20):
        Q, p = rng.standard_normal((m, m)), m * rng.standard_normal(m)
        Q += Q.T
        np.fill_diagonal(Q, 0)
        np.testing.assert_array_equal(balanced.balanced_column(Q, p), scatter_column(Q, p))


@pytest.mark.parametrize("count", [1, 4, 9])
def test_smallest_values_with_ties_go_by_place(count):
    values = np.random.RandomState(0).randint(0, 4, 12).astype(float)
    inside = np.empty(12, dtype=bool)
    balanced.mark_smallest(values, count, inside)
    expected = np.argsort(values, kind="stable")[:count]
    np.testing.assert_array_equal(np.flatnonzero(inside), np.sort(expected))
