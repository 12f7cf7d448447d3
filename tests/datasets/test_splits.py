import numpy as np
import pytest
from numpy.testing import assert_array_equal

from zshash.datasets import conventional_split, zero_shot_split


@pytest.fixture
def labels():
    return np.repeat(np.arange(10), 20)


def test_roles_do_not_mix(labels):
    split = zero_shot_split(labels, [3, 8], n_train=50, n_queries=15, random_state=0)
    assert not np.isin(labels[split.train], [3, 8]).any()
    assert np.isin(labels[split.queries], [3, 8]).all()
    assert len(split.train) == 50
    assert len(split.queries) == 15
    assert np.isin(split.train, split.database).all()
    assert not np.isin(split.queries, split.database).any()
    assert sorted([*split.queries, *split.database]) == list(range(200))
    assert split.unseen.tolist() == [3, 8]
    assert split.seen.tolist() == [0, 1, 2, 4, 5, 6, 7, 9]


def test_defaults_use_all_and_half(labels):
    split = zero_shot_split(labels, [3], random_state=0)
    assert len(split.train) == 180
    assert len(split.queries) == 10


def test_same_seed_same_split(labels):
    first, again, other = (
        zero_shot_split(labels, 2, n_train=50, n_queries=5, random_state=seed) for seed in (1, 1, 2)
    )
    for name in ("train", "queries", "database", "seen", "unseen"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert not np.array_equal(first.train, other.train)


def test_categories_by_name():
    words = np.array(["cat", "dog", "eel", "cat", "dog", "eel"])
    split = zero_shot_split(words, ["eel"], random_state=0)
    assert split.seen.tolist() == ["cat", "dog"]
    assert len(split.queries) == 1


def test_a_random_number_of_categories_varies(labels):
    drawn = {tuple(zero_shot_split(labels, 2, random_state=seed).unseen) for seed in range(20)}
    assert len(drawn) > 10


def test_fewer_seen_samples_than_asked_for_is_said(labels):
    with pytest.warns(UserWarning, match="only 180 samples to train on: using all"):
        split = zero_shot_split(labels, [3], n_train=1000, random_state=0)
    assert len(split.train) == 180


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unseen": [3, 42]}, "no sample has the label 42"),
        ({"unseen": []}, "some categories must be seen and some unseen"),
        ({"unseen": range(10)}, "some categories must be seen"),
        ({"unseen": 10}, "10 of 10 categories can not be unseen"),
        ({"unseen": 0}, "0 of 10 categories"),
        ({"unseen": [3], "n_queries": 20}, "20 queries of 20 samples to draw from: at least one"),
        ({"unseen": [3], "n_queries": 0}, "0 queries of 20"),
        ({"unseen": [3], "n_train": 0}, "n_train must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_splits(labels, arguments, message):
    with pytest.raises(ValueError, match=message):
        zero_shot_split(labels, **arguments)


def test_of_several_labels_each_one_hidden_label_hides():
    rng = np.random.RandomState(0)
    labels = rng.rand(200, 6) < 0.3
    split = zero_shot_split(labels, [1, 4], n_queries=20, random_state=0)
    assert not labels[split.train][:, [1, 4]].any()
    assert labels[split.train].any(axis=1).all()
    assert labels[split.queries][:, [1, 4]].any(axis=1).all()
    can_train = ~labels[:, [1, 4]].any(axis=1) & labels.any(axis=1)
    assert_array_equal(split.train, np.flatnonzero(can_train))
    assert_array_equal(split.seen, [0, 2, 3, 5])
    assert_array_equal(split.unseen, [1, 4])
    assert_array_equal(np.sort(np.r_[split.queries, split.database]), np.arange(200))


def test_conventional_split_of_several_labels_each():
    labels = np.zeros((40, 3), dtype=int)
    labels[:30, 0] = 1
    labels[:20, 2] = 1
    split = conventional_split(labels, n_queries=10, random_state=0)
    assert labels[split.train].any(axis=1).all()
    assert_array_equal(split.seen, [0, 2])
    assert len(split.unseen) == 0


def test_a_matrix_of_other_numbers_can_not_be_split():
    with pytest.raises(ValueError, match=r"or a 0/1 matrix, got shape \(4, 2\)"):
        zero_shot_split(np.full((4, 2), 2), [0])


def test_nothing_hidden(labels):
    split = conventional_split(labels, n_train=50, n_queries=15, random_state=0)
    assert len(split.train) == 50
    assert len(split.queries) == 15
    assert np.isin(split.train, split.database).all()
    assert sorted([*split.queries, *split.database]) == list(range(200))
    assert split.unseen.size == 0
    assert split.seen.tolist() == np.unique(labels[split.train]).tolist()
    defaults = conventional_split(labels, random_state=0)
    assert len(defaults.queries) == 20
    np.testing.assert_array_equal(defaults.train, defaults.database)
    again = conventional_split(labels, n_train=50, n_queries=15, random_state=0)
    np.testing.assert_array_equal(split.train, again.train)
    with pytest.raises(ValueError, match="200 queries of 200 samples to draw from"):
        conventional_split(labels, n_queries=200)


def test_queries_of_seen_categories():
    labels = np.repeat(np.arange(10), 20)
    plain = zero_shot_split(labels, [3, 8], n_train=50, n_queries=15, random_state=0)
    split = zero_shot_split(
        labels, [3, 8], n_train=50, n_queries=15, n_seen_queries=12, random_state=0
    )
    for name in ("train", "queries", "database", "seen", "unseen"):  # all else stays
        np.testing.assert_array_equal(getattr(plain, name), getattr(split, name))
    assert len(split.seen_queries) == len(set(split.seen_queries)) == 12
    assert not np.isin(labels[split.seen_queries], [3, 8]).any()
    assert np.isin(split.seen_queries, split.database).all()
    assert not np.isin(split.seen_queries, split.train).any()
    np.testing.assert_array_equal(split.pool, np.setdiff1d(split.database, split.seen_queries))
    assert not split.finds_itself
    known = split.known_labels(labels)
    np.testing.assert_array_equal(np.flatnonzero(known >= 0), split.train)
    np.testing.assert_array_equal(known[split.train], labels[split.train])


def test_seen_queries_are_taken_out_of_the_training_if_nothing_else_is_left():
    labels = np.repeat(np.arange(10), 20)
    split = zero_shot_split(labels, [3], n_queries=15, n_seen_queries=None, random_state=0)
    assert len(split.seen_queries) == 15
    assert len(split.train) == 180 - 15
    few = zero_shot_split(labels, [3], n_queries=19, n_seen_queries=None, random_state=0)
    assert len(few.seen_queries) == 18  # a tenth of the seen samples
    with pytest.raises(ValueError, match="180 queries of 180 samples"):
        zero_shot_split(labels, [3], n_seen_queries=180)
    with pytest.raises(ValueError, match="n_seen_queries"):
        zero_shot_split(labels, [3], n_seen_queries=-1)


def test_labels_of_several_categories_that_are_known():
    labels = np.eye(4, dtype=bool).repeat(5, axis=0)
    split = zero_shot_split(labels, [1], n_train=6, n_queries=2, random_state=0)
    known = split.known_labels(labels)
    assert known.dtype == labels.dtype
    np.testing.assert_array_equal(np.flatnonzero(known.any(axis=1)), split.train)
