"""Every baseline against its closed form or a numerical optimum, and what they have in common."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from zshash.studies.names2026.baselines import (
    CMT,
    DAP,
    ESZSL,
    ConSE,
    DeViSE,
    ZeroData,
    cmt,
    conse,
    dap,
    devise,
    eszsl,
    zero_data,
)
from zshash.studies.names2026.baselines.baseline import one_against_others, span

MAKERS = {
    "dap": lambda: DAP(says_yes=np.ones(6, dtype=bool)),
    "zero-data": ZeroData,
    "cmt": lambda: CMT(n_hidden=20),
    "devise": DeViSE,
    "conse": lambda: ConSE(n_best=5),
    "eszsl": lambda: ESZSL(gamma=1.0),
}


@pytest.fixture
def rng():
    return np.random.RandomState(3)


@pytest.fixture
def tiny(rng):
    """Nine samples of three categories, in double precision."""
    y = np.arange(9) % 3
    return rng.randn(9, 4), y, rng.randn(3, 5)


@pytest.mark.parametrize("name", MAKERS)
def test_hidden_categories_are_told_apart_better_than_by_chance(world, name):
    found = MAKERS[name]().fit(world.X, world.y, world.vectors)
    scores = found.scores(world.hidden, world.names)
    assert scores.shape == (2, len(world.hidden))
    assert (scores.argmax(axis=0) == world.hidden_y).mean() > 0.8


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_seed_gives_the_same_scores(world, name):
    a, b = (
        MAKERS[name]().fit(world.X, world.y, world.vectors).scores(world.hidden, world.names)
        for _ in range(2)
    )
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("method", [CMT, DeViSE])
def test_another_seed_gives_other_scores(world, method):
    a, b = (
        method(random_state=seed).fit(world.X, world.y, world.vectors).scores(world.X, world.names)
        for seed in (0, 1)
    )
    assert not np.array_equal(a, b)


def test_a_span_keeps_products_with_the_seen_vectors(rng):
    vectors = rng.randn(3, 7)
    basis, other = span(vectors), rng.randn(2, 7)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-6)
    np.testing.assert_allclose((other @ basis) @ (vectors @ basis).T, other @ vectors.T, atol=1e-5)


def test_eszsl_is_the_minimum_of_its_objective(tiny):
    X, y, S = tiny
    Y = one_against_others(y, 3).astype(np.float64)
    V = eszsl.solution(X, Y, S, gamma=0.7, lam=0.3)

    def value(flat):
        return eszsl.objective(flat.reshape(4, 5), X, Y, S, 0.7, 0.3)

    found = minimize(value, np.zeros(20), tol=1e-10)
    np.testing.assert_allclose(V.ravel(), found.x, atol=1e-4)
    assert value(V.ravel()) <= found.fun + 1e-9


def test_eszsl_is_the_formula_of_the_paper(tiny):
    X, y, S = tiny
    found = ESZSL(gamma=2.0, lam=0.5).fit(X, y, S)
    Y = np.array([[1 if y[i] == c else -1 for c in range(3)] for i in range(9)])
    left = np.linalg.inv(X.T @ X + 2.0 * np.eye(4))
    V = left @ X.T @ Y @ S @ np.linalg.inv(S.T @ S + 0.5 * np.eye(5))
    expected = [[x @ V @ s for x in X] for s in S]
    np.testing.assert_allclose(found.scores(X, S), expected, rtol=1e-9)


def test_dap_is_the_product_over_attributes(world):
    """Also of attributes that several seen categories have alike, which share a classifier."""
    vectors = np.hstack([world.vectors, world.vectors[:, :2]])
    names = np.hstack([world.names, world.names[:, :2]])
    method = DAP(weight_decay=0.01, says_yes=np.ones(8, dtype=bool), max_iter=200)
    found = method.fit(world.X, world.y, vectors)
    assert found.weights_.shape[1] == 6
    present, wanted = vectors > 0, names > 0
    scores = np.zeros((2, len(world.hidden)))
    for m in range(8):
        weights, bias = dap.train_classifiers(world.X, present[world.y, m : m + 1], 0.01, 200)
        likely = expit((world.hidden @ weights + bias)[:, 0].astype(float))
        prior = present[:, m].mean()
        for name in range(2):
            has = wanted[name, m]
            scores[name] += np.log((likely if has else 1 - likely) / (prior if has else 1 - prior))
    np.testing.assert_allclose(found.scores(world.hidden, names), scores, atol=0.005)


def test_dap_s_classifiers_are_logistic_regressions(world):
    present = (world.vectors > 0)[world.y]
    weights, biases = dap.train_classifiers(world.X.astype(float), present, 0.01, 500)
    for m in range(6):
        # scikit-learn weighs the sum of losses by C against half the squared norm
        usual = LogisticRegression(C=1 / (0.01 * len(world.X)), tol=1e-8, max_iter=1000)
        usual.fit(world.X.astype(float), present[:, m])
        np.testing.assert_allclose(weights[:, m], usual.coef_[0], atol=2e-3)
        np.testing.assert_allclose(biases[m], usual.intercept_[0], atol=2e-3)


def test_dap_binarises_strengths_at_their_mean_and_leaves_out_what_all_have(rng):
    vectors = np.array([[0.1, 0.5, 0.2], [0.3, 0.5, 0.0], [0.8, 0.5, 0.9]])
    y = np.repeat([0, 1, 2], 5)
    found = DAP().fit(rng.randn(15, 3), y, vectors)
    np.testing.assert_allclose(found.thresholds_, [0.4, 0.5, 1.1 / 3])
    assert found.useful_.tolist() == [True, False, True]
    np.testing.assert_allclose(found.priors_, [1 / 3, 1 / 3])
    assert found.weights_.shape == (3, 1)  # both are the attribute of the third category
    sure = DAP(says_yes=np.array([False, False, True])).fit(rng.randn(15, 3), y, vectors)
    np.testing.assert_allclose(sure.priors_, [1 / 3, 2 / 3])


def test_the_gradient_of_dap(rng, slope):
    X, signs = rng.randn(7, 3), np.where(rng.rand(7, 2) > 0.5, 1.0, -1.0)
    point = rng.randn(4, 2)
    gradient = dap.loss_and_gradient(point, X, signs, 0.3)[1]
    expected = slope(lambda p: dap.loss_and_gradient(p, X, signs, 0.3)[0], point)
    np.testing.assert_allclose(gradient, expected, atol=1e-7)


def test_zero_data_is_at_the_minimum_that_another_optimiser_finds(tiny):
    X, y, D = tiny
    found = ZeroData(weight_decay=0.1, max_iter=500).fit(X, y, D)
    W = found.W_ @ found.basis_.T  # in the coordinates of the descriptions

    def value(flat):
        """The objective, written out."""
        own, b, total = flat[:-1].reshape(4, 5), flat[-1], 0.0
        for x, label in zip(X, y, strict=True):
            for z in range(3):
                sign = 1 if z == label else -1
                total += np.log1p(np.exp(-sign * (x @ own @ D[z] + b))) / len(X)
        return total + 0.05 * np.sum(own**2)

    other = minimize(value, np.zeros(21), tol=1e-10)
    np.testing.assert_allclose(W.ravel(), other.x[:-1], atol=1e-3)
    assert found.b_ == pytest.approx(other.x[-1], abs=1e-3)
    expected = np.array([[x @ other.x[:-1].reshape(4, 5) @ d for x in X] for d in D]) + other.x[-1]
    np.testing.assert_allclose(found.scores(X, D), expected, atol=5e-3)


def test_the_gradient_of_zero_data(tiny, rng, slope):
    X, y, D = tiny
    Y = one_against_others(y, 3).astype(np.float64)
    W, b = rng.randn(4, 5), 0.3
    _, by_W, by_b = zero_data.loss_and_gradient(W, b, X, Y, D, 0.2)
    expected = slope(lambda w: zero_data.loss_and_gradient(w, b, X, Y, D, 0.2)[0], W)
    np.testing.assert_allclose(by_W, expected, atol=1e-6)
    by_bias = slope(
        lambda c: zero_data.loss_and_gradient(W, float(c[0]), X, Y, D, 0.2)[0], np.array([b])
    )
    assert by_b == pytest.approx(by_bias[0], abs=1e-6)


def test_the_gradient_of_cmt(rng, slope):
    X, targets = rng.randn(6, 4), rng.randn(6, 3)
    shapes = ((4, 5), (5,), (5, 3), (3,))
    layers = cmt.Layers(*(rng.randn(*shape) for shape in shapes))
    _, gradient = cmt.loss_and_gradient(layers, X, targets, 0.1)

    def value(flat):
        return cmt.loss_and_gradient(layers.like(flat), X, targets, 0.1)[0]

    np.testing.assert_allclose(gradient.flat(), slope(value, layers.flat()), atol=1e-6)


def test_the_loss_of_cmt_falls(world):
    values = []
    for max_iter in (1, 5, 25, 100):
        found = CMT(weight_decay=0.0, max_iter=max_iter).fit(world.X, world.y, world.vectors)
        targets = found.places_[world.y]
        values.append(cmt.loss_and_gradient(found.layers_, world.X, targets, 0.0)[0])
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.1 * values[0]


def test_cmt_scores_by_distances_between_whole_vectors(world):
    """Though it learns in the span of the seen vectors."""
    found = CMT().fit(world.X, world.y, world.vectors[:, :])
    places = found.layers_.output(world.hidden) @ found.basis_.T
    expected = [[-np.sum((place - name) ** 2) for place in places] for name in world.names]
    np.testing.assert_allclose(found.scores(world.hidden, world.names), expected, atol=1e-5)


def test_cmt_ranks_novel_pictures_first(world):
    plain, careful = (
        CMT(outliers=share).fit(world.X, world.y, world.vectors) for share in (1.0, 0.2)
    )
    both = np.vstack([world.X, world.hidden])
    output = careful.layers_.output(world.X)
    distances = np.array([[np.sum((f - w) ** 2) for w in careful.places_] for f in output])
    own = distances[np.arange(len(world.y)), world.y]
    for category, radius in enumerate(careful.radii_):
        assert (own[world.y == category] > radius).mean() == pytest.approx(0.2, abs=0.051)
    usual, scores = (found.scores(both, world.names) for found in (plain, careful))
    known = scores < usual - 0.5
    assert known[:, : len(world.X)].mean() > 0.7
    np.testing.assert_array_equal(known[0], known[1])
    assert scores[:, known[0]].max() < scores[:, ~known[0]].min()


def test_the_gradient_of_devise(tiny, rng, slope):
    X, y, T = tiny
    M = rng.randn(4, 5)
    violated = devise.hinges(M, X, y, T) > 0
    assert 0 < violated.sum() < violated.size
    expected = slope(lambda m: devise.loss(m, X, y, T), M)
    np.testing.assert_allclose(devise.gradient(violated, X, y, T), expected, atol=1e-6)


def test_the_hinges_of_devise(tiny, rng):
    X, y, T = tiny
    M = rng.randn(4, 5)
    for i, found in enumerate(devise.hinges(M, X, y, T)):
        own = T[y[i]] @ M.T @ X[i]
        terms = [max(0, 0.1 - own + T[j] @ M.T @ X[i]) if j != y[i] else 0 for j in range(3)]
        np.testing.assert_allclose(found, terms)


def test_devise_takes_every_violated_term_equally_often(rng):
    violated = np.array([[True, False, True, True], [False] * 4])
    chosen = np.sum([devise.one_of_each(violated, rng) for _ in range(3000)], axis=0)
    np.testing.assert_allclose(chosen[0] / 3000, [1 / 3, 0, 1 / 3, 1 / 3], atol=0.04)
    assert not chosen[1].any()


def test_the_loss_of_devise_falls(world):
    values = []
    for n_epochs in (0, 1, 5, 30):
        found = DeViSE(n_epochs=n_epochs).fit(world.X, world.y, world.vectors)
        T = world.vectors @ found.basis_
        values.append(devise.loss(found.M_, world.X, world.y, T))
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.5 * values[0]


def test_conse_by_hand():
    probabilities = np.array([[0.5, 0.1, 0.3, 0.1]])
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [5.0, 5.0]])
    place = conse.combined(probabilities, vectors, n_best=2)
    np.testing.assert_allclose(place, [[0.5 / 0.8, 0.3 * 2 / 0.8]])
    expected = (3 * 0.5 + 4 * 0.6) / (5 * np.hypot(0.5, 0.6))
    np.testing.assert_allclose(conse.cosines(np.array([[3.0, 4.0]]), place), [[expected]])


def test_conse_with_fewer_categories_than_it_counts():
    probabilities = np.array([[0.25, 0.75]])
    np.testing.assert_array_equal(conse.n_best_only(probabilities, 10), probabilities)


def test_conse_s_classifier_is_a_logistic_regression(world):
    found = ConSE(weight_decay=0.01, max_iter=500).fit(
        world.X.astype(float), world.y, world.vectors
    )
    usual = LogisticRegression(C=1 / (0.01 * len(world.X)), tol=1e-8, max_iter=2000)
    usual.fit(world.X.astype(float), world.y)
    expected = usual.predict_proba(world.hidden.astype(float))
    logits = world.hidden @ found.weights_ + found.biases_
    likely = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(likely, expected, atol=1e-3)


def test_the_gradient_of_conse(rng, slope):
    X, y, point = rng.randn(7, 3), rng.randint(4, size=7), rng.randn(4, 4)
    gradient = conse.loss_and_gradient(point, X, y, 0.3)[1]
    expected = slope(lambda p: conse.loss_and_gradient(p, X, y, 0.3)[0], point)
    np.testing.assert_allclose(gradient, expected, atol=1e-7)
