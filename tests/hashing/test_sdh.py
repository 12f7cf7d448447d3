"""Every step against a dense formula, an optimum or all codes of a tiny case."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.linear_model import Ridge

from zshash import codes
from zshash.hashing.sdh import SDH, hinge, separate_codes, support_vectors
from zshash.hashing.steps.targets import Targets

WEIGHTS = {"lam": 0.5, "nu": 0.3, "mu": 0.2}


class Features:
    """Given kernel features, in two blocks."""

    def __init__(self, Phi):
        self.Phi = Phi.astype(np.float32)

    def __len__(self):
        return len(self.Phi)

    def __getitem__(self, part):
        return self.Phi[part]

    def parts(self):
        half = len(self.Phi) // 2
        return [slice(0, half), slice(half, len(self.Phi))]


@pytest.fixture(scope="module")
def small():
    """A few unit vectors in three groups."""
    rng = np.random.RandomState(0)
    labels = rng.randint(0, 3, 120)
    X = 2 * rng.standard_normal((3, 6))[labels] + rng.standard_normal((120, 6))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), labels


def parts_of(hasher, X):
    """Φ, B, P and W of a fitted hasher, dense and in float64."""
    Phi = np.exp(-cdist(X, hasher.anchors_, "sqeuclidean") / hasher.bandwidth_)
    Phi = np.hstack([Phi, np.ones((len(X), 1))])
    B = 2.0 * codes.unpack(hasher.codes_, hasher.n_bits) - 1
    return Phi, B, hasher.projection_.astype(float), hasher.mapping_


def visual(Phi, B, P, mu):
    return np.square(B - Phi @ P).sum() + mu * np.square(P).sum()


def forms(labels):
    """Class labels, several labels each, and targets of their own for every sample."""
    several = np.eye(4, dtype=int)[labels]
    several[::3, 3] = 1
    targets = np.eye(3)[labels] + 0.1 * np.random.RandomState(0).standard_normal((len(labels), 3))
    return {"labels": labels, "matrix": several, "floats": targets}


@pytest.mark.parametrize("form", ["labels", "matrix", "floats"])
@pytest.mark.parametrize("weights", [{}, WEIGHTS])
def test_the_objective_never_rises(small, form, weights):
    X, labels = small
    for seed in range(3):
        hasher = SDH(16, n_anchors=40, max_iter=20, random_state=seed, **weights)
        values = hasher.fit(X, forms(labels)[form]).objective_
        assert 1 < len(values) == hasher.n_iter_
        assert (np.diff(values) <= 1e-6 * values[:-1]).all()


@pytest.mark.parametrize("form", ["labels", "matrix", "floats"])
def test_the_objective_is_the_papers(small, form):
    X, labels = small
    y = forms(labels)[form]
    hasher = SDH(12, n_anchors=30, max_iter=2, random_state=0, **WEIGHTS).fit(X, y)
    Phi, B, P, W = parts_of(hasher, X)
    Y = np.eye(3)[y] if form == "labels" else y
    expected = np.square(Y - B @ W).sum() + 0.5 * np.square(W).sum()
    assert hasher.objective_[-1] == pytest.approx(expected + 0.3 * visual(Phi, B, P, 0.2), rel=1e-5)


def test_projection_and_mapping_are_ridge_regressions(small):
    X, labels = small
    hasher = SDH(8, n_anchors=5, random_state=0, **WEIGHTS).fit(X, labels)
    Phi, B, P, W = parts_of(hasher, X)
    for found, A, T, penalty in ((P, Phi, B, 0.2), (W, B, np.eye(3)[labels], 0.5)):
        expected = Ridge(alpha=penalty, fit_intercept=False).fit(A, T).coef_.T
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_small_ridge_survives_rounding():
    # neighbouring values of one feature: the kernel features hardly differ between anchors
    X = np.linspace(0, 1, 3000)[:, None]
    hasher = SDH(8, n_anchors=300, mu=1e-4, max_iter=2, normalize=False, random_state=0)
    hasher.fit(X, (X[:, 0] > 0.5).astype(int))  # products in float32 are not positive definite
    assert np.isfinite(hasher.projection_).all()


@pytest.mark.filterwarnings("ignore:SDH needs 16 different samples")
def test_no_flip_of_three_samples_with_two_bits_lowers_the_objective(monkeypatch):
    monkeypatch.setattr(codes, "MIN_BITS", 2)
    X, Y = np.eye(3), np.array([[1.0, 0], [0, 1], [0.5, 0.5]])
    for seed in range(20):
        hasher = SDH(2, n_anchors=3, max_iter=100, random_state=seed, **WEIGHTS).fit(X, Y)
        assert hasher.n_iter_ < 100
        Phi, B, P, W = parts_of(hasher, X)

        def loss(B, Phi=Phi, P=P, W=W):
            return np.square(Y - B @ W).sum() + 0.3 * np.square(B - Phi @ P).sum()

        for i, k in itertools.product(range(3), range(2)):
            flipped = B.copy()
            flipped[i, k] *= -1
            assert loss(flipped) >= loss(B) - 1e-5


def test_stops_when_nothing_changes(small):
    X, labels = small
    short, long = (
        SDH(16, n_anchors=30, max_iter=n, random_state=0).fit(X, labels) for n in (100, 200)
    )
    assert short.n_iter_ == long.n_iter_ < 100
    np.testing.assert_array_equal(short.projection_, long.projection_)


def test_codes_of_the_hinge_loss_are_the_best_of_all():
    rng = np.random.RandomState(0)
    Phi, P, W = (rng.standard_normal(shape) for shape in ((10, 4), (4, 5), (5, 3)))
    rows, nu = rng.randint(0, 3, 10), 0.7
    B = np.ones((10, 5), dtype=np.int8)
    sums = separate_codes(B, Features(Phi), Targets(np.eye(3), rows), P, W, nu)
    candidates = np.array(list(itertools.product([-1, 1], repeat=5)))
    apart = (W[:, rows].T[:, :, None] - W).sum(axis=2)  # Σ_c w_y − w_c
    for i in range(10):
        losses = nu * np.square(candidates - Phi[i] @ P).sum(axis=1) - candidates @ apart[i]
        np.testing.assert_array_equal(B[i], candidates[losses.argmin()])
    np.testing.assert_allclose(sums.PhitB, Phi.T @ B, atol=1e-5)
    np.testing.assert_allclose(sums.BtB, B.astype(float).T @ B)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_machine_is_the_numerical_optimum(n_classes):
    rng = np.random.RandomState(0)
    rows = rng.randint(0, n_classes, 30)
    B = (2 * rng.randint(0, 2, (30, 3)) - 1).astype(np.int8)  # equal codes in several classes
    W, error = support_vectors(B, Targets(np.eye(n_classes), rows), 2.0, rng)

    # the same as a quadratic program over W and the slacks ξ
    def loss(x):
        return x[-30:].sum() + 2 * np.square(x[:-30]).sum()

    def room(x):
        scores, slack = B @ x[:-30].reshape(3, n_classes), x[-30:, None]
        margins = scores[np.arange(30), rows][:, None] - scores + slack - 1
        margins[np.arange(30), rows] = slack[:, 0]
        return margins.ravel()

    start = np.append(np.zeros(W.size), np.ones(30))
    best = minimize(loss, start, method="SLSQP", constraints={"type": "ineq", "fun": room})
    assert best.success
    assert error == pytest.approx(hinge(B @ W, rows).sum())
    assert error + 2 * np.square(W).sum() == pytest.approx(best.fun, rel=1e-3)


def test_hinge_is_the_worst_margin():
    scores = np.array([[3.0, 1.0, 2.5], [0.0, 5.0, 1.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(hinge(scores, np.array([0, 1, 2])), [0.5, 0, 1])


def test_the_hinge_loss_separates_the_classes(small):
    X, labels = small
    hasher = SDH(16, n_anchors=40, loss="hinge", random_state=0).fit(X, labels)
    Phi, B, P, W = parts_of(hasher, X)
    assert ((B @ W).argmax(axis=1) == labels).all()
    expected = hinge(B @ W, labels).sum() + np.square(W).sum() + 1e-5 * visual(Phi, B, P, 1e-2)
    assert hasher.objective_[-1] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("form", ["matrix", "floats"])
def test_the_hinge_loss_needs_class_labels(small, form):
    X, labels = small
    with pytest.raises(ValueError, match='loss="hinge" needs class labels'):
        SDH(8, n_anchors=30, loss="hinge").fit(X, forms(labels)[form])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "l1"}, "loss must be one of 'l2', 'hinge', got 'l1'"),
        ({"lam": 0}, "lam must be a number above 0, got 0"),
        ({"nu": -1}, "nu must be a number above 0, got -1"),
        ({"mu": 0}, "mu must be a number above 0, got 0"),
        ({"n_sweeps": 0}, "n_sweeps must be a whole number of at least 1"),
        ({"max_iter": 2.5}, "max_iter must be a whole number of at least 1"),
    ],
)
def test_bad_parameters(small, parameters, message):
    with pytest.raises(ValueError, match=message):
        SDH(**parameters).fit(*small)
