"""Which items meet a condition, and which labels there are.

Both look at every row, so they look beside the searches, and what they find is remembered until
items change.
"""

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from zshash.collection.errors import DAMAGED, CollectionError, DamagedError
from zshash.collection.rows import Ids
from zshash.collection.store import Store
from zshash.collection.where import metadata_fields, parse
from zshash.index import CodeIndex

__all__ = ["find", "label_counts", "meeting", "subset", "unknown_fields"]

LABELS = "\0labels"  # no condition has such a name


def find(store: Store, where: str) -> Ids:
    """Ids of the items that meet a condition, in their order."""
    return _found(store, where)[1]


def _found(store: Store, where: str) -> tuple[int, Ids]:
    """The generation that was looked at, and the ids."""
    parse(where)  # says what is wrong with it before anybody waits
    with store.beside() as (connection, state):
        return state.generation, meeting(connection, store.folder, where)


def meeting(connection: sqlite3.Connection, folder: Path, where: str) -> Ids:
    """Ids of the items that meet a condition, in a transaction that is there already."""
    condition = parse(where)
    statement = f"SELECT id FROM items WHERE {condition.sql} ORDER BY id"
    try:
        rows = connection.execute(statement, condition.parameters).fetchall()
    except sqlite3.OperationalError as error:
        if (error.sqlite_errorcode & 0xFF) != sqlite3.SQLITE_ERROR:
            raise
        if "malformed JSON" in str(error):
            raise DamagedError(
                f"{folder}: {DAMAGED} (labels or metadata of an item are no JSON)"
            ) from error
        raise CollectionError(
            f"{folder}: the condition {where!r} can not be used ({error})"
        ) from error
    return np.array([row[0] for row in rows], dtype=np.int64)


def subset(store: Store, index: CodeIndex, where: str, generation: int) -> CodeIndex | None:
    """The index of those items of a generation that meet a condition; None if it has gone by.

    A new condition takes a look at all items; one of the last few takes none.
    """
    known: CodeIndex | None = store.remembered.get(generation, where)
    if known is not None:
        return known
    found, ids = _found(store, where)
    if found != generation:
        return None
    try:
        part = index.subset(ids)
    except ValueError as error:
        with store.reading() as state:
            if state.generation != generation:
                return None
        raise DamagedError(
            f"{store.folder}: the catalogue has items that its index has not"
        ) from error
    store.remembered.put(generation, where, part)
    return part


def unknown_fields(store: Store, where: str) -> list[str]:
    """Which keys of metadata a condition names that no item has."""
    with store.beside() as (connection, _):
        return [
            name
            for name, there in metadata_fields(where).items()
            if not connection.execute(
                f"SELECT 1 FROM items WHERE {there.sql} LIMIT 1", there.parameters
            ).fetchone()
        ]


def label_counts(store: Store) -> dict[str, int]:
    """How many items have each label, the most frequent label first; "" are those without."""
    with store.beside() as (connection, state):
        known: dict[str, int] | None = store.remembered.get(state.generation, LABELS)
        if known is not None:
            return known
        rows = connection.execute("SELECT labels, count(*) FROM items GROUP BY labels").fetchall()
    counts: Counter[str] = Counter()
    for labels, n in rows:
        for label in _labels(store, labels):
            counts[label] += n
    ordered = dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
    store.remembered.put(state.generation, LABELS, ordered)
    return ordered


def _labels(store: Store, text: Any) -> list[str]:
    try:
        return json.loads(text) or [""]
    except (TypeError, ValueError) as error:
        raise DamagedError(f"{store.folder}: {DAMAGED} (labels of an item are no JSON)") from error
