"""From codes and relevance to one histogram of distances, or one ranking, per query."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._compiled import compiled
from zshash._threads import run_blocks
from zshash.codes import check_codes, check_integer, words
from zshash.index._vectors import popcount
from zshash.metrics.relevance import Counts, Relevance, blocks

Words = NDArray[np.uint64]

# Any: the compiled call lacks the typing context that the Python signature has.
_popcount: Any = popcount


def histograms(
    query_codes: NDArray[np.uint8],
    database_codes: NDArray[np.uint8],
    is_relevant: Relevance,
    *,
    n_bits: int | None = None,
) -> tuple[Counts, Counts]:
    """Count the relevant and all database items at each Hamming distance of each query.

    Parameters
    ----------
    query_codes, database_codes : uint8 arrays of shape (q, bytes) and (n, bytes)
        Packed codes, as `zshash.codes.pack` makes them.
    is_relevant : bool array of shape (q, n), or callable
        A callable takes a slice of queries and returns their rows, so that the whole matrix
        is never held; see `same_label`, `share_labels` and `related_labels`.
    n_bits : int, default=8 * bytes
        Length of the codes, which sets the number of distances.

    Returns
    -------
    relevant, total : int64 arrays of shape (q, n_bits + 1)

    Examples
    --------
    >>> from zshash.metrics import same_label
    >>> database = np.array([[0], [1], [255]], dtype=np.uint8)
    >>> relevant, total = histograms(database[:1], database, same_label([0], [0, 0, 1]))
    >>> total, relevant
    (array([[1, 1, 0, 0, 0, 0, 0, 0, 1]]), array([[1, 1, 0, 0, 0, 0, 0, 0, 0]]))
    """
    queries, database, n_bits = _check_codes(query_codes, database_codes, n_bits)
    counts = np.zeros((len(queries), n_bits + 1, 2), dtype=np.int64)

    def count(part: tuple[slice, NDArray[np.bool_]]) -> None:
        rows, block = part
        _count(queries[rows], database, block, counts[rows])

    run_blocks(count, blocks(is_relevant, len(queries), len(database)))
    return counts[:, :, 1].copy(), counts.sum(axis=2)


def without_itself(relevant: Counts, total: Counts) -> tuple[Counts, Counts]:
    """Histograms of queries that are items of the database, each left out of its own ranking.

    The query itself is relevant, and no item is nearer: it is in the first bin.

    Examples
    --------
    >>> without_itself(np.array([[2, 1]]), np.array([[3, 1]]))
    (array([[1, 1]]), array([[2, 1]]))
    """
    itself = np.zeros_like(total)
    itself[:, 0] = 1
    return relevant - itself, total - itself


def ranked(
    query_codes: NDArray[np.uint8],
    database_codes: NDArray[np.uint8],
    is_relevant: Relevance,
    *,
    k: int | None = None,
) -> tuple[Counts, Counts]:
    """Order the database by (distance, position) for each query; each rank is its own bin.

    The result has the form of `histograms` with nothing tied, so the same functions score
    this one order instead of the expectation. Cut at `k`, it knows nothing of the items
    further down, which ``normalize="possible"`` needs to see.

    Parameters
    ----------
    query_codes, database_codes, is_relevant
        As for `histograms`.
    k : int, default=all
        How many ranks to keep. The result takes 16 bytes for each rank of each query.

    Returns
    -------
    relevant, total : int64 arrays of shape (q, min(k, n))
        `total` is all ones.

    Examples
    --------
    >>> from zshash.metrics import same_label
    >>> database = np.array([[3], [1], [2], [0]], dtype=np.uint8)
    >>> ranked(database[3:], database, same_label([0], [1, 1, 0, 0]), k=3)
    (array([[1, 0, 1]]), array([[1, 1, 1]]))
    """
    queries, database, n_bits = _check_codes(query_codes, database_codes, None)
    k = len(database) if k is None else min(check_integer("k", k, 1), len(database))
    relevant = np.zeros((len(queries), k), dtype=np.int64)

    def rank(part: tuple[slice, NDArray[np.bool_]]) -> None:
        rows, block = part
        counts = np.zeros((len(block), n_bits + 1, 2), dtype=np.int64)
        _count(queries[rows], database, block, counts)
        total = counts.sum(axis=2)
        _rank(queries[rows], database, block, np.cumsum(total, axis=1) - total, relevant[rows])

    run_blocks(rank, blocks(is_relevant, len(queries), len(database)))
    return relevant, np.ones_like(relevant)


def _check_codes(
    queries: NDArray[np.uint8], database: NDArray[np.uint8], n_bits: int | None
) -> tuple[Words, Words, int]:
    """Codes as words (q, w) and (n, w), and the largest distance there can be."""
    queries, database = np.asarray(queries), np.asarray(database)
    for name, codes in (("query", queries), ("database", database)):
        if codes.size == 0:
            raise ValueError(f"there are no {name} codes")
    width = queries.shape[-1]
    if database.shape[-1] != width:
        raise ValueError(
            f"query codes take {width} bytes and database codes {database.shape[-1]}; "
            "both must come from the same hash function"
        )
    # A stray bit beyond n_bits would make a distance that has no bin.
    n_bits = 8 * width if n_bits is None else check_integer("n_bits", n_bits, 1)
    queries = check_codes("query codes", queries, n_bits)
    database = check_codes("database codes", database, n_bits)
    return words(queries), words(database), n_bits


@compiled
def _distance(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> int:
    """Hamming distance of two codes, each a row of words."""
    result = 0
    for i in range(left.shape[0]):
        result += _popcount(left[i] ^ right[i])
    return result


@compiled
def _count(
    queries: NDArray[np.uint64],
    database: NDArray[np.uint64],
    is_relevant: NDArray[np.bool_],
    counts: NDArray[np.int64],
) -> None:
    """Add to `counts` (q, distances, 2): how many items are irrelevant and relevant."""
    for q in range(queries.shape[0]):
        for i in range(database.shape[0]):
            counts[q, _distance(queries[q], database[i]), int(is_relevant[q, i])] += 1


@compiled
def _rank(
    queries: NDArray[np.uint64],
    database: NDArray[np.uint64],
    is_relevant: NDArray[np.bool_],
    places: NDArray[np.int64],
    ranked: NDArray[np.int64],
) -> None:
    """Set `ranked` (q, k), the relevance at each rank by (distance, position).

    A counting sort: `places` (q, distances) holds the first rank of each distance and is
    used up.
    """
    for q in range(queries.shape[0]):
        for i in range(database.shape[0]):
            d = _distance(queries[q], database[i])
            if places[q, d] < ranked.shape[1]:
                ranked[q, places[q, d]] = int(is_relevant[q, i])
                places[q, d] += 1
