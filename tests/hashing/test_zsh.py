"""Every step against a numerical optimum or a dense formula, and the method on real digits."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from zshash import ZSH, codes, metrics
from zshash.datasets import digits, load_features, zero_shot_split
from zshash.hashing.steps import graphs
from zshash.semantics import WordNet, WordVectors

WEIGHTS = {"alpha": 0.3, "beta": 0.2, "gamma": 0.4, "lam": 0.5}


@pytest.fixture(scope="module")
def small():
    """A few unit vectors in three groups, with a vector for each group's name."""
    rng = np.random.RandomState(0)
    labels = rng.randint(0, 3, 120)
    X = 2 * rng.standard_normal((3, 6))[labels] + rng.standard_normal((120, 6))
    E = rng.standard_normal((3, 4))
    unit = [M / np.linalg.norm(M, axis=1, keepdims=True) for M in (X, E)]
    return unit[0].astype(np.float32), unit[1][labels], labels


@pytest.fixture(scope="module")
def digit_split():
    data = digits()
    return data, zero_shot_split(data.labels, [4, 7], n_queries=100, random_state=0)


def parts_of(hasher, X):
    """Φ, L, B, P, W and R of a fitted hasher, dense and in float64."""
    Phi = np.exp(-cdist(X, hasher.anchors_, "sqeuclidean") / hasher.bandwidth_)
    Phi = np.hstack([Phi, np.ones((len(X), 1))])
    L = graphs.neighbor_laplacian(X, hasher.n_neighbors, hasher.sigma).toarray()
    B = 2.0 * codes.unpack(hasher.codes_, hasher.n_bits) - 1
    P = hasher.projection_.astype(float)
    return Phi, L, B, P, hasher.mapping_, hasher.rotation_


def visual_loss(P, Phi, L, B, alpha, beta, gamma):
    projected = Phi @ P
    return (
        alpha * np.square(projected - B).sum()
        + beta * np.square(P).sum()
        + gamma * np.sum(projected * (L @ projected))
    )


@pytest.mark.parametrize("rotation", ["procrustes", "cayley", None])
@pytest.mark.parametrize("graph", ["knn", "anchor", None])
@pytest.mark.parametrize("weights", [{}, WEIGHTS])
def test_the_objective_never_rises(small, rotation, graph, weights):
    X, Y, _ = small
    for seed in range(3):
        hasher = ZSH(
            16, n_anchors=40, rotation=rotation, graph=graph, random_state=seed, **weights
        ).fit(X, Y)
        values = hasher.objective_
        assert len(values) == hasher.n_iter_ <= 10
        assert (np.diff(values) <= 1e-6 * values[:-1] + 1e-9).all()


def test_the_objective_is_the_papers(small):
    X, Y, _ = small
    hasher = ZSH(12, n_anchors=30, max_iter=500, random_state=0, **WEIGHTS).fit(X, Y)
    assert hasher.n_iter_ < 500  # the codes stopped changing, so the last P is the one measured
    Phi, L, B, P, W, R = parts_of(hasher, X)
    expected = np.square(Y @ R - B @ W).sum() + 0.5 * np.square(W).sum()
    expected += visual_loss(P, Phi, L, B, 0.3, 0.2, 0.4)
    assert hasher.objective_[-1] == pytest.approx(expected, rel=1e-5)


def test_projection_is_the_numerical_optimum(small):
    X, Y, _ = small
    hasher = ZSH(8, n_anchors=5, random_state=0, **WEIGHTS).fit(X, Y)
    Phi, L, B, P, _, _ = parts_of(hasher, X)

    def loss(flat):
        return visual_loss(flat.reshape(P.shape), Phi, L, B, 0.3, 0.2, 0.4)

    best = minimize(loss, np.zeros(P.size), method="L-BFGS-B", options={"maxiter": 5000})
    assert loss(P.ravel()) == pytest.approx(best.fun, rel=1e-4)
    assert loss(P.ravel()) <= best.fun + 1e-6


