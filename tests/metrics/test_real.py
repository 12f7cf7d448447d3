"""Real-valued queries, against plain loops, all orders of tiny cases, and `real_histograms`."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash import LSH, metrics
from zshash.codes import pack, unpack
from zshash.index import HammingIndex
from zshash.metrics import relevance


def make_case(seed, n_bits, n=300, q=12, n_codes=None):
    """Projections, codes of which some are equal, and which are relevant."""
    rng = np.random.default_rng(seed)
    projections = rng.standard_normal((q, n_bits)).astype(np.float32)
    codes = pack(rng.random((n_codes or n, n_bits)) < 0.5)[rng.integers(0, n_codes or n, n)]
    return projections, codes, rng.random((q, n)) < 0.3


def exact_scores(projections, codes):
    """Sums of rounded projections, in Python's whole numbers."""
    signs = 2 * unpack(codes, projections.shape[1]).astype(int) - 1
    scores = []
    for row in projections.tolist():
        unit = 2.0 ** (math.frexp(max(map(abs, row)))[1] - 40)
        whole = [round(value / unit) for value in row]
        scores.append([sum(w * int(b) for w, b in zip(whole, own, strict=True)) for own in signs])
    return np.array(scores)


def average_precision_of(hits, k):
    """Average precision of one ranking over its first k ranks, written out."""
    precisions = [sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits[:k]) if hit]
    return sum(precisions) / len(precisions) if precisions else 0.0


@pytest.mark.parametrize("k", [1, 7, 100, 299, 300, 1000, None])
@pytest.mark.parametrize("n_codes", [None, 40, 3, 1])
def test_as_real_histograms_have_it(k, n_codes):
    projections, codes, hits = make_case(0, 20, n_codes=n_codes)
    counts = metrics.real_histograms(exact_scores(projections, codes), hits)
    found = metrics.evaluate_real(projections, codes, hits, k=k)
    assert found == {
        "map_real": metrics.mean_average_precision(*counts, k),
        "k": k,
        "n_queries": 12,
        "n_database": 300,
    }


@pytest.mark.parametrize("n_bits", [8, 9, 64, 100, 1024])
def test_any_length_in_the_order_of_the_index(n_bits):
    projections, codes, hits = make_case(1, n_bits, n=80, q=4)
    codes = np.unique(codes, axis=0)
    hits = hits[:, : len(codes)]
    index = HammingIndex(n_bits)
    index.add(codes)
    scores, order = index.search_real(projections, len(codes))
    assert (np.diff(scores) < 0).all()  # no two codes are tied
    expected = [
        average_precision_of(truth[ids].tolist(), 20)
        for truth, ids in zip(hits, order, strict=True)
    ]
    found = metrics.evaluate_real(projections, codes, hits, k=20)
    assert found["map_real"] == pytest.approx(np.mean(expected), abs=1e-12)


