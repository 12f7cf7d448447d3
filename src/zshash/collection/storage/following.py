"""Copies of the catalogue's rows in memory, which follow it from one generation to the next."""

import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from zshash.collection.storage.rows import Row
from zshash.collection.storage.state import MODULUS, State
from zshash.collection.storage.tables import all_rows, logged, rows_of

__all__ = ["UNKNOWN", "Following"]

UNKNOWN = -1  # the generation of a copy that was left half changed


class Following(ABC):
    """Something about each item at a generation, from rows whose checksums were verified.

    Attributes
    ----------
    generation, next_id, digest : int
        Generation, next id and digest of the catalogue that the copy agrees with.
    """

    generation: int
    next_id: int
    digest: int

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of items in the copy."""

    @abstractmethod
    def _replace(self, folder: Path, ids: Sequence[int], rows: dict[int, Row]) -> None:
        """Remove items that are in the copy, and add those that have rows."""

    @abstractmethod
    def _add(self, folder: Path, rows: Sequence[Row]) -> None:
        """Add items with these rows."""

    def agrees(self, state: State) -> bool:
        """Whether the copy holds what the catalogue holds."""
        tally = (self.n, self.digest, self.generation)
        return tally == (state.items.n, state.items.digest, state.generation)

    def can_follow(self, state: State) -> bool:
        """Whether the catalogue still lists all changes since the copy's generation."""
        return state.base <= self.generation <= state.generation

    def follow(self, connection: sqlite3.Connection, folder: Path, state: State) -> bool:
        """Apply all changes since the copy's generation; return whether the copy agrees then."""
        log = logged(connection, self.generation)
        if log is None:
            return False  # `verify` tells that the log is damaged; all rows are read instead
        deltas = Counter[int]()
        for number, delta in log:
            if number < self.next_id:
                deltas[number] += delta
        self.generation = UNKNOWN
        changed = list(deltas)
        self._replace(folder, changed, rows_of(connection, folder, changed))
        self.digest = (self.digest + sum(deltas.values())) % MODULUS
        self._read_tail(connection, folder)
        self.generation, self.next_id = state.generation, state.next_id
        return self.agrees(state)

    def _read_tail(self, connection: sqlite3.Connection, folder: Path) -> None:
        """Add all rows with ids from `next_id` on."""
        for rows in all_rows(connection, folder, self.next_id):
            self._add(folder, rows)
            self.digest = (self.digest + sum(row.checksum for row in rows)) % MODULUS
