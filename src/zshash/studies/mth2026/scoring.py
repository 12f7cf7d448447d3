"""Fit a setup on a split, search, and score the results."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash import metrics, scale
from zshash.datasets import Dataset, Split
from zshash.evaluation.protocol import OTHERS, Protocol, encode_split, kinds, relevance
from zshash.evaluation.protocol import score as score_kinds
from zshash.hashing.hasher import Hasher
from zshash.hashing.registry import METHODS
from zshash.hashing.steps.imagination import category_means
from zshash.hashing.steps.linear import whiten
from zshash.hashing.steps.rows import Rows, unit_rows
from zshash.learning.name_rule import cosines, query_of, scores, standing_of
from zshash.learning.targets import label_vectors, make_targets
from zshash.studies.mth2026.setups import WITHIN, Pool
from zshash.studies.tasks import related_histograms
from zshash.studies.zsh2016.names import accuracy

__all__ = [
    "among_hidden",
    "best",
    "cosine_maps",
    "fit",
    "pooled",
    "rankings",
    "score",
    "score_names",
    "whitened",
]

RELATED_HOPS, RELATED_K = 5, 5000
SHRINKAGE = METHODS["MTH"].parameters["shrinkage"]
LAST_STEPS = 20  # their mean loss is the final objective of a training in random batches
Features = NDArray[np.float32]
Matrix = NDArray[np.float64]


def fit(
    hasher: Hasher,
    dataset: Dataset,
    rows: NDArray[np.int64],
    seen: NDArray[np.int64],
    labels: tuple[str, ...],
    device: str | None,
) -> float:
    """Fit a method to the samples `rows` of the categories `seen`; returns the seconds it took."""
    targets = make_targets(hasher, dataset, rows, seen, labels)
    X = dataset.X[rows]
    start = time.perf_counter()
    if device is None:
        hasher.fit(X, targets)
    else:
        scale.fit(hasher, X, targets, device=device)
    return time.perf_counter() - start


def pooled(
    dataset: Dataset, split: Split, pool: Pool, seed: int
) -> tuple[Dataset, NDArray[np.int64]]:
    """The data with the labels that are known, and the rows of the pool."""
    assert dataset.labels is not None
    rng = np.random.RandomState(seed)
    others = rng.permutation(np.setdiff1d(split.pool, split.train, assume_unique=True))
    is_hidden = np.isin(dataset.labels[others], split.unseen)
    hidden = others[is_hidden]
    others = np.setdiff1d(others, hidden[round(pool.hidden * len(hidden)) :], assume_unique=True)
    others = rng.permutation(others)[: round(pool.share * len(others))]
    labelled = rng.permutation(split.train)[: pool.n_labelled]
    known = replace(split, train=labelled).known_labels(dataset.labels)
    return replace(dataset, labels=known), np.sort(np.concatenate([split.train, others]))


def best(hashers: Sequence[Any]) -> Any:
    """The fit with the lowest final objective, of several fits of ZSH or MTH."""
    return hashers[0] if len(hashers) == 1 else min(hashers, key=objective)


def objective(hasher: Hasher) -> float:
    """The final objective of a fit."""
    values = hasher.loss_[-LAST_STEPS:] if hasattr(hasher, "loss_") else hasher.objective_[-1:]
    return float(np.mean(values))


def score(
    hasher: Hasher, dataset: Dataset, split: Split, protocol: Protocol, with_related: bool
) -> dict[str, float]:
    """MAP, precision, MAP of real-valued queries, and mean precision of related categories.

    MAP of other kinds of queries has a suffix; see `zshash.evaluation.protocol.kinds`.
    """
    found = score_kinds(dataset, hasher, split, protocol)
    scores = {key: found[key] for key in ("map", "precision", "map_real", *OTHERS) if key in found}
    if with_related:
        codes = encode_split(dataset, hasher, split)
        found_related = related_histograms(dataset, codes, split, RELATED_HOPS)
        k = min(RELATED_K, len(split.database))
        scores["map_related"] = metrics.mean_precision(*found_related, k)
    return scores


def cosine_maps(dataset: Dataset, split: Split, protocol: Protocol) -> dict[str, float]:
    """MAP of the features themselves, ranked by cosine, for all kinds of queries."""
    X = unit_rows(dataset.X)
    scores = {}
    for suffix, own in kinds(dataset, split).items():
        near = X[own.queries] @ X[own.database].T
        if own.finds_itself:
            near[own.queries[:, None] == own.database] = np.inf
        found = metrics.real_histograms(near, relevance(dataset, own))
        if own.finds_itself:
            found = metrics.without_itself(*found)
        scores[f"map{suffix}"] = metrics.mean_average_precision(*found, protocol.k)
    return scores


def among_hidden(dataset: Dataset, split: Split) -> Split:
    """The same split, with a database of only hidden categories."""
    assert dataset.labels is not None
    is_hidden = np.isin(dataset.labels[split.database], split.unseen)
    none = split.seen_queries[:0]
    return replace(split, database=split.database[is_hidden], seen_queries=none)


def whitened(dataset: Dataset, split: Split, of: str, shrinkage: float | None = None) -> Dataset:
    """Features in the metric that MTH learns from a split's training samples.

    `shrinkage` is ε, by default that of MTH. With `of` "within categories", the metric is learned
    from the differences between samples and the means of their categories.
    """
    X: Features = unit_rows(dataset.X)
    train = X[split.train]
    mean = train.mean(axis=0)
    if of == WITHIN:
        assert dataset.labels is not None
        rows = np.searchsorted(split.seen, dataset.labels[split.train])
        train = train - category_means(train, rows)[rows]
    metric = whiten(Rows(train), SHRINKAGE if shrinkage is None else shrinkage).T.astype(np.float32)
    return replace(dataset, X=(X - mean) @ metric)


def score_names(
    dataset: Dataset, split: Split, hasher: Hasher, labels: tuple[str, ...], k: int
) -> dict[str, float]:
    """MAP of the hidden names, and the share of hidden pictures that get the right name.

    Parameters
    ----------
    hasher : Hasher
        A fitted method that learns the meanings of names.
    labels : tuple of str
        Sources of the label vectors.
    """
    assert dataset.labels is not None
    seen = label_vectors(dataset, split.seen, labels)
    names = label_vectors(dataset, split.unseen, labels, split.seen)
    found = dataset.labels[split.database]
    codes = hasher.encode(dataset.X[split.database])
    by_cosine, by_rule = rankings(hasher, codes, names, seen)

    def average_precision(ranking: Matrix) -> float:
        relevant, total = metrics.real_histograms(ranking, metrics.same_label(split.unseen, found))
        return metrics.mean_average_precision(relevant, total, k)

    return {
        "map": average_precision(by_cosine),
        "map_rule": average_precision(by_rule),
        "accuracy": accuracy(by_cosine, split.unseen, found),
    }


def rankings(
    hasher: Hasher, codes: NDArray[np.uint8], names: NDArray[Any], seen: NDArray[Any]
) -> tuple[Matrix, Matrix]:
    """Scores (names, n) of packed codes: by cosine alone, and by the rule of collections."""
    names, seen = names.astype(np.float64), seen.astype(np.float64)
    standing = standing_of(hasher, codes, seen)
    queries = [query_of(vector, seen) for vector in names]
    return (
        np.stack([cosines(hasher, codes, query.vector, standing) for query in queries]),
        np.stack([scores(hasher, codes, query, standing) for query in queries]),
    )
