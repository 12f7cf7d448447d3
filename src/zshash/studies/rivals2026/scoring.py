"""Scores of what ranks by real-valued similarities, by the protocol of hash functions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from zshash import metrics
from zshash._threads import all_cores
from zshash.datasets import Dataset, Split
from zshash.evaluation import protocol as protocols
from zshash.metrics.relevance import blocks
from zshash.metrics.scores import average_precision
from zshash.studies.rivals2026.quantisers import Codes, Vectors

__all__ = ["Ranker", "Similarities", "score", "score_similarities"]

BLOCK_QUERIES = 128  # compared at a time: 30 MB of similarities to 60,000 codes

Numbers = NDArray[np.int64]
Similarities = Callable[[Numbers, Numbers], Vectors]
"""Similarity (q, n) of samples as queries to samples of the database, both by row numbers."""


class Ranker(Protocol):
    """What stores features in codes, and compares real-valued queries with them."""

    is_binary: bool

    def encode(self, X: Vectors) -> Codes:
        """Codes (n, n_bytes) of features X (n, d)."""

    def similarities(self, queries: Vectors, stored: Codes) -> Vectors:
        """Similarity (q, n) of the features of queries to codes: higher is better."""


def score(
    dataset: Dataset, ranker: Ranker, split: Split, protocol: protocols.Protocol
) -> dict[str, Any]:
    """MAP of the split's queries in its database, for each kind of queries.

    The keys are those of `zshash.evaluation.protocol.score`: "map_real" ranks by the similarity of
    real-valued queries to codes; "map" and "precision", by the Hamming distance, are there only
    for binary codes. "_alone" and "_seen" are added for other kinds of queries.

    Parameters
    ----------
    dataset : Dataset
    ranker : Ranker
        Has learned already.
    split : Split
        Training samples, queries and database of one seed, as ``protocol.split`` gives them.
    protocol : Protocol
        Says how many ranks count, and within which distance.
    """
    shape = len(dataset.X), ranker.encode(dataset.X[:1]).shape[1]
    stored = np.zeros(shape, dtype=np.uint8)
    stored[split.database] = ranker.encode(dataset.X[split.database])

    def similarities(queries: Numbers, database: Numbers) -> Vectors:
        return ranker.similarities(dataset.X[queries], stored[database])

    scores = score_similarities(dataset, similarities, split, protocol)
    if ranker.is_binary:
        stored[split.queries] = ranker.encode(dataset.X[split.queries])
        scores |= _score_bits(dataset, stored, split, protocol)
    return scores


def score_similarities(
    dataset: Dataset, similarities: Similarities, split: Split, protocol: protocols.Protocol
) -> dict[str, Any]:
    """MAP of a split's queries by any similarities, for each kind of queries, as "map_real".

    A query that is an item of the database is left out of its own ranking. Equal similarities tie,
    and are averaged over all their orders.
    """
    scores: dict[str, Any] = {
        "k": protocol.k,
        "n_queries": len(split.queries),
        "n_database": len(split.database),
    }
    if len(split.seen_queries):
        scores["n_seen_queries"] = len(split.seen_queries)
    for suffix, own in protocols.kinds(dataset, split).items():
        found = _average_precisions(dataset, similarities, own, protocol.k)
        scores[f"map_real{suffix}"] = float(found.mean())
    return scores


def _average_precisions(
    dataset: Dataset, similarities: Similarities, split: Split, k: int
) -> NDArray[np.float64]:
    """Average precision of each query over the first `k` ranks."""
    ranks = min(k, len(split.database) - split.finds_itself)
    found = []
    with all_cores():
        for part in gen_batches(len(split.queries), BLOCK_QUERIES):
            own = replace(split, queries=split.queries[part])
            near = similarities(own.queries, own.database)
            # Worst of all, so below the ranks that count.
            near[own.queries[:, None] == own.database] = -np.inf
            shared = protocols.relevance(dataset, own)
            for rows, is_relevant in blocks(shared, *near.shape):
                pairs = zip(near[rows], is_relevant, strict=True)
                found += [_first(*pair, ranks) for pair in pairs]
    return np.array(found)


def _first(near: Vectors, is_relevant: NDArray[np.bool_], ranks: int) -> float:
    """Average precision of one query; items below the last rank that counts need no order."""
    best = np.flatnonzero(near >= np.partition(near, -ranks)[-ranks])
    found = metrics.real_histograms(near[None, best], is_relevant[None, best])
    return float(average_precision(*found, ranks)[0])


def _score_bits(
    dataset: Dataset, stored: Codes, split: Split, protocol: protocols.Protocol
) -> dict[str, Any]:
    """MAP and precision of binary codes by their Hamming distance, for each kind of queries."""
    scores: dict[str, Any] = {}
    for suffix, own in protocols.kinds(dataset, split).items():
        codes = stored[own.queries], stored[own.database]
        found = protocols.score_codes(dataset, codes, own, protocol)
        if suffix:
            found = {key + suffix: found[key] for key in ("map", "precision")}
        scores |= found
    return scores
