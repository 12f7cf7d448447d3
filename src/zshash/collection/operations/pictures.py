"""Pictures on their way into a collection: content hashes, features and thumbnails."""

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._interrupts import check, interruptible
from zshash._threads import map_blocks
from zshash.collection.storage.rows import CONTENT_BYTES, content_of
from zshash.datasets import Pictures
from zshash.images import Limits
from zshash.images.store import FeatureStore
from zshash.learning.model import Model

__all__ = ["Drawn", "Look", "extract", "look_at", "look_at_all", "make_thumbnail"]

QUALITY = 80  # of thumbnails, as JPEG


@dataclass(frozen=True)
class Look:
    """Content hash of a picture, and the size and time of its file."""

    content: bytes
    size: int | None = None
    mtime_ns: int | None = None


@dataclass
class Drawn:
    """Features and thumbnails of the pictures that could be read; why the others could not.

    `rows` are the places of the pictures that could be read, among those given; the keys of
    `failures` are the places of the others.
    """

    rows: list[int]
    features: NDArray[np.float32]
    thumbnails: list[bytes | None]
    failures: dict[int, str]


def look_at(path: Path, limits: Limits) -> Look | str:
    """Content hash, size and time of a file, or why it can not be read."""
    check()
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
            return f"{path}: not a file"
        if status.st_size > limits.bytes:
            return f"{path}: {status.st_size} bytes, more than the limit of {limits.bytes}"
        with path.open("rb") as file:
            before = os.fstat(file.fileno())
            digest = hashlib.file_digest(file, _blake2b)
    except OSError as error:
        return f"{path}: {error.strerror}"
    return Look(digest.digest(), before.st_size, before.st_mtime_ns)


def _blake2b() -> "hashlib._Hash":
    return hashlib.blake2b(digest_size=CONTENT_BYTES)  # type: ignore[return-value]


def look_at_all(sources: Sequence[Path] | NDArray[np.uint8], limits: Limits) -> list[Look | str]:
    """Content hash of each picture, or why it can not be read."""
    if isinstance(sources, np.ndarray):
        return [Look(content_of(str(one.shape).encode(), one.tobytes())) for one in sources]
    return [look_at(path, limits) for path in sources]


def extract(
    model: Model,
    pictures: Pictures,
    looks: Sequence[Look],
    *,
    side: int,
    kept: FeatureStore | None = None,
) -> Drawn:
    """Features and thumbnails of pictures that `look_at` has just seen.

    Parameters
    ----------
    model : Model
    pictures : Pictures
    looks : list of Look
        One for each picture; a picture whose file has changed since is left out.
    side : int
        Longer side of the thumbnails in pixels, 0 for none.
    kept : FeatureStore, optional
        Store that may hold features of these pictures already.
    """
    if not len(pictures):
        return Drawn([], np.empty((0, model.hasher.n_features_in_), np.float32), [], {})
    with interruptible():
        return _extract(model, pictures, looks, side, kept)


def _extract(
    model: Model,
    pictures: Pictures,
    looks: Sequence[Look],
    side: int,
    kept: FeatureStore | None,
) -> Drawn:
    reader = model.picture_reader
    dataset, failures = reader.try_features(pictures, kept)
    model.check(dataset, str(pictures.root or "the pictures"))
    good = [row for row in range(len(pictures)) if row not in failures]
    sources = pictures.sources
    if isinstance(sources, np.ndarray):
        small = _thumbnails(sources[good], side, reader.limits)
        return Drawn(good, dataset.X, small, failures)
    files = [sources[row] for row in good]
    small = _thumbnails(files, side, reader.limits)
    for row in good:
        if not _is_unchanged(sources[row], looks[row]):
            failures[row] = f"{sources[row]}: changed while it was being read"
    places = [place for place, row in enumerate(good) if row not in failures]
    rows = [good[place] for place in places]
    return Drawn(rows, dataset.X[places], [small[place] for place in places], failures)


def _is_unchanged(path: Path, look: Look) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (look.size, look.mtime_ns)


def make_thumbnail(source: Any, side: int, limits: Limits | None = None) -> bytes | None:
    """JPEG of a picture, at most `side` pixels wide and high; None if it can not be read."""
    from zshash.images.decoding import PictureError, decode

    try:
        image = decode(source, limits, side)
    except PictureError:
        return None
    image.thumbnail((side, side))
    image.info.clear()  # comments and EXIF data, which Pillow would write again
    file = BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def _thumbnails(
    sources: list[Path] | NDArray[np.uint8], side: int, limits: Limits
) -> list[bytes | None]:
    """Thumbnails of several pictures, made on all cores; all None if `side` is 0."""
    if not side:
        return [None] * len(sources)
    places = range(len(sources))
    return list(map_blocks(lambda place: make_thumbnail(sources[place], side, limits), places))
