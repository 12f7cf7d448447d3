"""Labels for pictures at hand, from a list of files with their labels."""

import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash._warnings import warn_user
from zshash.datasets.data import DataError, Labels, Pictures, number_labels
from zshash.datasets.manifests import read_manifest

__all__ = ["with_listed_labels"]


def with_listed_labels(pictures: Pictures, path: str | Path, root: Path) -> Pictures:
    """The pictures with labels from a list in place of their own.

    Parameters
    ----------
    pictures : Pictures
        Files.
    path : path-like
        A list with a column of paths and a column of labels, as `read_manifest` reads it. Relative
        paths are relative to the folder of the list or to `root`. Pictures that are not in the
        list have no label; a picture that is there several times has the labels of all its rows.
    root : Path
        The folder of the pictures.

    Raises
    ------
    DataError
        If the pictures are no files, or the list has no labels, or none for these pictures.

    Warns
    -----
    UserWarning
        If files in the list are not among the pictures.
    """
    if isinstance(pictures.sources, np.ndarray):
        raise DataError(f"{path}: these pictures are no files, so a list can not name them")
    given = read_manifest(path)
    if given.labels is None:
        raise DataError(f"{path}: there are no labels: add a column label beside the column path")
    moves = [(_front(folder), _front(root)) for folder in (Path(path).parent, root.resolve())]
    rows = _rows(pictures.sources, given.paths, moves)
    missing = int((rows < 0).sum())
    if missing == len(rows):
        raise DataError(f"{path}: none of its {missing} files is in {root}")
    if missing:
        warn_user(f"{path}: {missing} of its {len(rows)} files are not in {root}: left out")
    known = rows >= 0
    return replace(
        pictures,
        labels=_spread(given.labels[known], rows[known], len(pictures), len(given.names)),
        names=given.names,
        synsets=given.synsets,
        labels_from=Path(path).name,
        plain_folders=(),
    )


def _rows(
    sources: Sequence[Path], listed: Sequence[str], moves: Sequence[tuple[str, str]]
) -> NDArray[np.int64]:
    """For each listed file the row of the picture that it is; −1 for none."""
    places = {_key(path): row for row, path in enumerate(sources)}
    found = (_candidates(_key(path), moves) for path in listed)
    rows = (next((places[key] for key in keys if key in places), -1) for keys in found)
    return np.fromiter(rows, dtype=np.int64, count=len(listed))


def _candidates(key: str, moves: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Keys that a listed file may have: its own, and those with another folder at the front."""
    yield key
    for old, new in moves:
        if key.startswith(old):
            yield new + key.removeprefix(old)


def _front(folder: Path) -> str:
    return os.path.join(_key(folder), "")  # noqa: PTH118, ends with one separator, also for the root


def _key(path: str | Path) -> str:
    """An absolute path in the form NFC of Unicode: macOS and lists write accents differently."""
    return unicodedata.normalize("NFC", os.path.abspath(path))  # noqa: PTH100, drops what is before ".."


def _spread(labels: Labels, rows: NDArray[np.int64], n_pictures: int, n_categories: int) -> Labels:
    """Labels of all pictures, from the labels of the given rows, which may occur several times."""
    if labels.ndim == 1 and len(np.unique(rows)) == len(rows):
        numbers = np.full(n_pictures, -1, dtype=np.int64)
        numbers[rows] = labels
        return number_labels(numbers, n_categories)
    matrix = np.zeros((n_pictures, n_categories), dtype=np.bool_)
    if labels.ndim == 1:
        matrix[rows, labels] = True
    else:
        np.logical_or.at(matrix, rows, labels)
    return matrix
