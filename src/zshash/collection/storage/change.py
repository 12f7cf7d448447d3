"""One transaction on the items: rows, tallies, and the log of changes that indexes follow.

Codes of two models can not be compared. So whoever writes codes says which model made them, and
they are refused, inside the transaction, if that is not the model of the catalogue.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import CollectionError, OtherModel
from zshash.collection.storage.removal import counted_checksums
from zshash.collection.storage.removed import Kept, drop_kept, put_kept
from zshash.collection.storage.rows import Ids, Row
from zshash.collection.storage.state import State, Tally
from zshash.collection.storage.tables import (
    checksums,
    delete_rows,
    in_groups,
    log_changes,
    put_blobs,
    put_rows,
    replace_rows,
)

__all__ = ["BESIDE", "Change"]

BESIDE = ("thumbnails", "features", "prints", "same_files")


class Change:
    """Rows that are written in one transaction, and the state after it.

    Parameters
    ----------
    connection : sqlite3.Connection
        Inside a transaction that writes.
    state : State
        State of the catalogue, read in this transaction.
    folder : Path
        Folder of the collection, for messages.

    Attributes
    ----------
    state : State
        State of the catalogue after the transaction.
    added, removed
        Ids and codes to add to the index, and ids to remove from it.
    contents : list of bytes or None
        Content hashes of the items that were added.
    n_rows : int
        How many rows were touched.
    """

    def __init__(self, connection: sqlite3.Connection, state: State, folder: Path) -> None:
        self._connection, self._folder = connection, folder
        self.state = replace(state, generation=state.generation + 1)
        self._ids: list[Ids] = []
        self._codes: list[NDArray[np.uint8]] = []
        self.removed: list[int] = []
        self.contents: list[bytes | None] = []
        self.n_rows = 0
        self._n_old = 0  # items that still have a code of the model before

    @property
    def added(self) -> tuple[Ids, NDArray[np.uint8]] | None:
        """Ids and codes to add to the index, or None."""
        if not self._ids:
            return None
        return np.concatenate(self._ids), np.concatenate(self._codes)

    def check_model(self, model: str) -> None:
        """Refuse codes of another model than the catalogue has in this transaction.

        Raises
        ------
        OtherModel
            Whoever leaves the transaction with it, leaves the catalogue as it was.
        """
        if model != self.state.model:
            raise OtherModel(
                f"{self._folder}: the codes were made by another model than the collection has by "
                "now, so nothing of this batch was written: encode the data again"
            )

    def take_model(self, model: str, n_bits: int) -> None:
        """Make `model` that of the collection; then `rewrite` must give all items its codes."""
        self.state = replace(self.state, model=model, n_bits=n_bits, base=self.state.generation)
        self._n_old = self.state.items.n

    def check_finished(self) -> None:
        """Refuse to end the transaction while items have codes of two models."""
        if self._n_old:
            raise CollectionError(
                f"{self._folder}: {self._n_old} items were not encoded again, so the collection "
                "keeps its model and its codes"
            )

    def add(self, rows: Sequence[tuple[object, ...]], codes: NDArray[np.uint8], model: str) -> Ids:
        """Insert rows with ids from `state.next_id` on, and their `codes` (n, bytes).

        `model` is the checksum of the model that made the codes.
        """
        self.check_model(model)
        first = self.state.next_id
        ids = np.arange(first, first + len(rows), dtype=np.int64)
        put_rows(self._connection, rows)
        self.contents += [row[3] for row in rows]  # type: ignore[misc]
        self._tally("items", self.state.items.plus(row[8] for row in rows))  # type: ignore[misc]
        self.state = replace(self.state, next_id=first + len(rows))
        self._index(ids, codes)
        self.n_rows += len(rows)
        return ids

    def put(self, table: str, values: dict[int, bytes]) -> None:
        """Store values of items in a table of `BESIDE`, in place of earlier ones."""
        if values:
            self.forget(table, list(values))
            tally: Tally = getattr(self.state, table)
            self._tally(table, tally.plus(put_blobs(self._connection, table, values)))

    def rewrite(self, rows: Sequence[Row], model: str) -> None:
        """Give items the codes of the model from `take_model`; an index can not follow this."""
        self.check_model(model)
        before = checksums(self._connection, "items", [row.id for row in rows])
        replace_rows(self._connection, rows)
        tally = self.state.items.minus(before.values()).plus(row.checksum for row in rows)
        self._tally("items", tally)
        self._n_old -= len(before)
        self.n_rows += len(rows)

    def replace(
        self,
        rows: Sequence[Row],
        codes: NDArray[np.uint8] | None = None,
        model: str | None = None,
    ) -> None:
        """Give items other fields; `codes` (n, bytes) and their `model` only where these change."""
        ids = [row.id for row in rows]
        if codes is not None or not self._have_these_codes(rows):
            self.check_model(model or "")
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
        """Remove items with all that is stored beside them; those that are gone are left out.

        They may be damaged.
        """
        before = self._counted("items", ids)
        ids = list(before)
        delete_rows(self._connection, "items", ids)
        self._log({number: -checksum for number, checksum in before.items()})
        self._tally("items", self.state.items.minus(before.values()))
        for table in BESIDE:
            self.forget(table, ids)
        self.removed += ids

    def keep(self, removed: Sequence[Kept]) -> None:
        """Keep items that `remove` is about to remove, so that they can be restored."""
        written = put_kept(self._connection, self.state.generation, removed)
        self._tally("removed", self.state.removed.plus(written))

    def drop(self, generation: int) -> list[bytes]:
        """Forget the items that a generation has removed; return their contents."""
        dropped, contents = drop_kept(self._connection, generation)
        self._tally("removed", self.state.removed.minus(dropped))
        return contents

    def restore(self, rows: Sequence[Row], codes: NDArray[np.uint8], model: str) -> None:
        """Insert rows of removed items under the ids that they had."""
        self.check_model(model)
        put_rows(self._connection, rows)
        self._log({row.id: row.checksum for row in rows})
        self._tally("items", self.state.items.plus(row.checksum for row in rows))
        self._index(np.array([row.id for row in rows], dtype=np.int64), codes)

    def _have_these_codes(self, rows: Sequence[Row]) -> bool:
        found: dict[int, bytes] = {}
        for marks, group in in_groups([row.id for row in rows]):
            statement = f"SELECT id, code FROM items WHERE id IN ({marks})"
            found.update(self._connection.execute(statement, group))
        return all(found.get(row.id) == row.code for row in rows)

    def forget(self, table: str, ids: Sequence[int]) -> None:
        """Delete values of items from a table of `BESIDE`."""
        tally: Tally = getattr(self.state, table)
        if tally.n:
            before = self._counted(table, ids)
            delete_rows(self._connection, table, list(before))
            self._tally(table, tally.minus(before.values()))

    def _counted(self, table: str, ids: Sequence[int]) -> dict[int, int]:
        tally: Tally = getattr(self.state, table)
        return counted_checksums(self._connection, self._folder, table, ids, tally)

    def _log(self, deltas: dict[int, int]) -> None:
        written = log_changes(self._connection, self.state.generation, deltas)
        self._tally("changes", self.state.changes.plus(written))
        self.n_rows += len(deltas)

    def _index(self, ids: Ids, codes: NDArray[np.uint8]) -> None:
        self._ids.append(ids)
        self._codes.append(codes)

    def _tally(self, table: str, tally: Tally) -> None:
        self.state = replace(self.state, **{table: tally})  # type: ignore[arg-type]
