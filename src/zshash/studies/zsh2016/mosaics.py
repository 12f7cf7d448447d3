"""Pictures with several labels, made of pictures with one label each."""

from collections.abc import Sequence
from functools import lru_cache
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from zshash.codes import check_integer
from zshash.datasets.data import DataError, Dataset, Pictures
from zshash.learning.categories import find_categories
from zshash.studies.data import Sources, as_pictures

__all__ = ["load_searched", "mosaics"]

SIDE = 2  # cells on a side
MOST = 3  # most categories of a mosaic, and most cells of one category


def mosaics(
    pictures: Pictures,
    categories: Sequence[int] | NDArray[np.int64],
    n: int,
    random_state: Any = None,
) -> Pictures:
    """Put pictures together, 2 × 2 at a time, into pictures that carry several categories.

    Each mosaic has two or three random categories, with equal chances. Each category is in at least
    one cell; the remaining cells repeat them at random, and the order of cells is shuffled. No
    picture is used twice in all mosaics; if a category has too few pictures for that, no picture is
    used twice in one mosaic, as long as there are enough.

    Parameters
    ----------
    pictures : Pictures
        Pixels of shape (m, height, width[, 3]), uint8, with one label each.
    categories : list or array of int
        Numbers of the categories to draw from, at least three.
    n : int
        How many mosaics to make.
    random_state : int, RandomState or None

    Returns
    -------
    Pictures
        Pixels of shape (n, 2 * height, 2 * width[, 3]) and labels of shape (n, len(categories)),
        bool, a column per category in the order given; names and synsets likewise.

    Raises
    ------
    DataError
        If the pictures are files, or have no label or several each, or a category can not be used.

    Examples
    --------
    >>> pixels = np.arange(40, dtype=np.uint8).reshape(10, 2, 2)
    >>> animals = Pictures(pixels, np.arange(10) % 4, ("cat", "dog", "frog", "deer"))
    >>> made = mosaics(animals, [3, 0, 1], n=5, random_state=0)
    >>> made.sources.shape, made.names
    ((5, 4, 4), ('deer', 'cat', 'dog'))
    >>> made.labels.sum(axis=1)
    array([2, 2, 2, 3, 2])
    """
    pixels, labels = _check_pictures(pictures)
    chosen = [index(category) for category in categories]
    members = _members(labels, chosen)
    check_integer("n", n, 1)
    rng = check_random_state(random_state)
    carried, slots = _draw_categories(len(members), n, rng)
    rows = _shuffle(_draw_pictures(members, carried, slots, rng), rng)
    matrix = np.zeros((n, len(members)), dtype=np.bool_)
    matrix[np.arange(n)[:, None], np.take_along_axis(carried, slots, axis=1)] = True
    names, synsets = (_chosen(words, chosen) for words in (pictures.names, pictures.synsets))
    return Pictures(_compose(pixels, rows), matrix, names, synsets)


def _check_pictures(pictures: Pictures) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    pixels, labels = pictures.sources, pictures.labels
    if not isinstance(pixels, np.ndarray):
        raise DataError("mosaics are made of pixels, not of files: read the pictures first")
    if pixels.dtype != np.uint8 or pixels.ndim not in (3, 4) or pixels.shape[3:] not in ((), (3,)):
        raise DataError(
            "mosaics need pixels of shape (n, height, width) or (n, height, width, 3), uint8, "
            f"got {pixels.dtype} of shape {pixels.shape}"
        )
    if labels is None or labels.ndim != 1 or len(labels) != len(pixels):
        shape = "none" if labels is None else f"shape {labels.shape}"
        raise DataError(
            f"mosaics need one label for each of the {len(pixels)} pictures, got {shape}"
        )
    return pixels, labels


def _members(labels: NDArray[Any], categories: Sequence[int]) -> list[NDArray[np.int64]]:
    """Rows of the pictures of each category."""
    if len(categories) < MOST or len(set(categories)) < len(categories):
        raise DataError(
            f"mosaics need at least {MOST} categories, each named once, got {categories}"
        )
    members = [np.flatnonzero(labels == category) for category in categories]
    empty = [category for category, rows in zip(categories, members, strict=True) if not rows.size]
    if empty:
        raise DataError(f"no picture has the label {', '.join(map(str, empty))}")
    return members


