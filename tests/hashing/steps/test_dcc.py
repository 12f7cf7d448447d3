"""Coordinate descent against enumeration of all codes."""

import itertools

import numpy as np
import pytest

from zshash.hashing.steps.dcc import descend, sum_by_class


def problem(n, n_bits, p, seed):
    rng = np.random.RandomState(seed)
    W = rng.standard_normal((n_bits, p))
    B = (2 * rng.randint(0, 2, (n, n_bits)) - 1).astype(np.int8)
    table = rng.standard_normal((3, n_bits)) * 3
    rows = rng.randint(0, 3, n)
    projections = rng.standard_normal((n, n_bits)).astype(np.float32)
    return B, W @ W.T, table, rows, projections


def losses(B, G, H):
    B = B.astype(float)
    return np.einsum("ik,kl,il->i", B, G, B) - 2 * (B * H).sum(axis=1)


def run(B, G, table, rows, projections, alpha, n_sweeps):
    G = G.astype(np.float32)
    return descend(B, B.astype(np.float32) @ G, table, rows, projections, alpha, G, n_sweeps)


@pytest.mark.parametrize("seed", range(5))
def test_every_sweep_lowers_the_loss_of_every_row(seed):
    B, G, table, rows, projections = problem(50, 12, 5, seed)
    H = table[rows] + 0.5 * projections
    values = [losses(B, G, H)]
    for _ in range(4):
        run(B, G, table, rows, projections, 0.5, 1)
        values.append(losses(B, G, H))
    assert (np.diff(values, axis=0) <= 1e-4).all()
    assert (values[1] < values[0] - 1e-4).any()


@pytest.mark.parametrize("seed", range(5))
def test_no_single_flip_improves_the_result(seed):
    B, G, table, rows, projections = problem(20, 10, 4, seed)
    H = table[rows] + 0.5 * projections
    run(B, G, table, rows, projections, 0.5, 100)
    best = losses(B, G, H)
    for k in range(10):
        other = B.copy()
        other[:, k] *= -1
        assert (losses(other, G, H) >= best - 1e-4).all()


def test_independent_bits_reach_the_global_optimum():
    B, _, table, rows, projections = problem(20, 6, 4, 0)
    G = np.diag(np.arange(1.0, 7.0))
    H = table[rows] + projections
    run(B, G, table, rows, projections, 1.0, 1)
    candidates = np.array(list(itertools.product([-1, 1], repeat=6)), dtype=np.int8)
    for i in range(20):
        everywhere = losses(candidates, G, np.repeat(H[i : i + 1], 64, axis=0))
        assert losses(B[i : i + 1], G, H[i : i + 1])[0] == pytest.approx(everywhere.min(), rel=1e-6)


def test_a_tie_keeps_the_bit_and_flips_are_counted():
    B = np.array([[1, -1, 1], [-1, 1, -1]], dtype=np.int8)
    zeros = np.zeros((2, 3), dtype=np.float32)
    table = np.array([[0.0, 0.0, 0.0], [5.0, 5.0, 0.0]])
    G = np.zeros((3, 3), dtype=np.float32)
    flips = descend(B, zeros.copy(), table, np.array([0, 1]), zeros, 1.0, G, 3)
    assert flips == 1
    assert B.tolist() == [[1, -1, 1], [1, 1, -1]]


def test_sums_of_classes():
    B = np.array([[1, -1], [1, 1], [-1, -1]], dtype=np.int8)
    assert sum_by_class(B, np.array([2, 0, 2]), 3).tolist() == [[1, 1], [0, 0], [0, -2]]
