"""Finished maps: their bytes, and the folder in which the processes of a server share them."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._files import write_whole
from zshash.web.answers import to_json

__all__ = ["KEPT", "FinishedMap", "MapFolder", "pack_map"]

KEPT = 2  # maps that stay, so that a client may ask for points after a new map was made
DIGITS = 12
NAME = re.compile(rf"(\d+)-([0-9a-f]{{{DIGITS}}})\.map")


@dataclass(frozen=True)
class FinishedMap:
    """The map of one state of a collection.

    Attributes
    ----------
    facts : dict
        What `Atlas.facts` says about the map, without its state.
    points : bytes
        What `Atlas.points` returns; the facts are in it, too.
    """

    facts: Mapping[str, Any]
    points: bytes

    @property
    def key(self) -> tuple[int, str]:
        """Generation and digest; maps of one generation that differ have different digests."""
        return self.facts["generation"], self.facts["digest"]

    @classmethod
    def read(cls, points: bytes) -> "FinishedMap":
        """The inverse of `points`."""
        n, size = np.frombuffer(points, "<u4", 2)
        end = 8 + 14 * int(n)
        return cls(json.loads(points[end : end + int(size)]), points)


def pack_map(columns: Sequence[tuple[NDArray[Any], str]], facts: Mapping[str, Any]) -> FinishedMap:
    """Map of columns (ids, x, y, category) with their kinds, and of facts without a digest."""
    body = b"".join(np.asarray(column).astype(kind).tobytes() for column, kind in columns)
    digest = hashlib.blake2b(body + to_json(facts)).hexdigest()[:DIGITS]
    facts = {**facts, "digest": digest}
    told = to_json(facts)
    head = np.array([len(columns[0][0]), len(told)], dtype="<u4").tobytes()
    return FinishedMap(facts, head + body + told)


class MapFolder:
    """A folder with the last maps, which several processes write and read.

    Parameters
    ----------
    path : Path
        Made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shared = MapFolder(Path(folder) / "map")
    ...     for generation in (1, 2, 3):
    ...         shared.put(pack_map([(np.arange(0), "<f8")], {"generation": generation}))
    ...     [found.key[0] for found in shared.all()]
    [3, 2]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def all(self) -> list[FinishedMap]:
        """All maps, the newest first."""
        found = (self._read(path) for path in self._files())
        return [made for made in found if made is not None]

    def newest(self, least: int) -> FinishedMap | None:
        """The newest map if its generation is at least `least`."""
        return next((made for made in self.all()[:1] if made.key[0] >= least), None)

    def put(self, made: FinishedMap) -> None:
        """Add a map, and drop all but the newest ones."""
        generation, digest = made.key
        write_whole(self.path / f"{generation}-{digest}.map", made.points)
        for path in self._files()[KEPT:]:
            path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        found = ((NAME.fullmatch(path.name), path) for path in self.path.iterdir())
        made = [(int(match[1]), match[2], path) for match, path in found if match]
        return [path for _, _, path in sorted(made, reverse=True)]

    def _read(self, path: Path) -> FinishedMap | None:
        with suppress(OSError):  # another process has just dropped it
            return FinishedMap.read(path.read_bytes())
        return None
