import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.datasets import load_digits

from zshash import codes
from zshash.hashing.cnnh import (
    BATCH,
    CNNH,
    change,
    class_shares,
    code_loss,
    descend,
    factorise,
    newton_step,
    objective,
    part_gradients,
)
from zshash.hashing.steps.networks import random_units
from zshash.hashing.steps.similarity import Similarity, similarity
from zshash.hashing.steps.targets import as_targets


def several_labels(n, n_labels=4):
    """0/1 labels (n, c): at least one for each sample, and groups that overlap."""
    rng = np.random.RandomState(1)
    labels = (rng.uniform(size=(n, n_labels)) < 0.3).astype(int)
    labels[np.arange(n), rng.randint(0, n_labels, n)] = 1
    return labels


def read(y):
    return similarity(as_targets(y, len(y), method="CNNH")[0], "CNNH")


def dense(pairs):
    """S (n, n), its diagonal included."""
    return np.where(pairs.between_groups()[np.ix_(pairs.groups, pairs.groups)], 1.0, -1.0)


@pytest.fixture(name="problem", params=["classes", "several labels"])
def small_problem(request):
    """Pairs, S and H (n, q) of a few samples."""
    rng = np.random.RandomState(0)
    pairs = read(rng.randint(0, 3, 12) if request.param == "classes" else several_labels(12))
    return pairs, dense(pairs), rng.uniform(-1, 1, (12, 5))


def sums(H, pairs):
    """What `descend` keeps up to date."""
    similar = sparse.csr_array(pairs.between_groups())
    return H.T @ H, similar @ pairs.sum_by_group(H), H.sum(axis=0), similar


def brute_force(S, H):
    return np.square(S - H @ H.T / H.shape[1]).sum()


def test_objective_against_the_full_matrix(problem):
    pairs, S, H = problem
    assert objective(H, pairs, sums(H, pairs)[-1]) == pytest.approx(brute_force(S, H))


@pytest.mark.parametrize("place", [0, 7, 23, 59])
def test_a_step_minimises_the_expansion_to_second_order(problem, place):
    """Slope and curvature are those of the objective itself, by finite differences."""
    pairs, S, H = problem
    i, j = divmod(place, 5)

    def value(x):
        moved = H.copy()
        moved[i, j] = x
        return brute_force(S, moved)

    x, tiny = H[i, j], 1e-3
    slope = (value(x + tiny) - value(x - tiny)) / (2 * tiny)
    curvature = (value(x + tiny) - 2 * value(x) + value(x - tiny)) / tiny**2
    found = optimize.minimize_scalar(
        lambda d: slope * d + curvature * d * d / 2, bounds=(-1 - x, 1 - x), method="bounded"
    )
    gram, shared, total, similar = sums(H, pairs)
    after = H.copy()
    order = np.array([place])
    descend(after, order, gram, shared, total, pairs.groups, similar.indptr, similar.indices)
    expected = H.copy()
    expected[i, j] += found.x
    assert value(expected[i, j]) < value(x)
    np.testing.assert_allclose(after, expected, atol=1e-3)
    for kept, again in zip((gram, shared, total), sums(after, pairs), strict=False):
        np.testing.assert_allclose(kept, again)


def test_the_quartic_is_what_a_step_adds(problem):
    _, S, H = problem
    E = H @ H.T - 5 * S
    i, j, x = 3, 2, H[3, 2]
    kappa = np.square(H[:, j]).sum() + x * x + E[i, i]
    for step in (-0.4, 0.1, 0.3):
        moved = H.copy()
        moved[i, j] += step
        added = 25 * (brute_force(S, moved) - brute_force(S, H)) / 4
        assert change(x, (E @ H)[i, j], kappa, step) == pytest.approx(added)


@pytest.mark.parametrize("kappa", [-2.0, 0.0, 0.5, 3.0])
@pytest.mark.parametrize("e", [-1.5, 0.2, 1.0])
def test_newton_step_against_a_grid(e, kappa):
    x = 0.3
    steps = np.linspace(-1 - x, 1 - x, 100_001)
    best = steps[np.argmin(e * steps + kappa * steps**2 / 2)]
    assert newton_step(x, e, kappa) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("n", [4, 40])
def test_the_objective_never_rises_and_entries_stay_within_bounds(n):
    for y in (np.arange(n) % 2, several_labels(n)):
        pairs = read(y)
        H, values = factorise(pairs, 16, 30, np.random.RandomState(0))
        assert (np.diff(values) <= 1e-9 * n * n).all()
        assert values[-1] == pytest.approx(brute_force(dense(pairs), H))
        assert np.abs(H).max() <= 1


