"""Seeded splits of a data set into training samples, queries and database."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from zshash._warnings import warn_user
from zshash.codes import check_integer
from zshash.datasets.data import bears

__all__ = ["Split", "conventional_split", "zero_shot_split"]


@dataclass(frozen=True)
class Split:
    """Row numbers of training samples, queries and database, each in ascending order.

    Attributes
    ----------
    train : ndarray
        Samples of seen categories to learn from.
    queries : ndarray
        Samples to search with: of unseen categories, or of all categories where none is unseen.
    database : ndarray
        Everything but the queries, training samples included.
    seen, unseen : ndarray
        Labels of the seen and of the unseen categories.
    seen_queries : ndarray
        Samples of seen categories to search with, none of them trained on. They stay in the
        database, and each is left out of its own ranking.
    """

    train: NDArray[np.int64]
    queries: NDArray[np.int64]
    database: NDArray[np.int64]
    seen: NDArray[Any]
    unseen: NDArray[Any]
    seen_queries: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def pool(self) -> NDArray[np.int64]:
        """Samples to learn from if labels are not needed: the database without the queries."""
        return np.setdiff1d(self.database, self.seen_queries, assume_unique=True)

    @property
    def finds_itself(self) -> bool:
        """Whether queries are in the database; each is then left out of its own ranking."""
        return bool(np.isin(self.queries, self.database).all())

    def known_labels(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Labels of the training samples; all other samples get −1, or a row of zeros."""
        known = np.zeros_like(labels) if labels.ndim == 2 else np.full_like(labels, -1)
        known[self.train] = labels[self.train]
        return known


def zero_shot_split(
    labels: ArrayLike,
    unseen: int | Sequence[Any] | NDArray[Any],
    *,
    n_train: int | None = None,
    n_queries: int | None = None,
    n_seen_queries: int | None = 0,
    random_state: Any = None,
) -> Split:
    """Hide some categories from training and draw queries from them.

    Parameters
    ----------
    labels : array of shape (n,), or 0/1 of shape (n, c)
        One label for each sample, or a 0/1 column for each category.
    unseen : list of labels, or int
        The categories to hide (for a 0/1 matrix: numbers of columns), or how many categories to
        draw at random. Samples of a hidden category are not trained on, even if they belong to
        other categories, too; nor are samples without a category.
    n_train : int, optional
        Training samples, drawn from the seen categories; all of them by default.
    n_queries : int, optional
        Queries, drawn from the unseen categories; by default half of their samples.
    n_seen_queries : int or None, default=0
        Queries of seen categories, drawn from the samples that are not trained on; where these
        are too few, they are taken out of the training. None draws as many as there are queries
        of unseen categories, and at most a tenth of the seen samples.
    random_state : int, RandomState or None

    Examples
    --------
    >>> split = zero_shot_split(["cat", "dog", "cat", "dog"], ["dog"], n_queries=1, random_state=0)
    >>> split.train, len(split.database)
    (array([0, 2]), 3)
    """
    labels = check_labels(labels)
    rng = check_random_state(random_state)
    categories = categories_of(labels)
    hidden = _hidden(categories, unseen, rng)
    is_unseen = bears(labels, hidden)
    candidates = np.flatnonzero(_labelled(labels) & ~is_unseen)
    strangers = np.flatnonzero(is_unseen)
    if not candidates.size:
        raise ValueError("nothing is left to train on: every sample belongs to a hidden category")
    train = draw_training(candidates, n_train, rng)
    queries = _draw_queries(strangers, n_queries, rng)
    database = _others(len(labels), queries)
    split = Split(train, queries, database, categories_of(labels[candidates]), hidden)
    return with_seen_queries(split, candidates, n_seen_queries, rng)


