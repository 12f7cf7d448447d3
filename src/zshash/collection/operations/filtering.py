"""Which items meet a condition, and which labels there are.

Both read every row, so they read through a connection of their own, beside searches, and results
are remembered until items change. The checksum of each row is verified in the same scan, also of
rows that do not meet the condition: damage may be the reason that they do not.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from zshash.collection.errors import CollectionError, DamagedError
from zshash.collection.operations.where import Condition, metadata_fields, parse
from zshash.collection.storage.rows import Ids
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import rows_where
from zshash.index import CodeIndex

__all__ = ["find", "label_counts", "meeting", "subset", "unknown_fields", "usable"]

LABELS = "\0labels"  # a key of `remembered`; no condition is spelled so


def find(store: Store, where: str) -> Ids:
    """Ids of the items that meet a condition, in their order."""
    return _found(store, where)[1]


def _found(store: Store, where: str) -> tuple[int, Ids]:
    """Generation of the catalogue that was read, and ids of the items that meet a condition."""
    parse(where)  # raises if the condition is wrong, before anybody waits
    with store.beside() as (connection, state):
        return state.generation, meeting(connection, store.folder, where, state)


def meeting(connection: sqlite3.Connection, folder: Path, where: str, state: State) -> Ids:
    """Ids of the items that meet a condition, inside a transaction that sees `state`.

    Raises
    ------
    DamagedError
        If any item is damaged, whether it meets the condition or not.
    """
    condition = parse(where)
    with usable(folder, where):
        blocks = rows_where(connection, folder, state.items, condition.sql, condition.parameters)
        found = [row[0] for rows in blocks for row in rows]
    return np.array(found, dtype=np.int64)


@contextmanager
def usable(folder: Path, where: str) -> Iterator[None]:
    """Report a condition that SQLite refuses."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_ERROR:
            raise
        raise CollectionError(
            f"{folder}: the condition {where!r} can not be used ({error})"
        ) from error


def subset(store: Store, index: CodeIndex, where: str, generation: int) -> CodeIndex | None:
    """Index of the items that meet a condition at a generation; None if items have changed since.

    A new condition reads all items; the results of the last few are remembered.
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
    """Metadata keys in a condition that no item has."""
    fields = metadata_fields(where)
    with store.beside() as (connection, state):
        return [
            name
            for name, there in fields.items()
            if not _is_met(connection, store.folder, state, there)
        ]


def _is_met(
    connection: sqlite3.Connection, folder: Path, state: State, condition: Condition
) -> bool:
    """Whether an item meets a condition."""
    return any(rows_where(connection, folder, state.items, condition.sql, condition.parameters))


def label_counts(store: Store) -> dict[str, int]:
    """Number of items with each label, the most frequent first; "" counts those without."""
    with store.beside() as (connection, state):
        known: dict[str, int] | None = store.remembered.get(state.generation, LABELS)
        if known is not None:
            return known
        texts: Counter[str] = Counter()
        for rows in rows_where(connection, store.folder, state.items):
            texts.update(row[4] for row in rows)
    counts: Counter[str] = Counter()
    for text, n in texts.items():
        for label in json.loads(text) or [""]:
            counts[label] += n
    ordered = dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
    store.remembered.put(state.generation, LABELS, ordered)
    return ordered
