"""What a collection says when something is wrong: one sentence with the folder and the cure."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = [
    "BusyError",
    "CollectionError",
    "DamagedError",
    "NotYetError",
    "reporting",
    "reporting_sqlite",
]

FULL = "the disk is full: free some space and try again; what was added before is safe"
DAMAGED = "the catalogue is damaged: restore it from a copy; zshash verify lists what is wrong"
REASONS = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_BUSY: "another program holds its catalogue: try again when it is done",
    sqlite3.SQLITE_LOCKED: "another program holds its catalogue: try again when it is done",
    sqlite3.SQLITE_READONLY: "it can not be written to: make the folder writable, or copy it",
    sqlite3.SQLITE_PERM: "it can not be opened: check the permissions of the folder",
    sqlite3.SQLITE_CANTOPEN: "its catalogue can not be opened: check the folder's permissions",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
}
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class CollectionError(ValueError):
    """A collection that can not do what was asked; the message names its folder and the cure."""


class DamagedError(CollectionError):
    """What the folder holds is not what was written there."""


class BusyError(CollectionError):
    """Somebody else writes to the folder."""


class NotYetError(Exception):
    """Somebody else is at work on what is needed; in a moment it will be there."""


@contextmanager
def reporting_sqlite(folder: Path) -> Iterator[None]:
    """The same around nothing but statements of SQL."""
    try:
        with reporting(folder):
            yield
    except UnicodeDecodeError as error:  # of a message that quotes damaged tables
        raise DamagedError(f"{folder}: {DAMAGED}") from error


@contextmanager
def reporting(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the file system complain of into one sentence about the folder."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        raise _translated(folder, error, None if code is None else code & 0xFF) from error
    except OSError as error:
        if error.errno in DISK_FULL:
            raise CollectionError(f"{folder}: {FULL}") from error
        if Path(str(error.filename)).is_relative_to(folder):
            raise CollectionError(
                f"{folder}: its files can not be used ({error.strerror}): check the disk and the "
                "permissions of the folder"
            ) from error
        raise


def _translated(folder: Path, error: sqlite3.Error, code: int | None) -> CollectionError:
    if code in REASONS:
        kind = DamagedError if REASONS[code] == DAMAGED else CollectionError
        return kind(f"{folder}: {REASONS[code]}")
    if code == sqlite3.SQLITE_IOERR:
        return CollectionError(
            f"{folder}: reading or writing its catalogue failed ({error}): check the disk"
        )
    # Statements are fixed, so one that does not work meets tables that are not as they were made.
    return DamagedError(f"{folder}: {DAMAGED} ({error})")
