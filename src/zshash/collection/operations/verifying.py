"""Looking for damage: every file of the folder and every row of the catalogue is verified.

The tables are checked here, the other files in `verify_files`, the codes in `verify_codes`.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from zshash.codes import code_bytes
from zshash.collection.errors import CollectionError, DamagedError, reporting_sqlite
from zshash.collection.operations.verify_codes import encode_again
from zshash.collection.operations.verify_files import (
    check_contents,
    check_copies,
    check_note,
    check_snapshots,
    read_note,
)
from zshash.collection.results import Verified
from zshash.collection.storage.catalogue import Catalogue
from zshash.collection.storage.change import BESIDE
from zshash.collection.storage.checking import FETCH, lenient
from zshash.collection.storage.mirror import Mirror
from zshash.collection.storage.removed import is_whole_kept
from zshash.collection.storage.rows import COLUMNS, is_whole
from zshash.collection.storage.state import MODULUS, State, Tally
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import is_whole_blob, is_whole_change

__all__ = ["verify", "verify_tables"]

Check = Callable[[Catalogue, sqlite3.Connection, State], Iterator[str]]


def verify(store: Store, deep: bool = False) -> Verified:
    """Everything that is wrong with a collection, a sentence each.

    With `deep`, a random sample of items is encoded again, and the codes are compared.
    """
    found = Verified()
    try:
        _look(store, found)
        if deep:
            problems, found.encoded, found.not_encoded = encode_again(store)
            found += problems
    except DamagedError as error:  # too damaged to verify the rest
        found.append(str(error))
    found[:] = dict.fromkeys(found)
    return found


def _look(store: Store, problems: list[str]) -> None:
    note = read_note(store.folder)  # before the catalogue, so that it can not be later
    with store.reading() as state, store.catalogue.reading() as connection:
        problems += check_note(note, state)
        _look_at_tables(store.catalogue, connection, state, problems)
        with suppress_to(problems), reporting_sqlite(store.folder):
            problems += _check_index(store, connection, state)
    with suppress_to(problems), reporting_sqlite(store.folder):
        problems += check_copies(store)
    with suppress_to(problems):
        store.check_model()


def verify_tables(folder: Path) -> list[str]:
    """What is wrong with the tables of a collection that is too damaged to be opened."""
    problems: list[str] = []
    with (
        suppress(CollectionError),
        closing(Catalogue(folder)) as catalogue,
        catalogue.reading() as connection,
    ):
        _look_at_tables(catalogue, connection, catalogue.state(), problems)
    return list(dict.fromkeys(problems))


def _look_at_tables(
    catalogue: Catalogue, connection: sqlite3.Connection, state: State, problems: list[str]
) -> None:
    for check in _TABLES:
        with suppress_to(problems), reporting_sqlite(catalogue.folder), lenient(connection):
            problems += check(catalogue, connection, state)


class suppress_to(suppress):  # noqa: N801, reads like the one of contextlib
    """Add a `CollectionError` to a list of problems and go on."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(CollectionError)
        self._problems = problems

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if isinstance(error, CollectionError):
            self._problems.append(str(error))
        return bool(super().__exit__(kind, error, trace))


def _check_file(catalogue: Catalogue, connection: sqlite3.Connection, _: State) -> Iterator[str]:
    for (found,) in connection.execute("PRAGMA integrity_check"):
        if found != "ok":
            yield f"{catalogue.path.name}: {found}"
    for (key,) in connection.execute("SELECT key FROM settings").fetchall():
        try:
            catalogue.setting(key)
        except DamagedError as error:
            yield str(error)


def _check_items(_: Catalogue, connection: sqlite3.Connection, state: State) -> Iterator[str]:
    width, n, digest = code_bytes(state.n_bits), 0, 0
    cursor = connection.execute(f"SELECT {COLUMNS} FROM items ORDER BY id")
    while rows := cursor.fetchmany(FETCH):
        n += len(rows)
        for row in rows:
            if not is_whole(row):
                yield f"item {row[0]}: its row is damaged"
                continue
            digest += row[8]
            if len(row[1]) != width or not 0 <= row[0] < state.next_id:
                yield f"item {row[0]}: its code or its id does not fit this collection"
    yield from _compare("items", Tally(n, digest % MODULUS), state.items)


def _check_changes(
    catalogue: Catalogue, connection: sqlite3.Connection, state: State
) -> Iterator[str]:
    if catalogue.version < 2:
        return  # nobody reads this log: its rows have no checksums
    found = Tally()
    for row in connection.execute("SELECT generation, id, delta, checksum FROM changes"):
        found = found.plus([row[3] if isinstance(row[3], int) else 0])
        if not is_whole_change(row) or not row[0] <= state.generation:
            yield f"changes: the row of item {row[1]} is damaged: compact begins a new log"
    yield from _compare("changes", found, state.changes)


def _check_beside(
    catalogue: Catalogue, connection: sqlite3.Connection, state: State
) -> Iterator[str]:
    for table in filter(catalogue.has_table, BESIDE):
        n, digest = 0, 0
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):
            n += 1
            digest += row[2] if isinstance(row[2], int) else 0
            if not is_whole_blob(row):
                yield f"item {row[0]}: its entry in {table} is damaged"
        yield from _compare(table, Tally(n, digest % MODULUS), getattr(state, table))
        orphans = f"SELECT id FROM {table} WHERE id NOT IN (SELECT id FROM items)"
        for (number,) in connection.execute(orphans):
            yield f"item {number}: it has an entry in {table}, but there is no such item"


def _check_removed(
    catalogue: Catalogue, connection: sqlite3.Connection, state: State
) -> Iterator[str]:
    if not catalogue.has_table("removed"):
        return
    n, digest = 0, 0
    for row in connection.execute("SELECT * FROM removed ORDER BY id"):
        n += 1
        digest += row[3] if isinstance(row[3], int) else 0
        if not is_whole_kept(row):
            yield (
                f"removed item {row[0]} is damaged: it can not be restored, and compact forgets it"
            )
    yield from _compare("removed", Tally(n, digest % MODULUS), state.removed)


def _compare(table: str, found: Tally, wanted: Tally) -> Iterator[str]:
    if found.n != wanted.n:
        yield f"{table}: {found.n} rows, but there should be {wanted.n}"
    elif found != wanted:
        yield f"{table}: the rows are not those that were written (their digests differ)"


def _check_index(store: Store, connection: sqlite3.Connection, state: State) -> Iterator[str]:
    rows = Mirror.of_rows(connection, store.folder, state).index
    if store.is_shared:
        if not _equal(rows, store.mirror.index):
            yield (
                f"{store.address}: not what the catalogue says: drop this collection in Milvus, "
                "and it is made again when it is needed"
            )
        return
    if not _equal(rows, store.mirror.index):
        yield "the index in memory differs from the catalogue: open the collection again"
    for name, mirror in check_snapshots(store.folder, connection, state):
        if mirror is None:
            yield f"{name}: it is damaged: delete it, and it is made again"
        elif not mirror.agrees(state) or not _equal(rows, mirror.index):
            yield f"{name}: not what the catalogue says: delete it"
    yield from check_contents(store.folder, connection, state)


def _equal(one: Any, other: Any) -> bool:
    same = np.array_equal(one.ids, other.ids) and np.array_equal(one.codes, other.codes)
    return bool(same)


_TABLES: tuple[Check, ...] = (
    _check_file,
    _check_items,
    _check_beside,
    _check_changes,
    _check_removed,
)
