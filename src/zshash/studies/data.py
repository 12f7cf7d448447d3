"""The data of tasks: files of the data folder, or known data sets, as features or pictures."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError, Dataset, Pictures, digits, open_data
from zshash.datasets.opening import NAMES
from zshash.evaluation.standard import data_folder
from zshash.images import PictureReader
from zshash.learning.targets import called_by
from zshash.semantics import UnknownNames, open_source

__all__ = ["Sources", "as_pictures", "load", "open_pictures", "some_categories"]

DIGITS = "digits"


@dataclass(frozen=True)
class Sources:
    """Options for opening data by name.

    Attributes
    ----------
    files : Path or None
        Folder with the files of a known data set; without it, files in the data folder are used,
        and missing files are downloaded.
    progress : bool
        Show a progress bar while features are extracted.
    device : str
        Device on which tasks train networks, such as "cuda".
    """

    files: Path | None = None
    progress: bool = False
    device: str = "cpu"

    def open(self, name: str) -> Dataset | Pictures:
        """Open data by name: a path in the data folder, any other path, or a known data set."""
        if name == DIGITS:
            return digits()
        inside = data_folder() / name
        if inside.exists():
            return open_data(inside)
        if Path(name).exists() or name not in NAMES:
            return _open_path(name)
        return open_data(name, self.files)

    def features(self, data: Dataset | Pictures, extractor: str | None) -> Dataset:
        """Features of pictures; a `Dataset` has features already and is returned as it is."""
        if isinstance(data, Dataset):
            return data
        return PictureReader(extractor=extractor, progress=self.progress).features(data)


def _open_path(name: str) -> Dataset | Pictures:
    if not Path(name).exists():
        named = "" if os.environ.get("ZSHASH_DATA") else " (ZSHASH_DATA is not set)"
        raise DataError(
            f"there is no {name}, neither here nor in the data folder {data_folder()}{named}"
        )
    return open_data(name)


@lru_cache(maxsize=2)
def load(
    name: str,
    extractor: str | None,
    categories: int | None,
    known_to: tuple[str, ...],
    sources: Sources,
) -> Dataset:
    """Features and labels of a data set, of at most `categories` categories."""
    data = sources.open(name)
    if categories is not None:
        data = some_categories(data, np.arange(len(data.names)), categories, known_to)
    return sources.features(data, extractor)


def some_categories(
    data: Dataset | Pictures, allowed: NDArray[np.int64], number: int, known_to: Sequence[str]
) -> Dataset | Pictures:
    """Samples of `number` categories whose names all sources know; always the same ones."""
    if data.labels is None or data.labels.ndim != 1:
        raise DataError("categories can be chosen only where each sample has exactly one")
    chosen = np.intersect1d(allowed, _known(data, known_to))
    if len(chosen) > number:
        chosen = np.random.RandomState(0).choice(chosen, size=number, replace=False)
    if not chosen.size:
        raise DataError("no category of the data can be trained on")
    return data.select(np.flatnonzero(np.isin(data.labels, chosen)))


def _known(data: Dataset | Pictures, sources: Sequence[str]) -> NDArray[np.int64]:
    """Numbers of the categories for which every label source has a vector."""
    known = set(range(len(data.names)))
    for spec in sources:
        called = called_by(data, spec)
        unknown = _unknown(spec, called)
        known &= {number for number, name in enumerate(called) if name not in unknown}
    return np.array(sorted(known), dtype=np.int64)


def _unknown(spec: str, names: Sequence[str]) -> tuple[str, ...]:
    try:
        open_source(spec, only=names).embed(names)
    except UnknownNames as error:
        return error.names
    return ()


def open_pictures(name: str, sources: Sources) -> Pictures:
    """The pictures of a data set.

    Raises
    ------
    DataError
        If there are only features.
    """
    return as_pictures(sources.open(name), name)


def as_pictures(data: Dataset | Pictures, name: str) -> Pictures:
    """Data as pictures; `name` is the name of the data in a message."""
    if isinstance(data, Pictures):
        return data
    if data.images is None:
        raise DataError(f"{name}: these are features, and pictures are needed")
    return Pictures(data.images, data.labels, data.names, data.synsets)
