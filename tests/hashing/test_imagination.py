import numpy as np
import pytest

from zshash.hashing.imagination import CLOSENESS, MEMBERS, Batches, category_means


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
