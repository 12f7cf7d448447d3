import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from zshash.hashing.imagination import category_means
from zshash.hashing.novelty import FEWEST, MOST, Novelty


def scattered(n_categories=6, n=40, d=8, seed=0):
    """Members of categories around means of their own, centred; and which category they are of."""
    rng = np.random.RandomState(seed)
    categories = np.repeat(np.arange(n_categories), n)
    Z = 2 * rng.standard_normal((n_categories, d))[categories]
    Z += rng.standard_normal(Z.shape)
    return (Z - Z.mean(axis=0)).astype(np.float32), categories


def make(Z, categories):
    return Novelty(Z, categories, category_means(Z, categories))


def by_hand(rows, means):
    return np.array(
        [min(np.square(row - m).sum() for m in means) - np.square(row).sum() / 2 for row in rows]
    )


def test_scores_by_hand():
    Z, categories = scattered()
    rows = np.random.RandomState(1).standard_normal((30, 8)).astype(np.float32) * 2
    means = [Z[categories == k].mean(axis=0) for k in range(6)] + [np.zeros(8)]
    own, expected = by_hand(Z, means), by_hand(rows, means)
    expected = ((expected - own.mean()) / own.std()).clip(-MOST, MOST)
    assert np.ptp(expected) > 1
    np.testing.assert_allclose(make(Z, categories)(rows), expected, atol=1e-4)


def test_samples_have_mean_zero_and_deviation_one():
    Z, categories = scattered()
    scores = make(Z, categories)(Z)
    assert scores.dtype == np.float32
    assert scores.mean() == pytest.approx(0, abs=0.05)  # but for those that are cut off
    assert scores.std() == pytest.approx(1, abs=0.05)


def test_members_of_a_hidden_category_are_novel():
    Z, categories = scattered(n_categories=12, d=24)
    seen = categories > 0
    scores = make(Z[seen][::2], categories[seen][::2])(Z)
    others = seen.copy()
    others[np.flatnonzero(seen)[::2]] = False
    assert scores[~seen].mean() > scores[others].mean() + 1
    assert (
        roc_auc_score(
            np.r_[np.ones(40), np.zeros(others.sum())], np.r_[scores[:40], scores[others]]
        )
        > 0.9
    )


def test_no_row_is_more_than_three_deviations_off():
    Z, categories = scattered()
    scores = make(Z, categories)(np.vstack([100 * Z, 0 * Z[:1]]))
    assert scores.max() == MOST
    assert scores.min() >= -MOST


def test_rare_categories_have_no_mean_of_their_own():
    Z, categories = scattered()
    rare = np.flatnonzero(categories == 2)[FEWEST - 1 :]
    few = np.delete(Z, rare, axis=0), np.delete(categories, rare)
    novelty = make(*few)
    assert len(novelty.means) == 1 + 5
    gone = make(few[0][few[1] != 2], few[1][few[1] != 2])
    np.testing.assert_allclose(novelty.means, gone.means, atol=1e-6)


def test_without_categories_it_is_the_length_alone():
    Z, _ = scattered()
    scores = make(Z, np.arange(len(Z)))(Z)
    np.testing.assert_array_equal(np.argsort(scores), np.argsort(np.square(Z).sum(axis=1)))


def test_many_samples_are_worked_on_in_blocks(monkeypatch):
    Z, categories = scattered()
    whole = make(Z, categories)
    monkeypatch.setattr("zshash.hashing.novelty.BLOCK_ROWS", 100)
    parts = make(Z, categories)
    np.testing.assert_allclose(
        [parts.centre, parts.spread], [whole.centre, whole.spread], rtol=1e-5
    )


def test_samples_that_are_all_alike():
    Z = np.zeros((20, 3), dtype=np.float32)
    np.testing.assert_array_equal(make(Z, np.arange(20) % 2)(Z), 0)
