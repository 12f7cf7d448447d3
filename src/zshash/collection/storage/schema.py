"""Tables of a catalogue in the present format, and what changed since earlier formats."""

import sqlite3
from collections.abc import Callable

__all__ = ["EARLIER", "FORMAT_VERSION", "MIGRATIONS", "SCHEMA"]

FORMAT_VERSION = 4
SCHEMA = {
    "settings": """CREATE TABLE settings (
  key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL
) WITHOUT ROWID""",
    "items": """CREATE TABLE items (
  id INTEGER PRIMARY KEY, code BLOB NOT NULL, source TEXT, content BLOB,
  labels TEXT NOT NULL, metadata TEXT NOT NULL, size INTEGER, mtime_ns INTEGER,
  checksum INTEGER NOT NULL
)""",
    "items_by_content": "CREATE UNIQUE INDEX items_by_content ON items (content)"
    " WHERE content IS NOT NULL",
    "thumbnails": """CREATE TABLE thumbnails (
  id INTEGER PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL
)""",
    "features": """CREATE TABLE features (
  id INTEGER PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL
)""",
    # Perceptual hashes of pictures, 8 bytes each.
    "prints": """CREATE TABLE prints (
  id INTEGER PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL
)""",
    # Paths of other files that hold the very bytes of an item's file, as a list in JSON.
    "same_files": """CREATE TABLE same_files (
  id INTEGER PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL
)""",
    # Rows that were changed or removed, and by how much the checksum of each changed: an index
    # that follows the catalogue reads them.
    "changes": """CREATE TABLE changes (
  generation INTEGER NOT NULL, id INTEGER NOT NULL, delta INTEGER NOT NULL,
  checksum INTEGER NOT NULL, PRIMARY KEY (generation, id)
) WITHOUT ROWID""",
    # Whole items that were removed, under the generation that removed them: they can be restored.
    "removed": """CREATE TABLE removed (
  id INTEGER PRIMARY KEY, removal INTEGER NOT NULL, content BLOB, checksum INTEGER NOT NULL,
  value BLOB NOT NULL
)""",
    "removed_by_removal": "CREATE INDEX removed_by_removal ON removed (removal)",
    "removed_by_content": "CREATE INDEX removed_by_content ON removed (content)"
    " WHERE content IS NOT NULL",
}

NEW_IN_4 = ("removed", "removed_by_removal", "removed_by_content")
NEW_IN_3 = ("prints", "same_files")
EARLIER: dict[int, dict[str, str | None]] = {
    1: {
        **dict.fromkeys((*NEW_IN_3, *NEW_IN_4)),
        "changes": """CREATE TABLE changes (
  generation INTEGER NOT NULL, id INTEGER NOT NULL, delta INTEGER NOT NULL,
  PRIMARY KEY (generation, id)
) WITHOUT ROWID""",
    },
    2: dict.fromkeys((*NEW_IN_3, *NEW_IN_4)),
    3: dict.fromkeys(NEW_IN_4),
}
"""For each earlier format the tables that were different; None for tables that it has not."""


def _to_2(connection: sqlite3.Connection) -> None:
    """Begin an empty log with checksums; the state of format 1 lets nobody follow the old one."""
    connection.execute("DROP TABLE changes")
    connection.execute(SCHEMA["changes"])


def _to_3(connection: sqlite3.Connection) -> None:
    """Add tables for what earlier formats do not know of their items."""
    for table in NEW_IN_3:
        connection.execute(SCHEMA[table])


def _to_4(connection: sqlite3.Connection) -> None:
    """Add a table for items that are removed from now on."""
    for table in NEW_IN_4:
        connection.execute(SCHEMA[table])


MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: _to_2,
    2: _to_3,
    3: _to_4,
}
"""For each earlier format the function that brings its tables to the next one."""
