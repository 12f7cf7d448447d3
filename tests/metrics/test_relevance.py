"""Relevance by labels, against plain loops."""

import numpy as np
import pytest

from zshash import metrics


def test_shared_labels():
    queries, database = np.array([[1, 1, 0], [0, 0, 0]]), np.array([[1, 1, 1], [0, 1, 0]])
    rows = slice(0, 2)
    assert metrics.share_labels(queries, database)(rows).tolist() == [[True, True], [False, False]]
    twice = metrics.share_labels(queries, database, at_least=2)
    assert twice(rows).tolist() == [[True, False], [False, False]]


def test_related_labels_follow_the_relation_from_query_to_item():
    rng = np.random.default_rng(0)
    relation = rng.random((5, 5)) < 0.4  # not symmetric
    queries, database = rng.integers(0, 5, 7), rng.integers(0, 5, 11)
    rows_of = metrics.related_labels(queries.astype(np.uint8), database, relation)
    expected = [[relation[i, j] for j in database] for i in queries]
    assert rows_of(slice(0, 7)).tolist() == expected
    assert rows_of(slice(2, 5)).tolist() == expected[2:5]
    codes = rng.integers(0, 256, (11, 1), dtype=np.uint8)
    np.testing.assert_array_equal(
        metrics.histograms(codes[:7], codes, rows_of),
        metrics.histograms(codes[:7], codes, np.array(expected)),
    )


def test_bad_labels():
    with pytest.raises(ValueError, match="labels must be 1-D; for 0/1 label matrices use share_"):
        metrics.same_label([[0, 1]], [0, 1])
    with pytest.raises(ValueError, match=r"same labels as columns, got \(1, 2\) and \(1, 3\)"):
        metrics.share_labels([[0, 1]], [[0, 1, 1]])
    with pytest.raises(ValueError, match="only 0 and 1"):
        metrics.share_labels([[0, 1]], [[0, 2]])
    with pytest.raises(ValueError, match="at_least must be a whole number of at least 1"):
        metrics.share_labels([[0, 1]], [[0, 1]], at_least=0)


@pytest.mark.parametrize(
    ("queries", "database", "relation", "message"),
    [
        ([0], [0], np.ones((2, 3), bool), r"square matrix of booleans.*got bool of shape \(2, 3\)"),
        ([0], [0], np.ones((2, 2), int), "square matrix of booleans.*got int64"),
        ([0], [0], np.ones(4, bool), "square matrix of booleans"),
        ([0, 2], [0], np.eye(2, dtype=bool), "query labels must be rows.*from 0 to 1, got 2"),
        ([0], [-1], np.eye(2, dtype=bool), "database labels must be rows.*from 0 to 1, got -1"),
        ([[0]], [0], np.eye(2, dtype=bool), r"query labels must be whole.*shape \(1, 1\)"),
        ([0], [0.5], np.eye(2, dtype=bool), "database labels must be whole.*got float64"),
    ],
)
def test_bad_relations(queries, database, relation, message):
    with pytest.raises(ValueError, match=message):
        metrics.related_labels(queries, database, relation)
