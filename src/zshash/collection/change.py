"""What one transaction does to the items: rows, tallies and the log that others follow."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zshash.collection.rows import Ids, Row
from zshash.collection.state import State, Tally
from zshash.collection.tables import (
    checksums,
    delete_rows,
    log_changes,
    put_blobs,
    put_rows,
    replace_rows,
)

__all__ = ["BESIDE", "Change"]

BESIDE = ("thumbnails", "features")


class Change:
    """Rows that are written in one transaction, and the state that they lead to.

    Attributes
    ----------
    state : State
        Where the catalogue stands when the transaction is done.
    added, removed
        Ids and codes for the index, and ids that leave it.
    n_rows : int
        How many rows were touched.
    """

    def __init__(self, connection: sqlite3.Connection, state: State) -> None:
        self._connection = connection
        self.state = replace(state, generation=state.generation + 1)
        self._ids: list[Ids] = []
        self._codes: list[NDArray[np.uint8]] = []
        self.removed: list[int] = []
        self.n_rows = 0

    @property
    def added(self) -> tuple[Ids, NDArray[np.uint8]] | None:
        """Ids and codes that the index has to take in."""
        if not self._ids:
            return None
        return np.concatenate(self._ids), np.concatenate(self._codes)

    def add(self, rows: Sequence[tuple[object, ...]], codes: NDArray[np.uint8]) -> Ids:
        """Insert rows whose ids go on from `state.next_id`; `codes` are theirs, (n, bytes)."""
        first = self.state.next_id
        ids = np.arange(first, first + len(rows), dtype=np.int64)
        put_rows(self._connection, rows)
        self._tally("items", self.state.items.plus(row[8] for row in rows))  # type: ignore[misc]
        self.state = replace(self.state, next_id=first + len(rows))
        self._index(ids, codes)
        self.n_rows += len(rows)
        return ids

    def put(self, table: str, values: dict[int, bytes]) -> None:
        """Store thumbnails or features of items, in place of earlier ones."""
        if values:
            self._forget(table, list(values))
            tally: Tally = getattr(self.state, table)
            self._tally(table, tally.plus(put_blobs(self._connection, table, values)))

    def rewrite(self, rows: Sequence[Row]) -> None:
        """Give items other codes; nobody can follow, so `state.base` has to say that."""
        before = checksums(self._connection, "items", [row.id for row in rows])
        replace_rows(self._connection, rows)
        tally = self.state.items.minus(before.values()).plus(row.checksum for row in rows)
        self._tally("items", tally)
        self.state = replace(self.state, base=self.state.generation)
        self.n_rows += len(rows)

    def replace(self, rows: Sequence[Row], codes: NDArray[np.uint8] | None = None) -> None:
        """Give items other fields; `codes` where these are others, too."""
        ids = [row.id for row in rows]
        before = checksums(self._connection, "items", ids)
        replace_rows(self._connection, rows)
        deltas = {row.id: row.checksum - before[row.id] for row in rows}
        self._log(deltas)
        tally = self.state.items.minus(before.values()).plus(row.checksum for row in rows)
        self._tally("items", tally)
        if codes is not None:
            self.removed += ids
            self._index(np.array(ids, dtype=np.int64), codes)

    def remove(self, ids: Sequence[int]) -> None:
        """Remove items and all that is stored of them."""
        before = checksums(self._connection, "items", ids)
        delete_rows(self._connection, "items", ids)
        self._log({number: -checksum for number, checksum in before.items()})
        self._tally("items", self.state.items.minus(before.values()))
        for table in BESIDE:
            self._forget(table, ids)
        self.removed += ids

    def _forget(self, table: str, ids: Sequence[int]) -> None:
        tally: Tally = getattr(self.state, table)
        if tally.n:
            before = checksums(self._connection, table, ids)
            delete_rows(self._connection, table, list(before))
            self._tally(table, tally.minus(before.values()))

    def _log(self, deltas: dict[int, int]) -> None:
        log_changes(self._connection, self.state.generation, deltas)
        self.n_rows += len(deltas)

    def _index(self, ids: Ids, codes: NDArray[np.uint8]) -> None:
        self._ids.append(ids)
        self._codes.append(codes)

    def _tally(self, table: str, tally: Tally) -> None:
        self.state = replace(self.state, **{table: tally})  # type: ignore[arg-type]