VALUES = st.sampled_from([-1.5, -0.25, 0.0, 0.25, 3.0])
CODES = st.lists(st.tuples(st.integers(0, 255), st.booleans()), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(query=st.lists(VALUES, min_size=8, max_size=8), items=CODES, k=st.integers(1, 8))
def test_ties_are_the_mean_over_all_permutations(query, items, k):
    codes = np.array([[code] for code, _ in items], dtype=np.uint8)
    hits = [hit for _, hit in items]
    scores = (np.array(query) * (2.0 * unpack(codes, 8) - 1)).sum(axis=1)  # exact: multiples of ¼
    rankings = []
    for order in itertools.permutations(range(len(items))):
        ranked = sorted(order, key=lambda i: -scores[i])  # stable: the order within ties stays
        rankings.append([hits[i] for i in ranked])
    expected = np.mean([average_precision_of(ranking, k) for ranking in rankings])
    found = metrics.evaluate_real([query], codes, np.array([hits]), k=k)
    assert found["map_real"] == pytest.approx(expected, abs=1e-12)


def test_signs_alone_give_the_hamming_order():
    projections, codes, hits = make_case(2, 24)
    signs = np.where(projections >= 0, 1, -1)
    by_sign = metrics.evaluate_real(signs, codes, hits, k=50)["map_real"]
    by_bits = metrics.evaluate(pack(projections >= 0), codes, hits, k=50)["map"]
    assert by_sign == pytest.approx(by_bits, abs=1e-12)
    by_value = metrics.evaluate_real(projections, codes, hits, k=50)["map_real"]
    assert by_value != pytest.approx(by_bits, abs=1e-3)


def test_real_values_tell_neighbours_better_than_bits():
    X = np.random.RandomState(0).randn(600, 16).astype(np.float32)
    hasher = LSH(n_bits=32, random_state=0).fit(X)
    distances = np.linalg.norm(X[:100, None] - X[None, 100:], axis=2)
    near = distances <= np.sort(distances, axis=1)[:, 20:21]
    codes = hasher.encode(X)
    by_bits = metrics.evaluate(codes[:100], codes[100:], near, k=None)["map"]
    found = metrics.evaluate_real(hasher.project(X[:100]), codes[100:], near, k=None)
    assert found["map_real"] > by_bits + 0.02


def test_several_blocks_and_a_callable_give_the_same(monkeypatch):
    projections, codes, hits = make_case(3, 16, n_codes=50)
    whole = metrics.evaluate_real(projections, codes, hits, k=60)
    monkeypatch.setattr(relevance, "BLOCK", 700)
    assert metrics.evaluate_real(projections, codes, hits.__getitem__, k=60) == whole
    assert metrics.evaluate_real(1e30 * projections, codes, hits, k=60) == pytest.approx(whole)


def test_a_query_without_any_value_ties_everything():
    hits = np.arange(10)[None] < 4
    codes = np.arange(10, dtype=np.uint8)[:, None]
    found = metrics.evaluate_real(np.zeros((1, 8)), codes, hits, k=5)
    tied = metrics.mean_average_precision([[4]], [[10]], 5)
    assert found["map_real"] == tied


@pytest.mark.parametrize(
    ("projections", "codes", "k", "message"),
    [
        ([[0.0] * 7 + [math.nan]], (4, 1), 1, "projection of query 0 for bit 7 is not a finite"),
        ([0.0] * 8, (4, 1), 1, r"shape \(queries, bits\), got float64 of shape \(8,\)"),
        ([["a"] * 8], (4, 1), 1, "query projections must be real numbers"),
        (np.zeros((0, 8)), (4, 1), 1, "there are no query projections"),
        ([[0.0] * 8], (0, 1), 1, "there are no database codes"),
        ([[0.0] * 9], (4, 1), 1, r"database codes of 9 bits must have the shape \(n, 2\)"),
        ([[0.0] * 8], (4, 1), 0, "k must be a whole number of at least 1, got 0"),
        ([[0.0] * 8], (5, 1), 1, r"is_relevant must give booleans of shape \(1, 5\)"),
    ],
)
def test_bad_input(projections, codes, k, message):
    with pytest.raises(ValueError, match=message):
        metrics.evaluate_real(projections, np.zeros(codes, np.uint8), np.ones((1, 4), bool), k=k)


@pytest.mark.parametrize("k", [None, 1, 5, 40])
def test_a_query_is_left_out_of_its_own_ranking(k):
    rng = np.random.default_rng(3)
    values = rng.standard_normal((40, 16)).astype(np.float32)
    values[1:8] = values[0]  # others with the same code
    codes, labels = pack(values >= 0), rng.integers(0, 3, 40)
    same = labels[:, None] == labels
    ours = metrics.evaluate_real(values, codes, same, k=k, itself=True)["map_real"]
    by_bits = metrics.evaluate(codes, codes, same, k=k, itself=True)
    expected, precisions, real = [], [], []
    for query in range(40):
        others = np.arange(40) != query
        own = codes[[query]], codes[others], same[[query]][:, others]
        scores = metrics.evaluate(*own, k=k)
        expected.append(scores["map"])
        precisions.append(scores["precision"])
        real.append(metrics.evaluate_real(values[[query]], *own[1:], k=k)["map_real"])
    assert ours == pytest.approx(np.mean(real))
    assert by_bits["map"] == pytest.approx(np.mean(expected))
    assert by_bits["precision"] == pytest.approx(np.mean(precisions))
    with pytest.raises(ValueError, match="left out of its own ranking only"):
        metrics.evaluate(codes, codes, same, k=k, itself=True, ties="order")