def test_codes_are_as_good_as_those_of_gradient_descent():
    """Coordinate steps end no higher than a general solver does from the same start."""
    pairs = read(np.arange(20) % 4)
    S, q = dense(pairs), 6
    H, values = factorise(pairs, q, 100, np.random.RandomState(0))
    start = np.random.RandomState(0).uniform(-1, 1, (20, q)).ravel()

    def value(flat):
        return brute_force(S, flat.reshape(20, q))

    def slope(flat):
        own = flat.reshape(20, q)
        return (4 / q * (own @ own.T / q - S) @ own).ravel()

    found = optimize.minimize(value, start, jac=slope, method="L-BFGS-B", bounds=[(-1, 1)] * 20 * q)
    assert values[-1] <= 1.02 * found.fun
    assert H.shape == (20, q)


def test_shares_of_classes():
    pairs = Similarity(np.array([[1, 0, 1], [0, 1, 0]], dtype=np.float32), np.array([1, 0, 0]))
    np.testing.assert_array_equal(class_shares(pairs), [[0, 1, 0], [0.5, 0, 0.5], [0.5, 0, 0.5]])


@pytest.mark.parametrize("with_classes", [False, True])
def test_gradients_against_finite_differences(with_classes):
    rng = np.random.RandomState(0)
    X, B = rng.standard_normal((7, 4)), np.where(rng.uniform(size=(7, 3)) > 0.5, 1.0, -1.0)
    shares = np.eye(2)[rng.randint(0, 2, 7)] if with_classes else None
    weights = random_units(np.zeros((4, 5 if with_classes else 3)), 6, rng)
    for name, array in vars(weights).items():
        setattr(weights, name, rng.standard_normal(array.shape))
    _, gradients = part_gradients(weights, X, B, shares)

    def loss():
        return code_loss(weights.outputs(X, weights.hidden(X)), B, shares)[0] / BATCH

    for array, gradient in zip(weights, gradients, strict=True):
        flat, tiny = array.ravel(), 1e-6
        expected = np.empty_like(flat)
        for k in range(len(flat)):
            own = flat[k]
            flat[k] = own + tiny
            above = loss()
            flat[k] = own - tiny
            expected[k] = (above - loss()) / (2 * tiny)
            flat[k] = own
        np.testing.assert_allclose(gradient.ravel(), expected, rtol=1e-4, atol=1e-8)


@pytest.fixture(name="digits", scope="module")
def some_digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


@pytest.mark.parametrize("classes", [False, True])
def test_the_network_learns_the_codes(digits, classes):
    X, y = digits
    hasher = CNNH(16, classes=classes, n_steps=300, n_units=64, random_state=0).fit(X, y)
    assert np.mean(codes.unpack(hasher.codes_, 16) == hasher.transform(X)) > 0.97
    assert hasher.loss_[-20:].mean() < 0.2 * hasher.loss_[:5].mean()
    assert hasher.outputs_.shape == (64, 16)
    assert len(hasher.objective_) == hasher.n_iter_


def test_class_outputs_change_the_bits(digits):
    X, y = digits
    fits = [
        CNNH(16, classes=classes, n_steps=20, random_state=0).fit(X, y) for classes in (False, True)
    ]
    np.testing.assert_array_equal(fits[0].codes_, fits[1].codes_)
    assert (fits[0].transform(X) != fits[1].transform(X)).any()


def test_samples_that_share_a_label_share_codes(digits):
    X, y = digits
    bits = 2.0 * CNNH(32, n_steps=300, random_state=0).fit(X, y).transform(X) - 1
    agreement, same = bits @ bits.T / 32, y[:, None] == y
    assert agreement[same].mean() > 0.8
    assert agreement[~same].mean() < 0.1


def test_bad_parameters():
    X, y = np.eye(16), np.arange(16) // 2
    with pytest.raises(ValueError, match="classes must be one of"):
        CNNH(8, classes="yes").fit(X, y)
    with pytest.raises(ValueError, match="n_steps must be a whole number of at least 1, got 0"):
        CNNH(8, n_steps=0).fit(X, y)
    with pytest.raises(ValueError, match="rate must be a number above 0, got 0"):
        CNNH(8, rate=0).fit(X, y)
    with pytest.raises(ValueError, match="CNNH learns from samples that share a label"):
        CNNH(8).fit(X, np.random.RandomState(0).standard_normal((16, 3)))
