"""Statements on the rows of a catalogue, many rows at a time."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import DamagedError
from zshash.collection.rows import COLUMNS, Ids, Item, Row, blob_checksum, is_whole, to_item

__all__ = [
    "all_rows",
    "blobs",
    "checksums",
    "codes_of",
    "delete_rows",
    "items_of",
    "known_contents",
    "log_changes",
    "put_blobs",
    "put_rows",
    "rows_of",
]

AT_ONCE = 500  # values in one statement: every build of SQLite takes as many
FETCH = 8192
Blobs = list[tuple[int, bytes, int]]


def in_groups(values: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Some of the values at a time, with as many question marks."""
    for start in range(0, len(values), AT_ONCE):
        group = values[start : start + AT_ONCE]
        yield ",".join("?" * len(group)), group


def check_rows(folder: Path, rows: Iterable[Sequence[Any]]) -> list[Row]:
    """Rows that are all as they were written, or an error that names the first that is not."""
    return [Row._make(row) for row in _whole(folder, rows)]


def _whole(folder: Path, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    for row in rows:
        if not is_whole(row):
            raise DamagedError(
                f"{folder}: item {row[0]} is damaged in the catalogue: zshash verify lists all "
                "that are; restore it from a copy"
            )
        yield row


def all_rows(
    connection: sqlite3.Connection, folder: Path, first: int = 0, *, check: bool = True
) -> Iterator[list[Row]]:
    """All rows from an id on, in their order, some thousand at a time."""
    cursor = connection.execute(f"SELECT {COLUMNS} FROM items WHERE id >= ? ORDER BY id", [first])
    while rows := cursor.fetchmany(FETCH):
        yield check_rows(folder, rows) if check else [Row._make(row) for row in rows]


def rows_of(connection: sqlite3.Connection, folder: Path, ids: Sequence[int]) -> dict[int, Row]:
    """The rows under some ids, as far as there are any."""
    return {row.id: row for row in check_rows(folder, _under(connection, ids))}


def items_of(connection: sqlite3.Connection, folder: Path, ids: Sequence[int]) -> dict[int, Item]:
    """The items under some ids, as far as there are any."""
    return {row[0]: to_item(row) for row in _whole(folder, _under(connection, ids))}


def _under(connection: sqlite3.Connection, ids: Sequence[int]) -> Iterable[Sequence[Any]]:
    """What is stored under some ids; the statement is always the same, so SQLite keeps it."""
    statement = f"SELECT {COLUMNS} FROM items WHERE id IN (SELECT value FROM json_each(?))"
    return connection.execute(statement, [json.dumps(ids)]).fetchall()


def codes_of(rows: Sequence[Row], width: int) -> tuple[Ids, NDArray[np.uint8]]:
    """Ids (n,) and codes (n, width) of rows; ValueError where a code has another width."""
    ids = np.fromiter((row.id for row in rows), dtype=np.int64, count=len(rows))
    codes = np.frombuffer(b"".join([row.code for row in rows]), dtype=np.uint8)
    return ids, codes.reshape(len(rows), width)


def put_rows(connection: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows under new ids."""
    connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def replace_rows(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Give items that are there other fields."""
    connection.executemany(
        "UPDATE items SET code = ?2, source = ?3, content = ?4, labels = ?5, metadata = ?6, "
        "size = ?7, mtime_ns = ?8, checksum = ?9 WHERE id = ?1",
        rows,
    )


def put_blobs(connection: sqlite3.Connection, table: str, values: dict[int, bytes]) -> list[int]:
    """Store thumbnails or features, in place of earlier ones; their checksums."""
    rows = [(number, value, blob_checksum(number, value)) for number, value in values.items()]
    connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", rows)
    return [row[2] for row in rows]


def blobs(
    connection: sqlite3.Connection, folder: Path, table: str, ids: Sequence[int]
) -> dict[int, bytes]:
    """Thumbnails or features of some items, as far as there are any."""
    found: dict[int, bytes] = {}
    for marks, group in in_groups(ids):
        for row in connection.execute(f"SELECT * FROM {table} WHERE id IN ({marks})", group):
            if not is_whole_blob(row):
                raise DamagedError(
                    f"{folder}: what {table} holds of item {row[0]} is damaged: zshash verify "
                    "lists all that is; restore it from a copy"
                )
            found[row[0]] = row[1]
    return found


def is_whole_blob(row: Sequence[Any]) -> bool:
    """Whether a thumbnail or a row of features is as it was written."""
    good = isinstance(row[0], int) and isinstance(row[1], bytes)
    return good and blob_checksum(row[0], row[1]) == row[2]


def checksums(connection: sqlite3.Connection, table: str, ids: Sequence[int]) -> dict[int, int]:
    """Checksums of the rows that a table has under some ids."""
    found: dict[int, int] = {}
    for marks, group in in_groups(ids):
        found.update(
            connection.execute(f"SELECT id, checksum FROM {table} WHERE id IN ({marks})", group)
        )
    return found


def delete_rows(connection: sqlite3.Connection, table: str, ids: Sequence[int]) -> None:
    """Delete what a table has under some ids."""
    for marks, group in in_groups(ids):
        connection.execute(f"DELETE FROM {table} WHERE id IN ({marks})", group)


def log_changes(connection: sqlite3.Connection, generation: int, deltas: dict[int, int]) -> None:
    """Say which rows were changed or removed, and how far the checksum of each moved."""
    connection.executemany(
        "INSERT INTO changes VALUES (?, ?, ?)",
        ((generation, number, delta) for number, delta in deltas.items()),
    )


def known_contents(
    connection: sqlite3.Connection, contents: Iterable[bytes | None]
) -> dict[bytes, int]:
    """Which contents there are already, and the items that have them."""
    wanted = sorted({content for content in contents if content is not None})
    found: dict[bytes, int] = {}
    for marks, group in in_groups(wanted):
        found.update(
            connection.execute(f"SELECT content, id FROM items WHERE content IN ({marks})", group)
        )
    return found
