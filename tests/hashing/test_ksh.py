import numpy as np
import pytest
from scipy import linalg, optimize, special
from sklearn.datasets import load_digits

from zshash.hashing.ksh import (
    KSH,
    Residual,
    better,
    descend,
    mean_features,
    objective,
    principal_axes,
    search_line,
    seen_through,
    smooth_value,
    spectral_start,
    whiten,
)
from zshash.hashing.steps.similarity import Similarity, similarity
from zshash.hashing.steps.targets import as_targets

N_BITS = 6


def dense_residual(S, H):
    """R = rS − Σ hhᵀ, from the rows of H (k, l)."""
    return N_BITS * S - H.T @ H


@pytest.fixture(name="problem")
def small_problem():
    """K̄ (l, m), classes, S and two bits that are already taken."""
    rng = np.random.RandomState(0)
    labels = rng.randint(0, 4, 40)
    K = rng.standard_normal((40, 5)) * [3, 2, 1, 0.7, 0.4] + labels[:, None] / 3
    S = np.where(labels[:, None] == labels, 1.0, -1.0)
    H = np.where(rng.standard_normal((2, 40)) > 0, 1.0, -1.0)
    R = Residual(similarity(as_targets(labels, 40, method="KSH")[0], "KSH"), N_BITS)
    for h in H:
        R.subtract(h)
    return K, R, dense_residual(S, H)


def test_residual_of_several_labels_and_of_none():
    rng = np.random.RandomState(1)
    labels = (rng.uniform(size=(30, 4)) < 0.3).astype(int)
    labels[:3] = 0  # similar to no other sample, and to themselves
    S = np.where(labels @ labels.T > 0, 1.0, -1.0)
    np.fill_diagonal(S, 1)
    H = np.where(rng.standard_normal((2, 30)) > 0, 1.0, -1.0)
    R = Residual(similarity(as_targets(labels, 30, method="KSH")[0], "KSH"), N_BITS)
    for h in H:
        R.subtract(h)
    for phi in rng.standard_normal((3, 30)):
        np.testing.assert_allclose(R @ phi, dense_residual(S, H) @ phi, rtol=1e-5, atol=1e-4)


def test_residual_keeps_signs_exact():
    rng = np.random.RandomState(0)
    groups = rng.randint(0, 3, 500)
    R = Residual(Similarity(np.eye(3, dtype=np.float32), groups), 128)
    H = np.where(rng.standard_normal((129, 500)) > 0, 1, -1)
    for h in H[:128]:
        R.subtract(h)
    exact = 128 * np.where(groups[:, None] == groups, 1, -1) @ H[128] - H[:128].T @ (
        H[:128] @ H[128]
    )
    np.testing.assert_array_equal(R @ H[128].astype(np.float32), exact)


def test_principal_axes_are_a_rotation(problem):
    K_bar, _, _ = problem
    K, V, variances = principal_axes(K_bar)
    np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(V @ K, K_bar.T, atol=1e-5)
    np.testing.assert_allclose(K @ K.T, np.diag(variances), atol=1e-3)


def test_principal_axes_leave_copies_out(problem):
    K_bar, _, _ = problem
    K, V, variances = principal_axes(np.hstack([K_bar, K_bar]))
    assert K.shape == (5, 40)
    assert V.shape == (10, 5)
    assert len(variances) == 5
    with pytest.raises(ValueError, match="choose a smaller bandwidth"):
        principal_axes(np.zeros((10, 3)))


def test_spectral_start_solves_the_generalised_eigenproblem(problem):
    K_bar, R, dense = problem
    K, V, variances = principal_axes(K_bar)
    C = seen_through(R, whiten(K, variances))
    a = V @ spectral_start(C, variances, 40)
    _, vectors = linalg.eigh(K_bar.T @ dense @ K_bar, K_bar.T @ K_bar)
    expected = vectors[:, -1] * np.sqrt(40)
    np.testing.assert_allclose(a * np.sign(a @ expected), expected, rtol=1e-3, atol=1e-4)
    assert np.square(K_bar @ a).sum() == pytest.approx(40)


def test_gradient_against_finite_differences(problem):
    K_bar, R, _ = problem
    a = np.random.RandomState(2).standard_normal(5) / 3

    def value(a):
        return smooth_value(R, K_bar @ a)[0]

    _, slope = smooth_value(R, K_bar @ a)
    expected = optimize.approx_fprime(a, value, 1e-6)
    np.testing.assert_allclose(K_bar.T @ slope, expected, rtol=1e-4, atol=1e-2)


def test_smooth_value(problem):
    K_bar, R, dense = problem
    Ka = K_bar @ np.full(5, 0.3)
    phi = 2 / (1 + np.exp(-Ka)) - 1
    assert smooth_value(R, Ka)[0] == pytest.approx(-phi @ dense @ phi)


def nesterov(K, R, a, max_iter, tolerance):
    """The method as it is written in the paper, with every product formed anew."""

    def value(a):
        phi = 2 * special.expit(K @ a) - 1
        return -phi @ R @ phi

    def gradient(a):
        phi = 2 * special.expit(K @ a) - 1
        return -K.T @ ((R @ phi) * (1 - phi**2))

    before, deltas, beta = a, [0.0, 1.0], 1.0
    for _ in range(max_iter):
        v = a + (deltas[-2] - 1) / deltas[-1] * (a - before)
        for j in range(51):
            z = v - gradient(v) / (beta * 2**j)
            bound = value(v) + gradient(v) @ (z - v) + beta * 2**j / 2 * np.square(z - v).sum()
            if value(z) <= bound:
                break
        else:
            return a
        beta *= 2**j
        before, a = a, z
        deltas.append((1 + np.sqrt(1 + 4 * deltas[-1] ** 2)) / 2)
        if abs(value(a) - value(before)) / len(K) <= tolerance:
            return a
    return a


