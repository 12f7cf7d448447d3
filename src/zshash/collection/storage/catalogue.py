"""The catalogue: a SQLite file that holds the only truth about the items of a collection.

It is written through a log (WAL) that reaches the disk before a transaction counts as done.
Readers see the state at the start of their transaction, and nobody waits for them.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from zshash._interrupts import is_stopping
from zshash.collection.errors import DAMAGED, CollectionError, DamagedError, reporting_sqlite
from zshash.collection.storage.place import Look, Place, look
from zshash.collection.storage.rows import to_text
from zshash.collection.storage.schema import EARLIER, FORMAT_VERSION, MIGRATIONS, SCHEMA
from zshash.collection.storage.state import State
from zshash.collection.storage.transactions import Transactions, transaction

__all__ = ["FORMAT_VERSION", "MIGRATIONS", "NAME", "Catalogue"]

NAME = "catalogue.sqlite"
APPLICATION_ID = 0x7A736863  # "zshc"
SECONDS_TO_WAIT = 5.0  # for other programs: writers of ours hold a lock of their own
CACHE_KIB = 128 * 1024  # the index over contents of a million items stays in memory
PAGE_BYTES = 8192  # most thumbnails take two
LOG_PAGES = 4096  # 32 MB: small batches in a row are copied into the file together
STEPS = 1_000_000  # of SQLite, some milliseconds: after these a statement looks for Ctrl-C
UNWRITABLE = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
)


class Catalogue:
    """An open catalogue; `connection` is at most inside one transaction.

    Parameters
    ----------
    folder : Path
        Folder of the collection.
    like : Catalogue, optional
        An open one, which must be of the same file.
    """

    def __init__(self, folder: Path, like: "Catalogue | None" = None) -> None:
        self.folder, self.path = folder, folder / NAME
        self._state = "", State(0, "")  # text as it was last read, and the state in it
        self._transactions = Transactions()
        if not self.path.is_file():
            raise CollectionError(
                f"{folder}: there is no collection here; Collection.create makes one"
            )
        self._connect(like.place if like else None)

    def _connect(self, like: Place | None = None) -> None:
        """Open the file; if that fails, an earlier connection stays as it is."""
        with reporting_sqlite(self.folder):
            place, seen = Place(self.path), self._look()
            connection, reads_file_alone = _open(self.path)
            try:
                place.check(like)  # it may have been replaced before it was opened
                self.version = self._check_version(connection)
            except BaseException:
                connection.close()
                raise
            self.place, self._seen = place, seen
            self.connection, self._reads_file_alone = connection, reads_file_alone

    def _look(self) -> tuple[Look | None, Look | None]:
        """What changes when somebody writes to the file or to its log."""
        return look(self.path), look(_log(self.path))

    @classmethod
    def create(
        cls,
        folder: Path,
        state: State,
        about: dict[str, Any],
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Make a catalogue in one transaction; `about` holds settings that hardly ever change."""
        with reporting_sqlite(folder), closing(_connect(folder / NAME, "mode=rwc")) as connection:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL")
            with transaction(connection):
                for statement in SCHEMA.values():
                    connection.execute(statement)
                for key, value in {"about": about, **(settings or {})}.items():
                    _put(connection, key, value)
                _put(connection, "state", state.to_json())
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")

    def close(self) -> None:
        """Close the file; the log goes into it if nobody else has it open."""
        with suppress(sqlite3.Error):
            self.connection.close()

    def _check_version(self, connection: sqlite3.Connection) -> int:
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if owner != APPLICATION_ID or version < 1:
            raise CollectionError(f"{self.folder}: {NAME} is not a catalogue of zshash, or damaged")
        if version > FORMAT_VERSION:
            raise CollectionError(
                f"{self.folder}: written by a later zshash (format {version}, this one knows "
                f"{FORMAT_VERSION}): upgrade zshash"
            )
        return int(version)

    def check_format(self) -> None:
        """Refuse an earlier format that can no longer be brought to this one."""
        # `all` stops at the first: a damaged version may be billions away
        if not all(version in MIGRATIONS for version in range(self.version, FORMAT_VERSION)):
            raise CollectionError(
                f"{self.folder}: its format {self.version} is no longer known: make it again"
            )

    def migrate(self) -> None:
        """Bring the tables of an earlier format to this one, all or nothing."""
        self.check_format()
        with self.writing():
            self.check_tables()  # another process may have been here first
            for version in range(self.version, FORMAT_VERSION):
                MIGRATIONS[version](self.connection)
            self.put_state(self.state())
            self.connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        self.version = FORMAT_VERSION

    def check_tables(self) -> None:
        """Refuse tables that are not as `create` made them, or as it did in their format."""
        with self.reading():
            self.version = self._check_version(self.connection)
            found = self.connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        tables = {name: sql for _, name, sql in found}
        wanted = SCHEMA | EARLIER.get(self.version, {})
        wrong = [name for name, sql in wanted.items() if tables.get(name) != sql]
        wrong += [name for kind, name, _ in found if kind == "trigger"]
        if wrong:
            raise DamagedError(f"{self.folder}: {DAMAGED} ({wrong[0]} is not as it was made)")

    def has_table(self, name: str) -> bool:
        """Whether the format of the catalogue has this table; earlier ones have fewer."""
        return EARLIER.get(self.version, {}).get(name, name) is not None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A transaction that sees one state throughout."""
        with reporting_sqlite(self.folder):
            if self._transactions.is_inside(self.connection):
                yield self.connection
                return
            self.place.check_once()
            if self._reads_file_alone and self._look() != self._seen:
                former = self.connection  # SQLite was told that the file never changes
                self._connect(self.place)
                former.close()
            with self._transactions.begin(self.connection, writing=False):
                try:
                    yield self.connection
                except (CollectionError, sqlite3.Error):
                    self._check_unchanged()
                    raise
                self._check_unchanged()

    def _check_unchanged(self) -> None:
        """Raise if the file was written to while it was read without its log."""
        if self._reads_file_alone and look(self.path) != self._seen[0]:
            raise CollectionError(
                f"{self.folder}: it was written to while it was being read, and without the "
                "permission to write to the folder what was read may be of both states: try again"
            )

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is written to the disk as a whole, or not at all."""
        with reporting_sqlite(self.folder):
            self._transactions.is_inside(self.connection)
            with self._transactions.begin(self.connection, writing=True):
                self.place.check()
                yield self.connection

    @property
    def is_writing(self) -> bool:
        """Whether a transaction is under way that is not on the disk yet."""
        return self._transactions.is_writing

    def state(self) -> State:
        """State of the catalogue, within the current transaction."""
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
        """Store the state, in the same transaction as the rows."""
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
        """Value that was stored under `key`."""
        return json.loads(self._text(key))

    def _text(self, key: str) -> str:
        with reporting_sqlite(self.folder):
            found = self.connection.execute(
                "SELECT value, checksum FROM settings WHERE key = ?", [key]
            ).fetchone()
        if found is None or not isinstance(found[0], str) or _checksum(key, found[0]) != found[1]:
            raise DamagedError(f"{self.folder}: {DAMAGED} (its setting {key!r} is not whole)")
        return found[0]


