"""Every step against all sign patterns or a dense formula, on a dozen samples."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from zshash import codes
from zshash.hashing import cosdish
from zshash.hashing.cosdish import COSDISH
from zshash.hashing.steps import balanced
from zshash.hashing.steps.similarity import similarity
from zshash.hashing.steps.targets import as_targets

N, M, BITS = 14, 6, 4


def signs(length):
    return np.array(list(product((-1, 1), repeat=length)))


def problem(seed, m=M):
    """Random codes, samples with up to three labels each, m drawn columns, and the dense S."""
    rng = np.random.RandomState(seed)
    labels = np.vstack([rng.randint(0, 2, (N // 2, 3))] * 2)  # two samples to a group
    labels[::7] = 0  # a sample without a label is similar to none
    B = (2 * rng.randint(0, 2, (N, BITS)) - 1).astype(np.int8)
    columns = rng.choice(N, m, replace=False)
    targets, _ = as_targets(labels, N, method="COSDISH")
    draw = cosdish.draw_columns(similarity(targets, "COSDISH"), columns)
    similar = (labels @ labels[columns].T) > 0
    return B, draw, np.where(similar, 1.0, -similar.sum() / (~similar).sum())


def loss(B, columns, S):
    """The objective over all n × m pairs, of Γ with Ω and of Ω with itself."""
    return np.square(B.shape[1] * S - B @ B[columns].T.astype(float)).sum()


@pytest.mark.parametrize("seed", range(3))
def test_the_drawn_columns_are_the_labels_balanced(seed):
    _, draw, S = problem(seed)
    in_gamma = draw.rows < len(draw.S)
    assert set(np.flatnonzero(~in_gamma)) == set(draw.columns)
    np.testing.assert_allclose(draw.S[draw.rows[in_gamma]], S[in_gamma])
    np.testing.assert_allclose(draw.S[draw.own], S[draw.columns])
    assert S.sum() == pytest.approx(0)


def test_without_dissimilar_pairs_nothing_is_divided_by_zero():
    targets, _ = as_targets(np.array([[1, 0], [1, 1]] * 3), 6, method="COSDISH")
    draw = cosdish.draw_columns(similarity(targets, "COSDISH"), np.arange(2))
    np.testing.assert_array_equal(draw.S, 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_from_sums_is_the_dense_one(seed):
    B, draw, S = problem(seed)
    value = cosdish.objective(B[draw.columns], draw, cosdish.measure(B, draw))
    assert value == pytest.approx(loss(B, draw.columns, S))


@pytest.mark.parametrize("m", [5, 8])
@pytest.mark.parametrize("k", [0, 2])
def test_a_column_costs_its_quadratic_but_for_a_constant(m, k):
    B, draw, S = problem(k, m)
    sums = cosdish.measure(B, draw)
    others = B[draw.columns].astype(float)
    others[:, k] = 0
    linear = BITS * draw.S.T @ sums.by_group[:, k]
    Q, p = cosdish.column_cost(
        others, others @ others.T, BITS * draw.S[draw.own], linear, sums.BtB[k]
    )
    constants = []
    for b in signs(m):
        B[draw.columns, k] = b
        constants.append(loss(B, draw.columns, S) - balanced.quadratic(Q, p, b.astype(float)))
    np.testing.assert_allclose(constants, constants[0])


@pytest.mark.parametrize("m", [5, 6])
def test_greedy_columns_are_balanced_and_forget_the_old_ones(m):
    B, draw, _ = problem(0, m)
    sums = cosdish.measure(B, draw)
    new = cosdish.update_columns(B[draw.columns], draw, sums, "greedy")
    np.testing.assert_array_equal((new > 0).sum(axis=0), m // 2)
    np.testing.assert_array_equal(
        new, cosdish.update_columns(-B[draw.columns], draw, sums, "greedy")
    )


@pytest.mark.parametrize("bit", range(BITS))
def test_a_greedy_bit_sees_only_those_before_it(bit):
    B, draw, S = problem(1)
    columns, rest = draw.columns, np.setdiff1d(np.arange(N), draw.columns)
    new = cosdish.update_columns(B[columns], draw, cosdish.measure(B, draw), "greedy")
    R_Omega = BITS * S[columns] - new[:, :bit] @ new[:, :bit].T.astype(float)
    R_Gamma = BITS * S[rest] - B[rest][:, :bit] @ new[:, :bit].T.astype(float)
    Q = -2 * (R_Omega - np.diag(np.diag(R_Omega)))
    b = balanced.balanced_column(Q, -2 * R_Gamma.T @ B[rest, bit])
    np.testing.assert_array_equal(new[:, bit], b)


def test_exact_columns_never_raise_the_objective():
    falls = 0
    for seed in range(30):
        B, draw, S = problem(seed)
        before = loss(B, draw.columns, S)
        for _ in range(3):
            sums = cosdish.measure(B, draw)
            B[draw.columns] = cosdish.update_columns(B[draw.columns], draw, sums, "exact")
            after = loss(B, draw.columns, S)
            assert after <= before + 1e-9
            falls += after < before - 1e-9
            before = after
    assert falls >= 30


@pytest.mark.parametrize("seed", range(5))
def test_rows_minimise_the_absolute_loss(seed):
    B, draw, S = problem(seed)
    old, B_Omega = B.copy(), B[draw.columns].copy()
    cosdish.update_rows(B, B_Omega, draw)
    np.testing.assert_array_equal(B[draw.columns], B_Omega)
    gaps = abs(BITS * np.sign(S)[:, None] - signs(BITS) @ B_Omega.T.astype(float))
    losses = (abs(S)[:, None] * gaps).sum(axis=2)  # (n, 2^q)
    for i in np.setdiff1d(np.arange(N), draw.columns):
        own = (abs(S[i]) * abs(BITS * np.sign(S[i]) - B_Omega.astype(float) @ B[i])).sum()
        assert own == pytest.approx(losses[i].min())
        ties = abs(S[i] @ B_Omega) < 1e-5
        np.testing.assert_array_equal(B[i, ties], old[i, ties])


def test_a_tie_spoilt_by_rounding_is_a_tie():
    S = np.array([[0.1, 0.2, -0.3]])
    assert S.sum() > 0
    draw = cosdish.Draw(np.arange(3), S, np.zeros(3, dtype=int), np.array([1, 1, 1, 0]))
    B = np.array([[1], [1], [1], [-1]], dtype=np.int8)
    cosdish.update_rows(B, B[:3].copy(), draw)
    assert B[3, 0] == -1


def test_a_class_that_was_not_drawn_keeps_its_codes():
    y = np.repeat([0, 1, 2], 6)
    targets, _ = as_targets(y, 18, method="COSDISH")
    draw = cosdish.draw_columns(similarity(targets, "COSDISH"), np.array([0, 1, 6, 7]))
    B = (2 * np.random.RandomState(0).randint(0, 2, (18, 8)) - 1).astype(np.int8)
    old = B.copy()
    balanced = cosdish.update_columns(B[draw.columns], draw, cosdish.measure(B, draw), "greedy")
    cosdish.update_rows(B, balanced, draw)
    np.testing.assert_array_equal(B[12:], old[12:])
    assert not np.array_equal(B[:12], old[:12])


def test_the_hash_function_is_ridge_regression_on_standardised_features():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 5)) * [1, 10, 0.1, 3, 0] + [0, 5, 1, -2, 7]  # one is constant
    hasher = COSDISH(8, ridge=2.5, normalize=False, random_state=0).fit(X, rng.randint(0, 3, 60))
    B = 2.0 * codes.unpack(hasher.codes_, 8) - 1
    standard = StandardScaler().fit_transform(X)
    fitted = Ridge(alpha=2.5, fit_intercept=False).fit(standard, B)
    np.testing.assert_allclose(hasher.project(X), fitted.predict(standard), atol=1e-4)


@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_codes_of_separable_classes_tell_them_apart(solver):
    y = np.repeat(np.arange(4), 50)
    X = np.eye(4)[y] + 0.01 * np.random.RandomState(0).standard_normal((200, 4))
    hasher = COSDISH(16, n_columns=32, solver=solver, random_state=0).fit(X, y)
    assert hasher.objective_.shape == (10, 3)
    distances = codes.hamming(hasher.encode(X), hasher.encode(X))
    same = y[:, None] == y
    assert distances[same].max() < distances[~same].min()


def dense_columns(B, columns, S, solver):
    """B_Ω after an Ω-step, from the residuals that the bits before k leave, or all others."""
    q, rest = B.shape[1], np.setdiff1d(np.arange(len(B)), columns)
    new, Z = B[columns].copy(), B[rest]
    for k in range(q):
        seen = np.arange(k) if solver == "greedy" else np.delete(np.arange(q), k)
        R_Omega = q * S[columns] - new[:, seen] @ new[:, seen].T
        R_Gamma = q * S[rest] - Z[:, seen] @ new[:, seen].T
        Q, p = -2 * (R_Omega - np.diag(np.diag(R_Omega))), -2 * R_Gamma.T @ Z[:, k]
        b, old = balanced.balanced_column(Q, p), new[:, k].copy()
        if solver == "greedy" or b @ Q @ b + p @ b < old @ Q @ old + p @ old:
            new[:, k] = b
    return new


@pytest.mark.parametrize("solver", ["greedy", "exact"])
@pytest.mark.parametrize("m", [6, 9])
def test_training_follows_the_dense_formulas(solver, m):
    """Five classes of one size make ρ = 1/4, so that all sums are exact and ties break alike."""
    y = np.arange(30) % 5
    X = np.random.RandomState(0).standard_normal((30, 3))
    hasher = COSDISH(8, n_columns=m, n_resamplings=4, solver=solver, random_state=0).fit(X, y)
    rng = np.random.RandomState(0)
    B = 2.0 * rng.randint(0, 2, size=(30, 8), dtype=np.int8) - 1
    for values in hasher.objective_:
        columns = rng.choice(30, m, replace=False)
        S = np.where(y[:, None] == y[columns], 1, -0.25)
        for value in values:
            B[columns] = B_Omega = dense_columns(B, columns, S, solver)
            B = np.where(S @ B_Omega == 0, B, np.sign(S @ B_Omega))
            B[columns] = B_Omega
            assert value == loss(B, columns, S)
    np.testing.assert_array_equal(codes.unpack(hasher.codes_, 8), B > 0)


def test_more_columns_than_samples():
    X, y = np.random.RandomState(0).standard_normal((25, 3)), np.arange(25) % 2
    with pytest.warns(UserWarning, match="n_columns=30 is more than the 25 training samples"):
        hasher = COSDISH(8, n_columns=30, random_state=0).fit(X, y)
    assert np.isfinite(hasher.objective_).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_columns": 1}, "n_columns must be a whole number of at least 2, got 1"),
        ({"n_resamplings": 0}, "n_resamplings must be a whole number of at least 1"),
        ({"n_alternations": 1.5}, "n_alternations must be a whole number"),
        ({"ridge": 0}, "ridge must be a number above 0, got 0"),
        ({"solver": "best"}, "solver must be one of 'greedy', 'exact', got 'best'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        COSDISH(8, **parameters).fit(np.eye(6), np.arange(6) % 2)
