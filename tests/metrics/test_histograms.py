"""Counting and ranking against NumPy on the plain distance matrix."""

import numpy as np
import pytest

from zshash import codes, metrics
from zshash.metrics.relevance import BLOCK


def random_codes(rng, n, n_bits):
    return codes.pack(rng.integers(0, 2, (n, n_bits)))


@pytest.mark.parametrize("n_bits", [8, 12, 48, 64, 96, 128, 1024])
def test_histograms_count_distances(n_bits):
    rng = np.random.default_rng(n_bits)
    queries, database = random_codes(rng, 5, n_bits), random_codes(rng, 70, n_bits)
    is_relevant = rng.random((5, 70)) < 0.3
    relevant, total = metrics.histograms(queries, database, is_relevant, n_bits=n_bits)
    assert relevant.dtype == total.dtype == np.int64
    distances = codes.hamming(queries, database)
    for i, row in enumerate(distances):
        np.testing.assert_array_equal(total[i], np.bincount(row, minlength=n_bits + 1))
        hits = np.bincount(row[is_relevant[i]], minlength=n_bits + 1)
        np.testing.assert_array_equal(relevant[i], hits)


def test_a_callable_gives_the_same_in_several_blocks():
    rng = np.random.default_rng(1)
    queries, database = random_codes(rng, 40, 16), random_codes(rng, BLOCK // 16, 16)
    labels = rng.integers(0, 3, 40), rng.integers(0, 3, len(database))
    seen = []

    def rows_of(rows):
        seen.append(rows)
        return labels[0][rows, None] == labels[1]

    results = metrics.histograms(queries, database, rows_of)
    expected = metrics.histograms(queries, database, labels[0][:, None] == labels[1])
    assert [(rows.start, rows.stop) for rows in seen] == [(0, 16), (16, 32), (32, 40)]
    np.testing.assert_array_equal(results, expected)


@pytest.mark.parametrize("k", [1, 7, 60, 500, None])
def test_ranked_orders_by_distance_and_position(k):
    rng = np.random.default_rng(3)
    queries, database = random_codes(rng, 6, 16), random_codes(rng, 60, 16)
    relevance = rng.random((6, 60)) < 0.4
    relevant, total = metrics.ranked(queries, database, relevance, k=k)
    order = np.argsort(codes.hamming(queries, database), axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(relevant, np.take_along_axis(relevance, order, axis=1))
    assert (total == 1).all()
    assert relevant.dtype == total.dtype == np.int64


@pytest.mark.parametrize(
    ("queries", "database", "n_bits", "message"),
    [
        (np.zeros((0, 2), np.uint8), np.zeros((1, 2), np.uint8), None, "no query codes"),
        (np.zeros((1, 2), np.uint8), np.zeros((0, 2), np.uint8), None, "no database codes"),
        (np.zeros((1, 2), np.uint8), np.zeros((1, 3), np.uint8), None, "2 bytes and database"),
        (np.zeros((1, 2)), np.zeros((1, 2), np.uint8), None, "query codes must be packed bytes"),
        (
            np.zeros((1, 2), np.uint8),
            np.zeros(2, np.uint8),
            None,
            r"database codes of 16 bits must have the shape \(n, 2\)",
        ),
        (
            np.zeros((1, 2), np.uint8),
            np.zeros((1, 2), np.uint8),
            17,
            r"of 17 bits must have the shape \(n, 3\)",
        ),
        (np.zeros((1, 2), np.uint8), np.zeros((1, 2), np.uint8), 0, "n_bits must be a whole"),
        (np.zeros((1, 2), np.uint8), np.ones((1, 2), np.uint8), 12, "must leave the last 4 bits"),
    ],
)
def test_bad_codes(queries, database, n_bits, message):
    with pytest.raises(ValueError, match=message):
        metrics.histograms(queries, database, np.ones((1, 1), bool), n_bits=n_bits)


@pytest.mark.parametrize(
    "relevance",
    [
        np.ones((2, 2), bool),
        np.ones((2, 3)),
        np.ones(3, bool),
        lambda rows: np.ones((1, 3), bool),  # noqa: ARG005
        lambda rows: np.ones((2, 3), int),  # noqa: ARG005
    ],
)
def test_bad_relevance(relevance):
    queries, database = np.zeros((2, 1), np.uint8), np.zeros((3, 1), np.uint8)
    for function in (metrics.histograms, metrics.ranked):
        with pytest.raises(ValueError, match=r"booleans of shape \(2, 3\) \(queries, database\)"):
            function(queries, database, relevance)


def test_read_only_input_is_fine():
    rng = np.random.default_rng(6)
    queries, database = random_codes(rng, 3, 16), random_codes(rng, 20, 16)
    relevance = rng.random((3, 20)) < 0.5
    expected = metrics.histograms(queries, database, relevance)
    for array in (queries, database, relevance):
        array.flags.writeable = False
    np.testing.assert_array_equal(metrics.histograms(queries, database, relevance), expected)
