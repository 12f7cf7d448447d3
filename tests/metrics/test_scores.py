"""Scores against all orders of tiny cases, random orders of larger ones, and other libraries."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom
from sklearn.metrics import average_precision_score

from zshash import codes, metrics
from zshash.metrics import ties

# Tiny histograms: (relevant, irrelevant) of each bin.
GROUPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4).filter(
    lambda groups: 0 < sum(map(sum, groups)) <= 9
)


def as_histograms(groups):
    relevant = np.array([[hits for hits, _ in groups]])
    return relevant, np.array([[sum(group) for group in groups]])


def all_orders(groups):
    """Every order within ties, as 0/1 per rank; all are equally likely."""
    arrangements = []
    for hits, misses in groups:
        places = range(hits + misses)
        arrangements.append(
            [[int(i in chosen) for i in places] for chosen in itertools.combinations(places, hits)]
        )
    for parts in itertools.product(*arrangements):
        yield list(itertools.chain.from_iterable(parts))


def precisions(order, k):
    return [Fraction(sum(order[: i + 1]), i + 1) for i in range(min(k, len(order)))]


def average_precision_of(order, k, normalize):
    hits = [p for p, hit in zip(precisions(order, k), order, strict=False) if hit]
    possible = len(hits) if normalize == "retrieved" else min(k, sum(order))
    return sum(hits) / possible if possible else Fraction(0)


def mean(values):
    values = list(values)
    return float(sum(values, Fraction(0)) / len(values))


@settings(max_examples=150, deadline=None)
@given(groups=GROUPS, k=st.integers(1, 10), normalize=st.sampled_from(["retrieved", "possible"]))
def test_average_precision_is_the_mean_over_all_orders(groups, k, normalize):
    relevant, total = as_histograms(groups)
    expected = mean(average_precision_of(order, k, normalize) for order in all_orders(groups))
    result = metrics.mean_average_precision(relevant, total, k, normalize=normalize)
    assert result == pytest.approx(expected, abs=1e-13)


@settings(max_examples=100, deadline=None)
@given(groups=GROUPS, k=st.integers(1, 10))
def test_precisions_are_the_mean_over_all_orders(groups, k):
    relevant, total = as_histograms(groups)
    per_order = [precisions(order, k) for order in all_orders(groups)]
    at_k = mean(values[-1] for values in per_order)
    up_to_k = mean(sum(values) / len(values) for values in per_order)
    assert metrics.precision_at(relevant, total, k) == pytest.approx(at_k, abs=1e-13)
    assert metrics.mean_precision(relevant, total, k) == pytest.approx(up_to_k, abs=1e-13)


def test_a_rank_that_cuts_a_tie_takes_the_expected_ratio():
    # Two of three are relevant and one place counts: precision 1 in two orders of three.
    assert metrics.mean_average_precision([[2]], [[3]], k=1) == pytest.approx(2 / 3)
    # One relevant item comes first, then one of two. (1 + 1)/2 and 1/1 are both 1.
    assert metrics.mean_average_precision([[1, 1]], [[1, 2]], k=2) == pytest.approx(1)


def random_order(relevant, total, rng):
    groups = zip(relevant, total, strict=True)
    return np.concatenate([rng.permutation(np.arange(n) < hits) for hits, n in groups])


@pytest.mark.parametrize("normalize", ["retrieved", "possible"])
@pytest.mark.parametrize("k", [7, 60, 150, 10_000])
def test_average_precision_agrees_with_random_orders(k, normalize):
    rng = np.random.default_rng(k)
    total = np.array([3, 0, 40, 80, 100])
    relevant = np.array([2, 0, 9, 30, 10])
    scores = []
    for _ in range(4000):
        order = random_order(relevant, total, rng)[:k]
        ranks = np.flatnonzero(order) + 1
        possible = len(ranks) if normalize == "retrieved" else min(k, relevant.sum())
        scores.append((np.arange(1, len(ranks) + 1) / ranks).sum() / possible)
    error = np.std(scores) / math.sqrt(len(scores))
    result = metrics.mean_average_precision([relevant], [total], k, normalize=normalize)
    assert abs(result - np.mean(scores)) < 4.5 * error + 1e-12


def test_average_precision_withoutties_is_scikit_learns():
    rng = np.random.default_rng(0)
    relevant = rng.integers(0, 2, (20, 50))
    relevant[:, 7] = 1
    expected = [average_precision_score(row, -np.arange(50)) for row in relevant]
    np.testing.assert_allclose(
        metrics.average_precision(relevant, np.ones_like(relevant)), expected, rtol=1e-12
    )


def test_a_query_with_nothing_relevant_scores_zero():
    for normalize in ("retrieved", "possible"):
        scores = metrics.average_precision([[0, 0]], [[3, 2]], k=4, normalize=normalize)
        assert scores.tolist() == [0]
    # Nothing relevant within k, something below it.
    assert metrics.average_precision([[0, 5]], [[3, 5]], k=2).tolist() == [0]


@pytest.mark.parametrize("n", [0, 1, 63, 64, 1000, 99_999_000])
@pytest.mark.parametrize("terms", [1, 2, 100, 50_000])
def test_sums_of_reciprocals_are_exact(n, terms):
    expected = math.fsum(1 / (n + j) for j in range(1, terms + 1))
    assert ties.reciprocals(n, terms) == pytest.approx(expected, rel=2e-15)


@pytest.mark.parametrize(
    ("before", "hits_before", "tied", "hits", "inside"),
    [
        (0, 0, 5 * 10**7, 4 * 10**6, 5000),
        (10**7, 10**5, 9 * 10**7, 10**3, 10**6),
        (10**6, 0, 9 * 10**7, 30, 10**5),
        (99_990_000, 17, 9000, 8999, 8998),
    ],
)
def test_large_cut_groups_agree_with_scipy(before, hits_before, tied, hits, inside):
    low, high = hypergeom.support(tied, hits, inside)
    x = np.arange(low, high + 1)
    weights = hypergeom.pmf(x, tied, hits, inside)
    inverse = math.fsum(1 / (before + j) for j in range(1, inside + 1))
    rising = math.fsum((j - 1) / (before + j) for j in range(1, inside + 1))
    score = 0.3 * hits_before
    sums = x / inside * ((hits_before + 1) * inverse + (x - 1) / (inside - 1) * rising)
    expected = math.fsum(weights * (score + sums) / np.maximum(hits_before + x, 1))
    result = ties.cut_ratio(before, hits_before, tied, hits, inside, score)
    # SciPy's probabilities of such sizes are themselves good to about nine digits.
    assert result == pytest.approx(expected / math.fsum(weights), rel=1e-7)


def test_a_database_of_a_hundred_million_items():
    relevant, total = [[10**6] * 100], [[10**6] * 100]
    assert metrics.mean_average_precision(relevant, total) == pytest.approx(1, abs=1e-12)
    assert metrics.mean_precision(relevant, total, 10**8) == pytest.approx(1, abs=1e-12)
    relevant = [[10**5] * 100]
    assert metrics.mean_average_precision(relevant, total) == pytest.approx(0.1, abs=1e-5)
    assert metrics.mean_precision(relevant, total, 12_345_678) == pytest.approx(0.1, abs=1e-12)


def random_codes(rng, n, n_bits):
    return codes.pack(rng.integers(0, 2, (n, n_bits)))


def test_unused_bits_change_nothing():
    rng = np.random.default_rng(2)
    queries, database = random_codes(rng, 9, 12), random_codes(rng, 80, 12)
    relevance = rng.random((9, 80)) < 0.4
    short = metrics.histograms(queries, database, relevance, n_bits=12)
    long = metrics.histograms(queries, database, relevance)
    assert short[0].shape[1] == 13
    assert long[0].shape[1] == 17
    for score in (metrics.mean_average_precision, metrics.precision_at, metrics.mean_precision):
        assert score(*short, 20) == score(*long, 20)
    assert metrics.precision_within(*short, 3) == metrics.precision_within(*long, 3)


def test_the_mean_of_shuffled_rankings_is_the_expectation():
    rng = np.random.default_rng(4)
    queries, database = random_codes(rng, 30, 8), random_codes(rng, 80, 8)
    relevance = rng.random((30, 80)) < 0.3
    scores = []
    for _ in range(60):
        order = rng.permutation(80)
        shuffled = (queries, database[order], relevance[:, order])
        scores.append(metrics.evaluate(*shuffled, k=25, ties="order")["map"])
    expected = metrics.evaluate(queries, database, relevance, k=25)["map"]
    assert abs(np.mean(scores) - expected) < 4.5 * np.std(scores) / math.sqrt(len(scores))


def test_balls():
    relevant, total = [[1, 0, 2], [0, 0, 0]], [[1, 1, 4], [0, 0, 6]]
    assert metrics.precision_within(relevant, total, 0) == 0.5
    assert metrics.precision_within(relevant, total, 1) == 0.25
    assert metrics.precision_within(relevant, total, 99) == pytest.approx(0.25)
    assert metrics.recall_within(relevant, total, 1) == pytest.approx(1 / 6)
    precision, recall = metrics.precision_recall(relevant, total)
    for radius in range(3):
        assert precision[radius] == metrics.precision_within(relevant, total, radius)
        assert recall[radius] == metrics.recall_within(relevant, total, radius)


def test_a_rank_beyond_the_database_stands_for_its_size():
    relevant, total = [[1, 1]], [[1, 2]]
    for score in (metrics.mean_average_precision, metrics.precision_at, metrics.mean_precision):
        assert score(relevant, total, 3) == score(relevant, total, 10**30)


def test_evaluate_says_what_it_computed():
    rng = np.random.default_rng(5)
    queries, database = random_codes(rng, 4, 12), random_codes(rng, 30, 12)
    relevance = metrics.same_label([0, 1, 0, 1], rng.integers(0, 2, 30))
    result = metrics.evaluate(queries, database, relevance, k=10, radius=3, n_bits=12)
    histograms = metrics.histograms(queries, database, relevance, n_bits=12)
    assert result == {
        "map": metrics.mean_average_precision(*histograms, 10),
        "precision": metrics.precision_within(*histograms, 3),
        "k": 10,
        "radius": 3,
        "ties": "expected",
        "n_queries": 4,
        "n_database": 30,
    }
    ordered = metrics.evaluate(queries, database, relevance, k=None, radius=3, ties="order")
    ranking = metrics.ranked(queries, database, relevance)
    assert ordered["map"] == metrics.mean_average_precision(*ranking)
    assert ordered["precision"] == result["precision"]


@pytest.mark.parametrize(
    ("relevant", "total", "message"),
    [
        ([[1]], [[1, 2]], r"same shape, got \(1, 1\) and \(1, 2\)"),
        ([1], [1], "2-D histograms"),
        (np.zeros((0, 3), int), np.zeros((0, 3), int), "no queries"),
        ([[0, 0]], [[0, 0]], "no database"),
        ([[2]], [[1]], "between 0 and the total"),
        ([[-1]], [[1]], "between 0 and the total"),
        ([[math.nan]], [[1.0]], "whole numbers, got float64"),
    ],
)
def test_bad_histograms(relevant, total, message):
    with pytest.raises(ValueError, match=message):
        metrics.mean_average_precision(relevant, total)


@pytest.mark.parametrize("k", [0, -1, 2.5])
def test_bad_k(k):
    for score in (metrics.average_precision, metrics.precision_at, metrics.mean_precision):
        with pytest.raises(ValueError, match=f"k must be a whole number of at least 1, got {k}"):
            score([[1]], [[1]], k)
    code, relevance = np.zeros((1, 1), np.uint8), np.ones((1, 1), bool)
    for function in (metrics.ranked, metrics.evaluate):
        with pytest.raises(ValueError, match="k must be a whole number"):
            function(code, code, relevance, k=k)


def test_bad_radius_and_words():
    code, relevance = np.zeros((1, 1), np.uint8), np.ones((1, 1), bool)
    for ball in (metrics.precision_within, metrics.recall_within):
        with pytest.raises(ValueError, match="radius must be a whole number of at least 0, got -1"):
            ball([[1]], [[1]], -1)
    with pytest.raises(ValueError, match="radius must be"):
        metrics.evaluate(code, code, relevance, k=1, radius=-1)
    with pytest.raises(ValueError, match='normalize must be "retrieved" or "possible", got \'x\''):
        metrics.mean_average_precision([[1]], [[1]], normalize="x")
    with pytest.raises(ValueError, match='ties must be "expected" or "order", got \'x\''):
        metrics.evaluate(code, code, relevance, k=1, ties="x")
