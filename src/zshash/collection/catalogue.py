"""The catalogue: a SQLite file that holds the only truth about the items of a collection.

It is written through a log (WAL) that reaches the disk before a transaction counts as done.
Readers see the state at the start of their transaction, and nobody waits for them.
"""

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from zshash.collection.errors import DAMAGED, CollectionError, DamagedError, reporting_sqlite
from zshash.collection.rows import to_text
from zshash.collection.state import State

__all__ = ["FORMAT_VERSION", "MIGRATIONS", "NAME", "Catalogue"]

NAME = "catalogue.sqlite"
APPLICATION_ID = 0x7A736863  # "zshc"
FORMAT_VERSION = 1
MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {}
"""For each earlier format the function that brings its tables to the next one."""

SECONDS_TO_WAIT = 5.0  # for other programs: writers of ours hold a lock of their own
CACHE_KIB = 128 * 1024  # the index over contents of a million items stays in memory
PAGE_BYTES = 8192  # room for a thumbnail
LOG_PAGES = 4096  # 32 MB: small batches in a row are copied into the file together
UNWRITABLE = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
)
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
    # What became of rows: how far the checksum of each moved, for those who follow.
    "changes": """CREATE TABLE changes (
  generation INTEGER NOT NULL, id INTEGER NOT NULL, delta INTEGER NOT NULL,
  PRIMARY KEY (generation, id)
) WITHOUT ROWID""",
}


