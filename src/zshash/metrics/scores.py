"""How well codes retrieve: average precision, precision in a ball, precision at a rank.

Hamming distances are small integers, so most neighbours tie, and the order inside a tie is an
accident that can move a score by several points. Every score here follows from two histograms
per query, `relevant` and `total`: how many items lie at each distance. It is the expected value
over random orders within ties, in closed form. `ranked` gives the other reading, the order by
(distance, position), in the same form, so that the same functions score it, and
`real_histograms` ranks by real values instead of distances.

A rank `k` beyond the size of the database counts as the size of the database.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.codes import check_integer
from zshash.metrics import ties as orders
from zshash.metrics.histograms import histograms, ranked, without_itself
from zshash.metrics.relevance import Counts, Relevance

Scores = NDArray[np.float64]


def average_precision(
    relevant: ArrayLike, total: ArrayLike, k: int | None = None, *, normalize: str = "retrieved"
) -> Scores:
    """Average precision of each query (q,); `mean_average_precision` says how it is defined.

    Examples
    --------
    >>> average_precision([[1, 0], [0, 1]], [[1, 1], [1, 1]])
    array([1. , 0.5])
    """
    relevant, total = _check_histograms(relevant, total)
    if normalize not in ("retrieved", "possible"):
        raise ValueError(f'normalize must be "retrieved" or "possible", got {normalize!r}')
    k = _check_k(k, total)
    return np.asarray(orders.average_precision(relevant, total, k, normalize == "retrieved"))


def mean_average_precision(
    relevant: ArrayLike, total: ArrayLike, k: int | None = None, *, normalize: str = "retrieved"
) -> float:
    """Mean over the queries of the average precision over the top `k`.

    The precisions at each relevant rank within the top `k` are summed and divided by the
    number of relevant items in the top `k`, or by the number that could be there. Ties are
    averaged over all their orders, the ratio itself where the rank `k` cuts a tie. A query
    with nothing to divide by scores 0.

    Parameters
    ----------
    relevant, total : int arrays of shape (q, bins)
        From `histograms`, `ranked` or `real_histograms`.
    k : int, default=all
        How many ranks count.
    normalize : {"retrieved", "possible"}, default="retrieved"
        Divide by the relevant items in the top `k`, or by min(k, all relevant items).

    Returns
    -------
    float

    Examples
    --------
    Two items tie and one is relevant: it comes first or second, each as likely.

    >>> mean_average_precision([[1]], [[2]])
    0.75
    >>> mean_average_precision([[1]], [[2]], k=1)
    0.5
    """
    return float(average_precision(relevant, total, k, normalize=normalize).mean())


def precision_within(relevant: ArrayLike, total: ArrayLike, radius: int = 2) -> float:
    """Mean over the queries of the relevant share of the items within `radius`.

    A query with nothing within the radius scores 0.

    Examples
    --------
    >>> precision_within([[1, 0, 4], [0, 0, 0]], [[1, 1, 4], [0, 0, 9]], radius=1)
    0.25
    """
    relevant, total = _check_histograms(relevant, total)
    stop = check_integer("radius", radius, 0) + 1
    return _mean_ratio(relevant[:, :stop].sum(axis=1), total[:, :stop].sum(axis=1))


def recall_within(relevant: ArrayLike, total: ArrayLike, radius: int = 2) -> float:
    """Mean over the queries of the share of the relevant items that lie within `radius`.

    A query to which nothing is relevant scores 0.

    Examples
    --------
    >>> recall_within([[1, 0, 4]], [[1, 1, 4]], radius=1)
    0.2
    """
    relevant, _ = _check_histograms(relevant, total)
    stop = check_integer("radius", radius, 0) + 1
    return _mean_ratio(relevant[:, :stop].sum(axis=1), relevant.sum(axis=1))


def precision_recall(relevant: ArrayLike, total: ArrayLike) -> tuple[Scores, Scores]:
    """`precision_within` and `recall_within` at the radii 0, 1, ..., one value for each bin.

    Examples
    --------
    >>> precision_recall([[1, 0, 1]], [[1, 1, 2]])
    (array([1. , 0.5, 0.5]), array([0.5, 0.5, 1. ]))
    """
    relevant, total = _check_histograms(relevant, total)
    hits = np.cumsum(relevant, axis=1)
    precision = hits / np.maximum(np.cumsum(total, axis=1), 1)
    recall = hits / np.maximum(hits[:, -1:], 1)
    return precision.mean(axis=0), recall.mean(axis=0)


def precision_at(relevant: ArrayLike, total: ArrayLike, k: int) -> float:
    """Mean over the queries of the expected share of relevant items in the top `k`.

    Examples
    --------
    >>> precision_at([[1, 1]], [[1, 2]], k=2)
    0.75
    """
    relevant, total = _check_histograms(relevant, total)
    k = _check_k(k, total)
    before = np.cumsum(total, axis=1) - total
    inside = np.clip(k - before, 0, total)
    hits = (relevant * (inside / np.maximum(total, 1))).sum(axis=1)
    return float(np.mean(hits / inside.sum(axis=1)))


def mean_precision(relevant: ArrayLike, total: ArrayLike, k: int) -> float:
    """Mean over the queries, and over the ranks 1..k, of the expected precision at that rank.

    This is not average precision: every rank counts, whether its item is relevant or not.
    The zero-shot hashing paper scores related categories so and calls it MAP. A database of
    fewer than `k` items is scored over the ranks that it has.

    Examples
    --------
    >>> mean_precision([[1, 1]], [[1, 2]], k=2)  # (1 + 0.75) / 2
    0.875
    """
    relevant, total = _check_histograms(relevant, total)
    return float(orders.mean_precision(relevant, total, _check_k(k, total)).mean())


def evaluate(
    query_codes: NDArray[np.uint8],
    database_codes: NDArray[np.uint8],
    is_relevant: Relevance,
    *,
    k: int | None,
    radius: int = 2,
    ties: str = "expected",
    n_bits: int | None = None,
    itself: bool = False,
) -> dict[str, Any]:
    """Score codes by mean average precision over the top `k` and precision within `radius`.

    Parameters
    ----------
    query_codes, database_codes, is_relevant, n_bits
        As for `histograms`.
    k : int or None
        How many ranks the mean average precision counts; None for all of them.
    radius : int, default=2
        Radius of the ball.
    ties : {"expected", "order"}, default="expected"
        Take the expected value over random orders within ties, or the order by
        (distance, position in the database). The precision within a ball has no order.
    itself : bool, default=False
        Whether each query is an item of the database: it is then left out of its own ranking.
        This needs expected values over ties.

    Returns
    -------
    dict
        "map" and "precision", and what they were computed with: "k", "radius", "ties",
        "n_queries" and "n_database".

    Examples
    --------
    >>> from zshash.metrics import same_label
    >>> codes = np.array([[0], [1], [255], [254]], dtype=np.uint8)
    >>> scores = evaluate(codes, codes, same_label([0, 0, 1, 1], [0, 0, 1, 1]), k=2)
    >>> scores["map"], scores["precision"]
    (1.0, 1.0)
    """
    if ties not in ("expected", "order"):
        raise ValueError(f'ties must be "expected" or "order", got {ties!r}')
    if k is not None:
        check_integer("k", k, 1)
    check_integer("radius", radius, 0)
    if itself and ties == "order":
        raise ValueError('a query is left out of its own ranking only with ties="expected"')
    relevant, total = histograms(query_codes, database_codes, is_relevant, n_bits=n_bits)
    if itself:
        relevant, total = without_itself(relevant, total)
    precision = precision_within(relevant, total, radius)
    if ties == "order":
        relevant, total = ranked(query_codes, database_codes, is_relevant, k=k)
    return {
        "map": mean_average_precision(relevant, total, k),
        "precision": precision,
        "k": k,
        "radius": radius,
        "ties": ties,
        "n_queries": len(query_codes),
        "n_database": len(database_codes),
    }


def _mean_ratio(part: Counts, whole: Counts) -> float:
    return float(np.mean(part / np.maximum(whole, 1)))


def _check_histograms(relevant: ArrayLike, total: ArrayLike) -> tuple[Counts, Counts]:
    relevant, total = np.asarray(relevant), np.asarray(total)
    if relevant.ndim != 2 or relevant.shape != total.shape:
        raise ValueError(
            "relevant and total must be 2-D histograms of the same shape, "
            f"got {relevant.shape} and {total.shape}"
        )
    if len(total) == 0:
        raise ValueError("there are no queries to score")
    if relevant.dtype.kind not in "iu" or total.dtype.kind not in "iu":
        raise ValueError(
            f"relevant and total must be whole numbers, got {relevant.dtype} and {total.dtype}"
        )
    # Unsigned differences would wrap around.
    relevant, total = (np.ascontiguousarray(x, dtype=np.int64) for x in (relevant, total))
    if (relevant < 0).any() or (relevant > total).any():
        raise ValueError("every count of relevant items must lie between 0 and the total there")
    if not total.any(axis=1).all():
        raise ValueError("there is no database to score: a query's histogram is empty")
    return relevant, total


def _check_k(k: int | None, total: Counts) -> int:
    size = int(total.sum(axis=1).max())
    return size if k is None else min(check_integer("k", k, 1), size)
