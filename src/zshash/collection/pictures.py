"""Pictures on their way into a collection: what tells them apart, their features, thumbnails."""

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.collection.rows import CONTENT_BYTES, content_of
from zshash.collection.thumbnails import make_thumbnails
from zshash.datasets import Pictures
from zshash.encoding import Encoder
from zshash.images import Limits
from zshash.images.store import FeatureStore

__all__ = ["Drawn", "Look", "extract", "look_at", "look_at_all"]


@dataclass(frozen=True)
class Look:
    """What was seen of a picture; `size` and `mtime_ns` are those of its file."""

    content: bytes
    size: int | None = None
    mtime_ns: int | None = None


@dataclass
class Drawn:
    """Features and thumbnails of the pictures that could be read; why the others could not.

    `rows` are the places of the former in what was given, `failures` has those of the latter.
    """

    rows: list[int]
    features: NDArray[np.float32]
    thumbnails: list[bytes | None]
    failures: dict[int, str]


def look_at(path: Path, limits: Limits) -> Look | str:
    """What tells a file from others, or why it can not be read."""
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
    """What tells each picture from others, or why it can not be read."""
    if isinstance(sources, np.ndarray):
        return [Look(content_of(str(one.shape).encode(), one.tobytes())) for one in sources]
    return [look_at(path, limits) for path in sources]


def extract(
    encoder: Encoder,
    pictures: Pictures,
    looks: Sequence[Look],
    *,
    side: int,
    kept: FeatureStore | None = None,
) -> Drawn:
    """Features of pictures at which somebody looked just now.

    Parameters
    ----------
    encoder : Encoder
    pictures : Pictures
    looks : list of Look
        Of each picture; one whose file has changed since is left out.
    side : int
        Of the thumbnails, 0 for none.
    kept : FeatureStore, optional
        Where features of these pictures may be found.
    """
    if not len(pictures):
        return Drawn([], np.empty((0, encoder.hasher.n_features_in_), np.float32), [], {})
    reader = encoder.picture_reader
    dataset, failures = reader.try_features(pictures, kept)
    encoder.check(dataset, str(pictures.root or "the pictures"))
    good = [row for row in range(len(pictures)) if row not in failures]
    sources = pictures.sources
    if isinstance(sources, np.ndarray):
        small = make_thumbnails(sources[good], side, reader.limits)
        return Drawn(good, dataset.X, small, failures)
    files = [sources[row] for row in good]
    small = make_thumbnails(files, side, reader.limits)
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
