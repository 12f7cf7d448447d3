"""Parameters chosen without hidden categories: some seen ones are held out as pseudo-unseen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid

from zshash import metrics
from zshash.studies.names2026.baselines.baseline import Baseline, Floats, Integers

__all__ = ["choose", "folds", "pseudo_map", "without_new_coordinates"]

N_FOLDS = 2
FEWEST = 3  # categories; with fewer, nothing can be held out


def choose(
    make: Callable[..., Baseline],
    grid: Mapping[str, Sequence[Any]],
    X: Floats,
    y: Integers,
    vectors: Floats,
    *,
    k: int,
    seed: int,
) -> dict[str, Any]:
    """The point of the grid with the highest MAP of pseudo-unseen names.

    With fewer than three seen categories the method's defaults stay, as an empty dict.

    Parameters
    ----------
    make : callable
        Makes the method from parameters.
    grid : mapping of str to sequence
    X, y, vectors : ndarray
        As in `Baseline.fit`: labelled pictures, all of which are searched.
    k : int
        MAP counts the first `k` ranks.
    seed : int
        Decides which categories are held out.
    """
    points = list(ParameterGrid(grid))
    if len(points) == 1 or len(vectors) < FEWEST:
        return dict(points[0]) if len(points) == 1 else {}
    held_out = list(folds(len(vectors), np.random.RandomState(seed)))
    scores = [
        np.mean([pseudo_map(make(**point), X, y, vectors, held, k) for held in held_out])
        for point in points
    ]
    return dict(points[int(np.argmax(scores))])


def folds(n_categories: int, rng: np.random.RandomState) -> Iterator[Integers]:
    """Categories to hold out: a tenth of them, but three where that is at most a third.

    >>> [len(held) for held in folds(90, np.random.RandomState(0))]
    [9, 9]
    >>> [len(held) for held in folds(9, np.random.RandomState(0))]
    [3, 3]
    """
    size = max(1, min(n_categories // 3, max(3, n_categories // 10)))
    order = rng.permutation(n_categories)
    for fold in range(N_FOLDS):
        yield np.sort(order[fold * size : (fold + 1) * size])


def pseudo_map(
    method: Baseline, X: Floats, y: Integers, vectors: Floats, held: Integers, k: int
) -> float:
    """MAP of the names of held-out categories, by a method that learns from the others."""
    kept = np.setdiff1d(np.arange(len(vectors)), held)
    seen, names = without_new_coordinates(vectors, kept, held)
    rows = np.flatnonzero(np.isin(y, kept))
    scores = method.fit(X[rows], np.searchsorted(kept, y[rows]), seen).scores(X, names)
    relevant, total = metrics.real_histograms(scores, metrics.same_label(held, y))
    return metrics.mean_average_precision(relevant, total, k)


def without_new_coordinates(
    vectors: Floats, kept: Integers, held: Integers
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit vectors of kept and held-out names, in coordinates that a kept name has.

    WordNet's coordinates are ancestors of seen names: those that only held-out names have become
    zero, as they would be missing if these names were unseen.

    >>> without_new_coordinates(np.array([[1.0, 0.0], [0.8, 0.6]]), np.array([0]), np.array([1]))[1]
    array([[1., 0.]], dtype=float32)
    """
    left = vectors * (vectors[kept] != 0).any(axis=0)
    lengths = np.linalg.norm(left, axis=1, keepdims=True)
    left = (left / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
    return left[kept], left[held]