@pytest.mark.parametrize("max_iter", [1, 3])
def test_projection_fits_the_last_codes_also_where_they_still_change(small, max_iter):
    X, Y, _ = small
    hasher = ZSH(8, n_anchors=20, max_iter=max_iter, random_state=0, **WEIGHTS).fit(X, Y)
    longer = ZSH(8, n_anchors=20, max_iter=max_iter + 1, random_state=0, **WEIGHTS).fit(X, Y)
    assert not np.array_equal(hasher.codes_, longer.codes_)
    Phi, L, B, P, _, _ = parts_of(hasher, X)
    M = Phi.T @ Phi + 0.2 / 0.3 * np.eye(21) + 0.4 / 0.3 * Phi.T @ L @ Phi
    np.testing.assert_allclose(P, np.linalg.solve(M, Phi.T @ B), atol=1e-3)


def test_mapping_is_a_ridge_regression(small):
    X, Y, _ = small
    hasher = ZSH(8, n_anchors=30, lam=0.5, random_state=0).fit(X, Y)
    _, _, B, _, W, R = parts_of(hasher, X)
    np.testing.assert_allclose(
        W, Ridge(alpha=0.5, fit_intercept=False).fit(B, Y @ R).coef_.T, atol=1e-8
    )
    np.testing.assert_allclose(R.T @ R, np.eye(4), atol=1e-10)


def test_no_single_flip_lowers_the_objective_once_it_has_converged(small):
    X, Y, _ = small
    hasher = ZSH(8, n_anchors=30, max_iter=500, n_sweeps=20, random_state=0, **WEIGHTS).fit(X, Y)
    Phi, _, B, P, W, R = parts_of(hasher, X)

    def loss(B):
        return np.square(Y @ R - B @ W).sum(axis=1) + 0.3 * np.square(Phi @ P - B).sum(axis=1)

    for k in range(8):
        flipped = B.copy()
        flipped[:, k] *= -1
        assert (loss(flipped) >= loss(B) - 1e-4).all()


def test_the_codes_do_not_depend_on_the_rotation(digit_split):
    data, split = digit_split
    names = [data.names[i] for i in split.seen]
    Y = WordNet(basis=names).embed(names)[np.searchsorted(split.seen, data.labels[split.train])]
    found = [
        ZSH(32, n_anchors=200, normalize=True, rotation=rotation, random_state=3).fit(
            data.X[split.train], Y
        )
        for rotation in ("procrustes", "cayley", None)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].codes_, other.codes_)
        np.testing.assert_allclose(found[0].objective_, other.objective_, rtol=1e-6)
        A, B = (h.mapping_ @ h.rotation_.T for h in (found[0], other))
        np.testing.assert_allclose(A, B, atol=1e-6)
    assert not np.allclose(found[0].rotation_, found[2].rotation_, atol=0.1)


def test_three_ways_to_give_the_same_labels(small):
    X, _, labels = small
    one_hot = np.eye(3)[labels]
    words = np.array(["ant", "bee", "cat"])[labels]
    found = [
        ZSH(16, n_anchors=30, random_state=0).fit(X, y)
        for y in (labels, words, one_hot.astype(int), one_hot, one_hot.tolist())
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].codes_, other.codes_)
        np.testing.assert_array_equal(found[0].projection_, other.projection_)
    assert found[1].classes_.tolist() == ["ant", "bee", "cat"]
    assert not hasattr(found[3], "classes_")
    assert not hasattr(found[1].fit(X, one_hot), "classes_")


def test_several_labels_each(small):
    X, _, labels = small
    Y = np.zeros((120, 4), dtype=int)
    Y[np.arange(120), labels] = 1
    Y[::3, 3] = 1
    hasher = ZSH(16, n_anchors=30, random_state=0).fit(X, Y)
    assert hasher.mapping_.shape == (16, 4)
    assert (np.diff(hasher.objective_) <= 1e-6).all()
    # the learned codes give the labels back: those of a sample score above those it lacks
    scores = (2.0 * codes.unpack(hasher.codes_, 16) - 1) @ hasher.mapping_ @ hasher.rotation_.T
    assert scores[Y == 1].mean() > scores[Y == 0].mean() + 0.5


def test_targets_of_their_own_for_every_sample(small):
    X, Y, _ = small
    noisy = Y + 0.01 * np.random.RandomState(0).standard_normal(Y.shape)
    hasher = ZSH(16, n_anchors=30, random_state=0).fit(X, noisy)
    assert (np.diff(hasher.objective_) <= 1e-6).all()
    assert hasher.mapping_.shape == (16, 4)


