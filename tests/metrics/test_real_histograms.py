"""Ranking by real values, against plain loops and all orders of tiny cases."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash import metrics
from zshash.metrics import relevance

ITEMS = st.lists(
    st.tuples(st.sampled_from([-1.5, 0, 0.25, 3]), st.booleans()), min_size=1, max_size=6
)


def average_precision_of(hits, k):
    """Average precision of one ranking over its first k ranks, written out."""
    precisions = [sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits[:k]) if hit]
    return sum(precisions) / len(precisions) if precisions else 0.0


@pytest.mark.parametrize("k", [1, 10, 40, 1000, None])
def test_distinct_scores_give_the_plain_average_precision(k):
    rng = np.random.default_rng(0)
    scores, hits = rng.normal(size=(8, 40)), rng.random((8, 40)) < 0.3
    relevant, total = metrics.real_histograms(scores, hits)
    assert relevant.dtype == total.dtype == np.int64
    assert (total == 1).all()
    expected = []
    for row, truth in zip(scores.tolist(), hits.tolist(), strict=True):
        best_first = [hit for _, hit in sorted(zip(row, truth, strict=True), reverse=True)]
        expected.append(average_precision_of(best_first, k))
    np.testing.assert_allclose(metrics.average_precision(relevant, total, k), expected, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(items=ITEMS, k=st.integers(1, 8))
def test_ties_are_the_mean_over_all_permutations(items, k):
    # A second query with other ties leaves one of the two rows padded in most cases.
    scores = [[score for score, _ in items], list(range(len(items)))]
    hits = [hit for _, hit in items]
    relevant, total = metrics.real_histograms(scores, np.array([hits, hits]))
    rankings = []
    for order in itertools.permutations(range(len(items))):
        ranked = sorted(order, key=lambda i: -scores[0][i])  # stable: the order within ties stays
        rankings.append([hits[i] for i in ranked])
    expected = np.mean([average_precision_of(ranking, k) for ranking in rankings])
    assert metrics.average_precision(relevant, total, k)[0] == pytest.approx(expected, abs=1e-12)
    depth = min(k, len(items))
    at_k = np.mean([sum(ranking[:depth]) / depth for ranking in rankings])
    assert metrics.precision_at(relevant[:1], total[:1], k) == pytest.approx(at_k, abs=1e-12)


def test_rows_are_padded_with_empty_bins_that_no_score_sees():
    scores = [[2, 2, 1, 1, 1], [5, 4, 3, 2, 1]]
    hits = np.array([[1, 0, 1, 1, 0], [0, 1, 0, 0, 1]], bool)
    relevant, total = metrics.real_histograms(scores, hits)
    assert total.tolist() == [[2, 3, 0, 0, 0], [1, 1, 1, 1, 1]]
    assert relevant.tolist() == [[1, 2, 0, 0, 0], [0, 1, 0, 0, 1]]
    for score in (metrics.mean_average_precision, metrics.precision_at, metrics.mean_precision):
        for k in (1, 2, 4, 5, 100):
            padded = score(relevant[:1], total[:1], k)
            assert padded == score(relevant[:1, :2], total[:1, :2], k)


def test_scores_that_are_distances_give_the_histograms_less_their_empty_bins():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 256, (60, 2), dtype=np.uint8)
    hits = rng.random((9, 60)) < 0.4
    distances = np.unpackbits(codes[:9, None] ^ codes, axis=2).sum(axis=2, dtype=np.int64)
    by_score = metrics.real_histograms(-distances, hits)
    by_distance = metrics.histograms(codes[:9], codes, hits)
    for row in range(9):
        filled = by_distance[1][row] > 0
        for found, expected in zip(by_score, by_distance, strict=True):
            wanted = expected[row][filled]
            assert found[row].tolist() == [*wanted, *[0] * (found.shape[1] - len(wanted))]


def test_several_blocks_and_a_callable_give_the_same(monkeypatch):
    rng = np.random.default_rng(2)
    scores = rng.integers(0, [[3], [30], [5], [2], [9]], (5, 20)).astype(np.uint8)
    hits = rng.random((5, 20)) < 0.5
    whole = metrics.real_histograms(scores, hits)
    monkeypatch.setattr(relevance, "BLOCK", 40)
    np.testing.assert_array_equal(metrics.real_histograms(scores, hits.__getitem__), whole)


def test_infinite_scores_are_best_and_worst():
    hits = np.array([[True, False, True, False]])
    relevant, total = metrics.real_histograms([[-math.inf, 0.0, math.inf, -0.0]], hits)
    assert (relevant.tolist(), total.tolist()) == ([[1, 0, 1]], [[1, 2, 1]])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.0, 1.0], [0.5, math.nan]], "score of item 1 for query 1 is not a number"),
        ([0.0, 1.0], r"shape \(queries, database\), got float64 of shape \(2,\)"),
        ([["a", "b"]], "scores must be real numbers"),
        ([[1j, 0]], "scores must be real numbers.*got complex128"),
        (np.zeros((0, 3)), r"no scores: their shape is \(0, 3\)"),
        ([[0.0, 1.0, 2.0]], r"is_relevant must give booleans of shape \(1, 3\)"),
    ],
)
def test_bad_scores(scores, message):
    with pytest.raises(ValueError, match=message):
        metrics.real_histograms(scores, np.ones((2, 2), bool))