@pytest.mark.parametrize(("max_iter", "tolerance"), [(0, 0.1), (1, 0.1), (12, 0.0), (500, 0.1)])
def test_descent_is_the_papers(problem, max_iter, tolerance):
    K_bar, R, dense = problem
    start = np.random.RandomState(2).standard_normal(5) / 3
    a, n_steps = descend(np.ascontiguousarray(K_bar.T), R, start, max_iter, tolerance)
    expected = nesterov(K_bar, dense, start, max_iter, tolerance)
    np.testing.assert_allclose(a, expected, rtol=1e-5)
    assert n_steps <= max_iter
    assert n_steps < 500  # the tolerance ends the last one


def test_line_search_gives_up_where_no_step_lowers_the_value(problem):
    K_bar, R, _ = problem
    Kv = K_bar @ np.full(5, 0.3)
    impossible = smooth_value(R, Kv)[0] - 1e6
    assert search_line(R, Kv, impossible, np.ones(5), K_bar @ np.ones(5), 1.0) is None


def test_better_takes_the_larger_gain_and_the_first_of_equal_ones(problem):
    K_bar, R, dense = problem
    directions = np.random.RandomState(3).standard_normal((2, 5))
    a, h, gain = better(K_bar.T, R, *directions)
    signs = np.where(directions @ K_bar.T >= 0, 1.0, -1.0)
    gains = [s @ dense @ s for s in signs]
    best = int(np.argmax(gains))
    np.testing.assert_array_equal(a, directions[best])
    np.testing.assert_array_equal(h, signs[best])
    assert gain == max(gains)
    assert better(K_bar.T, R, a, 2 * a)[0] is a


def test_objective_against_the_norm():
    rng = np.random.RandomState(0)
    labels = rng.randint(0, 3, 30)
    R = N_BITS * np.where(labels[:, None] == labels, 1.0, -1.0)
    gains, norms = [], []
    for h in np.where(rng.standard_normal((N_BITS, 30)) > 0, 1.0, -1.0):
        gains.append(h @ R @ h)
        R = R - np.outer(h, h)
        norms.append(np.square(R).sum())
    np.testing.assert_allclose(objective(np.array(gains), 30), norms)


@pytest.fixture(name="digits", scope="module")
def some_digits():
    X, y = load_digits(return_X_y=True)
    return X[:500], y[:500]


def test_fit_reports_the_objective_of_its_codes(digits):
    X, y = digits
    hasher = KSH(16, n_anchors=50, random_state=0).fit(X, y)
    B = 2.0 * hasher.transform(X) - 1
    S = np.where(y[:, None] == y, 1.0, -1.0)
    assert hasher.objective_[-1] == pytest.approx(np.square(16 * S - B @ B.T).sum(), rel=1e-3)


def test_projections_are_those_of_centred_features(digits):
    X, y = digits
    hasher = KSH(8, n_anchors=50, n_labeled=100, normalize=False, random_state=0).fit(X, y)
    squares = np.square(X[:, None] - hasher.anchors_).sum(axis=2)
    assert hasher.bandwidth_ == pytest.approx(2 * squares.mean())
    kernel = np.exp(-squares / hasher.bandwidth_)
    expected = (kernel - kernel.mean(axis=0)) @ hasher.projection_[:-1]
    np.testing.assert_allclose(hasher.project(X), expected, atol=1e-3)


def test_mean_is_that_of_all_rows():
    class Features(list):
        def parts(self):
            return [slice(0, 3), slice(3, 5)]

        def __getitem__(self, part):
            return np.array(list(self), dtype=np.float32)[part]

    rows = np.random.RandomState(0).uniform(size=(5, 4))
    np.testing.assert_allclose(mean_features(Features(rows)), rows.mean(axis=0)[:3], rtol=1e-6)


def test_gradient_steps_gain_over_the_spectral_start(digits):
    X, y = digits
    last = [
        KSH(16, n_anchors=50, max_iter=max_iter, random_state=0).fit(X, y).objective_[-1]
        for max_iter in (0, 100)
    ]
    assert last[1] < 0.98 * last[0]


def test_labels_of_other_rows_are_not_looked_at(digits):
    X, y = digits
    rng = np.random.RandomState(0)
    rng.choice(len(X), size=50, replace=False)  # as the anchors are drawn
    rows = rng.choice(len(X), size=100, replace=False)
    scrambled = y[::-1].copy()
    scrambled[rows] = y[rows]
    hasher = KSH(8, n_anchors=50, n_labeled=100, max_iter=5, random_state=0)
    codes = [hasher.fit(X, labels).encode(X) for labels in (y, scrambled, y[::-1])]
    np.testing.assert_array_equal(codes[0], codes[1])
    assert not np.array_equal(codes[0], codes[2])


def test_bad_parameters():
    X, y = np.eye(16), np.arange(16) // 2
    with pytest.raises(ValueError, match="n_labeled must be a whole number of at least 2, got 1"):
        KSH(8, n_labeled=1).fit(X, y)
    with pytest.raises(ValueError, match="max_iter must be a whole number of at least 0, got -1"):
        KSH(8, max_iter=-1).fit(X, y)
    with pytest.raises(ValueError, match="tolerance must be a number of at least 0, got -1"):
        KSH(8, tolerance=-1).fit(X, y)
    with pytest.raises(ValueError, match="KSH learns from samples that share a label"):
        KSH(8, n_anchors=2).fit(X, np.random.RandomState(0).standard_normal((16, 3)))