def _draw_categories(
    n_categories: int, n: int, rng: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw three categories for each mosaic, (n, 3), and one of the three for each cell, (n, 4)."""
    carried = _draw_distinct(np.full(n, n_categories), rng)
    n_carried = rng.randint(2, MOST + 1, size=n)
    slots = rng.randint(0, n_carried, size=(SIDE**2, n)).T
    needed = np.arange(SIDE**2) < n_carried[:, None]
    return carried, np.where(needed, np.arange(SIDE**2), slots)


def _draw_pictures(
    members: Sequence[NDArray[np.int64]],
    carried: NDArray[np.int64],
    slots: NDArray[np.int64],
    rng: np.random.RandomState,
) -> NDArray[np.int64]:
    """Draw a picture for each cell, (n, 4)."""
    sizes = np.array([len(rows) for rows in members])
    shown = np.take_along_axis(carried, slots, axis=1)
    if (np.bincount(shown.ravel(), minlength=len(sizes)) <= sizes).all():
        return _draw_once(members, shown, rng)
    starts = np.cumsum(sizes) - sizes
    candidates = _draw_distinct(sizes[carried], rng)  # (n, 3 categories, 3 pictures of each)
    same = slots[:, :, None] == slots[:, None, :]
    occurrence = np.tril(same, -1).sum(axis=2)  # earlier cells with the same category
    picks = candidates[np.arange(len(slots))[:, None], slots, occurrence]
    rows: NDArray[np.int64] = np.concatenate(members)[starts[shown] + picks]
    return rows


def _draw_once(
    members: Sequence[NDArray[np.int64]], shown: NDArray[np.int64], rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw a picture of each cell's category; no picture is drawn twice."""
    rows = np.empty(shown.shape, dtype=np.int64)
    for category, own in enumerate(members):
        cells = shown == category
        rows[cells] = rng.permutation(own)[: cells.sum()]
    return rows


def _draw_distinct(sizes: NDArray[np.int64], rng: np.random.RandomState) -> NDArray[np.int64]:
    """Draw three numbers below each size, (..., 3), without repetition if the size allows it.

    >>> _draw_distinct(np.array([1, 2, 3]), np.random.RandomState(0))
    array([[0, 0, 0],
           [0, 1, 0],
           [1, 0, 2]])
    """
    drawn = np.zeros((*sizes.shape, 0), dtype=np.int64)
    for count in range(MOST):
        number = rng.randint(0, np.maximum(sizes - count, 1))
        # The number counts only free values: step over taken ones. If none is free, begin again.
        for taken in np.moveaxis(np.sort(drawn, axis=-1), -1, 0):
            number = number + (number >= taken)
        drawn = np.concatenate([drawn, (number % sizes)[..., None]], axis=-1)
    return drawn


def _shuffle(rows: NDArray[np.int64], rng: np.random.RandomState) -> NDArray[np.int64]:
    """Shuffle each row independently."""
    return np.take_along_axis(rows, rng.random_sample(rows.shape).argsort(axis=1), axis=1)


def _compose(pixels: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Lay out the pictures of each mosaic's cells, (n, 2 height, 2 width[, 3])."""
    height, width, *colours = pixels.shape[1:]
    cells = pixels[rows.reshape(-1, SIDE, SIDE)]  # (n, 2, 2, height, width[, 3])
    return cells.swapaxes(2, 3).reshape(len(rows), SIDE * height, SIDE * width, *colours)


def _chosen(words: tuple[str, ...], categories: Sequence[int]) -> tuple[str, ...]:
    return tuple(words[category] for category in categories) if words else ()


@lru_cache(maxsize=2)
def load_searched(
    name: str, tags: tuple[str, ...], number: int, extractor: str | None, sources: Sources
) -> Dataset:
    """Features and tags of multi-label data, or of mosaics made of pictures with one label each.

    Mosaics have the categories `tags`; data with several labels is taken as it is.
    """
    data = sources.open(name)
    if data.labels is None:
        raise DataError(f"{name}: there are no labels to score against")
    if data.labels.ndim == 1 and not tags:
        raise DataError(f"{name}: each picture has one label, and several are needed")
    if data.labels.ndim == 1:
        pictures = as_pictures(data, name)
        data = mosaics(pictures, find_categories(pictures, tags), number, random_state=0)
    return sources.features(data, extractor)
