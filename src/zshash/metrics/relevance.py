"""Which database items are relevant to which queries, by their labels."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches

from zshash.codes import check_integer

Counts = NDArray[np.int64]
Rows = Callable[[slice], NDArray[np.bool_]]
Relevance = NDArray[np.bool_] | Rows

# Entries of the relevance matrix that are held at a time, in whole rows and at least one.
BLOCK = 1 << 22


def same_label(query_labels: ArrayLike, database_labels: ArrayLike) -> Rows:
    """Relevance by class: an item is relevant to the queries of its own label.

    Parameters
    ----------
    query_labels, database_labels : array-like of shape (q,) and (n,)
        Numbers or strings.

    Returns
    -------
    callable
        Takes a slice of queries and gives their rows of the relevance matrix.

    Examples
    --------
    >>> same_label(["cat", "dog"], ["dog", "cat", "cat"])(slice(0, 2))
    array([[False,  True,  True],
           [ True, False, False]])
    """
    queries, database = np.asarray(query_labels), np.asarray(database_labels)
    if queries.ndim != 1 or database.ndim != 1:
        raise ValueError("labels must be 1-D; for 0/1 label matrices use share_labels")
    # Small integers compare many times faster than strings.
    _, numbers = np.unique(np.concatenate([queries, database]), return_inverse=True)
    left, right = np.split(numbers.astype(np.int32), [len(queries)])
    return lambda rows: left[rows, None] == right


def share_labels(query_labels: ArrayLike, database_labels: ArrayLike, at_least: int = 1) -> Rows:
    """Relevance by shared labels: a relevant item shares `at_least` labels with the query.

    Parameters
    ----------
    query_labels, database_labels : array-like of shape (q, c) and (n, c)
        0/1 matrices, a column per label.
    at_least : int, default=1
        How many labels must be shared.

    Returns
    -------
    callable
        Takes a slice of queries and gives their rows of the relevance matrix.

    Examples
    --------
    >>> share_labels([[1, 1, 0]], [[1, 0, 0], [0, 0, 1], [1, 1, 1]], at_least=2)(slice(0, 1))
    array([[False, False,  True]])
    """
    queries, database = np.asarray(query_labels), np.asarray(database_labels)
    if queries.ndim != 2 or database.ndim != 2 or queries.shape[1] != database.shape[1]:
        raise ValueError(
            "label matrices must be (q, c) and (n, c) with the same labels as columns, "
            f"got {queries.shape} and {database.shape}"
        )
    for labels in (queries, database):
        if not np.isin(labels, (0, 1)).all():
            raise ValueError("label matrices must hold only 0 and 1")
    check_integer("at_least", at_least, 1)
    # float32 multiplies fast and counts exactly up to 2**24 labels.
    left, right = queries.astype(np.float32), database.astype(np.float32).T
    return lambda rows: left[rows] @ right >= at_least


def related_labels(
    query_labels: ArrayLike, database_labels: ArrayLike, relation: ArrayLike
) -> Rows:
    """Relevance by related classes: an item is relevant if its class relates to the query's class.

    Parameters
    ----------
    query_labels, database_labels : array-like of int, of shape (q,) and (n,)
        Numbers of classes: rows and columns of `relation`.
    relation : array-like of bool, of shape (c, c)
        Whether items of class j, the column, are relevant to queries of class i, the row.

    Returns
    -------
    callable
        Takes a slice of queries and gives their rows of the relevance matrix.

    Examples
    --------
    Lions (0) and cats (1) are relatives, trucks (2) have none:

    >>> relation = np.array([[True, True, False], [True, True, False], [False, False, True]])
    >>> related_labels([0, 2], [1, 2, 0], relation)(slice(0, 2))
    array([[ True, False,  True],
           [False,  True, False]])
    """
    matrix = np.asarray(relation)
    if matrix.dtype != np.bool_ or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            "relation must be a square matrix of booleans, a row and a column per class, "
            f"got {matrix.dtype} of shape {matrix.shape}"
        )
    queries = _check_numbers("query", query_labels, len(matrix))
    database = _check_numbers("database", database_labels, len(matrix))
    return lambda rows: np.take(matrix[queries[rows]], database, axis=1)


def _check_numbers(name: str, labels: ArrayLike, n_classes: int) -> NDArray[Any]:
    numbers = np.asarray(labels)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{name} labels must be whole numbers of shape (n,), "
            f"got {numbers.dtype} of shape {numbers.shape}"
        )
    wrong = numbers[(numbers < 0) | (numbers >= n_classes)]
    if wrong.size:
        raise ValueError(
            f"{name} labels must be rows of the relation, from 0 to {n_classes - 1}, got {wrong[0]}"
        )
    return numbers


def blocks(
    is_relevant: Relevance, n_queries: int, n_database: int
) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
    """Walk through the relevance matrix in blocks of rows."""
    if not callable(is_relevant):
        is_relevant = _check_relevance(is_relevant, n_queries, n_database).__getitem__
    step = max(1, BLOCK // n_database)
    for rows in gen_batches(n_queries, step):
        yield rows, _check_relevance(is_relevant(rows), rows.stop - rows.start, n_database)


def _check_relevance(rows: ArrayLike, n_queries: int, n_database: int) -> NDArray[np.bool_]:
    rows = np.asarray(rows)
    if rows.dtype != np.bool_ or rows.shape != (n_queries, n_database):
        raise ValueError(
            f"is_relevant must give booleans of shape {(n_queries, n_database)} "
            f"(queries, database), got {rows.dtype} of shape {rows.shape}"
        )
    return np.ascontiguousarray(rows)
