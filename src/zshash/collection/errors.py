"""Errors of a collection: one sentence that names the folder and the cure."""

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zshash._interrupts import check

__all__ = [
    "BusyError",
    "CollectionError",
    "DamagedError",
    "NoFeatures",
    "NotYetError",
    "OtherModel",
    "reporting",
    "reporting_sqlite",
]

FULL = "the disk is full: free some space and try again; what was added before is safe"
DAMAGED = "the catalogue is damaged: restore it from a copy; zshash verify lists what is wrong"
REASONS = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_BUSY: "another program holds its catalogue: try again when it is done",
    sqlite3.SQLITE_LOCKED: "another program holds its catalogue: try again when it is done",
    sqlite3.SQLITE_PROTOCOL: "another program holds its catalogue: try again when it is done",
    sqlite3.SQLITE_READONLY: "it can not be written to: make the folder writable, or copy it",
    sqlite3.SQLITE_PERM: "it can not be opened: check the permissions of the folder",
    sqlite3.SQLITE_CANTOPEN: "its catalogue can not be opened: check the folder's permissions",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
}
HANDLES = "/proc/self/fd"  # where a folder is that was opened, see `place.Home`
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# A full disk may be the cause: what can not be written is opened to be read only.
UNCLEAR = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
LEAST_FREE = 2**16  # bytes that SQLite needs to share a catalogue among processes


class CollectionError(ValueError):
    """A collection that can not do what was asked; the message names its folder and the cure."""


class DamagedError(CollectionError):
    """The folder does not hold what was written there."""


class BusyError(CollectionError):
    """Another process is writing to the folder."""


class OtherModel(CollectionError):  # noqa: N818, the model is the error
    """Codes or values were made by another model than the collection has now."""


class NoFeatures(CollectionError):  # noqa: N818, their absence is the error
    """The collection does not keep the features that a search needs."""


class NotYetError(Exception):
    """Somebody else is bringing the index up to date; it will be ready in a moment."""


@contextmanager
def reporting_sqlite(folder: Path) -> Iterator[None]:
    """Do the same as `reporting`, around a block that runs only SQL statements."""
    try:
        with reporting(folder):
            yield
    except UnicodeDecodeError as error:  # of a message that quotes damaged tables
        raise DamagedError(f"{folder}: {DAMAGED}") from error


@contextmanager
def reporting(folder: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into one sentence about the folder."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        code = None if code is None else code & 0xFF
        if code == sqlite3.SQLITE_INTERRUPT:  # by Ctrl-C, and by nothing else
            check()
            raise KeyboardInterrupt from error
        raise _translated(folder, error, code) from error
    except OSError as error:
        if error.errno in DISK_FULL:
            raise CollectionError(f"{folder}: {FULL}") from error
        if any(Path(str(error.filename)).is_relative_to(own) for own in (folder, HANDLES)):
            raise CollectionError(
                f"{folder}: its files can not be used ({error.strerror}): check the disk and the "
                "permissions of the folder"
            ) from error
        raise


def _translated(folder: Path, error: sqlite3.Error, code: int | None) -> CollectionError:
    if code in UNCLEAR and _is_full(folder):
        return CollectionError(f"{folder}: {FULL}")
    if code in REASONS:
        kind = DamagedError if REASONS[code] == DAMAGED else CollectionError
        return kind(f"{folder}: {REASONS[code]}")
    if code == sqlite3.SQLITE_IOERR:
        return CollectionError(
            f"{folder}: reading or writing its catalogue failed ({error}): check the disk"
        )
    if isinstance(error, sqlite3.ProgrammingError) or "transaction" in str(error):
        return CollectionError(f"{folder}: its catalogue can not be used ({error}): open it again")
    # The statements are fixed, so one that fails has met damaged tables.
    return DamagedError(f"{folder}: {DAMAGED} ({error})")


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < LEAST_FREE
    except OSError:
        return False
