"""The index in a Milvus server, which follows the catalogue like the one in memory.

The catalogue is written first. Beside the codes the server holds a mark: the owner, which is the
collection that the codes belong to, and the generation, the next id and the digest of the catalogue
that the codes agree with. The mark is written last, so that an interruption shows, and everything
before it can be done twice. A process that finds the mark behind the catalogue does the rest, or
writes all codes anew if the catalogue no longer lists the changes since the mark.
"""

import sqlite3
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import CollectionError
from zshash.collection.storage.catalogue import Catalogue
from zshash.collection.storage.locks import WriterLock
from zshash.collection.storage.mirror import UNKNOWN, Follower
from zshash.collection.storage.rows import Ids, Row
from zshash.collection.storage.state import State
from zshash.collection.storage.tables import logged

if TYPE_CHECKING:
    from zshash.index.milvus import Address, MilvusIndex

__all__ = ["MEMORY", "Remote", "check_free", "connect"]

INDEX = "index"  # the setting that says where the index is, if not in memory
MEMORY = "memory"  # in place of an address: the index is in this process


def _parsed(index: str) -> "Address | None":
    """Address in a text, or None for the index in memory."""
    from zshash.index.milvus import Address

    return None if index == MEMORY else Address.parse(index)


def check_free(index: str) -> None:
    """Refuse an address that does not answer, or that has a collection already."""
    from zshash.index.milvus import notes_at

    address = _parsed(index)
    if address and notes_at(address) is not None:
        raise CollectionError(
            f"{address}: there is a collection of this name already: choose another name"
        )


def connect(catalogue: Catalogue, lock: WriterLock, wanted: str | None) -> "Remote | None":
    """Open the index in a server, or return None for an index in memory.

    `wanted` says where the index is from now on; None takes the place in the catalogue's
    settings. A new place is written there.
    """
    known = _known_place(catalogue)
    text = wanted or known["address"]
    address = _parsed(text) if text else None
    shown = str(address) if address else None
    if shown == known["address"]:
        return _opened(catalogue, address, known["owner"])
    with lock.held():
        known = _known_place(catalogue)
        _note_place(catalogue, known)  # after an interruption the owner must know its index again
        remote = _opened(catalogue, address, known["owner"])
        try:
            _note_place(catalogue, known | {"address": shown})
        except BaseException:
            if remote is not None:
                remote.close()
            raise
    return remote


def _known_place(catalogue: Catalogue) -> dict[str, Any]:
    """Address and owner of the index; a new owner where the catalogue has no such setting."""
    if catalogue.has_setting(INDEX):
        return dict(catalogue.setting(INDEX))
    return {"address": None, "owner": uuid.uuid4().hex}


def _note_place(catalogue: Catalogue, place: dict[str, Any]) -> None:
    with catalogue.writing():
        catalogue.put_setting(INDEX, place)


def _opened(catalogue: Catalogue, address: "Address | None", owner: str) -> "Remote | None":
    if address is None:
        return None
    with catalogue.reading():
        n_bits = catalogue.state().n_bits
    return Remote(address, owner, n_bits)


class Remote(Follower):
    """Ids and codes of all items at a generation, in a `MilvusIndex`.

    Parameters
    ----------
    address : Address
    owner : str
        Identifier of the collection in this folder, different from all others.
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
        """Number of items in the index."""
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
        """Bring the index up to date with the catalogue, if nobody else has.

        Parameters
        ----------
        connection, folder, state
            The catalogue and its state.
        alone : callable
            Returns a context; nobody else writes to the index while this process is inside.
        """
        from zshash.index.milvus import MilvusGone

        with suppress(MilvusGone):  # another process may be making the collection anew
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
        """Apply what this process has just written to the catalogue."""
        self.generation = UNKNOWN
        self.index.discard(np.array(removed, dtype=np.int64))
        if added is not None:
            self.index.put(added[1], added[0])
        self._mark(state)

    def check(self, ids: Sequence[int], codes: Iterable[bytes | None]) -> None:
        """No check: another process may be changing the index, and `verify` compares all codes."""

    def _look(self) -> None:
        """Read the mark and the number of codes.

        The mark is read first: then searches see all that was written before it.
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
        """Write the mark for a state."""
        mark = state.generation, state.next_id, state.items.digest
        self.index.note(state=" ".join(map(str, mark)))
        self.generation, self.next_id, self.digest = mark
        self._n = state.items.n

    def _follows(self, connection: sqlite3.Connection, folder: Path, state: State) -> bool:
        if not self.can_follow(state):
            return False
        # Rows that were added and removed since; an interrupted writer may have left some of them.
        log = logged(connection, self.generation)
        if log is None:
            return False
        gone = {number for number, _ in log if number >= self.next_id}
        self.index.discard(np.array(sorted(gone), dtype=np.int64))
        self.follow(connection, folder, state)
        self._n = len(self.index)
        return self.agrees(state)

    def _rebuild(self, connection: sqlite3.Connection, folder: Path, state: State) -> None:
        """Write all rows anew; searches in the former codes fail with `MilvusGone`."""
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

    def _replace(self, folder: Path, ids: Sequence[int], rows: dict[int, Row]) -> None:
        self.index.discard(np.array([own for own in ids if own not in rows], dtype=np.int64))
        self._add(folder, list(rows.values()))

    def _take(self, ids: Ids, codes: NDArray[np.uint8]) -> None:
        self.index.put(codes, ids)
