"""What every reader gives: pictures or features, with their labels and the names of these."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["DataError", "Dataset", "Labels", "Pictures", "as_labels", "bears", "tell_apart"]

Labels = NDArray[np.int64] | NDArray[np.bool_]
Item = TypeVar("Item")


class DataError(ValueError):
    """Data that can not be used; the message says why and what to do."""


@dataclass(frozen=True)
class Dataset:
    """Features and what is known about them.

    Attributes
    ----------
    X : ndarray of shape (n, d), float32
    labels : ndarray of shape (n,), int, or (n, c), bool, or None
        Number of each sample's category in `names`; or which of them it belongs to, where it may
        be several, or none.
    names : tuple of str
        Category names.
    synsets : tuple of str
        WordNet ids of the categories ("n02123045") where the data has them, else empty.
    images : ndarray of shape (n, height, width), uint8, or None
        Small pictures to show.
    paths : tuple of str
        Where the samples come from, empty where that is not known.
    extractor : dict or None
        The network that made the features, its options and its fingerprint, where that is known.
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
        """Some of the samples, all categories."""
        return replace(
            self,
            X=self.X[rows],
            labels=_pick(self.labels, rows),
            images=_pick(self.images, rows),
            paths=_pick_all(self.paths, rows),
        )


@dataclass(frozen=True)
class Pictures:
    """Pictures and what is known about them, before any feature is extracted.

    Attributes
    ----------
    sources : tuple of Path, or ndarray of shape (n, height, width[, 3]), uint8
        Files, or the pixels themselves.
    labels, names, synsets
        As in `Dataset`.
    root : Path or None
        The folder or file that they were read from.

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

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, as text; empty where there are none."""
        if isinstance(self.sources, np.ndarray):
            return ()
        return tuple(map(str, self.sources))

    def select(self, rows: NDArray[np.int64]) -> Self:
        """Some of the pictures, all categories."""
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
    """Which samples belong to at least one of some categories.

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
    """Words that each sample is labelled with, as numbers and the names these stand for.

    Parameters
    ----------
    own : list of list of str
        The words of each sample. Where each has exactly one, the labels are numbers, else a 0/1
        matrix.
    names : list of str, optional
        All categories, in their order; by default the words that occur, in that of the alphabet.

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


def tell_apart(names: Sequence[str], synsets: Sequence[str], origin: str | Path) -> tuple[str, ...]:
    """Names with the WordNet id behind those that several categories share.

    >>> tell_apart(["crane", "dog", "crane"], ["n02012849", "n02084071", "n03126707"], "here")
    ('crane (n02012849)', 'dog', 'crane (n03126707)')
    """
    shared = {name for name, count in Counter(names).items() if count > 1}
    if shared and not synsets:
        raise DataError(f"{origin}: several categories have the name {min(shared)!r}: add wnids")
    pairs = zip(names, synsets or names, strict=True)
    return tuple(f"{name} ({synset})" if name in shared else name for name, synset in pairs)
