"""How well real values rank: similarities of any kind, and real-valued queries among binary codes.

A hash function gives real values u whose signs are the bits. The values of a query are known and
cost nothing to use: a code b in {−1, 1} is nearer to the query if Σ uₖbₖ is larger. Values are
rounded to 40 binary digits, as a real-valued search in `zshash.index.HammingIndex` does, so that
sums are exact whole numbers: equal codes always tie, and other codes tie only if their sums are
equal.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash._compiled import compiled
from zshash._threads import map_blocks, run_blocks
from zshash.codes import check_codes, check_integer, unpack
from zshash.index._real import round_vectors
from zshash.metrics.histograms import without_itself
from zshash.metrics.relevance import Counts, Relevance, blocks
from zshash.metrics.scores import average_precision

__all__ = ["evaluate_real", "real_histograms"]

Weights = NDArray[np.int64]


def real_histograms(scores: ArrayLike, is_relevant: Relevance) -> tuple[Counts, Counts]:
    """Count the relevant and all items at each distinct score of each query, best score first.

    The result has the form of `histograms` with equal scores in one bin, so the same functions
    rank by real values, such as similarities before they become codes, and average over ties.
    Bins are places in a ranking, not distances: scores within a radius have no meaning here.

    Parameters
    ----------
    scores : array-like of shape (q, n)
        Real numbers, higher is better. Infinite ones are best or worst; NaN is an error.
    is_relevant : bool array of shape (q, n), or callable
        As for `histograms`.

    Returns
    -------
    relevant, total : int64 arrays of shape (q, bins)
        As many bins as the query with the most distinct scores has. Other rows end with empty
        bins. The result takes 16 bytes for each bin of each query.

    Examples
    --------
    >>> relevant, total = real_histograms([[0.1, 0.9, 0.1], [3, 2, 1]], np.eye(2, 3, dtype=bool))
    >>> total, relevant
    (array([[1, 2, 0], [1, 1, 1]]), array([[0, 1, 0], [0, 1, 0]]))
    """
    values = _check_scores(scores)
    relevant, total = (np.zeros(values.shape, dtype=np.int64) for _ in range(2))

    def count(part: tuple[slice, NDArray[np.bool_]]) -> int:
        rows, block = part
        bins = _bins(values[rows])
        n_bins = int(bins.max()) + 1
        total[rows, :n_bins] = _count_bins(bins, np.ones_like(block), n_bins)
        relevant[rows, :n_bins] = _count_bins(bins, block, n_bins)
        return n_bins

    n_bins = max(map_blocks(count, blocks(is_relevant, *values.shape)))
    return np.ascontiguousarray(relevant[:, :n_bins]), np.ascontiguousarray(total[:, :n_bins])


def _check_scores(scores: ArrayLike) -> NDArray[Any]:
    values = np.asarray(scores)
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise ValueError(
            "scores must be real numbers of shape (queries, database), "
            f"got {values.dtype} of shape {values.shape}"
        )
    if values.size == 0:
        raise ValueError(f"there are no scores: their shape is {values.shape}")
    if np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0]
        raise ValueError(f"the score of item {column} for query {row} is not a number")
    return values


def _bins(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Bin of each score (q, n): how many distinct scores of its row are higher."""
    order = np.argsort(scores, axis=1)[:, ::-1]
    descending = np.take_along_axis(scores, order, axis=1)
    bins = np.zeros(scores.shape, dtype=np.int64)
    steps = np.cumsum(descending[:, 1:] != descending[:, :-1], axis=1)
    np.put_along_axis(bins, order[:, 1:], steps, axis=1)
    return bins


def _count_bins(
    bins: NDArray[np.int64], chosen: NDArray[np.bool_], n_bins: int
) -> NDArray[np.int64]:
    """How many of the chosen items are in each bin, (q, n_bins)."""
    places = bins + n_bins * np.arange(len(bins))[:, None]
    counts = np.bincount(places[chosen], minlength=len(bins) * n_bins)
    return counts.reshape(len(bins), n_bins)


