"""Data sets as every reader returns them: pictures or features, with labels and names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DataError",
    "Dataset",
    "Labels",
    "Pictures",
    "as_labels",
    "bears",
    "number_labels",
    "read_lines",
    "unreadable",
]

Labels = NDArray[np.int64] | NDArray[np.bool_]
Item = TypeVar("Item")


class DataError(ValueError):
    """Data that can not be used; the message says why and what to do."""


@dataclass(frozen=True)
class Dataset:
    """Features with their labels, names and origin.

    Attributes
    ----------
    X : ndarray of shape (n, d), float32
    labels : ndarray of shape (n,), int, or (n, c), bool, or None
        Number of each sample's category in `names`. Where a sample may have several categories
        or none: whether it belongs to each of them, a column for each name.
    names : tuple of str
        Category names.
    synsets : tuple of str
        WordNet ids of the categories ("n02123045") where the data has them, else empty; "" for a
        category without an id among others that have one.
    images : ndarray of shape (n, height, width), uint8, or None
        Small pictures to show.
    paths : tuple of str
        Where the samples come from; empty if unknown.
    extractor : dict or None
        The network that made the features, its options and its fingerprint; None if unknown.
    """

    X: NDArray[np.float32]
    labels: Labels | None = None
    names: tuple[str, ...] = ()
    synsets: tuple[str, ...] = ()
    images: NDArray[np.uint8] | None = None
    paths: tuple[str, ...] = ()
    extractor: dict[str, Any] | None = None

    def __len__(self) -> int:
        return len(self.X)

    def select(self, rows: NDArray[np.int64]) -> Self:
        """Data set of the given rows; all categories stay."""
        return replace(
            self,
            X=self.X[rows],
            labels=_pick(self.labels, rows),
            images=_pick(self.images, rows),
            paths=_pick_all(self.paths, rows),
        )


@dataclass(frozen=True)
class Pictures:
    """Pictures with their labels, names and origin, before features are extracted.

    Attributes
    ----------
    sources : tuple of Path, or ndarray of shape (n, height, width[, 3]), uint8
        Files, or the pixels themselves.
    labels, names, synsets
        As in `Dataset`.
    root : Path or None
        The folder or file that the pictures were read from.
    labels_from : str
        What the labels come from: "folders", or the name of a list; "" if it is the data itself.
    plain_folders : tuple of str
        Names of folders that hold pictures without a label, because the names say nothing about
        what pictures show.

    Examples
    --------
    >>> pixels = np.zeros((3, 8, 8), dtype=np.uint8)
    >>> pictures = Pictures(pixels, np.array([0, 1, 1]), ("cat", "dog"))
    >>> len(pictures.select(np.array([1, 2])))
    2
    """

    sources: Sequence[Path] | NDArray[np.uint8]
    labels: Labels | None = None
    names: tuple[str, ...] = ()
    synsets: tuple[str, ...] = ()
    root: Path | None = None
    labels_from: str = ""
    plain_folders: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the files, as text; empty where the pictures are pixels."""
        if isinstance(self.sources, np.ndarray):
            return ()
        return tuple(map(str, self.sources))

    def select(self, rows: NDArray[np.int64]) -> Self:
        """Pictures of the given rows; all categories stay."""
        sources: Sequence[Path] | NDArray[np.uint8]
        if isinstance(self.sources, np.ndarray):
            sources = self.sources[rows]
        else:
            sources = _pick_all(tuple(self.sources), rows)
        return replace(self, sources=sources, labels=_pick(self.labels, rows))


def _pick(array: Any, rows: NDArray[np.int64]) -> Any:
    return None if array is None else array[rows]


def _pick_all(items: tuple[Item, ...], rows: NDArray[np.int64]) -> tuple[Item, ...]:
    return tuple(items[row] for row in rows.tolist()) if items else ()


def bears(labels: NDArray[Any], categories: ArrayLike) -> NDArray[np.bool_]:
    """Which samples belong to at least one of the given categories.

    >>> bears(np.array([0, 2, 1]), [1, 2])
    array([False,  True,  True])
    >>> bears(np.array([[True, True, False], [False, False, False]]), [1, 2])
    array([ True, False])
    """
    categories = np.asarray(categories)
    if labels.ndim == 1:
        return np.isin(labels, categories)
    return np.asarray(labels[:, categories].any(axis=1), dtype=np.bool_)


def as_labels(
    own: Sequence[Sequence[str]], names: Sequence[str] | None = None
) -> tuple[Labels, tuple[str, ...]]:
    """Labels and category names from the words that each sample is labelled with.

    Parameters
    ----------
    own : list of list of str
        The words of each sample. Where each sample has exactly one word, the labels are numbers,
        else a 0/1 matrix.
    names : list of str, optional
        All categories, in their order; by default the words that occur, sorted.

    Examples
    --------
    >>> as_labels([["dog"], ["cat"], ["dog"]])
    (array([1, 0, 1]), ('cat', 'dog'))
    >>> as_labels([["dog", "cat"], []])[0]
    array([[ True,  True],
           [False, False]])
    """
    names = sorted({word for words in own for word in words}) if names is None else list(names)
    places = {name: number for number, name in enumerate(names)}
    if all(len(words) == 1 for words in own):
        return np.array([places[words[0]] for words in own], dtype=np.int64), tuple(names)
    matrix = np.zeros((len(own), len(names)), dtype=np.bool_)
    for row, words in enumerate(own):
        matrix[row, [places[word] for word in words]] = True
    return matrix, tuple(names)


def number_labels(numbers: ArrayLike, n_categories: int) -> Labels:
    """Labels from category numbers; a 0/1 matrix if some are −1, which nobody labelled.

    >>> number_labels([1, 0], 2), number_labels([1, -1], 2).tolist()
    (array([1, 0]), [[False, True], [False, False]])
    """
    places = np.asarray(numbers, dtype=np.int64)
    labelled = np.flatnonzero(places >= 0)
    if len(labelled) == len(places):
        return places
    matrix = np.zeros((len(places), n_categories), dtype=np.bool_)
    matrix[labelled, places[labelled]] = True
    return matrix


def read_lines(path: Path) -> list[str]:
    """Lines of a text file."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text") from error
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: str | Path, error: OSError) -> DataError:
    """Error for a file or a folder that can not be read.

    >>> raise unreadable("cats", PermissionError(13, "Permission denied"))
    Traceback (most recent call last):
    zshash.datasets.data.DataError: cats: Permission denied
    """
    return DataError(f"{path}: {error.strerror or 'it can not be read'}")
