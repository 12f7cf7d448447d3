"""The index in a Milvus server, which follows the catalogue like the one in memory.

The catalogue is written first. Beside the codes the server holds a mark: of which collection they
are the index, and the generation, the next id and the digest of the catalogue that they agree with.
It is written last, so that what was interrupted shows, and everything before it can be done twice.
Whoever finds the mark behind the catalogue does the rest, or all if the catalogue no longer knows
what has changed since.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import CollectionError
from zshash.collection.mirror import UNKNOWN, Follower
from zshash.collection.rows import Ids, Row
from zshash.collection.state import State

if TYPE_CHECKING:
    from zshash.index.milvus import Address, MilvusIndex

__all__ = ["MEMORY", "Remote", "check_free", "parsed"]

MEMORY = "memory"  # in place of an address: no server, but an index of this process


def parsed(index: str) -> "Address | None":
    """The address that a text says, None for the index in memory."""
    from zshash.index.milvus import Address

    return None if index == MEMORY else Address.parse(index)


def check_free(index: str) -> None:
    """Refuse an address that does not answer, or that has a collection already."""
    from zshash.index.milvus import notes_at

    address = parsed(index)
    if address and notes_at(address) is not None:
        raise CollectionError(
            f"{address}: there is a collection of this name already: choose another name"
        )


class Remote(Follower):
    """Ids and codes of all items at a generation, in a `MilvusIndex`.

    Parameters
    ----------
    address : Address
    owner : str
        What tells the collection in this folder from all others.
    n_bits : int
    """

    index: "MilvusIndex"

    def __init__(self, address: "Address", owner: str, n_bits: int) -> None:
        from zshash.index.milvus import MilvusIndex, notes_at

        self._owner = {"owner": owner}
        notes = notes_at(address)
        if notes is not None and notes.get("owner") != owner:
            raise CollectionError(
                f"{address}: this is not the index of this collection, but something else: choose "
                "another name"
            )
        known = n_bits if notes is None else int(notes.get("n_bits", n_bits))
        self.index = MilvusIndex(address, known, self._owner)
        try:
            self._look()
        except BaseException:
            self.close()
            raise

    @property
    def n(self) -> int:
        """How many items the index has."""
        return self._n

    def close(self) -> None:
        """End the connection."""
        self.index.close()

    def catch_up(
        self,
        connection: sqlite3.Connection,
        folder: Path,
        state: State,
        alone: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Make the index that of the catalogue, if nobody else has done so.

        Parameters
        ----------
        connection, folder, state
            The catalogue, and where it stands.
        alone : callable
            Whoever is inside what it returns is the only one to write to the index.
        """
        from zshash.index.milvus import MilvusGone

        with suppress(MilvusGone):  # somebody may be making it anew
            self._look()
            if self.agrees(state):
                return
        with alone():
            try:
                self._look()
            except MilvusGone:
                self.index.ensure(self._owner)
                self._look()
            if not self.agrees(state) and not self._follows(connection, folder, state):
                self._rebuild(connection, folder, state)
            self._mark(state)

    def apply(
        self,
        state: State,
        added: tuple[Ids, NDArray[np.uint8]] | None = None,
        removed: Sequence[int] = (),
    ) -> None:
        """Take over what this process itself has just written."""
        self.generation = UNKNOWN
        self.index.discard(np.array(removed, dtype=np.int64))
        if added is not None:
            self.index.put(added[1], added[0])
        self._mark(state)

    def check(self, ids: Sequence[int], codes: Iterable[bytes | None]) -> None:
        """Nothing: another process may be changing the index, and `verify` compares all."""

    def _look(self) -> None:
        """Read where the index stands.

        The mark is read first: all that was written before it is then seen in searches, too.
        """
        self.generation, self.next_id, self.digest, self._n = UNKNOWN, 0, 0, 0
        notes = self.index.notes()
        n_bits = int(notes.get("n_bits", self.index.n_bits))
        if n_bits != self.index.n_bits:
            self.index = self.index.with_bits(n_bits)
        self.index.refresh()
        self._n = len(self.index)
        with suppress(KeyError, ValueError):
            mark = [int(word) for word in notes["state"].split()]
            self.generation, self.next_id, self.digest = mark

    def _mark(self, state: State) -> None:
        """Say where the index stands."""
        mark = state.generation, state.next_id, state.items.digest
        self.index.note(state=" ".join(map(str, mark)))
        self.generation, self.next_id, self.digest = mark
        self._n = state.items.n

    def _follows(self, connection: sqlite3.Connection, folder: Path, state: State) -> bool:
        if not self.can_follow(state):
            return False
        # Rows that came and went since, of which an interrupted writer may have left some.
        gone = connection.execute(
            "SELECT DISTINCT id FROM changes WHERE generation > ? AND id >= ?",
            [self.generation, self.next_id],
        ).fetchall()
        self.index.discard(np.array([row[0] for row in gone], dtype=np.int64))
        self.follow(connection, folder, state)
        self._n = len(self.index)
        return self.agrees(state)

    def _rebuild(self, connection: sqlite3.Connection, folder: Path, state: State) -> None:
        """Write all rows anew; those who search in what was there are told that it is gone."""
        self.generation, self.next_id, self.digest = UNKNOWN, 0, 0
        if self._n or self.index.n_bits != state.n_bits:
            self.index = copy(self.index)
            self.index.clear(state.n_bits, self._owner)
        self._read_tail(connection, folder)
        self._n = len(self.index)
        self.generation, self.next_id = state.generation, state.next_id
        if not self.agrees(state):
            raise CollectionError(
                f"{folder}: {self.index.address} does not hold what was written to it: "
                "zshash verify lists what is wrong"
            )

    def _affected(self, ids: Iterable[int]) -> list[int]:
        return list(ids)

    def _replace(self, folder: Path, ids: Sequence[int], rows: dict[int, Row]) -> None:
        self.index.discard(np.array([own for own in ids if own not in rows], dtype=np.int64))
        self._add(folder, list(rows.values()))

    def _take(self, ids: Ids, codes: NDArray[np.uint8]) -> None:
        self.index.put(codes, ids)
