"""Items that were removed, as they are kept until they are restored or their space is needed.

A row of the table holds everything of one item: its fields, and all that was stored beside it. All
items of one removal have the generation of the transaction that removed them; the key of the
removal is made of it and of their ids.
"""

import json
import sqlite3
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from zshash.collection.errors import DamagedError
from zshash.collection.storage.rows import Row, row_checksum, to_text
from zshash.collection.storage.tables import in_groups

__all__ = [
    "Kept",
    "Removal",
    "contents_kept",
    "drop_kept",
    "is_whole_kept",
    "kept_contents",
    "kept_of",
    "key_of",
    "put_kept",
    "removal_of",
    "removals",
]

RAW = ("utf-8", "surrogatepass")  # how the bytes of a source that is not Unicode become a text
MOST_DIGITS = 18
_LENGTH = struct.Struct("<I")
_HEAD = struct.Struct("<qq")


class Removal(NamedTuple):
    """A removal that can be undone.

    Attributes
    ----------
    key : str
        What `Collection.restore` takes.
    items : int
        Number of items that were removed.
    time : float
        When, in seconds as `time.time` counts them.
    """

    key: str
    items: int
    time: float


@dataclass(frozen=True)
class Kept:
    """A removed item.

    Attributes
    ----------
    row : Row
    model : str
        Checksum of the model that made the code.
    network : str or None
        Fingerprint of the network that made the features.
    time : float
        When the item was removed.
    beside : dict of str to bytes
        What was stored beside the item, by table.
    """

    row: Row
    model: str
    network: str | None
    time: float
    beside: dict[str, bytes] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The item in the form that is stored: a header in JSON, then all parts in its order."""
        source, is_raw = self.row.source, False
        if isinstance(source, bytes):
            source, is_raw = source.decode(*RAW), True
        facts: dict[str, Any] = {
            "model": self.model,
            "network": self.network,
            "time": self.time,
            "source": source,
            "is_raw": is_raw,
            "labels": self.row.labels,
            "metadata": self.row.metadata,
            "size": self.row.size,
            "mtime_ns": self.row.mtime_ns,
        }
        parts = {"code": self.row.code, **self.beside}
        facts["parts"] = {name: len(part) for name, part in parts.items()}
        head = to_text(facts).encode()
        return b"".join([_LENGTH.pack(len(head)), head, *parts.values()])

    @classmethod
    def from_bytes(cls, number: int, content: bytes | None, value: bytes) -> "Kept":
        """Undo `to_bytes`."""
        start = _LENGTH.size + _LENGTH.unpack_from(value)[0]
        facts = json.loads(value[_LENGTH.size : start])
        parts: dict[str, bytes] = {}
        for name, length in facts["parts"].items():
            parts[name], start = value[start : start + length], start + length
        source = facts["source"].encode(*RAW) if facts["is_raw"] else facts["source"]
        own: tuple[Any, ...] = (number, parts.pop("code"), source, content)
        own += tuple(facts[name] for name in ("labels", "metadata", "size", "mtime_ns"))
        row = Row(*(*own, row_checksum(*own)))
        return cls(row, facts["model"], facts["network"], facts["time"], parts)


def key_of(generation: int, ids: Iterable[int]) -> str:
    """Key of a removal; those of two collections differ, also if their generations are the same.

    >>> key_of(17, [4, 3]) == key_of(17, [3, 4]) != key_of(17, [3, 5])
    True
    """
    text = ",".join(map(str, sorted(ids)))
    return f"{generation}-{zlib.crc32(text.encode()):08x}"


def _checksum(number: int, generation: int, content: bytes | None, value: bytes) -> int:
    head = _HEAD.pack(number, generation) + (b"-" if content is None else b"+" + content)
    return zlib.crc32(value, zlib.crc32(head))


def put_kept(connection: sqlite3.Connection, generation: int, removed: Sequence[Kept]) -> list[int]:
    """Store removed items; return the checksums of their rows."""
    rows = []
    for kept in removed:
        number, content, value = kept.row.id, kept.row.content, kept.to_bytes()
        checksum = _checksum(number, generation, content, value)
        rows.append((number, generation, content, checksum, value))
    connection.executemany("INSERT INTO removed VALUES (?, ?, ?, ?, ?)", rows)
    return [row[3] for row in rows]


def is_whole_kept(row: Sequence[Any]) -> bool:
    """Whether a row of the table is as it was written."""
    try:
        return bool(_checksum(row[0], row[1], row[2], row[4]) == row[3])
    except (struct.error, TypeError):
        return False


def kept_contents(connection: sqlite3.Connection, key: str) -> dict[int, bytes | None]:
    """Contents of the items of a removal by their ids; empty if nothing is kept under the key."""
    rows = connection.execute(
        "SELECT id, content FROM removed WHERE removal = ? ORDER BY id", [removal_of(key)]
    ).fetchall()
    found = dict(rows)
    return found if rows and key_of(removal_of(key), found) == key else {}


def removal_of(key: str) -> int:
    """The generation that removed the items of a key; −1 if it is no key at all."""
    number = key.partition("-")[0]
    is_number = number.isascii() and number.isdecimal() and len(number) <= MOST_DIGITS
    return int(number) if is_number else -1


def kept_of(connection: sqlite3.Connection, folder: Path, ids: Sequence[int]) -> list[Kept]:
    """Removed items with the given ids.

    Raises
    ------
    DamagedError
        If one of them is damaged.
    """
    found = []
    for marks, group in in_groups(ids):
        statement = f"SELECT * FROM removed WHERE id IN ({marks}) ORDER BY id"
        for row in connection.execute(statement, group):
            if not is_whole_kept(row):
                raise DamagedError(
                    f"{folder}: what was kept of the removed item {row[0]} is damaged, so nothing "
                    "was restored: restore the catalogue from a copy"
                )
            found.append(Kept.from_bytes(row[0], row[2], row[4]))
    return found


def removals(connection: sqlite3.Connection) -> list[Removal]:
    """All removals that can be undone, the last one first; a damaged one has no time."""
    found = []
    statement = "SELECT DISTINCT removal FROM removed ORDER BY removal DESC"
    for (generation,) in connection.execute(statement).fetchall():
        rows = connection.execute("SELECT id FROM removed WHERE removal = ?", [generation])
        ids = sorted(number for (number,) in rows)
        first = connection.execute("SELECT * FROM removed WHERE id = ?", [ids[0]]).fetchone()
        is_good = is_whole_kept(first)
        time = Kept.from_bytes(first[0], first[2], first[4]).time if is_good else 0.0
        found.append(Removal(key_of(generation, ids), len(ids), time))
    return found


def drop_kept(connection: sqlite3.Connection, generation: int) -> tuple[list[int], list[bytes]]:
    """Delete the items of a removal; return the checksums of their rows, and their contents."""
    rows = connection.execute(
        "SELECT checksum, content FROM removed WHERE removal = ?", [generation]
    ).fetchall()
    connection.execute("DELETE FROM removed WHERE removal = ?", [generation])
    return [row[0] for row in rows], [row[1] for row in rows if isinstance(row[1], bytes)]


def contents_kept(connection: sqlite3.Connection, contents: Iterable[bytes]) -> set[bytes]:
    """Those of the given contents that removed items have."""
    found: set[bytes] = set()
    for marks, group in in_groups(list(contents)):
        statement = f"SELECT content FROM removed WHERE content IN ({marks})"
        found.update(content for (content,) in connection.execute(statement, group))
    return found
