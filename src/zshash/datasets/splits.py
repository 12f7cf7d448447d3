"""The one seeded function that parts seen from unseen."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from zshash.codes import check_integer

__all__ = ["ZeroShotSplit", "zero_shot_split"]


@dataclass(frozen=True)
class ZeroShotSplit:
    """Row numbers of each role, in ascending order.

    Attributes
    ----------
    train : ndarray
        Samples of seen categories to learn from.
    queries : ndarray
        Samples of unseen categories to search with.
    database : ndarray
        Everything but the queries, training samples included.
    seen, unseen : ndarray
        The labels on either side.
    """

    train: NDArray[np.int64]
    queries: NDArray[np.int64]
    database: NDArray[np.int64]
    seen: NDArray[Any]
    unseen: NDArray[Any]


def zero_shot_split(
    labels: ArrayLike,
    unseen: int | Sequence[Any] | NDArray[Any],
    *,
    n_train: int | None = None,
    n_queries: int | None = None,
    random_state: Any = None,
) -> ZeroShotSplit:
    """Hide some categories from training and draw queries from them.

    Parameters
    ----------
    labels : array of shape (n,)
    unseen : list of labels, or int
        The categories to hide, or how many of them to draw at random.
    n_train : int, optional
        Training samples, drawn from the seen categories; all of them by default.
    n_queries : int, optional
        Queries, drawn from the unseen categories; by default half of their samples.
    random_state : int, RandomState or None

    Examples
    --------
    >>> split = zero_shot_split(["cat", "dog", "cat", "dog"], ["dog"], n_queries=1, random_state=0)
    >>> split.train, len(split.database)
    (array([0, 2]), 3)
    """
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"a split needs one label for each sample, got shape {labels.shape}")
    rng = check_random_state(random_state)
    categories = np.unique(labels)
    hidden = _hidden(categories, unseen, rng)
    is_unseen = np.isin(labels, hidden)
    candidates, strangers = np.flatnonzero(~is_unseen), np.flatnonzero(is_unseen)
    train = draw_training(candidates, n_train, rng)
    queries = _draw_queries(strangers, n_queries, rng)
    database = np.setdiff1d(np.arange(len(labels)), queries, assume_unique=True)
    return ZeroShotSplit(train, queries, database, np.setdiff1d(categories, hidden), hidden)


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
    """`n_train` of the candidates in ascending order, or all of them."""
    if n_train is None:
        return candidates
    check_integer("n_train", n_train, 1)
    if n_train > len(candidates):
        warnings.warn(
            f"only {len(candidates)} samples of seen categories: training on all of them",
            UserWarning,
            stacklevel=3,
        )
        return candidates
    return np.sort(rng.choice(candidates, size=n_train, replace=False))


def _draw_queries(
    strangers: NDArray[np.int64], n_queries: int | None, rng: np.random.RandomState
) -> NDArray[np.int64]:
    if n_queries is None:
        n_queries = len(strangers) // 2
    if not 1 <= n_queries < len(strangers):
        raise ValueError(
            f"{n_queries} queries of {len(strangers)} unseen samples: at least one must be drawn "
            "and at least one must stay to be found"
        )
    return np.sort(rng.choice(strangers, size=n_queries, replace=False))
