"""The index in memory, which follows the catalogue from one generation to the next."""

import sqlite3
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from zshash.codes import code_bytes
from zshash.collection.errors import DAMAGED, DamagedError
from zshash.collection.storage.following import UNKNOWN, Following
from zshash.collection.storage.rows import Ids, Row
from zshash.collection.storage.snapshot import Snapshot
from zshash.collection.storage.state import State
from zshash.collection.storage.tables import codes_of
from zshash.index import CodeIndex, HammingIndex

__all__ = ["UNKNOWN", "Follower", "Mirror"]


class Follower(Following):
    """Ids and codes of all items at a generation, in an index of whatever kind.

    Attributes
    ----------
    index : CodeIndex
    """

    index: CodeIndex

    @abstractmethod
    def apply(
        self,
        state: State,
        added: tuple[Ids, NDArray[np.uint8]] | None = None,
        removed: Sequence[int] = (),
    ) -> None:
        """Apply what this process has just written to the catalogue."""

    @abstractmethod
    def check(self, ids: Sequence[int], codes: Iterable[bytes | None]) -> int | None:
        """Id of the first item whose code differs from the one in the index, or None."""

    @abstractmethod
    def _take(self, ids: Ids, codes: NDArray[np.uint8]) -> None:
        """Add codes (n, bytes) under ids (n,)."""

    def agrees(self, state: State) -> bool:
        """Whether the index holds what the catalogue holds."""
        return super().agrees(state) and self.index.n_bits == state.n_bits

    def can_follow(self, state: State) -> bool:
        """Whether the catalogue still lists all changes since the index's generation."""
        return super().can_follow(state) and self.index.n_bits == state.n_bits

    def _add(self, folder: Path, rows: Sequence[Row]) -> None:
        try:
            ids, codes = codes_of(rows, code_bytes(self.index.n_bits))
            self._take(ids, codes)
        except ValueError as error:
            raise DamagedError(f"{folder}: {DAMAGED} ({error})") from error


class Mirror(Follower):
    """Ids and codes of all items at a generation, in a `HammingIndex`."""

    index: HammingIndex

    def __init__(self, n_bits: int) -> None:
        self.index = HammingIndex(n_bits)
        self.generation, self.next_id, self.digest = 0, 0, 0

    @classmethod
    def latest(
        cls, connection: sqlite3.Connection, folder: Path, state: State, snapshot: Snapshot | None
    ) -> Self:
        """The index at a state: from a snapshot and later changes, or from all rows."""
        if snapshot:
            # A snapshot is whole, but it may be of another catalogue.
            with suppress(ValueError, TypeError):
                mirror = cls.of_snapshot(snapshot)
                if mirror.agrees(state):
                    return mirror
                if mirror.can_follow(state) and mirror.follow(connection, folder, state):
                    return mirror
        return cls.of_rows(connection, folder, state)

    @classmethod
    def of_snapshot(cls, snapshot: Snapshot) -> Self:
        """The index at the time of a snapshot."""
        mirror = cls(snapshot.n_bits)
        mirror.index.add(snapshot.codes, snapshot.ids)
        mirror.generation, mirror.next_id = snapshot.generation, snapshot.next_id
        mirror.digest = snapshot.digest
        return mirror

    @classmethod
    def of_rows(cls, connection: sqlite3.Connection, folder: Path, state: State) -> Self:
        """The index of all rows, which are checked and counted.

        Raises
        ------
        DamagedError
            If a row is damaged, or rows are missing.
        """
        mirror = cls(state.n_bits)
        mirror._read_tail(connection, folder)
        mirror.generation, mirror.next_id = state.generation, state.next_id
        if not mirror.agrees(state):
            raise DamagedError(f"{folder}: {DAMAGED} (items are missing from it)")
        return mirror

    def snapshot(self) -> Snapshot:
        """Snapshot of the index, to be written to the disk."""
        return Snapshot(
            self.generation,
            self.index.n_bits,
            self.digest,
            self.next_id,
            self.index.ids,
            self.index.codes,
        )

    def apply(
        self,
        state: State,
        added: tuple[Ids, NDArray[np.uint8]] | None = None,
        removed: Sequence[int] = (),
    ) -> None:
        """Apply what this process has just written to the catalogue."""
        self.generation = UNKNOWN
        self._discard(removed)
        if added is not None:
            self.index.add(added[1], added[0])
        self.generation, self.next_id = state.generation, state.next_id
        self.digest = state.items.digest

    @property
    def n(self) -> int:
        """Number of items in the index."""
        return len(self.index)

    def check(self, ids: Sequence[int], codes: Iterable[bytes | None]) -> int | None:
        """Id of the first item whose code differs from the one in the index, or None."""
        known = self.index.get(np.array(ids, dtype=np.int64))
        for number, own, code in zip(ids, known, codes, strict=True):
            if own.tobytes() != code:
                return number
        return None

    def _discard(self, ids: Iterable[int]) -> None:
        """Remove those that are there: damage may have given a row another id."""
        there = [number for number in ids if number in self.index]
        if there:
            self.index.remove(there)

    def _replace(self, folder: Path, ids: Sequence[int], rows: dict[int, Row]) -> None:
        self._discard(ids)
        self._add(folder, list(rows.values()))

    def _take(self, ids: Ids, codes: NDArray[np.uint8]) -> None:
        self.index.add(codes, ids)