@pytest.mark.parametrize("graph", ["knn", "anchor", None])
def test_large_data_is_not_held_whole_and_gives_the_same(graph):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((3000, 5)), rng.randint(0, 4, 3000)
    whole = ZSH(16, n_anchors=120, graph=graph, random_state=0).fit(X, y)
    with config_context(working_memory=1):  # φ would take 1.4 MB
        blocks = ZSH(16, n_anchors=120, graph=graph, random_state=0).fit(X, y)
    np.testing.assert_allclose(blocks.objective_, whole.objective_, rtol=1e-6)
    assert (blocks.codes_ == whole.codes_).mean() > 0.999


@pytest.mark.parametrize("n_bits", [8, 12, 100, 1024])
def test_any_width(small, n_bits):
    X, Y, _ = small
    hasher = ZSH(n_bits, n_anchors=30, max_iter=2, random_state=0).fit(X, Y)
    assert hasher.project(X).shape == (120, n_bits)
    assert hasher.project(X).dtype == np.float32
    assert hasher.encode(X).shape == hasher.codes_.shape == (120, codes.code_bytes(n_bits))
    np.testing.assert_array_equal(codes.unpack(hasher.encode(X), n_bits), hasher.transform(X))
    np.testing.assert_array_equal(hasher.transform(X), hasher.project(X) >= 0)


def test_same_seed_same_codes_whatever_the_threads(small):
    X, Y, _ = small
    X = np.vstack([X] * 20) + 0.1 * np.random.RandomState(1).standard_normal((2400, 6))
    Y = np.vstack([Y] * 20)
    for anchors in ("random", "kmeans"):
        first = ZSH(16, n_anchors=60, anchors=anchors, random_state=5).fit(X, Y)
        with threadpool_limits(1):
            second = ZSH(16, n_anchors=60, anchors=anchors, random_state=5).fit(X, Y)
        np.testing.assert_array_equal(first.codes_, second.codes_)
        np.testing.assert_array_equal(first.projection_, second.projection_)
    other = ZSH(16, n_anchors=60, random_state=6).fit(X, Y)
    assert not np.array_equal(first.codes_, other.codes_)


def test_normalize_is_remembered(small):
    X, Y, _ = small
    lengths = np.random.RandomState(0).uniform(1, 9, (120, 1))
    hasher = ZSH(16, n_anchors=30, normalize=True, random_state=0).fit(lengths * X, Y)
    plain = ZSH(16, n_anchors=30, random_state=0).fit(X, Y)
    np.testing.assert_allclose(hasher.project(5 * X), plain.project(X), atol=1e-3)


def test_given_bandwidth(small):
    X, Y, _ = small
    assert ZSH(8, n_anchors=30, bandwidth=0.7, random_state=0).fit(X, Y).bandwidth_ == 0.7


def test_finds_unseen_digits(digit_split):
    data, split = digit_split
    hasher = ZSH(64, n_anchors=300, normalize=True, random_state=0)
    hasher.fit(data.X[split.train], data.labels[split.train])
    scores = metrics.evaluate(
        hasher.encode(data.X[split.queries]),
        hasher.encode(data.X[split.database]),
        metrics.same_label(data.labels[split.queries], data.labels[split.database]),
        k=100,
    )
    assert scores["map"] > 0.5  # one picture in ten would be right by chance