def is_named(path: Path) -> bool:
    """Whether a file says at its beginning, without its log, that it is somebody's database."""
    try:
        with path.open("rb") as file:
            return any(file.read(72)[68:])  # the place of the application id in all SQLite files
    except OSError:
        return False


def is_unfinished(path: Path) -> bool:
    """Whether the making of a catalogue was interrupted: nothing is in it yet."""
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
        connection.set_progress_handler(is_stopping, STEPS)
    except BaseException:
        connection.close()
        raise
    return connection


def _open(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Connection to an existing catalogue, and whether it reads the file without the log.

    To read a log, SQLite must write beside it, unless another process has it open. Where it can
    not, only the file is read, which has everything unless the log still holds something.
    """
    for how in ("mode=rw", "mode=ro"):
        try:
            return _tried(path, how), False
        except sqlite3.OperationalError as error:
            code, log = error.sqlite_errorcode & 0xFF, look(_log(path))
            if code not in UNWRITABLE:
                raise
            if how == "mode=ro" and log and log[1]:
                raise _unreadable(path.parent, error) from error
    return _tried(path, "mode=ro&immutable=1"), True


def _unreadable(folder: Path, error: sqlite3.OperationalError) -> Exception:
    """Error about a log that can not be read, where the file alone is not everything."""
    if (error.sqlite_errorcode & 0xFF) in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL):
        return error
    return CollectionError(
        f"{folder}: its catalogue can not be opened: the log beside it holds what was written "
        "last, and reading that takes permission to write to the folder: open it once with that "
        "permission"
    )


def _log(path: Path) -> Path:
    """Path of the log of a catalogue."""
    return path.with_name(f"{path.name}-wal")


def _tried(path: Path, how: str) -> sqlite3.Connection:
    """Connection through which a first statement has worked."""
    connection = _connect(path, how)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
