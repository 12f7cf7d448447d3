"""Checksums of rows that are about to be removed, damaged ones among them."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zshash.collection.errors import DamagedError
from zshash.collection.storage.checking import lenient, leniently
from zshash.collection.storage.rows import COLUMNS, is_whole
from zshash.collection.storage.state import MODULUS, Tally
from zshash.collection.storage.tables import in_groups, is_whole_blob

__all__ = ["counted_checksums"]


def counted_checksums(
    connection: sqlite3.Connection, folder: Path, table: str, ids: Sequence[int], tally: Tally
) -> dict[int, int]:
    """Checksums with which rows count in the tally of their table, by id.

    In a damaged row it may be the checksum that is damaged. Then the tally tells what it was,
    unless other rows are damaged or missing, too.

    Raises
    ------
    DamagedError
        If that can not be told: without it, the tally would be wrong for ever.
    """
    found: dict[int, int] = {}
    damaged: list[int] = []
    for marks, group in in_groups(ids):
        statement = f"SELECT {_columns(table)} FROM {table} WHERE id IN ({marks})"
        rows = leniently(connection, statement, group)
        found.update((row[0], _as_checksum(row[-1])) for row in rows)
        damaged += [row[0] for row in rows if _is_damaged(table, row)]
    if damaged:
        rest, others = _rest(connection, table, found)
        if rest.plus(found.values()) != tally:
            _check_alone(folder, table, others, rest.n + len(found) == tally.n)
            known = rest.digest + sum(found.values()) - found[damaged[0]]
            found[damaged[0]] = (tally.digest - known) % MODULUS
    return found


def _check_alone(folder: Path, table: str, others: list[int], is_complete: bool) -> None:
    if others or not is_complete:
        more = f"item {others[0]} is damaged, too" if others else "rows are missing, too"
        raise DamagedError(
            f"{folder}: nothing was removed, for it can not be told how damaged rows of {table} "
            f"were counted ({more}): remove all damaged items together, or restore the catalogue "
            "from a copy"
        )


def _rest(
    connection: sqlite3.Connection, table: str, ids: dict[int, int]
) -> tuple[Tally, list[int]]:
    """Tally of all other rows, and the ids of the damaged ones among them."""
    tally, damaged = Tally(), list[int]()
    with lenient(connection):
        for row in connection.execute(f"SELECT {_columns(table)} FROM {table}"):
            if row[0] not in ids:
                tally = tally.plus([_as_checksum(row[-1])])
                damaged += [row[0]] if _is_damaged(table, row) else []
    return tally, damaged


def _columns(table: str) -> str:
    return COLUMNS if table == "items" else "id, value, checksum"


def _is_damaged(table: str, row: Sequence[Any]) -> bool:
    return not (is_whole(row) if table == "items" else is_whole_blob(row))


def _as_checksum(value: Any) -> int:
    return value if isinstance(value, int) else 0
