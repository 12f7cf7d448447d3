"""Looking for damage: every row, every checksum, and whether all parts agree."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from zshash.codes import code_bytes
from zshash.collection.change import BESIDE
from zshash.collection.errors import CollectionError, DamagedError, reporting_sqlite
from zshash.collection.files import bytes_used
from zshash.collection.mirror import Mirror
from zshash.collection.remote import MEMORY
from zshash.collection.rows import COLUMNS, is_whole
from zshash.collection.snapshot import newest_snapshot
from zshash.collection.state import MODULUS, State, Tally
from zshash.collection.store import Store
from zshash.collection.tables import FETCH, is_whole_blob

__all__ = ["describe", "verify"]


def verify(store: Store) -> list[str]:
    """All that is wrong with a collection, a sentence each."""
    try:
        return _problems(store)
    except DamagedError as error:  # so much that no more can be said
        return [str(error)]


def _problems(store: Store) -> list[str]:
    problems: list[str] = []
    with store.reading() as state, store.catalogue.reading() as connection:
        for check in (_check_file, _check_items, _check_beside, _check_index):
            try:
                with reporting_sqlite(store.folder):
                    problems += check(store, connection, state)
            except CollectionError as error:
                problems.append(str(error))
    with suppress_to(problems):
        store.check_model()
    return list(dict.fromkeys(problems))


class suppress_to(suppress):  # noqa: N801, reads like the one of contextlib
    """Write a `CollectionError` down and go on."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(CollectionError)
        self._problems = problems

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if isinstance(error, CollectionError):
            self._problems.append(str(error))
        return bool(super().__exit__(kind, error, trace))


def _check_file(store: Store, connection: sqlite3.Connection, _: State) -> Iterator[str]:
    for (found,) in connection.execute("PRAGMA integrity_check"):
        if found != "ok":
            yield f"{store.catalogue.path.name}: {found}"
    for (key,) in connection.execute("SELECT key FROM settings"):
        store.catalogue.setting(key)


def _check_items(_: Store, connection: sqlite3.Connection, state: State) -> Iterator[str]:
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
                yield f"item {row[0]}: its code or its id is not one of this collection"
    yield from _compare("items", Tally(n, digest % MODULUS), state.items)


def _check_beside(_: Store, connection: sqlite3.Connection, state: State) -> Iterator[str]:
    for table in BESIDE:
        n, digest = 0, 0
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):
            n += 1
            digest += row[2] if isinstance(row[2], int) else 0
            if not is_whole_blob(row):
                yield f"item {row[0]}: what {table} holds of it is damaged"
        yield from _compare(table, Tally(n, digest % MODULUS), getattr(state, table))
        orphans = f"SELECT id FROM {table} WHERE id NOT IN (SELECT id FROM items)"
        for (number,) in connection.execute(orphans):
            yield f"item {number}: {table} speaks of it, but it is not there"


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
        yield "the index in memory is not that of the catalogue: open the collection again"
    snapshot = newest_snapshot(store.folder)
    if snapshot is None or snapshot.generation > state.generation:
        return  # none is needed, or a writer has just made it
    mirror = Mirror.of_snapshot(snapshot)
    if mirror.can_follow(state):
        follows = mirror.agrees(state) or mirror.follow(connection, store.folder, state)
        if not follows or not _equal(rows, mirror.index):
            yield f"index-{snapshot.generation}.codes: not what the catalogue says: delete it"


def _equal(one: Any, other: Any) -> bool:
    same = np.array_equal(one.ids, other.ids) and np.array_equal(one.codes, other.codes)
    return bool(same)


def describe(store: Store) -> dict[str, Any]:
    """What there is to say of a collection, ready for JSON."""
    used = bytes_used(store.folder)
    with store.reading() as state:
        notes = store.encoder.notes
        extractor = notes.get("extractor")
        return {
            "path": str(store.folder),
            "items": state.items.n,
            "bits": state.n_bits,
            "method": type(store.encoder.hasher).__name__,
            "model": state.model,
            "extractor": extractor.get("name") if isinstance(extractor, dict) else None,
            "semantics": store.about["semantics"] or notes.get("labels") or None,
            "features": state.features.n,
            "thumbnails": state.thumbnails.n,
            "index": str(store.address or MEMORY),
            "next id": state.next_id,
            "generation": state.generation,
            "format": store.catalogue.version,
            "created": store.about["created"],
            "bytes": used,
        }