def evaluate_real(
    query_projections: ArrayLike,
    database_codes: NDArray[np.uint8],
    is_relevant: Relevance,
    *,
    k: int | None,
    itself: bool = False,
) -> dict[str, Any]:
    """Score codes by mean average precision over the top `k`, queries taken as real values.

    Items are ranked by Σ uₖbₖ, the largest first, of a query's projections u and a code b whose
    bits count as 1 and −1. Items of the same sum tie and are averaged over all their orders, as
    in `mean_average_precision`.

    Parameters
    ----------
    query_projections : array-like of shape (q, n_bits)
        Real values whose signs are the bits, as ``project`` of a hash function gives them.
    database_codes : uint8 array of shape (n, bytes)
        Packed codes of the same hash function, as its ``encode`` gives them.
    is_relevant : bool array of shape (q, n), or callable
        As for `histograms`.
    k : int or None
        How many ranks count; None for all of them.
    itself : bool, default=False
        Whether each query is an item of the database: it is then left out of its own ranking.

    Returns
    -------
    dict
        "map_real", and what it was computed with: "k", "n_queries" and "n_database".

    Examples
    --------
    Both codes differ from the query's in one bit, but the query is less sure of the last one:

    >>> from zshash.metrics import same_label
    >>> database = np.array([[0b01111111], [0b11111110]], dtype=np.uint8)
    >>> query = [[0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.7, 0.1]]
    >>> evaluate_real(query, database, same_label([1], [0, 1]), k=None)["map_real"]
    1.0
    """
    vectors, codes = _check(query_projections, database_codes)
    n_others = len(codes) - itself
    ranks = n_others if k is None else min(check_integer("k", k, 1), n_others)
    whole, _ = round_vectors(vectors)
    scores = np.empty(len(vectors))

    def score(part: tuple[slice, NDArray[np.bool_]]) -> None:
        rows, block = part
        keys = np.empty(len(codes), dtype=np.int64)
        for row, hits in zip(range(rows.start, rows.stop), block, strict=True):
            _weigh(codes, _table(whole[row], codes.shape[1]), hits, keys)
            found = _histogram(keys, ranks + itself)
            if itself:  # no sum is larger than that of its own code
                found = without_itself(*found)
            scores[row] = average_precision(*found, ranks)[0]

    run_blocks(score, blocks(is_relevant, len(vectors), len(codes)))
    return {
        "map_real": float(scores.mean()),
        "k": k,
        "n_queries": len(vectors),
        "n_database": len(codes),
    }


def _check(
    projections: ArrayLike, codes: NDArray[np.uint8]
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Projections (q, bits) and codes (n, bytes) that belong together."""
    values = np.asarray(projections)
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise ValueError(
            "query projections must be real numbers of shape (queries, bits), "
            f"got {values.dtype} of shape {values.shape}"
        )
    if values.size == 0:
        raise ValueError("there are no query projections")
    if len(codes) == 0:
        raise ValueError("there are no database codes")
    if not np.isfinite(values).all():
        row, bit = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"the projection of query {row} for bit {bit} is not a finite number")
    return values.astype(np.float64), check_codes("database codes", codes, values.shape[1])


def _table(whole: Weights, n_bytes: int) -> Weights:
    """What each value of each byte adds to a sum, twice, (bytes, 256)."""
    padded = np.zeros((n_bytes, 8))
    padded.reshape(-1)[: len(whole)] = whole
    signs = 2.0 * unpack(np.arange(256, dtype=np.uint8)[:, None], 8) - 1.0
    return (2 * padded @ signs.T).astype(np.int64)  # exact: whole numbers below 2**45


@compiled
def _weigh(
    codes: NDArray[np.uint8], table: Weights, is_relevant: NDArray[np.bool_], keys: Weights
) -> None:
    """Set `keys` (n,): the sum of each code twice, plus 1 where it is relevant."""
    for i in range(codes.shape[0]):
        key = np.int64(is_relevant[i])
        for byte in range(codes.shape[1]):
            key += table[byte, codes[i, byte]]
        keys[i] = key


def _histogram(keys: Weights, k: int) -> tuple[Counts, Counts]:
    """Relevant and all items at each sum, largest first, (1, bins), down to the sum at rank `k`."""
    least = np.partition(keys, -k)[-k] & ~1 if k < len(keys) else keys.min() & ~1
    best = np.sort(keys[keys >= least])[::-1]
    starts = np.flatnonzero(np.diff(best >> 1, prepend=best[0] // 2 + 1))
    total = np.diff(starts, append=len(best))
    return np.add.reduceat(best & 1, starts)[None], total[None]
