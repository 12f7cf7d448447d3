"""Items are removed, and restored under the same ids.

What is removed is kept in the catalogue, in the same transaction: the row, and all that was stored
beside it. It is kept until `compact`, or until too many others were removed after it. Until then,
copies of pictures that came as bytes stay, too. Files of others are never touched.
"""

import time
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from zshash._interrupts import check
from zshash.collection.errors import CollectionError
from zshash.collection.operations.copies import unneeded
from zshash.collection.operations.features import Vectors, from_stored, to_stored
from zshash.collection.operations.items import check_removable
from zshash.collection.operations.reencoding import extracted
from zshash.collection.results import Removed
from zshash.collection.storage.change import BESIDE, Change
from zshash.collection.storage.files import delete
from zshash.collection.storage.removed import (
    Kept,
    Removal,
    kept_contents,
    kept_of,
    key_of,
    removal_of,
    removals,
)
from zshash.collection.storage.rows import Ids, with_fields
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import checksums, whole_blobs, whole_rows_of

__all__ = ["MOST_KEPT", "list_removals", "remove", "restore"]

MOST_KEPT = 100_000  # removed items
AT_ONCE = 512


def remove(store: Store, ids: Ids, *, undo: bool = True) -> Removed:
    """Remove items, which must all be there; damaged ones can be removed, but not restored.

    Parameters
    ----------
    store : Store
    ids : ndarray of int64
        Ascending, each once.
    undo : bool
        Keep the items, so that they can be restored. More than `MOST_KEPT` are never kept.
    """
    with store.writing():
        check_removable(store, ids)
        if not len(ids):
            return Removed(ids)
        wanted = ids.tolist()
        with store.looking() as connection:
            contents = [row.content for row in whole_rows_of(connection, wanted).values()]
        kept = list[int]()
        with store.changing() as change:
            if undo and len(ids) <= MOST_KEPT:
                for block in _blocks(store, wanted):
                    change.keep(block)
                    kept += [own.row.id for own in block]
                contents = _make_room(change, store)
            change.remove(wanted)
        delete(unneeded(store, contents))
        key = key_of(change.state.generation, kept) if kept else None
        return Removed(ids, key)


def _blocks(store: Store, ids: Sequence[int]) -> Iterator[list[Kept]]:
    """Undamaged items with all that is stored beside them, some at a time."""
    now, network = time.time(), _network(store)
    connection = store.catalogue.connection
    state = store.catalogue.state()
    tables = [table for table in BESIDE if getattr(state, table).n]
    for start in range(0, len(ids), AT_ONCE):
        check()
        group = ids[start : start + AT_ONCE]
        rows = whole_rows_of(connection, group)
        beside = {table: whole_blobs(connection, table, group) for table in tables}
        yield [
            Kept(row, state.model, network, now, _own(beside, number))
            for number, row in rows.items()
        ]


def _own(beside: dict[str, dict[int, bytes]], number: int) -> dict[str, bytes]:
    return {table: found[number] for table, found in beside.items() if number in found}


def _network(store: Store) -> str | None:
    """Fingerprint of the network that makes the features of a collection, if the model says it."""
    facts = store.model.notes.get("extractor")
    return facts.get("fingerprint") if isinstance(facts, dict) else None


def _make_room(change: Change, store: Store) -> list[bytes | None]:
    """Forget the first removals, as far as too much is kept; return the contents of their items."""
    contents: list[bytes | None] = []
    connection = store.catalogue.connection
    statement = "SELECT min(removal) FROM removed"
    while change.state.removed.n > MOST_KEPT:
        (first,) = connection.execute(statement).fetchone()
        contents += change.drop(first)
    return contents


def list_removals(store: Store) -> list[Removal]:
    """Removals that can be undone, the last one first."""
    with store.reading(), store.looking() as connection:
        return removals(connection) if store.catalogue.has_table("removed") else []


def restore(store: Store, key: str) -> Ids:
    """Undo a removal, all of it or, with an error, nothing; return the ids of the items."""
    with store.writing() as state:
        with store.looking() as connection:
            there = kept_contents(connection, key)
        if not there:
            raise CollectionError(
                f"{store.folder}: nothing is kept under the key {key!r}: these items were restored "
                "already, or their space has been freed"
            )
        _check_free(store, there)
        ids = list(there)
        with store.changing() as change:
            for start in range(0, len(ids), AT_ONCE):
                check()
                group = ids[start : start + AT_ONCE]
                block = kept_of(store.catalogue.connection, store.folder, group)
                _put_back(store, change, block, state.model)
            change.drop(removal_of(key))
        return np.array(ids, dtype=np.int64)


def _check_free(store: Store, there: Mapping[int, bytes | None]) -> None:
    """Refuse to restore an item whose picture, or whose id, is there again."""
    known = store.known(there.values())
    with store.looking() as connection:
        taken = checksums(connection, "items", list(there))
    for number, content in there.items():
        reason = ""
        if content in known:
            reason = f"its picture was added again as item {known[content]}: remove that one first"
        elif number in taken:
            reason = "there is another item with its id"
        if reason:
            raise CollectionError(
                f"{store.folder}: item {number} can not be restored, because {reason}"
            )


def _put_back(store: Store, change: Change, kept: Sequence[Kept], model: str) -> None:
    """Restore items; those that another model has encoded get codes of the present one."""
    old = [own for own in kept if own.model != model]
    vectors, fresh = _features(store, old)
    rows = {own.row.id: own.row for own in kept}
    if vectors:
        codes = store.model.hasher.encode(np.stack(list(vectors.values())))
        for number, code in zip(vectors, codes, strict=True):
            rows[number] = with_fields(rows[number], code=code.tobytes())
    packed = np.frombuffer(b"".join(row.code for row in rows.values()), dtype=np.uint8)
    change.restore(list(rows.values()), packed.reshape(len(rows), -1), model)
    for table in BESIDE:
        values = {own.row.id: own.beside[table] for own in kept if table in own.beside}
        change.put(table, values | (fresh if table == "features" else {}))


def _features(store: Store, kept: Sequence[Kept]) -> tuple[Vectors, dict[int, bytes]]:
    """Features of items: kept ones or else those of their pictures, and the latter as stored."""
    network = _network(store)
    stored = {
        own.row.id: own.beside["features"]
        for own in kept
        if "features" in own.beside and (network is None or own.network in (None, network))
    }
    vectors = from_stored(stored, int(store.model.hasher.n_features_in_))
    rows = [own.row for own in kept if own.row.id not in vectors]
    drawn = extracted(store, store.model, rows, "restored")
    ids = np.array(list(drawn), dtype=np.int64)
    fresh = to_stored(store.about, ids, np.stack(list(drawn.values()))) if drawn else {}
    return vectors | drawn, fresh
