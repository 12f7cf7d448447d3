"""Seen categories held out as if nobody had labelled them, to choose parameters by."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from zshash.codes import check_integer
from zshash.datasets.data import bears
from zshash.datasets.splits import (
    Split,
    categories_of,
    check_labels,
    draw_training,
    with_seen_queries,
    zero_shot_split,
)

__all__ = ["PseudoUnseenSplit"]

MAX_QUERIES = 1000  # where `n_queries` is not given


class PseudoUnseenSplit(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn has no types
    """Folds that hold out whole labelled categories, as if they were unseen.

    Parameters that suit unlabelled categories can not be chosen on these categories: there are no
    labels to measure by. They can be chosen on labelled categories that are not trained on. Folds
    hold out different categories as long as there are some left.

    Parameters
    ----------
    n_splits : int, default=5
        Folds.
    n_unseen : int, optional
        Categories to hold out in each fold, or groups of categories where there are `groups`; by
        default a tenth of them, at least one.
    n_queries : int, optional
        Samples of the held-out categories to search with; the others stay to be found. By
        default half of the samples, at most 1,000.
    distractors : float, default=0.2
        Share of the other categories' samples that `split` keeps out of training and adds to the
        samples to be searched.
    random_state : int, RandomState or None
        An int gives the same folds in every call.

    Notes
    -----
    `split` is for scikit-learn: training samples are not tested on, so only the test part is
    searched. `folds` follows the protocol of this package, where everything but
    the queries is searched, training samples included.

    Examples
    --------
    >>> y = np.repeat(["cat", "dog", "eel", "fox"], 5)
    >>> splitter = PseudoUnseenSplit(n_splits=2, n_queries=3, random_state=0)
    >>> for fold in splitter.folds(y):
    ...     fold.unseen.tolist(), len(fold.train), len(fold.queries), len(fold.database)
    (['eel'], 15, 3, 17)
    (['fox'], 15, 3, 17)
    >>> for train, test in splitter.split(None, y):
    ...     len(train), len(test), y[test[:3]].tolist()
    (12, 8, ['eel', 'eel', 'eel'])
    (12, 8, ['fox', 'fox', 'fox'])
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012, as scikit-learn reads it

    def __init__(
        self,
        n_splits: int = 5,
        n_unseen: int | None = None,
        *,
        n_queries: int | None = None,
        distractors: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.n_splits = check_integer("n_splits", n_splits, 1)
        self.n_unseen = None if n_unseen is None else check_integer("n_unseen", n_unseen, 1)
        self.n_queries = None if n_queries is None else check_integer("n_queries", n_queries, 1)
        if not 0 < distractors < 1:
            raise ValueError(f"distractors must be a share between 0 and 1, got {distractors!r}")
        self.distractors = distractors
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """How many folds there are."""
        return self.n_splits

    def split(
        self, X: Any, y: ArrayLike | None = None, groups: Mapping[Any, Any] | None = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Row numbers of the training and of the test part of each fold.

        Parameters
        ----------
        X : ignored
        y : array of shape (n,), or 0/1 of shape (n, c)
            One label for each sample, or a 0/1 column for each category.
        groups : mapping of category to group, optional
            As for `folds`.

        Yields
        ------
        train : ndarray
            Samples of the other categories, without the distractors, in ascending order.
        test : ndarray
            All other samples: first the queries, then the samples to be searched (the rest of
            the held-out categories and the distractors), both in ascending order.
        """
        del X
        if y is None:
            raise ValueError("y is missing: categories are held out by their labels")
        labels = check_labels(y)
        for seed, hidden in self._drawn(labels, groups):
            fold = self._fold(labels, hidden, seed)
            n_train = len(fold.train) - int(self.distractors * len(fold.train))
            train = draw_training(fold.train, n_train, np.random.RandomState(seed))
            _check_left(categories_of(labels[train]), hidden)
            searched = np.setdiff1d(fold.database, train, assume_unique=True)
            yield train, np.concatenate([fold.queries, searched])

    def folds(
        self,
        y: ArrayLike,
        groups: Mapping[Any, Any] | None = None,
        *,
        n_train: int | None = None,
        n_seen_queries: int | None = 0,
    ) -> Iterator[Split]:
        """Folds by the protocol of `zero_shot_split`: the database is everything but the queries.

        Parameters
        ----------
        y : array of shape (n,), or 0/1 of shape (n, c)
            One label for each sample, or a 0/1 column for each category. Samples of a held-out
            category are not trained on, even if they belong to other categories, too.
        groups : mapping of category to group, optional
            Categories of the same group are held out together, so that no fold trains on
            terriers and holds out hounds. A category that is not mentioned is a group of its
            own. Columns of a 0/1 matrix are categories 0, 1, ….
        n_train : int, optional
            Samples to train on in each fold; all samples where there are fewer.
        n_seen_queries : int or None, default=0
            As in `zero_shot_split`.
        """
        labels = check_labels(y)
        for seed, hidden in self._drawn(labels, groups):
            yield self._fold(labels, hidden, seed, n_train, n_seen_queries)

    def _drawn(
        self, labels: NDArray[Any], groups: Mapping[Any, Any] | None
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Seed and categories to hold out, for each fold."""
        units = _units(labels, groups)
        n_unseen = max(round(len(units) / 10), 1) if self.n_unseen is None else self.n_unseen
        if n_unseen > len(units):
            what = "categories" if groups is None else "groups of categories"
            raise ValueError(
                f"{n_unseen} {what} can not be held out: only {len(units)} have two samples, one "
                "to search with and one to be found"
            )
        rng = check_random_state(self.random_state)
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_splits).tolist()
        for seed, numbers in zip(seeds, _turns(len(units), n_unseen, rng), strict=False):
            yield seed, np.sort(np.concatenate([units[number] for number in numbers]))

    def _fold(
        self,
        labels: NDArray[Any],
        hidden: NDArray[Any],
        seed: int,
        n_train: int | None = None,
        n_seen_queries: int | None = 0,
    ) -> Split:
        n_queries = self.n_queries
        if n_queries is None:
            n_queries = min(max(int(bears(labels, hidden).sum()) // 2, 1), MAX_QUERIES)
        _check_left(categories_of(labels[~bears(labels, hidden)]), hidden)
        fold = zero_shot_split(labels, hidden, n_queries=n_queries, random_state=seed)
        rng, candidates = np.random.RandomState(seed), fold.train
        if n_train is not None and n_train < len(candidates):
            fold = replace(fold, train=draw_training(candidates, n_train, rng))
        return with_seen_queries(fold, candidates, n_seen_queries, rng)


def _units(labels: NDArray[Any], groups: Mapping[Any, Any] | None) -> list[NDArray[Any]]:
    """Groups of categories that are held out together and have at least two samples."""
    categories = categories_of(labels)
    groups = {} if groups is None else _check_groups(groups, categories)
    together: dict[tuple[bool, Any], list[int]] = {}
    for place, category in enumerate(categories.tolist()):
        own = (True, groups[category]) if category in groups else (False, category)
        together.setdefault(own, []).append(place)
    if labels.ndim == 1:
        counts = np.unique(labels, return_counts=True)[1]
    else:
        counts = labels.sum(axis=0)[categories]
    return [categories[places] for places in together.values() if counts[places].sum() > 1]


def _check_groups(groups: Any, categories: NDArray[Any]) -> Mapping[Any, Any]:
    if not isinstance(groups, Mapping):
        raise ValueError(
            "groups must map categories to groups, for instance {'beagle': 'dog', 'pug': 'dog'}, "
            f"got {type(groups).__name__}"
        )
    known = set(categories.tolist())
    unknown = [repr(category) for category in groups if category not in known]
    if unknown:
        raise ValueError(f"groups: no sample has the label {', '.join(unknown)}")
    return groups


def _turns(n_units: int, n_unseen: int, rng: np.random.RandomState) -> Iterator[list[int]]:
    """Yield the numbers to hold out in each fold, endlessly; none repeats before all had a turn."""
    waiting: list[int] = []
    while True:
        chosen, waiting = waiting[:n_unseen], waiting[n_unseen:]
        if len(chosen) < n_unseen:
            last = chosen
            others = [number for number in rng.permutation(n_units).tolist() if number not in last]
            missing = n_unseen - len(last)
            chosen, waiting = last + others[:missing], others[missing:] + last
        yield chosen


def _check_left(left: NDArray[Any], hidden: NDArray[Any]) -> None:
    if len(left) < 2:
        raise ValueError(
            f"with {len(hidden)} held out, fewer than two categories are left to learn from: hold "
            "out fewer, or give more categories"
        )
