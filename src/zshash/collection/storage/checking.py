"""Rows are served only after their checksums were verified; the first damaged one is named."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zshash.collection.errors import DAMAGED, DamagedError
from zshash.collection.storage.rows import COLUMNS, Row, first_damaged

__all__ = ["check_rows", "lenient", "leniently", "naming_the_damaged", "whole"]

FETCH = 8192
REMOVE = ", or remove the item by its id"  # where the index is there, this can be done


def check_rows(folder: Path, rows: Iterable[Sequence[Any]]) -> list[Row]:
    """Rows, checked; DamagedError names the first damaged one."""
    return [Row._make(row) for row in whole(folder, rows)]


def whole(folder: Path, rows: Iterable[Sequence[Any]], cure: str = "") -> Sequence[Sequence[Any]]:
    """Rows as they came, if all of them are whole; `cure` is added to the message otherwise."""
    found = rows if isinstance(rows, list) else list(rows)
    damaged = first_damaged(found)
    if damaged is not None:
        raise DamagedError(
            f"{folder}: item {damaged[0]} is damaged in the catalogue: zshash verify lists all "
            f"damage; restore the catalogue from a copy{cure}"
        )
    return found


@contextmanager
def naming_the_damaged(connection: sqlite3.Connection, folder: Path) -> Iterator[None]:
    """Name the damaged item where SQLite only says that something is no JSON or no Unicode."""
    try:
        yield
    except sqlite3.OperationalError as error:
        said = str(error)
        if "malformed JSON" not in said and "UTF-8" not in said:
            raise
        what = "labels or metadata are no JSON" if "JSON" in said else "a text is not Unicode"
        try:
            with lenient(connection):
                cursor = connection.execute(f"SELECT {COLUMNS} FROM items ORDER BY id")
                while whole(folder, cursor.fetchmany(FETCH), REMOVE):
                    pass
        except DamagedError as named:
            raise DamagedError(f"{named} ({what})") from error
        raise DamagedError(f"{folder}: {DAMAGED} ({what})") from error


@contextmanager
def lenient(connection: sqlite3.Connection) -> Iterator[None]:
    """Read texts that damage has made invalid, too; rows with such a text are not whole."""
    before = connection.text_factory
    connection.text_factory = _decoded
    try:
        yield
    finally:
        connection.text_factory = before


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def leniently(connection: sqlite3.Connection, statement: str, values: Sequence[Any]) -> list[Any]:
    """Rows of a statement, damaged ones among them; texts are read twice only if one is invalid."""
    try:
        return connection.execute(statement, values).fetchall()
    except sqlite3.OperationalError as error:
        if "UTF-8" not in str(error):
            raise
    with lenient(connection):
        return connection.execute(statement, values).fetchall()
