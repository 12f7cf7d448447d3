"""Both steps against dense formulas, and the objective after each step."""

import numpy as np
import pytest

from tests.hashing.anchor_weights import anchor_weights
from zshash import codes
from zshash.hashing.dgh import DGH, initialize, objective, update_codes, update_targets
from zshash.hashing.steps.anchor_graph import mass

N_BITS = 20  # more than one group of bits
RHO = 0.1


@pytest.fixture(scope="module")
def X():
    rng = np.random.RandomState(0)
    centers = 2 * rng.standard_normal((5, 6))
    return (centers[rng.randint(0, 5, 400)] + rng.standard_normal((400, 6))).astype(np.float32)


@pytest.fixture(scope="module")
def graph(X):
    """Z, and A as a dense matrix."""
    Z = anchor_weights(X, X[:40], 3)
    dense = Z.toarray().astype(float)
    return Z, dense / dense.sum(axis=0) @ dense.T


def random_signs(n, n_bits, seed=0):
    return 2 * np.random.RandomState(seed).randint(0, 2, (n, n_bits), dtype=np.int8) - 1


def check_targets(Y, B):
    """Y is feasible, and tr(BᵀY) the largest that a feasible Y can reach."""
    n, r = B.shape
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(Y.T @ Y / n, np.eye(r), atol=1e-4)
    best = np.sqrt(n) * np.linalg.svd(B - B.mean(axis=0), compute_uv=False).sum()
    assert np.vdot(B.astype(float), Y) == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("init", ["agh", "rotated"])
@pytest.mark.parametrize("rho", [RHO, 3.0])
def test_the_objective_never_falls(graph, init, rho):
    Z, A = graph
    rng = np.random.RandomState(0)
    Y = initialize(Z, N_BITS, init, rng)
    B = np.where(Y >= 0, 1, -1).astype(np.int8)

    def value():
        return np.trace(B.T @ A @ B) + rho * np.vdot(B.astype(float), Y)

    values = [value()]
    for _ in range(6):
        for _ in range(4):
            sums, _ = update_codes(B, Y, Z, mass(Z)[:, None], rho, 1)
            values.append(value())
        Y = update_targets(B, rng)
        values.append(value())
    assert (np.diff(values) >= -1e-5 * values[0]).all()
    assert values[-1] > 1.01 * values[0]
    assert objective(B, Y, sums, mass(Z)[:, None], rho) == pytest.approx(values[-1], rel=1e-5)


def test_codes_follow_the_formula(graph):
    Z, A = graph
    Y = initialize(Z, N_BITS, "agh", np.random.RandomState(0))
    B = random_signs(len(Y), N_BITS)
    expected = np.where(2 * A @ B + RHO * Y >= 0, 1, -1)
    flips = np.count_nonzero(expected != B)
    sums, counted = update_codes(B, Y, Z, mass(Z)[:, None], RHO, 1)
    np.testing.assert_array_equal(B, expected)
    np.testing.assert_allclose(sums, Z.T @ B, atol=1e-4)
    assert counted == flips > 0
    update_codes(B, Y, Z, mass(Z)[:, None], RHO, 1000)
    np.testing.assert_array_equal(B, np.where(2 * A @ B + RHO * Y >= 0, 1, -1))


def test_a_tie_keeps_the_bit():
    """Two samples at the same anchors with opposite bits pull equally on each other."""
    Z = anchor_weights(np.eye(2, dtype=np.float32), np.zeros((1, 2), dtype=np.float32), 1)
    B = np.array([[1], [-1]], dtype=np.int8)
    _, flips = update_codes(B, np.zeros((2, 1), dtype=np.float32), Z, mass(Z)[:, None], RHO, 10)
    assert flips == 0
    np.testing.assert_array_equal(B, [[1], [-1]])


def test_targets_are_the_best_ones():
    B = random_signs(3000, N_BITS)
    check_targets(update_targets(B, np.random.RandomState(0)), B)


def test_targets_where_bits_repeat():
    B = random_signs(300, N_BITS)
    B[:, 1], B[:, 2], B[:, 3] = B[:, 0], -B[:, 0], 1
    Y = update_targets(B, np.random.RandomState(0))
    check_targets(Y, B)
    again, other = (update_targets(B, np.random.RandomState(seed)) for seed in (0, 1))
    np.testing.assert_array_equal(Y, again)
    assert abs(Y - other).max() > 0.1


def test_bits_that_differ_in_one_sample_keep_their_own_direction():
    B = random_signs(3000, N_BITS)
    B[:, 1] = B[:, 0]
    B[5, 1] = -B[5, 0]
    Y, other = (update_targets(B, np.random.RandomState(seed)) for seed in (0, 1))
    check_targets(Y, B)
    np.testing.assert_array_equal(Y, other)  # nothing had to be filled at random


@pytest.mark.parametrize("init", ["agh", "rotated"])
def test_the_hash_function_sums_the_codes_at_the_anchors(X, init):
    hasher = DGH(N_BITS, n_anchors=40, init=init, normalize=False, random_state=0).fit(X)
    B = 2.0 * codes.unpack(hasher.codes_, N_BITS) - 1
    Z = anchor_weights(X, hasher.anchors_, 3).toarray().astype(float)
    np.testing.assert_allclose(hasher.embedding_, Z.T @ B / Z.sum(axis=0)[:, None], atol=1e-4)
    np.testing.assert_allclose(hasher.project(X), Z @ hasher.embedding_, atol=1e-4)
    assert len(hasher.objective_) == hasher.n_iter_ < 20
    assert (np.diff(hasher.objective_) >= -1e-5 * hasher.objective_[0]).all()


def test_the_rotated_start_is_nearer_to_signs(graph):
    Z, _ = graph
    plain, rotated = (
        initialize(Z, N_BITS, init, np.random.RandomState(0)) for init in ("agh", "rotated")
    )
    check = np.eye(N_BITS)
    np.testing.assert_allclose(rotated.T @ rotated / len(rotated), check, atol=1e-3)
    assert np.abs(rotated).sum() > 1.05 * np.abs(plain).sum()


def test_bad_parameters(X):
    with pytest.raises(ValueError, match="init must be one of 'agh', 'rotated', got 'random'"):
        DGH(8, init="random").fit(X)
    with pytest.raises(ValueError, match="rho must be a number of at least 0, got -1"):
        DGH(8, rho=-1).fit(X)
    with pytest.raises(ValueError, match="useful eigenvectors and 64 are needed: use more"):
        DGH(64, n_anchors=20).fit(X)
