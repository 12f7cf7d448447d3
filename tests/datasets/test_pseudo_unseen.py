"""Held-out categories, against sets counted by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_validate

import zshash
from zshash.datasets import PseudoUnseenSplit, digits
from zshash.evaluation import RetrievalScorer


def own_categories(labels, row):
    """The categories of a sample, as a set."""
    return set(np.flatnonzero(labels[row])) if labels.ndim == 2 else {labels[row]}


def by_hand(labels, hidden):
    """Rows of held-out categories, and rows that may be trained on."""
    hidden, rows = set(hidden), range(len(labels))
    strangers = [row for row in rows if own_categories(labels, row) & hidden]
    others = [row for row in rows if own_categories(labels, row) and row not in set(strangers)]
    return strangers, others


@st.composite
def label_vectors(draw):
    words = draw(st.booleans())
    n_categories = draw(st.integers(3, 12))
    sizes = draw(st.lists(st.integers(2, 9), min_size=n_categories, max_size=n_categories))
    labels = np.random.RandomState(draw(st.integers(0, 99))).permutation(
        np.repeat(np.arange(n_categories), sizes)
    )
    return np.array([f"c{label:02d}" for label in labels]) if words else labels


@st.composite
def label_matrices(draw):
    rng = np.random.RandomState(draw(st.integers(0, 999)))
    labels = rng.rand(draw(st.integers(60, 90)), draw(st.integers(5, 9))) < 0.15
    return labels.astype(draw(st.sampled_from([np.bool_, np.int64, np.float64])))


@settings(max_examples=60, deadline=None)
@given(
    labels=label_vectors() | label_matrices(), seed=st.integers(0, 99), n_splits=st.integers(1, 4)
)
def test_folds_by_brute_force(labels, seed, n_splits):
    splitter = PseudoUnseenSplit(n_splits, random_state=seed)
    folds, parts = list(splitter.folds(labels)), list(splitter.split(None, labels))
    assert len(folds) == len(parts) == splitter.get_n_splits() == n_splits
    for fold, (train, test) in zip(folds, parts, strict=True):
        strangers, others = by_hand(labels, fold.unseen)
        n_queries = max(len(strangers) // 2, 1)
        assert fold.train.tolist() == others
        assert set(fold.queries) < set(strangers)
        assert len(fold.queries) == n_queries
        assert sorted([*fold.queries, *fold.database]) == list(range(len(labels)))
        assert set(train) <= set(others)
        assert len(train) == len(others) - len(others) // 5
        assert sorted([*train, *test]) == list(range(len(labels)))
        assert_array_equal(test[:n_queries], fold.queries)
        assert (np.diff(train) > 0).all()
        assert (np.diff(test[n_queries:]) > 0).all()


@settings(max_examples=60, deadline=None)
@example(n_categories=8, n_unseen=6, n_splits=9, seed=13)
@given(
    n_categories=st.integers(3, 30),
    n_unseen=st.none() | st.integers(1, 8),
    n_splits=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_every_category_has_its_turn_before_any_has_another(n_categories, n_unseen, n_splits, seed):
    labels = np.repeat(np.arange(n_categories), 3)
    splitter = PseudoUnseenSplit(n_splits, n_unseen, random_state=seed)
    expected = n_unseen or max(round(n_categories / 10), 1)
    if n_categories - expected < 2:
        with pytest.raises(ValueError, match="held out"):
            list(splitter.folds(labels))
        return
    turns = Counter()
    for fold in splitter.folds(labels):
        assert len(set(fold.unseen)) == len(fold.unseen) == expected
        assert len(fold.seen) == n_categories - expected >= 2
        before = Counter(turns)
        turns.update(fold.unseen.tolist())
        if sum(before.values()) + expected <= n_categories:
            assert max(turns.values()) == 1
    counts = [turns[category] for category in range(n_categories)]
    assert max(counts) <= -(-n_splits * expected // n_categories)
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(
    ("n_categories", "expected"), [(3, 1), (10, 1), (14, 1), (16, 2), (100, 10), (1000, 100)]
)
def test_a_tenth_is_held_out(n_categories, expected):
    (fold,) = PseudoUnseenSplit(1, random_state=0).folds(np.repeat(np.arange(n_categories), 2))
    assert len(fold.unseen) == expected


def test_an_int_gives_the_same_folds_again_and_another_gives_others():
    labels = np.repeat(np.arange(20), 10)
    first, again, other = (
        list(PseudoUnseenSplit(3, random_state=seed).folds(labels, n_train=50))
        for seed in (1, 1, 2)
    )
    for one, two in zip(first, again, strict=True):
        assert_array_equal(one.unseen, two.unseen)
        assert_array_equal(one.train, two.train)
        assert_array_equal(one.queries, two.queries)
        assert len(one.train) == 50
    assert any(
        one.unseen.tolist() != two.unseen.tolist() for one, two in zip(first, other, strict=True)
    )


def test_more_training_samples_than_there_are_means_all():
    labels = np.repeat(np.arange(4), 5)
    (fold,) = PseudoUnseenSplit(1, random_state=0).folds(labels, n_train=1000)
    assert len(fold.train) == 15


def test_queries_are_no_more_than_a_thousand_unless_asked_for():
    labels = np.repeat(np.arange(3), 3000)
    (fold,) = PseudoUnseenSplit(1, random_state=0).folds(labels)
    assert len(fold.queries) == 1000
    (fold,) = PseudoUnseenSplit(1, n_queries=2000, random_state=0).folds(labels)
    assert len(fold.queries) == 2000


def test_a_category_of_one_sample_is_not_held_out():
    labels = np.array([0, 1, 2, 2, 2, 3, 4])
    for seed in range(10):
        for fold in PseudoUnseenSplit(2, random_state=seed).folds(labels):
            assert fold.unseen.tolist() == [2]


GROUPS = {"beagle": "dog", "pug": "dog", "tabby": "cat", "siamese": "cat"}


def test_groups_go_out_together():
    labels = np.repeat([*GROUPS, "car", "bus"], 6)
    seen_out = set()
    for seed in range(10):
        for fold in PseudoUnseenSplit(4, random_state=seed).folds(labels, GROUPS):
            seen_out.add(tuple(fold.unseen.tolist()))
    assert seen_out == {("beagle", "pug"), ("siamese", "tabby"), ("bus",), ("car",)}
    splitter = PseudoUnseenSplit(2, 2, random_state=0)
    folds = [set(fold.unseen.tolist()) for fold in splitter.folds(labels, GROUPS)]
    assert folds[0] | folds[1] == {*GROUPS, "car", "bus"}
    assert not folds[0] & folds[1]


def test_a_group_and_a_category_of_the_same_name_are_two():
    labels = np.repeat(["dog", "pug", "beagle", "car"], 4)
    groups = {"pug": "dog", "beagle": "dog"}
    found = {
        tuple(f.unseen.tolist()) for f in PseudoUnseenSplit(3, random_state=0).folds(labels, groups)
    }
    assert found == {("dog",), ("beagle", "pug"), ("car",)}


def test_groups_of_columns():
    labels = np.random.RandomState(0).rand(90, 6) < 0.2
    groups = {0: "low", 1: "low", 2: "low"}
    for fold in PseudoUnseenSplit(4, random_state=0).folds(labels, groups):
        assert len({0, 1, 2} & set(fold.unseen.tolist())) in (0, 3)
        assert not labels[fold.train][:, fold.unseen].any()


LABELS = np.repeat(np.arange(4), 5)


@pytest.mark.parametrize(
    ("options", "labels", "groups", "message"),
    [
        ({"n_splits": 0}, LABELS, None, "n_splits must be a whole number of at least 1, got 0"),
        ({"n_unseen": 0}, LABELS, None, "n_unseen must be a whole number of at least 1"),
        ({"n_queries": 0}, LABELS, None, "n_queries must be a whole number of at least 1"),
        ({"distractors": 1.0}, LABELS, None, "distractors must be a share between 0 and 1, got 1"),
        ({"n_unseen": 3}, LABELS, None, "with 3 held out, fewer than two categories are left"),
        ({"n_unseen": 5}, LABELS, None, "5 categories can not be held out: only 4 have two"),
        ({}, [0, 1, 2], None, "1 categories can not be held out: only 0 have two samples"),
        ({}, LABELS % 2, None, "with 1 held out, fewer than two categories are left"),
        ({"n_queries": 5}, LABELS, None, "5 queries of 5 samples to draw from"),
        ({}, LABELS, {7: "a", 8: "a"}, "groups: no sample has the label 7, 8"),
        ({}, LABELS, LABELS, "groups must map categories to groups, .* got ndarray"),
        ({}, LABELS, dict.fromkeys(range(3), "a"), "with 3 held out, fewer than two"),
        ({}, np.ones((4, 2, 2)), None, "a split needs a label for each sample"),
        ({}, np.full((4, 2), 0.5), None, "or a 0/1 matrix"),
        ({}, None, None, "y is missing: categories are held out by their labels"),
    ],
)
def test_bad_folds(options, labels, groups, message):
    with pytest.raises(ValueError, match=message):
        list(
            PseudoUnseenSplit(**{"n_splits": 3, "random_state": 0} | options).split(
                None, labels, groups
            )
        )


def test_it_is_a_splitter_of_scikit_learn():
    splitter = PseudoUnseenSplit(2, n_queries=20, random_state=3)
    assert repr(splitter).startswith("PseudoUnseenSplit(")
    assert "n_queries=20" in repr(splitter)
    data = digits()
    groups = dict.fromkeys(range(5), "low") | dict.fromkeys(range(5, 10), "high")
    arguments = {"cv": splitter, "scoring": RetrievalScorer(splitter), "return_indices": True}
    found = cross_validate(
        zshash.ITQ(16, random_state=0), data.X, data.labels, groups=groups, **arguments
    )
    for train in found["indices"]["train"]:
        assert len(set(data.labels[train] < 5)) == 1
    with config_context(enable_metadata_routing=True):
        again = cross_validate(
            clone(zshash.ITQ(16, random_state=0)),
            data.X,
            data.labels,
            params={"groups": groups},
            **arguments,
        )
    assert_array_equal(again["test_score"], found["test_score"])
