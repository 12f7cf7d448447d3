"""Data in every form that `zshash.fit` takes: paths, arrays, lists, with or without labels."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError, Dataset, Pictures
from zshash.datasets.data import Labels, as_labels, number_labels
from zshash.images import Extractor, PictureReader

__all__ = ["SOURCES", "are_all", "as_data", "reader_for", "with_labels"]

SOURCES = "give features (n, d), pixels (n, height, width[, 3]) of uint8, a path or several paths"
Data = TypeVar("Data")


def reader_for(extractor: str | Extractor | None, reader: PictureReader | None) -> PictureReader:
    """The given reader, or a reader with the given network."""
    if reader is None:
        return PictureReader(extractor=extractor)
    if extractor is not None:
        raise ValueError("give extractor or reader, not both: a reader has its own extractor")
    return reader


def as_data(source: Any, reader: PictureReader) -> Dataset | Pictures:
    """Open a source as pictures or features.

    Parameters
    ----------
    source : path-like, list of paths, ndarray, Dataset or Pictures
        A path or the name of a known data set, as `zshash.datasets.open_data` reads it; files of
        pictures; features (n, d); pixels (n, height, width[, 3]) of uint8.
    reader : PictureReader
        How paths are opened.

    Raises
    ------
    TypeError
        If the source is none of these.
    """
    if isinstance(source, Dataset | Pictures):
        return source
    if isinstance(source, str | os.PathLike):
        return reader.open(source if isinstance(source, str) else Path(source))
    if isinstance(source, np.ndarray) and source.dtype == np.uint8 and source.ndim > 2:
        return Pictures(source)
    if are_all(source, str | os.PathLike):
        return Pictures(tuple(map(Path, source)))
    try:
        X = np.asarray(source, dtype=np.float32)
    except (TypeError, ValueError):
        raise TypeError(f"{type(source).__name__} can not be read as data: {SOURCES}") from None
    if X.ndim != 2:
        raise TypeError(f"an array of shape {X.shape} can not be read as data: {SOURCES}")
    return Dataset(X)


def are_all(things: Any, kind: Any) -> bool:
    """Whether `things` is a list or tuple, not empty, of things of this kind."""
    is_list = isinstance(things, list | tuple)
    return is_list and bool(things) and all(isinstance(thing, kind) for thing in things)


def with_labels(data: Data, labels: Any, names: Sequence[str] | None) -> Data:
    """The data with these labels in place of its own.

    Parameters
    ----------
    data : Dataset, Pictures or ShardedData
    labels : array or list, or None
        For each sample a word, a list of words, or the number of its category; or a 0/1 matrix
        (n, c). −1, None and "" mean that nobody labelled this sample. None keeps the data's own.
    names : list of str or None
        Names of the categories, in the order of their numbers.

    Raises
    ------
    DataError
        If labels do not fit the data or the names.
    """
    if labels is None:
        if names is not None:
            raise DataError("names of categories are given without labels: give both")
        return data
    read = labels if isinstance(labels, np.ndarray) else _array(labels)
    n = len(data)  # type: ignore[arg-type]
    if len(read) != n:
        raise DataError(f"{len(read)} labels for {n} samples: give each sample one")
    found, called = _read(read, None if names is None else tuple(map(str, names)))
    relabelled: Data = replace(data, labels=found, names=called, synsets=())  # type: ignore[type-var]
    return relabelled


def _array(labels: Any) -> NDArray[Any]:
    """Array of the labels in a list; of type object unless all are numbers or all are arrays."""
    things = list(labels)
    if things and all(isinstance(thing, int | np.integer) for thing in things):
        return np.array(things)
    if things and all(isinstance(thing, np.ndarray) for thing in things):
        return np.array(things)
    array = np.empty(len(things), dtype=object)
    array[:] = things
    return array


def _read(labels: NDArray[Any], names: tuple[str, ...] | None) -> tuple[Labels, tuple[str, ...]]:
    if labels.ndim == 2:
        return _matrix(labels, names)
    if labels.ndim == 1 and labels.dtype.kind in "iu":
        return _numbers(labels, names)
    if labels.ndim == 1 and labels.dtype.kind in "OUS":
        own = [_words(label) for label in labels.tolist()]
        unknown = {word for words in own for word in words} - set(names or ())
        if names is not None and unknown:
            raise DataError(f"the label {min(unknown)!r} is not among the names of the categories")
        return as_labels(own, names)
    raise DataError(
        f"labels of shape {labels.shape} and type {labels.dtype} can not be read: give words, "
        "numbers of categories, or a 0/1 matrix"
    )


def _words(label: Any) -> list[str]:
    """Labels of one sample as words; empty if nobody labelled it."""
    several = label if isinstance(label, list | tuple | set | frozenset) else [label]
    return sorted({str(word) for word in several if word is not None and word != ""})


def _matrix(labels: NDArray[Any], names: tuple[str, ...] | None) -> tuple[Labels, tuple[str, ...]]:
    if not np.isin(labels, (0, 1)).all():
        raise DataError("labels in a matrix are 0 or 1: a column for each category")
    names = tuple(map(str, range(labels.shape[1]))) if names is None else names
    if len(names) != labels.shape[1]:
        raise DataError(f"{len(names)} names for a matrix of {labels.shape[1]} categories")
    return labels.astype(np.bool_), names


def _numbers(labels: NDArray[Any], names: tuple[str, ...] | None) -> tuple[Labels, tuple[str, ...]]:
    is_labelled = labels >= 0
    numbers = np.where(is_labelled, labels, -1).astype(np.int64)
    if names is None:
        known, numbers[is_labelled] = np.unique(labels[is_labelled], return_inverse=True)
        names = tuple(map(str, known.tolist()))
    if numbers.size and numbers.max() >= len(names):
        raise DataError(f"the label {numbers.max()} has no name: there are {len(names)} names")
    return number_labels(numbers, len(names)), names
