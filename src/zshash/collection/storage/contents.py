"""Content hashes of all items, by which things are known again that are added twice.

A damaged row, or a damaged entry in SQLite's index over contents, must not make an item look new.
So the hashes are taken from rows whose checksums were verified. They are kept in memory, and in a
snapshot that the next process follows from there.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import DAMAGED, DamagedError
from zshash.collection.storage.following import UNKNOWN, Following
from zshash.collection.storage.rows import Ids, Row
from zshash.collection.storage.snapshot import CONTENTS, Snapshot, newest_snapshot
from zshash.collection.storage.state import State
from zshash.collection.storage.tables import rows_of, rows_where

__all__ = ["Contents"]

NOTHING = -1  # stands for items without content
BITS = 64  # of a hash
LEAST_TAIL = 4096
NO_IDS: NDArray[np.int64] = np.empty(0, dtype=np.int64)


class Contents(Following):
    """Content hashes of all items at a generation, 64 bits of each.

    A million items take 16 MB. Nothing is read before the first content is looked up.
    """

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.generation, self.next_id, self.digest = UNKNOWN, 0, 0
        self._hashes, self._ids = NO_IDS, NO_IDS  # sorted by hash
        self._tail: dict[int, int] = {}  # id → hash, of items that came later

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self._ids) + len(self._tail)

    def known(
        self,
        connection: sqlite3.Connection,
        folder: Path,
        state: State,
        contents: Iterable[bytes | None],
    ) -> dict[bytes, int]:
        """Ids of the items that have the given contents, by content, inside a transaction."""
        wanted = {content for content in contents if content is not None}
        if not wanted:
            return {}
        self._catch_up(connection, folder, state)
        ids = self._candidates(wanted)
        rows = rows_of(connection, folder, ids)
        if len(rows) < len(ids):
            raise DamagedError(f"{folder}: {DAMAGED} (items are missing from it)")
        found = {row.content: row.id for row in rows.values() if row.content is not None}
        return {content: number for content, number in found.items() if content in wanted}

    def take(self, state: State, ids: Ids, contents: Sequence[bytes | None]) -> None:
        """Take over items that this process has just added, if nothing else has changed."""
        if self.generation == state.generation - 1 and self.next_id + len(ids) == state.next_id:
            self._put(ids.tolist(), contents)
            self.generation, self.next_id = state.generation, state.next_id
            self.digest = state.items.digest

    def _catch_up(self, connection: sqlite3.Connection, folder: Path, state: State) -> None:
        if self.generation == UNKNOWN:
            self.restore(newest_snapshot(folder, CONTENTS))
        if self.agrees(state):
            return
        if not (self.can_follow(state) and self.follow(connection, folder, state)):
            self.read_all(connection, folder, state)

    def restore(self, snapshot: Snapshot | None) -> None:
        """Begin with the hashes of a snapshot, if there is one."""
        if snapshot is not None and snapshot.n_bits == BITS:
            self._ids, self._tail = snapshot.ids, {}
            self._hashes = snapshot.codes.reshape(-1).view("<i8").astype(np.int64, copy=False)
            self.generation, self.next_id = snapshot.generation, snapshot.next_id
            self.digest = snapshot.digest

    def snapshot(self) -> Snapshot:
        """The hashes, for the disk; those of one state are always written in the same order."""
        self._merge()
        order = np.lexsort((self._ids, self._hashes))
        codes = self._hashes[order].astype("<i8").view(np.uint8).reshape(-1, BITS // 8)
        return Snapshot(self.generation, BITS, self.digest, self.next_id, self._ids[order], codes)

    def same_as(self, other: "Contents") -> bool:
        """Whether both have the same hash for each item."""
        one, two = self.snapshot(), other.snapshot()
        return np.array_equal(one.ids, two.ids) and np.array_equal(one.codes, two.codes)

    def read_all(self, connection: sqlite3.Connection, folder: Path, state: State) -> None:
        """Read the contents of all rows, which are verified."""
        self._clear()
        ids, hashes = [NO_IDS], [NO_IDS]
        for rows in rows_where(connection, folder, state.items):
            ids.append(np.array([row[0] for row in rows], dtype=np.int64))
            hashes.append(np.array(_hashes([row[3] for row in rows]), dtype=np.int64))
        self._sort(np.concatenate(hashes), np.concatenate(ids))
        self.generation, self.next_id = state.generation, state.next_id
        self.digest = state.items.digest

    def _candidates(self, contents: set[bytes]) -> list[int]:
        """Ids of the items whose contents have the same hashes."""
        hashes = set(_hashes(list(contents)))
        own = np.array(sorted(hashes), dtype=np.int64)
        starts = np.searchsorted(self._hashes, own, side="left")
        ends = np.searchsorted(self._hashes, own, side="right")
        places = [place for pair in zip(starts, ends, strict=True) for place in range(*pair)]
        later = [number for number, own in self._tail.items() if own in hashes]
        return sorted([*self._ids[places].tolist(), *later])

    def _replace(self, folder: Path, ids: Sequence[int], rows: dict[int, Row]) -> None:
        if ids:
            keep = ~np.isin(self._ids, ids)
            self._hashes, self._ids = self._hashes[keep], self._ids[keep]
            for number in ids:
                self._tail.pop(number, None)
            self._add(folder, list(rows.values()))

    def _add(self, folder: Path, rows: Sequence[Row]) -> None:  # noqa: ARG002, as in others
        self._put([row.id for row in rows], [row.content for row in rows])

    def _put(self, ids: Sequence[int], contents: Sequence[bytes | None]) -> None:
        self._tail.update(zip(ids, _hashes(contents), strict=True))
        if len(self._tail) > max(LEAST_TAIL, len(self._ids) // 4):
            self._merge()

    def _merge(self) -> None:
        """Sort later items in among the others."""
        n = len(self._tail)
        hashes = np.fromiter(self._tail.values(), dtype=np.int64, count=n)
        ids = np.fromiter(self._tail, dtype=np.int64, count=n)
        self._sort(np.append(self._hashes, hashes), np.append(self._ids, ids))
        self._tail = {}

    def _sort(self, hashes: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._ids = hashes[order], ids[order]


def _hashes(contents: Sequence[bytes | None]) -> list[int]:
    return [NOTHING if content is None else _hash(content) for content in contents]


def _hash(content: bytes) -> int:
    """64 bits of a content, which is a hash itself, or a person's own choice, such as a counter."""
    mixed = 3 * int.from_bytes(content[:8], "little") + int.from_bytes(content[-8:], "little")
    return (mixed & 0xFFFF_FFFF_FFFF_FFFF) - 2**63
