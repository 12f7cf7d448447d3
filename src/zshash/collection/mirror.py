"""The index in memory, which follows the catalogue from one generation to the next."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from zshash.codes import code_bytes
from zshash.collection.errors import DAMAGED, DamagedError
from zshash.collection.rows import Ids, Row
from zshash.collection.snapshot import Snapshot
from zshash.collection.state import MODULUS, State
from zshash.collection.tables import all_rows, codes_of, rows_of
from zshash.index import CodeIndex, HammingIndex

__all__ = ["UNKNOWN", "Follower", "Mirror"]

UNKNOWN = -1  # the generation of an index that was left half changed


class Follower(ABC):
    """Ids and codes of all items at a generation, in an index of whatever kind.

    Attributes
    ----------
    index : CodeIndex
    generation, next_id, digest : int
        Of the catalogue, when it was as the index is.
    """

    index: CodeIndex
    generation: int
    next_id: int
    digest: int

    @property
    @abstractmethod
    def n(self) -> int:
        """How many items the index has."""

    @abstractmethod
    def apply(
        self,
        state: State,
        added: tuple[Ids, NDArray[np.uint8]] | None = None,
        removed: Sequence[int] = (),
    ) -> None:
        """Take over what this process itself has just written."""

    @abstractmethod
    def check(self, ids: Sequence[int], codes: Iterable[bytes | None]) -> int | None:
        """The first of some items whose code is not the one in the index, None where all are."""

    @abstractmethod
    def _affected(self, ids: Iterable[int]) -> list[int]:
        """Which of some items that have changed the index has to replace."""

    @abstractmethod
    def _replace(self, folder: Path, ids: Sequence[int], rows: dict[int, Row]) -> None:
        """Forget some items, and take in those that still are."""

    @abstractmethod
    def _take(self, ids: Ids, codes: NDArray[np.uint8]) -> None:
        """Take in codes."""

    def agrees(self, state: State) -> bool:
        """Whether this is what the catalogue says it holds."""
        tally = (self.n, self.digest, self.generation, self.index.n_bits)
        return tally == (state.items.n, state.items.digest, state.generation, state.n_bits)

    def can_follow(self, state: State) -> bool:
        """Whether the catalogue still knows all that has changed since."""
        return state.base <= self.generation <= state.generation and state.n_bits == (
            self.index.n_bits
        )

    def follow(self, connection: sqlite3.Connection, folder: Path, state: State) -> bool:
        """Take over what has changed since; False where it does not add up."""
        deltas = dict(
            connection.execute(
                "SELECT id, sum(delta) FROM changes WHERE generation > ? AND id < ? GROUP BY id",
                [self.generation, self.next_id],
            )
        )
        self.generation = UNKNOWN
        changed = self._affected(deltas)
        self._replace(folder, changed, rows_of(connection, folder, changed))
        self.digest = (self.digest + sum(deltas.values())) % MODULUS
        self._read_tail(connection, folder)
        self.generation, self.next_id = state.generation, state.next_id
        return self.agrees(state)

    def _read_tail(self, connection: sqlite3.Connection, folder: Path) -> None:
        """Add all rows with ids that were given since."""
        for rows in all_rows(connection, folder, self.next_id):
            self._add(folder, rows)
            self.digest = (self.digest + sum(row.checksum for row in rows)) % MODULUS

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
        """What is to be written to disk."""
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
        """Take over what this process itself has just written."""
        self.generation = UNKNOWN
        if len(removed):
            self.index.remove(removed)
        if added is not None:
            self.index.add(added[1], added[0])
        self.generation, self.next_id = state.generation, state.next_id
        self.digest = state.items.digest

    @property
    def n(self) -> int:
        """How many items the index has."""
        return len(self.index)

    def check(self, ids: Sequence[int], codes: Iterable[bytes | None]) -> int | None:
        """The first of some items whose code is not the one in the index, None where all are."""
        known = self.index.get(np.array(ids, dtype=np.int64))
        for number, own, code in zip(ids, known, codes, strict=True):
            if own.tobytes() != code:
                return number
        return None

    def _affected(self, ids: Iterable[int]) -> list[int]:
        return [number for number in ids if number in self.index]

    def _replace(self, folder: Path, ids: Sequence[int], rows: dict[int, Row]) -> None:
        if ids:
            self.index.remove(ids)
            self._add(folder, list(rows.values()))

    def _take(self, ids: Ids, codes: NDArray[np.uint8]) -> None:
        self.index.add(codes, ids)
