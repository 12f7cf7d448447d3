import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from zshash.hashing.steps.imagination import (
    CLOSENESS,
    FEWEST,
    MEMBERS,
    MOST,
    Batches,
    Novelty,
    category_means,
)


def make(n=100, n_categories=7, seed=0, categories=None, p=0, **parameters):
    rng = np.random.RandomState(seed)
    Z = rng.standard_normal((n, 5)).astype(np.float32)
    Z -= Z.mean(axis=0)
    if categories is None:
        categories = np.concatenate([np.arange(n_categories), rng.randint(n_categories, size=n)])[
            :n
        ]
    meanings = rng.standard_normal((categories.max() + 1, p)).astype(np.float32)
    parameters = {
        "novelty": 0.0,
        "size": 20,
        "imaginary": 0.5,
        "rng": np.random.RandomState(1),
    } | parameters
    return Batches(Z, categories, meanings, **parameters), categories, meanings


def test_means_by_hand():
    Z = np.float32([[1, 2], [3, 4], [5, 6], [7, 8]])
    means = category_means(Z, np.array([2, 0, 2, 4]))
    np.testing.assert_array_equal(means, [[3, 4], [0, 0], [3, 4], [0, 0], [7, 8]])
    assert means.dtype == np.float32


def test_means_of_many_categories():
    rng = np.random.RandomState(0)
    Z, categories = rng.standard_normal((500, 4)).astype(np.float32), rng.randint(30, size=500)
    expected = [Z[categories == k].mean(axis=0) for k in range(30)]
    np.testing.assert_allclose(category_means(Z, categories), expected, atol=1e-6)


def test_each_sample_has_its_turn_once_an_epoch():
    batches, _, _ = make()
    drawn = np.concatenate([batches.draw().samples for _ in range(50)])
    assert len(drawn) == 50 * (20 - MEMBERS)
    for epoch in drawn.reshape(-1, 100):
        np.testing.assert_array_equal(np.sort(epoch), np.arange(100))
    assert not np.array_equal(drawn[:100], drawn[100:200])


@pytest.mark.parametrize(
    ("size", "imaginary", "n_imagined"),
    [
        (64, 0, 0),
        (64, 0.25, 16),
        (64, 0.24, 8),
        (64, 1, 64),
        (100, 1, 96),
        (7, 1, 0),
        (500, 0.5, 48),
    ],
)
def test_the_share_of_imagined_rows(size, imaginary, n_imagined):
    batches, _, _ = make(size=size, imaginary=imaginary)
    assert batches.size == min(size, 100)
    draw = batches.draw()
    assert len(draw.centres) == len(draw.deviations) == n_imagined
    assert len(draw.samples) == batches.size - n_imagined
    assert batches.rows(draw).shape == (batches.size, 5)


def test_imagined_rows_scatter_around_their_centre_as_real_ones_do():
    batches, categories, _ = make(size=80, imaginary=0.6)
    draw = batches.draw()
    rows = batches.rows(draw)
    np.testing.assert_array_equal(rows[48:], batches.Z[draw.samples])
    for members in np.arange(48).reshape(-1, MEMBERS):
        (centre,) = set(draw.centres[members])
        for row in members:
            sample = draw.deviations[row]
            own = batches.Z[categories == categories[sample]].mean(axis=0)
            expected = CLOSENESS * batches.Z[centre] + batches.Z[sample] - own
            np.testing.assert_allclose(rows[row], expected, atol=1e-5)
    assert len(set(draw.centres)) > 1


def test_only_samples_with_company_scatter():
    categories = np.array([0, 1, 1, 2, 3, 3, 4, 5] + [6 + i for i in range(32)])
    batches, _, _ = make(40, categories=categories, size=40, imaginary=1.0)
    drawn = np.concatenate([batches.draw().deviations for _ in range(20)])
    assert set(drawn) == {1, 2, 4, 5}


def test_no_categories_are_imagined_where_all_samples_are_alone():
    batches, _, _ = make(40, categories=np.arange(40)[::-1], size=32, imaginary=1.0)
    draw = batches.draw()
    assert len(draw.centres) == 0
    assert len(draw.samples) == 32
    np.testing.assert_array_equal(batches.rows(draw), batches.Z[draw.samples])