class Catalogue:
    """An open catalogue; `connection` is at most inside one transaction.

    Parameters
    ----------
    folder : Path
        Of the collection.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / NAME
        self._state = "", State(0, "")  # as it was last read, and what that says
        if not self.path.is_file():
            raise CollectionError(
                f"{folder}: there is no collection here; Collection.create makes one"
            )
        self._connect()

    def _connect(self) -> None:
        with reporting_sqlite(self.folder):
            self._seen = self._look()
            self.connection, self._reads_file_alone = _open(self.path)
            try:
                self.version = self._check_version()
            except BaseException:
                self.connection.close()
                raise

    def _look(self) -> tuple[int, int, int]:
        status = self.path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns

    @classmethod
    def create(cls, folder: Path, state: State, about: dict[str, Any]) -> None:
        """Make a catalogue in one transaction; `about` is what never changes."""
        with reporting_sqlite(folder), closing(_connect(folder / NAME, "mode=rwc")) as connection:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL")
            with _transaction(connection, "IMMEDIATE"):
                for statement in SCHEMA.values():
                    connection.execute(statement)
                _put(connection, "about", about)
                _put(connection, "state", state.to_json())
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")

    def close(self) -> None:
        """Close the file; the log goes into it if nobody else has it open."""
        with suppress(sqlite3.Error):
            self.connection.close()

    def _check_version(self) -> int:
        (owner,) = self.connection.execute("PRAGMA application_id").fetchone()
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        if owner != APPLICATION_ID or version < 1:
            raise CollectionError(f"{self.folder}: {NAME} is not a catalogue of zshash, or damaged")
        if version > FORMAT_VERSION:
            raise CollectionError(
                f"{self.folder}: written by a later zshash (format {version}, this one knows "
                f"{FORMAT_VERSION}): upgrade zshash"
            )
        return int(version)

    def migrate(self) -> None:
        """Bring the tables of an earlier format to this one, all or nothing."""
        # `all` ends at the first: a damaged version may be billions away
        if not all(version in MIGRATIONS for version in range(self.version, FORMAT_VERSION)):
            raise CollectionError(
                f"{self.folder}: its format {self.version} is no longer known: make it again"
            )
        with self.writing():
            for version in range(self.version, FORMAT_VERSION):
                MIGRATIONS[version](self.connection)
            self.connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        self.version = FORMAT_VERSION

    def check_tables(self) -> None:
        """Refuse tables that are not as `create` made them."""
        with reporting_sqlite(self.folder):
            found = self.connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        tables = {name: sql for _, name, sql in found}
        wrong = [name for name, sql in SCHEMA.items() if tables.get(name) != sql]
        wrong += [name for kind, name, _ in found if kind == "trigger"]
        if wrong:
            raise DamagedError(f"{self.folder}: {DAMAGED} ({wrong[0]} is not as it was made)")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A transaction that sees one state throughout."""
        with reporting_sqlite(self.folder):
            if self.connection.in_transaction:
                yield self.connection
            else:
                if self._reads_file_alone and self._look() != self._seen:
                    self.close()  # SQLite was told that nobody writes to it
                    self._connect()
                with _transaction(self.connection, "DEFERRED"):
                    yield self.connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is written to the disk as a whole, or not at all."""
        with reporting_sqlite(self.folder), _transaction(self.connection, "IMMEDIATE"):
            yield self.connection

    def state(self) -> State:
        """Where the catalogue stands, within the transaction at hand."""
        try:
            text = self._text("state")
            if text != self._state[0]:
                self._state = text, State.from_json(json.loads(text))
            return self._state[1]
        except (TypeError, ValueError, KeyError) as error:
            if isinstance(error, CollectionError):
                raise
            raise DamagedError(f"{self.folder}: {DAMAGED} (its state makes no sense)") from error

    def put_state(self, state: State) -> None:
        """Say where the catalogue stands, in the same transaction as the rows."""
        _put(self.connection, "state", state.to_json())

    def put_setting(self, key: str, value: Any) -> None:
        """Store a value under `key`, inside `writing`."""
        _put(self.connection, key, value)

    def has_setting(self, key: str) -> bool:
        """Whether a value was stored under `key`."""
        with reporting_sqlite(self.folder):
            statement = "SELECT 1 FROM settings WHERE key = ?"
            return self.connection.execute(statement, [key]).fetchone() is not None

    def setting(self, key: str) -> Any:
        """A value that was stored under `key`."""
        return json.loads(self._text(key))

    def _text(self, key: str) -> str:
        with reporting_sqlite(self.folder):
            found = self.connection.execute(
                "SELECT value, checksum FROM settings WHERE key = ?", [key]
            ).fetchone()
        if found is None or not isinstance(found[0], str) or _checksum(key, found[0]) != found[1]:
            raise DamagedError(f"{self.folder}: {DAMAGED} (its setting {key!r} is not whole)")
        return found[0]


def is_unfinished(path: Path) -> bool:
    """Whether a catalogue is one whose making was interrupted: nothing is in it yet."""
    try:
        with closing(_connect(path, "mode=rw")) as connection:
            (owner,) = connection.execute("PRAGMA application_id").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return not owner and not tables
    except sqlite3.Error:
        return False


def _put(connection: sqlite3.Connection, key: str, value: Any) -> None:
    text = to_text(value)
    connection.execute(
        "INSERT OR REPLACE INTO settings VALUES (?, ?, ?)", [key, text, _checksum(key, text)]
    )


def _checksum(key: str, text: str) -> int:
    return zlib.crc32(f"{key}\0{text}".encode())


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite may have ended it already, as on a full disk.
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _connect(path: Path, how: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(
        address,
        uri=True,
        timeout=SECONDS_TO_WAIT,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=64,
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _open(path: Path) -> tuple[sqlite3.Connection, bool]:
    """A connection to a catalogue that is there, and whether it reads the file alone.

    Even to read a log SQLite wants to write beside it. Where it can not, the file alone is read,
    which is all there is unless the log still holds something.
    """
    log = path.with_name(f"{path.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    for how in ("mode=rw", "mode=ro"):
        try:
            return _tried(path, how), False
        except sqlite3.OperationalError as error:
            is_last = how == "mode=ro" and has_log
            if is_last or (error.sqlite_errorcode & 0xFF) not in UNWRITABLE:
                raise
    return _tried(path, "mode=ro&immutable=1"), True


def _tried(path: Path, how: str) -> sqlite3.Connection:
    """A connection through which something could be read."""
    connection = _connect(path, how)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
