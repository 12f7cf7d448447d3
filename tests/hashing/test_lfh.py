"""Every step against finite differences or a plain loop, on a dozen samples."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from zshash import codes
from zshash.hashing import lfh
from zshash.hashing.lfh import LFH
from zshash.hashing.steps.similarity import similarity
from zshash.hashing.steps.targets import as_targets

N, BITS, BETA = 12, 3, 2.0


def problem(seed, scale=1.0):
    """Random U, samples with up to three labels each, and the dense S."""
    rng = np.random.RandomState(seed)
    labels = np.vstack([rng.randint(0, 2, (N // 2, 3))] * 2)  # two samples to a group
    targets, _ = as_targets(labels, N, method="LFH")
    U = scale * rng.standard_normal((N, BITS)).astype(np.float32)
    return U, similarity(targets, "LFH"), (labels @ labels.T > 0).astype(float)


def log_likelihood(U, S, i, j):
    theta = U[i].astype(float) @ U[j].astype(float) / 2
    return S[i, j] * theta - np.logaddexp(0, theta)


def full_objective(U, S):
    pairs = sum(log_likelihood(U, S, i, j) for i in range(N) for j in range(N) if i != j)
    return pairs - np.square(U.astype(float)).sum() / (2 * BETA)


def test_the_objective_of_a_step_is_the_sum_over_its_pairs():
    U, similar, S = problem(0)
    columns, rows = [1, 4, 7], [0, 2, 3, 5, 6, 8, 9, 10, 11]
    expected = 2 * sum(log_likelihood(U, S, i, j) for i in rows for j in columns)
    expected -= np.square(U[rows].astype(float)).sum() / (2 * BETA)
    assert lfh.objective(U, similar, np.array(columns), BETA) == pytest.approx(expected)


@pytest.mark.parametrize("scale", [0.01, 1, 30])
def test_a_step_never_lowers_its_objective_and_leaves_the_columns_alone(scale):
    for seed in range(20):
        U, similar, _ = problem(seed, scale)
        for step in range(5):
            columns = np.random.RandomState(step).choice(N, 4, replace=False)
            before, old = lfh.objective(U, similar, columns, BETA), U.copy()
            lfh.update_at_once(U, similar, columns, BETA)
            after = lfh.objective(U, similar, columns, BETA)
            assert after >= before - 1e-5 * abs(before)
            np.testing.assert_array_equal(U[columns], old[columns])
            assert (old != U).any(axis=1).sum() == N - 4


def test_a_step_follows_the_slope_of_the_objective():
    U, similar, _ = problem(3)
    columns, i, h = np.array([0, 2, 5, 8]), 3, 1e-3
    slope = np.empty(BITS)
    for k in range(BITS):
        values = []
        for change in (h, -h):
            moved = U.astype(np.float64)
            moved[i, k] += change
            values.append(lfh.objective(moved, similar, columns, BETA))
        slope[k] = (values[0] - values[1]) / (2 * h)
    V = U[columns].astype(float)
    H = -V.T @ V / 8 - np.eye(BITS) / BETA
    expected = U[i] - slope @ np.linalg.inv(H)
    lfh.update_at_once(U, similar, columns, BETA)
    np.testing.assert_allclose(U[i], expected, rtol=1e-4, atol=1e-5)


def test_the_curvature_bounds_that_of_the_objective():
    for seed in range(10):
        U, _, _ = problem(seed)
        u, V = U[0].astype(float), U[1:].astype(float)
        slope = 1 / (1 + np.exp(-V @ u / 2))
        hessian = -(V.T * (slope * (1 - slope) / 2)) @ V - np.eye(BITS) / BETA
        gap = hessian + lfh.curvature(V.T @ V, BETA)
        assert np.linalg.eigvalsh(gap).min() >= -1e-12


def test_one_by_one_is_a_step_for_each_row_given_all_others():
    U, similar, _ = problem(5)
    expected = U.copy()
    for i in range(N):
        lfh.update_at_once(expected, similar, np.delete(np.arange(N), i), BETA)
    lfh.update_one_by_one(U, similar, BETA)
    np.testing.assert_allclose(U, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_one_by_one_never_lowers_the_full_objective(seed):
    U, similar, S = problem(seed, scale=2.0)
    values = [full_objective(U, S)]
    for _ in range(5):
        lfh.update_one_by_one(U, similar, BETA)
        values.append(full_objective(U, S))
    assert (np.diff(values) >= -1e-5 * abs(values[0])).all()
    assert values[-1] > values[0] + 1


def test_the_start_is_the_principal_scores():
    X = np.random.RandomState(0).standard_normal((40, 9)).astype(np.float32) + 1
    mean = X.mean(axis=0)
    centred = X - mean
    U = lfh.initialize(X, mean, centred.T.astype(float) @ centred, 5, np.random.RandomState(0))
    left, values, _ = np.linalg.svd(centred / np.sqrt(np.square(centred).sum(axis=1).mean()))
    np.testing.assert_allclose(abs(U), abs(left[:, :5] * values[:5]), atol=1e-4)


def test_columns_beyond_the_rank_of_the_features_are_no_copies():
    X = np.random.RandomState(0).standard_normal((40, 3)).astype(np.float32) @ np.eye(3, 6)
    U = lfh.initialize(X, np.zeros(6), X.T @ X, 8, np.random.RandomState(0))
    alike = abs(np.corrcoef(U.T) - np.eye(8))
    assert U.shape == (40, 8)
    assert alike.max() < 0.999


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("variant", ["stochastic", "full"])
def test_the_hash_function_is_ridge_regression_on_real_valued_codes(variant, center):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((50, 6)).astype(np.float32), rng.randint(0, 3, 50)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    options = {"lam": 0.3, "max_iter": 4, "variant": variant, "center": center}
    hasher = LFH(8, **options, random_state=7).fit(X, y)
    mean = X.mean(axis=0) if center else np.zeros(6, dtype=np.float32)
    X0 = X - mean
    targets, _ = as_targets(y, 50, method="LFH")
    similar, rng = similarity(targets, "LFH"), np.random.RandomState(7)
    U = lfh.initialize(X, mean, X0.T.astype(float) @ X0, 8, rng)
    for _ in range(4):
        if variant == "full":
            lfh.update_one_by_one(U, similar, 30 / 8)
        else:
            lfh.update_at_once(U, similar, rng.choice(50, 8, replace=False), 30 / 8)
    fitted = Ridge(alpha=0.3 * np.square(X0).sum() / 6, fit_intercept=False).fit(X0, U)
    np.testing.assert_allclose(hasher.project(X), fitted.predict(X0), atol=1e-3)
    np.testing.assert_array_equal(hasher.codes_, codes.pack(U >= 0))


def test_the_scale_of_the_features_does_not_matter():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((60, 10)), rng.randint(0, 3, 60)
    plain, large = (LFH(16, random_state=0).fit(factor * X, y) for factor in (1, 1024))
    np.testing.assert_array_equal(plain.codes_, large.codes_)
    np.testing.assert_array_equal(plain.encode(X), large.encode(1024 * X))


@pytest.mark.filterwarnings("ignore:LFH needs 16 different samples")
@pytest.mark.parametrize("n", [10, 200])
def test_learned_codes_follow_the_labels_even_with_more_bits_than_samples(n):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((n, 20)), np.arange(n) % 2  # features know nothing of the labels
    hasher = LFH(16, random_state=0).fit(X, y)
    distances = codes.hamming(hasher.codes_, hasher.codes_)
    same = y[:, None] == y
    assert distances[same].max() < distances[~same].min()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": 0}, "beta must be a number above 0, got 0"),
        ({"lam": -1}, "lam must be a number above 0, got -1"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"n_columns": 2.5}, "n_columns must be a whole number of at least 1"),
        ({"variant": "half"}, "variant must be one of 'stochastic', 'full', got 'half'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LFH(8, **parameters).fit(np.eye(6), np.arange(6) % 2)


def test_the_origin_of_the_features_does_not_matter():
    """With the origin at the mean of all data, the mean of seen samples tells of unseen ones."""
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((60, 10)).astype(np.float32), rng.randint(0, 3, 60)
    near, far = (
        LFH(16, max_iter=5, normalize=False, random_state=0).fit(X + shift, y) for shift in (0, 2)
    )
    assert np.mean(near.transform(X) == far.transform(X + 2)) > 0.98
    plain = LFH(16, center=False, normalize=False, random_state=0).fit(X, y)
    np.testing.assert_array_equal(plain.mean_, 0)


def test_codes_that_collapse_are_said():
    rng = np.random.RandomState(0)
    y = rng.randint(0, 60, 600)
    X = rng.standard_normal((60, 20))[y] + 0.1 * rng.standard_normal((600, 20))
    with pytest.warns(UserWarning, match="only 2 different codes for 60 sets of labels"):
        LFH(16, normalize=False, random_state=0).fit(X, y)
    apart = LFH(16, beta=30, n_columns=64, normalize=False, random_state=0).fit(X, y)
    assert len(np.unique(apart.codes_, axis=0)) > 60