def test_a_lesson_is_rows_of_unit_length_how_novel_they_are_and_what_they_mean():
    batches, categories, meanings = make(p=3, novelty=0.04)
    batches.Z[4] = 0
    for _ in range(10):  # until all samples had their turn
        draw = batches.draw()
        rows = batches.rows(draw)
        lesson = batches.lesson(draw, rows)
        assert lesson.dtype == np.float32
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        np.testing.assert_allclose(lesson[:, :5] * lengths, rows, atol=1e-6)
        np.testing.assert_allclose(
            np.linalg.norm(lesson[:, :5], axis=1), lengths[:, 0] > 0, rtol=1e-5
        )
        np.testing.assert_allclose(lesson[:, 5], 0.2 * batches.novelty(rows), rtol=1e-6)
        np.testing.assert_array_equal(lesson[:MEMBERS, 6:], 0)
        np.testing.assert_array_equal(lesson[MEMBERS:, 6:], meanings[categories[draw.samples]])


def test_without_meanings_and_novelty_a_lesson_is_rows_alone():
    batches, _, _ = make()
    draw = batches.draw()
    lesson = batches.lesson(draw, batches.rows(draw))
    assert lesson.shape == (20, 6)
    np.testing.assert_array_equal(lesson[:, 5], 0)


def test_same_seed_same_batches():
    first, second, other = (make(rng=np.random.RandomState(seed))[0] for seed in (3, 3, 4))
    for _ in range(12):
        draws = [batches.draw() for batches in (first, second, other)]
        for name in ("centres", "deviations", "samples"):
            numbers = [getattr(draw, name) for draw in draws]
            np.testing.assert_array_equal(numbers[0], numbers[1])
        assert not np.array_equal(draws[0].samples, draws[2].samples)


def scattered(n_categories=6, n=40, d=8, seed=0):
    """Members of categories around means of their own, centred; and the category of each."""
    rng = np.random.RandomState(seed)
    categories = np.repeat(np.arange(n_categories), n)
    Z = 2 * rng.standard_normal((n_categories, d))[categories]
    Z += rng.standard_normal(Z.shape)
    return (Z - Z.mean(axis=0)).astype(np.float32), categories


def novelty_of(Z, categories):
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
    np.testing.assert_allclose(novelty_of(Z, categories)(rows), expected, atol=1e-4)


def test_samples_have_mean_zero_and_deviation_one():
    Z, categories = scattered()
    scores = novelty_of(Z, categories)(Z)
    assert scores.dtype == np.float32
    assert scores.mean() == pytest.approx(0, abs=0.05)  # but for those that are cut off
    assert scores.std() == pytest.approx(1, abs=0.05)


def test_members_of_a_hidden_category_are_novel():
    Z, categories = scattered(n_categories=12, d=24)
    seen = categories > 0
    scores = novelty_of(Z[seen][::2], categories[seen][::2])(Z)
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
    scores = novelty_of(Z, categories)(np.vstack([100 * Z, 0 * Z[:1]]))
    assert scores.max() == MOST
    assert scores.min() >= -MOST


def test_rare_categories_have_no_mean_of_their_own():
    Z, categories = scattered()
    rare = np.flatnonzero(categories == 2)[FEWEST - 1 :]
    few = np.delete(Z, rare, axis=0), np.delete(categories, rare)
    novelty = novelty_of(*few)
    assert len(novelty.means) == 1 + 5
    gone = novelty_of(few[0][few[1] != 2], few[1][few[1] != 2])
    np.testing.assert_allclose(novelty.means, gone.means, atol=1e-6)


def test_without_categories_it_is_the_length_alone():
    Z, _ = scattered()
    scores = novelty_of(Z, np.arange(len(Z)))(Z)
    np.testing.assert_array_equal(np.argsort(scores), np.argsort(np.square(Z).sum(axis=1)))


def test_many_samples_are_worked_on_in_blocks(monkeypatch):
    Z, categories = scattered()
    whole = novelty_of(Z, categories)
    monkeypatch.setattr("zshash.hashing.steps.imagination.BLOCK_ROWS", 100)
    parts = novelty_of(Z, categories)
    np.testing.assert_allclose(
        [parts.centre, parts.spread], [whole.centre, whole.spread], rtol=1e-5
    )


def test_samples_that_are_all_alike():
    Z = np.zeros((20, 3), dtype=np.float32)
    np.testing.assert_array_equal(novelty_of(Z, np.arange(20) % 2)(Z), 0)