def test_cifar10_truck(data_folder):
    data = load_features(data_folder / "features" / "cifar10_lite0_pca256.npz")
    E = WordVectors.load(data_folder / "words" / "huang2012_50d.txt").embed(data.names)
    split = zero_shot_split(data.labels, [9], n_train=10_000, n_queries=300, random_state=0)
    hasher = ZSH(64, normalize=True, random_state=0).fit(
        data.X[split.train], E[data.labels[split.train]]
    )
    scores = metrics.evaluate(
        hasher.encode(data.X[split.queries]),
        hasher.encode(data.X[split.database]),
        metrics.same_label(data.labels[split.queries], data.labels[split.database]),
        k=5000,
    )
    assert scores["map"] > 0.35
    assert scores["precision"] > 0.35


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bits": 7}, "n_bits must be a whole number of at least 8 and of at most 1024, got 7"),
        ({"n_bits": 1025}, "n_bits must be .* got 1025"),
        ({"n_bits": 16.0}, "n_bits must be a whole number"),
        ({"n_bits": True}, "n_bits must be a whole number"),
        ({"n_anchors": 0}, "n_anchors must be a whole number of at least 1, got 0"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"n_sweeps": 0}, "n_sweeps must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"alpha": 0}, "alpha must be a number above 0, got 0"),
        ({"lam": -1}, "lam must be a number above 0"),
        ({"beta": -1e-3}, "beta must be a number of at least 0"),
        ({"gamma": float("nan")}, "gamma must be a number of at least 0, got nan"),
        ({"bandwidth": 0}, "bandwidth must be a number above 0"),
        ({"normalize": "no"}, "normalize must be one of True, False, got 'no'"),
        ({"sigma": np.array([1, 2])}, "sigma must be a number above 0"),
        ({"graph": np.array(["knn"])}, "graph must be one of"),
        ({"sigma": "wide"}, "sigma must be a number above 0, got 'wide'"),
        ({"anchors": "all"}, "anchors must be one of 'random', 'kmeans', got 'all'"),
        ({"graph": "full"}, "graph must be one of 'knn', 'anchor', None, got 'full'"),
        ({"rotation": "svd"}, "rotation must be one of 'procrustes', 'cayley', None"),
    ],
)
def test_bad_parameters(small, parameters, message):
    X, Y, _ = small
    with pytest.raises(ValueError, match=message):
        ZSH(**parameters).fit(X, Y)


def test_bad_features(small):
    X, Y, _ = small
    broken = X.copy()
    broken[[7, 9], 2] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"NaN or infinity \(inf\), .* in 2 of 120 rows, .* row 7"):
        ZSH(8, n_anchors=30).fit(broken, Y)
    hasher = ZSH(8, n_anchors=30, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="in 2 of 120 rows"):
        hasher.encode(broken)
    with pytest.raises(ValueError, match="X has 5 features, but ZSH is expecting 6"):
        hasher.encode(X[:, :5])
    with pytest.raises(ValueError, match="all rows of X are equal"):
        ZSH(8, n_anchors=30).fit(np.ones((50, 3)), np.arange(50) % 2)
    with pytest.warns(UserWarning, match="using 120 anchors") as caught:
        ZSH(8, n_anchors=1000).fit(X, Y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("graph", ["knn", "anchor", None])
def test_values_too_large_for_float32_are_refused(small, graph):
    X, Y, _ = small
    for value in (1e20, 3e38):
        broken = X.copy()
        broken[3] = value
        with pytest.raises(ValueError, match=r"too large for float32 in 1 of 120 rows, .* row 3"):
            ZSH(8, n_anchors=30, graph=graph, random_state=0).fit(broken, Y)
    with pytest.raises(ValueError, match="too large for float32"):
        ZSH(8, n_anchors=30, graph=graph).fit(X.astype(float) * 1e300, Y)


@pytest.mark.parametrize("graph", ["knn", "anchor", None])
def test_the_scale_of_the_features_does_not_matter(small, graph):
    X, Y, _ = small
    plain = ZSH(16, n_anchors=30, graph=graph, sigma="auto", random_state=0).fit(X, Y)
    for factor in (2.0**-70, 2.0**50):
        scaled = ZSH(16, n_anchors=30, graph=graph, sigma="auto", random_state=0)
        scaled.fit(factor * X, Y)
        assert (scaled.codes_ == plain.codes_).mean() > 0.99
        np.testing.assert_allclose(scaled.project(factor * X), plain.project(X), atol=0.02)


def test_a_query_far_from_everything_gets_the_code_of_the_bias(small):
    X, Y, _ = small
    hasher = ZSH(16, n_anchors=30, normalize=False, random_state=0).fit(X, Y)
    far = hasher.project(np.full((1, 6), 1e17))
    np.testing.assert_array_equal(far[0], hasher.projection_[-1])


def test_a_bandwidth_too_small_is_said(small):
    X, Y, _ = small
    with pytest.raises(ValueError, match="bandwidth=1e-40 is far below the distances"):
        ZSH(8, n_anchors=30, bandwidth=1e-40, random_state=0).fit(X, Y)
    hasher = ZSH(8, n_anchors=30, bandwidth=1e-20, random_state=0).fit(X, Y)
    assert np.isfinite(hasher.objective_).all()
