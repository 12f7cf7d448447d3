"""SQL statements on the rows of a catalogue, many rows at a time.

Rows are served only after their checksums were verified. Whoever asks which rows meet a condition
must not miss a damaged row either, so `rows_where` verifies all rows, whether they meet it or not.
"""

import json
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import DAMAGED, DamagedError
from zshash.collection.storage.checking import (
    FETCH,
    REMOVE,
    check_rows,
    leniently,
    naming_the_damaged,
    whole,
)
from zshash.collection.storage.rows import (
    COLUMNS,
    Ids,
    Item,
    Row,
    blob_checksum,
    change_checksum,
    first_damaged,
    is_whole,
    to_item,
)
from zshash.collection.storage.state import Tally

__all__ = [
    "all_rows",
    "blobs",
    "check_rows",
    "checksums",
    "codes_of",
    "delete_rows",
    "heads",
    "items_of",
    "log_changes",
    "logged",
    "put_blobs",
    "put_rows",
    "rows_of",
    "rows_where",
    "whole_blobs",
    "whole_rows_of",
]

AT_ONCE = 500  # values in one statement: every build of SQLite takes this many
UNDER = f"SELECT {COLUMNS} FROM items WHERE id IN (SELECT value FROM json_each(?))"


def in_groups(values: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Groups of the values, each after a string of as many question marks."""
    for start in range(0, len(values), AT_ONCE):
        group = values[start : start + AT_ONCE]
        yield ",".join("?" * len(group)), group


def rows_where(
    connection: sqlite3.Connection,
    folder: Path,
    tally: Tally,
    condition: str = "1",
    parameters: Sequence[Any] = (),
) -> Iterator[list[Sequence[Any]]]:
    """Rows that meet a condition, in the order of ids; some thousand rows are read at a time.

    Parameters
    ----------
    connection, folder
    tally : Tally
        Tally of all items in the state of the transaction.
    condition : str
        SQL over the columns of an item.
    parameters : list
        What the question marks in the condition stand for.

    Yields
    ------
    list of tuples
        The columns of those rows of a block that meet the condition, and one more.

    Raises
    ------
    DamagedError
        If any row is damaged or missing, whether it meets the condition or not.
    """
    found = Tally()
    # CASE stops at the first part that decides; the bare condition would evaluate all parts
    met = f"CASE WHEN {condition} THEN 1 ELSE 0 END"
    statement = f"SELECT {COLUMNS}, {met} FROM items ORDER BY id"
    with naming_the_damaged(connection, folder):
        cursor = connection.execute(statement, parameters)
        while rows := whole(folder, cursor.fetchmany(FETCH), REMOVE):
            found = found.plus([row[8] for row in rows])
            yield [row for row in rows if row[9]]
    if found != tally:
        raise DamagedError(f"{folder}: {DAMAGED} (items are missing from it)")


def all_rows(
    connection: sqlite3.Connection, folder: Path, first: int = 0, *, check: bool = True
) -> Iterator[list[Row]]:
    """All rows from an id on, in their order, some thousand at a time."""
    statement = f"SELECT {COLUMNS} FROM items WHERE id >= ? ORDER BY id"
    with naming_the_damaged(connection, folder):
        cursor = connection.execute(statement, [first])
        while rows := cursor.fetchmany(FETCH):
            yield check_rows(folder, rows) if check else [Row._make(row) for row in rows]


def rows_of(connection: sqlite3.Connection, folder: Path, ids: Sequence[int]) -> dict[int, Row]:
    """Rows with the given ids, by id; unknown ids are left out."""
    with naming_the_damaged(connection, folder):
        return {row.id: row for row in check_rows(folder, _under(connection, ids))}


def items_of(connection: sqlite3.Connection, folder: Path, ids: Sequence[int]) -> dict[int, Item]:
    """Items with the given ids, by id; unknown ids are left out."""
    with naming_the_damaged(connection, folder):
        return {row[0]: to_item(row) for row in whole(folder, _under(connection, ids), REMOVE)}


def whole_rows_of(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Row]:
    """Rows with the given ids, by id; unknown ids and damaged rows are left out."""
    rows = leniently(connection, UNDER, [json.dumps(ids)])
    damaged = {row[0] for row in rows if not is_whole(row)} if first_damaged(rows) else ()
    return {row[0]: Row._make(row) for row in rows if row[0] not in damaged}


def _under(connection: sqlite3.Connection, ids: Sequence[int]) -> Iterable[Sequence[Any]]:
    """Raw rows with the given ids; one statement for any number of ids, which SQLite caches."""
    return connection.execute(UNDER, [json.dumps(ids)]).fetchall()


def codes_of(rows: Sequence[Row], width: int) -> tuple[Ids, NDArray[np.uint8]]:
    """Ids (n,) and codes (n, width) of rows; ValueError where a code has another width."""
    ids = np.fromiter((row.id for row in rows), dtype=np.int64, count=len(rows))
    codes = np.frombuffer(b"".join([row.code for row in rows]), dtype=np.uint8)
    return ids, codes.reshape(len(rows), width)


def put_rows(connection: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows under new ids."""
    connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def replace_rows(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Give existing items other fields."""
    connection.executemany(
        "UPDATE items SET code = ?2, source = ?3, content = ?4, labels = ?5, metadata = ?6, "
        "size = ?7, mtime_ns = ?8, checksum = ?9 WHERE id = ?1",
        rows,
    )


def put_blobs(connection: sqlite3.Connection, table: str, values: dict[int, bytes]) -> list[int]:
    """Store values of items, in place of earlier ones; return their checksums."""
    rows = [(number, value, blob_checksum(number, value)) for number, value in values.items()]
    connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", rows)
    return [row[2] for row in rows]


def blobs(
    connection: sqlite3.Connection, folder: Path, table: str, ids: Sequence[int]
) -> dict[int, bytes]:
    """Thumbnails or features of the given items, by id; items without one are left out."""
    found: dict[int, bytes] = {}
    for marks, group in in_groups(ids):
        for row in connection.execute(f"SELECT * FROM {table} WHERE id IN ({marks})", group):
            if not is_whole_blob(row):
                raise DamagedError(
                    f"{folder}: the entry of item {row[0]} in {table} is damaged: zshash verify "
                    "lists all damage; restore the catalogue from a copy"
                )
            found[row[0]] = row[1]
    return found


def whole_blobs(connection: sqlite3.Connection, table: str, ids: Sequence[int]) -> dict[int, bytes]:
    """Thumbnails or features of the given items, by id; damaged ones are left out."""
    found: dict[int, bytes] = {}
    for marks, group in in_groups(ids):
        for row in connection.execute(f"SELECT * FROM {table} WHERE id IN ({marks})", group):
            if is_whole_blob(row):
                found[row[0]] = row[1]
    return found


def heads(
    connection: sqlite3.Connection, table: str, ids: Sequence[int], n: int
) -> dict[int, bytes]:
    """The first `n` bytes of thumbnails or features of the given items, by id, not verified."""
    found: dict[int, bytes] = {}
    for marks, group in in_groups(ids):
        statement = f"SELECT id, substr(value, 1, {n}) FROM {table} WHERE id IN ({marks})"
        found.update(connection.execute(statement, group))
    return found


def is_whole_blob(row: Sequence[Any]) -> bool:
    """Whether a thumbnail or a row of features is as it was written."""
    good = isinstance(row[0], int) and isinstance(row[1], bytes)
    return good and blob_checksum(row[0], row[1]) == row[2]


def checksums(connection: sqlite3.Connection, table: str, ids: Sequence[int]) -> dict[int, int]:
    """Checksums of a table's rows with the given ids, by id."""
    found: dict[int, int] = {}
    for marks, group in in_groups(ids):
        found.update(
            connection.execute(f"SELECT id, checksum FROM {table} WHERE id IN ({marks})", group)
        )
    return found


def delete_rows(connection: sqlite3.Connection, table: str, ids: Sequence[int]) -> None:
    """Delete a table's rows with the given ids."""
    for marks, group in in_groups(ids):
        connection.execute(f"DELETE FROM {table} WHERE id IN ({marks})", group)


def log_changes(
    connection: sqlite3.Connection, generation: int, deltas: dict[int, int]
) -> list[int]:
    """Log which rows were changed or removed, and by how much the checksum of each changed.

    Returns the checksums of the rows of the log.
    """
    rows = [
        (generation, number, delta, change_checksum(generation, number, delta))
        for number, delta in deltas.items()
    ]
    connection.executemany("INSERT INTO changes VALUES (?, ?, ?, ?)", rows)
    return [row[3] for row in rows]


def logged(connection: sqlite3.Connection, generation: int) -> list[tuple[int, int]] | None:
    """Ids and deltas of all changes after a generation; None if the log is damaged."""
    rows = connection.execute(
        "SELECT generation, id, delta, checksum FROM changes WHERE generation > ?", [generation]
    ).fetchall()
    return [row[1:3] for row in rows] if all(map(is_whole_change, rows)) else None


def is_whole_change(row: Sequence[Any]) -> bool:
    """Whether a row of the log of changes is as it was written."""
    try:
        return bool(change_checksum(*row[:3]) == row[3])
    except struct.error:
        return False