def conventional_split(
    labels: ArrayLike,
    *,
    n_train: int | None = None,
    n_queries: int | None = None,
    random_state: Any = None,
) -> Split:
    """Hide no category: draw queries from all samples, and training samples from the rest.

    Parameters
    ----------
    labels : array of shape (n,), or 0/1 of shape (n, c)
    n_train : int, optional
        Training samples; by default all but the queries.
    n_queries : int, optional
        Queries; by default a tenth of the samples. Samples without a category
        are neither queries nor training samples.
    random_state : int, RandomState or None

    Examples
    --------
    >>> split = conventional_split(["cat", "dog"] * 10, n_train=5, random_state=0)
    >>> len(split.train), len(split.queries), len(split.database), len(split.unseen)
    (5, 2, 18, 0)
    """
    labels = check_labels(labels)
    rng = check_random_state(random_state)
    labelled = np.flatnonzero(_labelled(labels))
    n_queries = max(len(labelled) // 10, 1) if n_queries is None else n_queries
    queries = _draw_queries(labelled, n_queries, rng)
    database = _others(len(labels), queries)
    train = draw_training(np.intersect1d(labelled, database), n_train, rng)
    seen = categories_of(labels[train])
    return Split(train, queries, database, seen, seen[:0])


def check_labels(labels: ArrayLike) -> NDArray[Any]:
    """Labels as an array of shape (n,), or a boolean matrix of shape (n, c)."""
    labels = np.asarray(labels)
    if labels.ndim == 1:
        return labels
    if labels.ndim != 2 or not np.isin(labels, (0, 1)).all():
        raise ValueError(
            f"a split needs a label for each sample, or a 0/1 matrix, got shape {labels.shape}"
        )
    return labels.astype(np.bool_)


def categories_of(labels: NDArray[Any]) -> NDArray[Any]:
    """Categories that occur: labels, or numbers of columns."""
    return np.unique(labels) if labels.ndim == 1 else np.flatnonzero(labels.any(axis=0))


def _labelled(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Which samples belong to at least one category."""
    return np.ones(len(labels), bool) if labels.ndim == 1 else np.asarray(labels.any(axis=1))


def _others(n: int, queries: NDArray[np.int64]) -> NDArray[np.int64]:
    """The database: everything but the queries."""
    return np.setdiff1d(np.arange(n), queries, assume_unique=True)


def _hidden(categories: NDArray[Any], unseen: Any, rng: np.random.RandomState) -> NDArray[Any]:
    if isinstance(unseen, (int, np.integer)):
        if not 1 <= unseen < len(categories):
            raise ValueError(f"{unseen} of {len(categories)} categories can not be unseen")
        return np.sort(rng.choice(categories, size=unseen, replace=False))
    hidden = np.unique(np.asarray(unseen))
    missing = [str(label) for label in hidden if label not in categories]
    if missing:
        raise ValueError(f"no sample has the label {', '.join(missing)}")
    if len(hidden) in (0, len(categories)):
        raise ValueError("some categories must be seen and some unseen")
    return hidden


def draw_training(
    candidates: NDArray[np.int64], n_train: int | None, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """`n_train` random candidates in ascending order, or all if None or too few."""
    if n_train is None:
        return candidates
    check_integer("n_train", n_train, 1)
    if n_train > len(candidates):
        warn_user(f"only {len(candidates)} samples to train on: using all of them")
        return candidates
    return np.sort(rng.choice(candidates, size=n_train, replace=False))


def _draw_queries(
    candidates: NDArray[np.int64], n_queries: int | None, rng: np.random.RandomState
) -> NDArray[np.int64]:
    if n_queries is None:
        n_queries = len(candidates) // 2
    if not 1 <= n_queries < len(candidates):
        raise ValueError(
            f"{n_queries} queries of {len(candidates)} samples to draw from: at least one must be "
            "drawn and at least one must stay to be found"
        )
    return np.sort(rng.choice(candidates, size=n_queries, replace=False))


def with_seen_queries(
    split: Split, candidates: NDArray[np.int64], count: int | None, rng: np.random.RandomState
) -> Split:
    """The split with queries drawn from all samples of seen categories, `candidates`."""
    if count is None:
        count = min(len(split.queries), len(candidates) // 10)
    if not check_integer("n_seen_queries", count, 0):
        return split
    outside = np.setdiff1d(candidates, split.train, assume_unique=True)
    asked = _draw_queries(outside if len(outside) > count else candidates, count, rng)
    train = np.setdiff1d(split.train, asked, assume_unique=True)
    return replace(split, train=train, seen_queries=asked)
