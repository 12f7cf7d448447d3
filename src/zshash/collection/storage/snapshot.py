"""Ids and codes of all items in one file, so that an index need not read the catalogue.

The file holds nothing that the catalogue does not hold. It has, in this order: a magic word
and the length of the header; the header in JSON; ids (n,) int64; codes (n, bytes); and the BLAKE2b
of all that. Numbers are little-endian. A damaged file counts as absent.
"""

import hashlib
import json
import re
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._files import whole_file
from zshash.codes import MAX_BITS, MIN_BITS, code_bytes

__all__ = [
    "CONTENTS",
    "INDEX",
    "Snapshot",
    "earlier_snapshots",
    "newest_snapshot",
    "read_snapshot",
    "snapshot_path",
    "snapshots",
    "write_snapshot",
]

VERSION = 1
_HEAD = struct.Struct("<8sI")
_MAGIC = b"zshcodes"
INDEX, CONTENTS = "index", "contents"  # kinds of snapshots: codes of items, hashes of contents
_NAMES = {kind: re.compile(rf"{kind}-(\d+)\.codes") for kind in (INDEX, CONTENTS)}
_DIGEST_BYTES = 32
_FIELDS = ("generation", "n", "n_bits", "digest", "next_id")


@dataclass(frozen=True)
class Snapshot:
    """Ids and codes at a generation of the catalogue, and the digest of its table of items."""

    generation: int
    n_bits: int
    digest: int
    next_id: int
    ids: NDArray[np.int64]
    codes: NDArray[np.uint8]

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.ids)


def snapshot_path(folder: Path, generation: int, kind: str = INDEX) -> Path:
    """Path of the snapshot of a generation."""
    return folder / f"{kind}-{generation}.codes"


def write_snapshot(folder: Path, snapshot: Snapshot, kind: str = INDEX) -> Path:
    """Write a snapshot, whole or not at all."""
    facts: dict[str, Any] = {"version": VERSION}
    facts |= {name: int(getattr(snapshot, name)) for name in _FIELDS}
    header = json.dumps(facts, sort_keys=True).encode()
    parts: tuple[Any, ...] = (
        _HEAD.pack(_MAGIC, len(header)) + header,
        np.ascontiguousarray(snapshot.ids, dtype="<i8"),
        np.ascontiguousarray(snapshot.codes),
    )
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    path = snapshot_path(folder, snapshot.generation, kind)
    with whole_file(path) as file:
        for part in parts:
            view = memoryview(part).cast("B") if len(part) else b""
            digest.update(view)
            file.write(view)
        file.write(digest.digest())
    return path


def read_snapshot(path: Path) -> Snapshot:
    """Read a snapshot; ValueError if it is damaged."""
    data = path.read_bytes()
    body = memoryview(data)[:-_DIGEST_BYTES]
    if hashlib.blake2b(body, digest_size=_DIGEST_BYTES).digest() != data[-_DIGEST_BYTES:]:
        raise ValueError(f"{path}: not whole")
    try:
        facts, start = _header(body)
        n, width = facts["n"], code_bytes(facts["n_bits"])
        if len(body) != start + n * (8 + width) or not MIN_BITS <= facts["n_bits"] <= MAX_BITS:
            raise ValueError(f"{path}: its parts do not fit together")
        ids = np.frombuffer(body, dtype="<i8", count=n, offset=start).astype(np.int64, copy=False)
        codes = np.frombuffer(body, dtype=np.uint8, offset=start + 8 * n).reshape(n, width)
    except (struct.error, KeyError, TypeError) as error:
        raise ValueError(f"{path}: its header makes no sense") from error
    numbers = {name: facts[name] for name in _FIELDS if name != "n"}
    return Snapshot(ids=ids, codes=codes, **numbers)


def _header(body: memoryview) -> tuple[dict[str, int], int]:
    magic, length = _HEAD.unpack_from(body)
    start = _HEAD.size + length
    facts = json.loads(bytes(body[_HEAD.size : start]))
    if magic != _MAGIC or facts["version"] != VERSION:
        raise ValueError("of another format")
    return {name: int(facts[name]) for name in _FIELDS}, start


def newest_snapshot(folder: Path, kind: str = INDEX) -> Snapshot | None:
    """The latest snapshot that is not damaged, or None."""
    for generation, path in sorted(snapshots(folder, kind), reverse=True):
        # A writer may have replaced the file meanwhile.
        with suppress(ValueError, OSError):
            snapshot = read_snapshot(path)
            if snapshot.generation == generation:
                return snapshot
    return None


def earlier_snapshots(folder: Path, generation: int, kind: str = INDEX) -> list[Path]:
    """The snapshots of generations before this one."""
    return [path for other, path in snapshots(folder, kind) if other < generation]


def snapshots(folder: Path, kind: str = INDEX) -> list[tuple[int, Path]]:
    """Generations and paths of all snapshots of a kind."""
    found = [(_NAMES[kind].fullmatch(path.name), path) for path in folder.iterdir()]
    return [(int(name[1]), path) for name, path in found if name]
