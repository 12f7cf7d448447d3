"""From real-valued scores and relevance to one histogram of ranks per query."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash._threads import map_blocks
from zshash.metrics.relevance import Counts, Relevance, blocks


def scored(scores: ArrayLike, is_relevant: Relevance) -> tuple[Counts, Counts]:
    """Count the relevant and all items at each distinct score of each query, best score first.

    The result has the form of `histograms` with equal scores in one bin, so the same functions
    rank by real values, such as similarities before they become codes, and average over ties.
    Bins are places in a ranking and no distances: a score within a radius means nothing here.

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
        ones. The result takes 16 bytes for each bin of each query.

    Examples
    --------
    >>> relevant, total = scored([[0.1, 0.9, 0.1], [3, 2, 1]], np.eye(2, 3, dtype=bool))
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
