"""One writer at a time, among all processes that share a folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zshash.collection.errors import BusyError, CollectionError
from zshash.collection.files import LOCK

__all__ = ["WriterLock"]

# Windows keeps others from reading what is locked, and they should read the process id.
_PLACE = 2**20


class WriterLock:
    """A lock that the system releases when its process dies, however that happens.

    Parameters
    ----------
    folder : Path
        The lock is its file ``writer.lock``, which says who holds it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / LOCK
        self._depth, self._handle = 0, -1

    @property
    def is_held(self) -> bool:
        """Whether this object holds it."""
        return self._depth > 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock, or say at once who does; it may be held several times over.

        Raises
        ------
        CollectionError
            If another process is writing, or this one by way of another object.
        """
        if not self._depth:
            self._handle = self._acquire()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                _unlock(self._handle)
                os.close(self._handle)

    def _acquire(self) -> int:
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise CollectionError(
                f"{self.folder}: it can not be written to ({error.strerror}): make the folder "
                "writable, or copy it"
            ) from error
        try:
            _lock(handle)
        except (BlockingIOError, PermissionError) as error:
            os.close(handle)
            raise BusyError(
                f"{self.folder}: {self._holder()} is writing to it; try again when it is done"
            ) from error
        except OSError as error:
            os.close(handle)
            raise CollectionError(
                f"{self.folder}: its file system knows no locks ({error.strerror}): copy it to "
                "a disk of this machine"
            ) from error
        with suppress(OSError):  # the name of the holder is for messages only
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())
        return handle

    def _holder(self) -> str:
        try:
            number = self.path.read_text().strip()
        except (OSError, ValueError):
            number = ""
        return f"process {number}" if number.isdigit() else "another process"


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, _PLACE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)

    def _unlock(handle: int) -> None:
        os.lseek(handle, _PLACE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
