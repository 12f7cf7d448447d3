import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from sklearn.neighbors import NearestNeighbors

from zshash.hashing.steps import pool
from zshash.hashing.steps.linear import spectrum
from zshash.hashing.steps.rows import Rows, unit_rows


def clusters(n_each=30, n_clusters=6, d=12, spread=0.6, seed=0):
    """Members of clusters, in random order, and the cluster of each."""
    rng = np.random.RandomState(seed)
    categories = rng.permutation(np.repeat(np.arange(n_clusters), n_each))
    Z = rng.standard_normal((n_clusters, d))[categories]
    Z += spread * rng.standard_normal(Z.shape)
    return Z.astype(np.float32), categories


def by_hand(Z, k):
    """Averages of unit rows with their neighbours, by scikit-learn and loops."""
    T = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    _, near = NearestNeighbors(n_neighbors=k + 1).fit(T).kneighbors(T)
    for _ in range(pool.TIMES):
        sums = np.array([T[row] + sum(T[j] for j in near[row, 1:]) for row in range(len(T))])
        T = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return T


def test_averages_against_loops():
    Z, _ = clusters()
    nobody = np.full(len(Z), -1)
    np.testing.assert_allclose(pool.teacher(Z, nobody, 1.0, 5), by_hand(Z, 5), atol=1e-5)


@pytest.mark.parametrize("weight", [0.3, 0.8])
def test_a_mixture_of_samples_and_averages(weight):
    Z, _ = clusters()
    expected = (1 - weight) * unit_rows(Z) + weight * by_hand(Z, 4)
    found = pool.teacher(Z, np.full(len(Z), -1), weight, 4)
    np.testing.assert_allclose(found, unit_rows(expected), atol=1e-5)


def test_averages_bring_clusters_together_without_labels():
    Z, categories = clusters(spread=1.2)
    T = pool.teacher(Z, np.full(len(Z), -1), 1.0, 8)
    same = categories[:, None] == categories
    before, after = (
        (S * same).sum() / same.sum() for S in (unit_rows(Z) @ unit_rows(Z).T, T @ T.T)
    )
    assert after > before + 0.2


def test_labelled_samples_stand_where_their_category_does():
    Z, categories = clusters()
    known = np.where(np.arange(len(Z)) % 3 == 0, categories, -1)
    moved = pool.gathered(unit_rows(Z), known, 1.0)
    np.testing.assert_array_equal(moved[known < 0], unit_rows(Z)[known < 0])
    for category in range(6):
        rows = moved[known == category]
        np.testing.assert_allclose(rows, np.tile(rows[:1], (len(rows), 1)), atol=1e-6)
        mean = unit_rows(Z)[known == category].mean(axis=0)
        np.testing.assert_allclose(rows[0], mean / np.linalg.norm(mean), atol=1e-5)


def test_the_weight_grows_with_the_share_that_nobody_labelled():
    shares = [0, 0.1, 0.4, 0.7, 1]
    many = [pool.averaging_weight(np.arange(5000) >= 5000 * share, 10) for share in shares]
    np.testing.assert_allclose(many, [0, 0.15, 0.6, 1, 1])
    few = [pool.averaging_weight(np.arange(100) >= 100 * share, 200) for share in shares]
    np.testing.assert_allclose(few, [0.25, 0.45, 1, 1, 1])


def test_labels_pull_as_far_as_samples_lack_one():
    assert pool.label_pull(1.0, 100) == pool.label_pull(1.0, 10_000) == 1
    assert pool.label_pull(0.0, 100) == 0
    assert pool.label_pull(0.25, 10_000) == 0.5
    assert 0.25 < pool.label_pull(0.25, 100) < 0.5


def test_samples_are_few_in_all_or_for_each_feature():
    assert pool.scarcity(10_000, 256) == pool.scarcity(5000, 600) == 0
    assert pool.scarcity(900, 8) == pool.scarcity(5000, 5000) == 1
    assert 0 < pool.scarcity(3000, 8) < 1
    assert 0 < pool.scarcity(10_000, 2048) < 1


def test_numbers_of_neighbours():
    assert [pool.n_neighbors(n) for n in (2, 3, 30, 240, 768, 10**6)] == [1, 2, 3, 10, 18, 20]


def test_the_safe_shrinkage_falls_as_variances_get_known():
    assert pool.safe_shrinkage(10**6, 100) == 1
    assert pool.safe_shrinkage(200, 1000) == 100
    assert pool.safe_shrinkage(200, 1000, 10_000) < 2


def stretched(seed=0):
    """Clusters that differ along directions of small variance, beside others of large variance."""
    Z, categories = clusters(n_each=60, spread=0.5, seed=seed)
    rng = np.random.RandomState(seed + 1)
    return np.hstack([Z, 8 * rng.standard_normal((len(Z), 12))]).astype(np.float32), categories


def test_labels_choose_the_whitening():
    X, categories = stretched()
    own = {"weight": 0.5, "safe": 100.0, "rng": np.random.RandomState(0)}
    some = np.where(np.arange(len(X)) < 300, categories, -1)
    best = pool.choose_shrinkage(spectrum(Rows(X)), X, some, **own)
    assert best < 1
    assert pool.choose_shrinkage(spectrum(Rows(X)), X, categories, **own) < 1
    Z, categories = clusters(n_each=60)
    Z = np.hstack([Z, 0.05 * np.random.RandomState(0).standard_normal((len(Z), 40))])
    Z = Z.astype(np.float32)  # whitening would lift what means nothing
    own["safe"] = 0.02
    assert pool.choose_shrinkage(spectrum(Rows(Z)), Z, categories, **own) > 0.02


def test_a_small_gain_says_nothing_of_categories_that_are_not_there():
    X, categories = clusters(n_each=60, spread=1.0)
    some = np.where(np.arange(len(X)) > 5, categories, -1)
    own = {"weight": 0.0, "safe": 50.0}
    best, all_labelled = (
        pool.choose_shrinkage(spectrum(Rows(X)), X, known, **own, rng=np.random.RandomState(0))
        for known in (some, categories)
    )
    assert best == 100
    assert 50 < all_labelled < 52


@pytest.mark.parametrize("labels", ["none", "one category", "all different", "few"])
def test_labels_that_tell_nothing_leave_the_safe_choice(labels):
    X, categories = stretched()
    known = {
        "none": np.full(len(X), -1),
        "one category": np.where(categories == 0, 0, -1),
        "all different": np.arange(len(X)),
        "few": np.where(np.arange(len(X)) < 9, categories, -1),
    }[labels]
    found = pool.choose_shrinkage(spectrum(Rows(X)), X, known, 0.5, 7.0, np.random.RandomState(0))
    assert found == 7.0


def test_average_precisions_against_scikit_learn():
    rng = np.random.RandomState(0)
    near, is_relevant = rng.standard_normal((20, 50)), rng.rand(20, 50) < 0.2
    is_relevant[:, 0] = True
    expected = [average_precision_score(*each) for each in zip(is_relevant, near, strict=True)]
    np.testing.assert_allclose(pool.average_precisions(near, is_relevant), expected)
