"""The data that tasks name: files of the data folder, known data sets, and what is made of them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError, Dataset, Pictures, digits, mosaics, open_data
from zshash.datasets.opening import NAMES
from zshash.experiments.reproduction.overlap import apart
from zshash.experiments.standard import data_folder
from zshash.experiments.training import called_by, find_categories
from zshash.images import PictureReader
from zshash.semantics import UnknownNames, open_source

__all__ = ["Sources", "label_paths", "load", "load_mosaics", "load_training", "open_pictures"]

DIGITS = "digits"


@dataclass(frozen=True)
class Sources:
    """Where data comes from, beyond its name.

    Attributes
    ----------
    files : Path or None
        Where the files of a known data set are; without it, those in the data folder are taken,
        and downloaded where there are none.
    progress : bool
        Show a progress bar while features are extracted.
    """

    files: Path | None = None
    progress: bool = False

    def open(self, name: str) -> Dataset | Pictures:
        """What a name stands for: a path in the data folder or anywhere, or a known data set."""
        if name == DIGITS:
            return digits()
        inside = data_folder() / name
        if inside.exists():
            return open_data(inside)
        if Path(name).exists() or name not in NAMES:
            return _open_path(name)
        return open_data(name, self.files)

    def features(self, data: Dataset | Pictures, extractor: str | None) -> Dataset:
        """Features of pictures; those of a table are there already."""
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


def label_paths(labels: Sequence[str]) -> tuple[str, ...]:
    """Label sources with the files of the data folder at their place."""
    inside = [data_folder() / spec for spec in labels]
    return tuple(
        str(path) if path.is_file() else spec for path, spec in zip(inside, labels, strict=True)
    )


@lru_cache(maxsize=2)
def load(
    name: str,
    extractor: str | None,
    categories: int | None,
    known_to: tuple[str, ...],
    sources: Sources,
) -> Dataset:
    """Features and labels of a data set; of many categories, only as many as a task wants."""
    data = sources.open(name)
    if categories is not None:
        data = _some_categories(data, np.arange(len(data.names)), categories, known_to)
    return sources.features(data, extractor)


def _some_categories(
    data: Dataset | Pictures, allowed: NDArray[np.int64], number: int, known_to: Sequence[str]
) -> Dataset | Pictures:
    """The samples of so many categories, always the same, whose names the sources know."""
    if data.labels is None or data.labels.ndim != 1:
        raise DataError("categories can be chosen only where each sample has exactly one")
    chosen = np.intersect1d(allowed, _known(data, known_to))
    if len(chosen) > number:
        chosen = np.random.RandomState(0).choice(chosen, size=number, replace=False)
    if not chosen.size:
        raise DataError("no category of the data can be trained on")
    return data.select(np.flatnonzero(np.isin(data.labels, chosen)))


def _known(data: Dataset | Pictures, sources: Sequence[str]) -> NDArray[np.int64]:
    """Numbers of the categories that every label source has a vector for."""
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


@lru_cache(maxsize=2)
def load_mosaics(
    name: str, tags: tuple[str, ...], number: int, extractor: str | None, sources: Sources
) -> Dataset:
    """Features and tags of multi-label data, or of mosaics made of pictures with one label each.

    Mosaics are of the categories `tags`; data of several labels is taken as it is.
    """
    data = sources.open(name)
    if data.labels is None:
        raise DataError(f"{name}: there are no labels to score against")
    if data.labels.ndim == 1 and not tags:
        raise DataError(f"{name}: each picture has one label, and several are needed")
    if data.labels.ndim == 1:
        pictures = _as_pictures(data, name)
        data = mosaics(pictures, find_categories(pictures, tags), number, random_state=0)
    return sources.features(data, extractor)


@lru_cache(maxsize=2)
def load_training(
    name: str,
    tags: tuple[str, ...],
    categories: int | None,
    pool: int | None,
    extractor: str | None,
    known_to: tuple[str, ...],
    sources: Sources,
) -> Dataset:
    """Features of the categories that no tag overlaps; at most `pool` samples are read."""
    data = sources.open(name)
    if isinstance(data, Dataset) and data.images is not None:
        data = _as_pictures(data, name)  # for the network that sees what is searched
    free = apart(data.names, data.synsets, tags)
    data = _some_categories(data, free, categories or len(data.names), known_to)
    if pool is not None and len(data) > pool:
        data = data.select(np.sort(np.random.RandomState(0).permutation(len(data))[:pool]))
    return sources.features(data, extractor)


def open_pictures(name: str, sources: Sources) -> Pictures:
    """The pictures of a data set.

    Raises
    ------
    DataError
        Where there are only features.
    """
    return _as_pictures(sources.open(name), name)


def _as_pictures(data: Dataset | Pictures, name: str) -> Pictures:
    if isinstance(data, Pictures):
        return data
    if data.images is None:
        raise DataError(f"{name}: these are features, and pictures are needed")
    return Pictures(data.images, data.labels, data.names, data.synsets)
