"""Files that an export writes: whole or not at all, and nothing stays of one that was killed.

A file is written beside its target under a name such as ``.codes.npy.a1b2c3d4``, and locked while
its process lives. The next export to the same target deletes such files that nobody has locked.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from zshash._files import whole_file
from zshash.collection.errors import DISK_FULL
from zshash.datasets import DataError

try:
    import fcntl
except ImportError:  # Windows lets nobody delete a file that is open
    fcntl = None  # type: ignore[assignment]

__all__ = ["exported"]

SECONDS_TO_LOCK = 60.0  # the most that a process needs to lock a file that it has just made


@contextmanager
def exported(path: Path) -> Iterator[IO[bytes]]:
    """File of an export, open for writing; it gets its name when all of it is on the disk."""
    with suppress(OSError):
        _sweep(path.resolve())
    try:
        with whole_file(path) as file:
            with suppress(OSError):
                _lock(file.fileno())
            yield file
    except OSError as error:
        if error.errno in DISK_FULL:
            raise DataError(
                f"{path}: the disk is full, so nothing was written: free some space and export "
                "again"
            ) from error
        raise


def _lock(handle: int) -> None:
    """Lock a file until it is closed; BlockingIOError if another process has locked it."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sweep(target: Path) -> None:
    """Delete what killed exports to this target have left."""
    name = re.compile(re.escape(f".{target.name}.") + "[a-z0-9_]{8}")
    for path in target.parent.iterdir():
        if name.fullmatch(path.name):
            with suppress(OSError):
                _delete_if_left(path)


def _delete_if_left(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        status = os.fstat(handle)
        if not status.st_size and time.time() - status.st_mtime < SECONDS_TO_LOCK:
            return  # it may have been made a moment ago, and not be locked yet
        _lock(handle)
    finally:
        os.close(handle)
    path.unlink()
