"""Pictures on their way into a collection: content hashes, features and portraits."""

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash._interrupts import check, interruptible
from zshash._threads import map_blocks
from zshash.collection.operations.portraits import Portrait, Portraits, Style
from zshash.collection.storage.rows import CONTENT_BYTES, content_of
from zshash.datasets import Pictures
from zshash.images import Limits
from zshash.images.store import FeatureStore
from zshash.learning.model import Model

__all__ = ["Drawn", "Look", "Looks", "extract", "look_at", "look_at_all"]


@dataclass(frozen=True)
class Look:
    """Content hash of a picture, and the size and time of its file."""

    content: bytes
    size: int | None = None
    mtime_ns: int | None = None


Looks = dict[str, Look]
"""Looks of files by their paths."""


@dataclass
class Drawn:
    """Features and portraits of the pictures that could be read; why the others could not.

    `rows` are the places of the pictures that could be read, among those given; the keys of
    `failures` are the places of the others.
    """

    rows: list[int]
    features: NDArray[np.float32]
    portraits: list[Portrait]
    failures: dict[int, str]


def look_at(path: Path, limits: Limits, known: Mapping[str, Look] | None = None) -> Look | str:
    """Content hash, size and time of a file, or why it can not be read.

    A file that still has the size and time of its `known` look is not read again.
    """
    check()
    try:
        status = path.stat()
        before = (known or {}).get(os.path.abspath(path))  # noqa: PTH100, drops what is before ".."
        if before and (before.size, before.mtime_ns) == (status.st_size, status.st_mtime_ns):
            return before
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
            return f"{path}: not a file"
        if status.st_size > limits.bytes:
            return f"{path}: {status.st_size} bytes, more than the limit of {limits.bytes}"
        with path.open("rb") as file:
            opened = os.fstat(file.fileno())
            digest = hashlib.file_digest(file, _blake2b)
    except OSError as error:
        return f"{path}: {error.strerror}"
    return Look(digest.digest(), opened.st_size, opened.st_mtime_ns)


def _blake2b() -> "hashlib._Hash":
    return hashlib.blake2b(digest_size=CONTENT_BYTES)  # type: ignore[return-value]


def look_at_all(
    sources: Sequence[Path] | NDArray[np.uint8],
    limits: Limits,
    known: Mapping[str, Look] | None = None,
) -> list[Look | str]:
    """Content hash of each picture, or why it can not be read; see `look_at`."""
    if isinstance(sources, np.ndarray):
        return [Look(content_of(str(one.shape).encode(), one.tobytes())) for one in sources]
    return list(map_blocks(partial(look_at, limits=limits, known=known), sources))


def extract(
    model: Model,
    pictures: Pictures,
    looks: Sequence[Look],
    *,
    style: Style | None = None,
    kept: FeatureStore | None = None,
) -> Drawn:
    """Features and portraits of pictures that `look_at` has just seen.

    Parameters
    ----------
    model : Model
    pictures : Pictures
    looks : list of Look
        One for each picture; a picture whose file has changed since is left out.
    style : Style, optional
        What the portraits have; without it, they are empty.
    kept : FeatureStore, optional
        Store that may hold features of these pictures already.
    """
    if not len(pictures):
        return Drawn([], np.empty((0, model.hasher.n_features_in_), np.float32), [], {})
    with interruptible():
        side = model.picture_reader.network.side
        portraits = Portraits(pictures.sources, style, model.reader.limits, side)
        return _extract(model, pictures, looks, portraits, kept)


def _extract(
    model: Model,
    pictures: Pictures,
    looks: Sequence[Look],
    portraits: Portraits,
    kept: FeatureStore | None,
) -> Drawn:
    dataset, failures = model.picture_reader.try_features(pictures, kept, portraits.also)
    model.check(dataset, str(pictures.root or "the pictures"))
    good = [row for row in range(len(pictures)) if row not in failures]
    drawn = portraits.of(good)
    sources = pictures.sources
    for row in [] if isinstance(sources, np.ndarray) else good:
        if not _is_unchanged(sources[row], looks[row]):
            failures[row] = f"{sources[row]}: changed while it was being read"
    places = [place for place, row in enumerate(good) if row not in failures]
    rows = [good[place] for place in places]
    return Drawn(rows, dataset.X[places], [drawn[place] for place in places], failures)


def _is_unchanged(path: Path, look: Look) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (look.size, look.mtime_ns)
