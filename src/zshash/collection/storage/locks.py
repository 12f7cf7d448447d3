"""One writer at a time, among all processes that share a folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zshash._interrupts import current_call
from zshash.collection.errors import BusyError, CollectionError
from zshash.collection.storage.files import LOCK

__all__ = ["WriterLock"]

# Windows keeps others from reading what is locked, and they should read the process id.
_PLACE = 2**20
ATTEMPTS = 10


class WriterLock:
    """A lock that the system releases when its process dies, however that happens.

    Parameters
    ----------
    folder : Path
        Folder of the collection; its file ``writer.lock`` is the lock and names the holder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / LOCK
        self._handle, self._call = -1, 0
        self._inside: list[object] = []  # one for each block that holds the lock

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return bool(self._inside)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock, or raise at once; the same object may hold it several times over.

        Raises
        ------
        CollectionError
            If another process is writing, or this one by way of another object.
        """
        if self._inside and self._call not in (0, current_call()):
            self._inside = []  # an exception tore a call out of its block before it could end
        if not self._inside:
            self._release()
            self._acquire()
            self._call = current_call()
        token = object()
        self._inside.append(token)
        try:
            yield
        finally:
            # A torn block ends when it is collected as garbage; by then the lock may be another's.
            if token in self._inside:
                self._inside.remove(token)
                if not self._inside:
                    self._release()

    def check(self) -> None:
        """Raise if the lock is no longer the one that other writers would take."""
        if not self._is_in_place():
            raise CollectionError(
                f"{self.folder}: its file {LOCK} was removed or replaced while this process was "
                "writing, so another may be writing, too: try again"
            )

    def _acquire(self) -> None:
        for _ in range(ATTEMPTS):
            try:
                self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                raise CollectionError(
                    f"{self.folder}: it can not be written to ({error.strerror}): make the folder "
                    "writable, or copy it"
                ) from error
            try:
                self._lock()
            except BaseException:
                self._close()
                raise
            if self._is_in_place():  # else it was deleted after it was opened
                break
            self._release()
        else:
            raise BusyError(f"{self.folder}: its file {LOCK} is replaced all the time: try again")
        with suppress(OSError):  # the name of the holder is for messages only
            os.ftruncate(self._handle, 0)
            os.write(self._handle, str(os.getpid()).encode())

    def _lock(self) -> None:
        try:
            _lock(self._handle)
        except (BlockingIOError, PermissionError) as error:
            raise BusyError(
                f"{self.folder}: {self._holder()} is writing to it; try again when it is done"
            ) from error
        except OSError as error:
            raise CollectionError(
                f"{self.folder}: its file system knows no locks ({error.strerror}): copy it to "
                "a disk of this machine"
            ) from error

    def _is_in_place(self) -> bool:
        """Whether the file that is locked is the one that others would open."""
        try:
            return os.path.samestat(os.fstat(self._handle), self.path.stat())
        except OSError:
            return False

    def _release(self) -> None:
        if self._handle >= 0:
            with suppress(OSError):
                _unlock(self._handle)
            self._close()

    def _close(self) -> None:
        handle, self._handle = self._handle, -1
        with suppress(OSError):
            os.close(handle)

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
