"""Whether a path still leads to the file that was opened there."""

import os
import sys
from pathlib import Path

from zshash._interrupts import current_call
from zshash.collection.errors import HANDLES, CollectionError

__all__ = ["Home", "Look", "Place", "look"]

Look = tuple[int, int, int]
REPLACED = "this folder was replaced by another collection: open it again"


class Place:
    """Path of a collection's file, and which file was there at the start.

    A folder can be renamed and another one put in its place while its files are open. What is open
    stays the old file, but everything that is opened by its path from then on is of the new folder.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.folder, self._name = path.parent, str(path)
        self._numbers, self._call = self._look(), 0

    def _look(self) -> tuple[int, int]:
        status = os.stat(self._name)  # noqa: PTH116, this is done in every search
        return status.st_dev, status.st_ino

    def is_same(self) -> bool:
        """Whether the same file is there still."""
        try:
            return self._look() == self._numbers
        except OSError:
            return False

    def check_once(self) -> None:
        """Do the same as `check`, but once in each call: what is open is the same file for all."""
        call = current_call()
        if not call or call != self._call:
            self.check()
            self._call = call

    def check(self, other: "Place | None" = None) -> None:
        """Raise if another file, or none, is there by now, or if `other` is of another file."""
        try:
            found = self._look()
        except OSError as error:
            raise CollectionError(
                f"{self.folder}: its catalogue is no longer there ({error.strerror}): open the "
                "collection again where it is now"
            ) from error
        if found != self._numbers or (other is not None and found != other._numbers):
            raise CollectionError(f"{self.folder}: {REPLACED}")


class Home:
    """A folder itself, whatever its path leads to by now.

    Files are written and deleted through `path`: on Linux they are those of the folder that was
    opened, also after it was renamed and another folder was put in its place.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.path, self._handle = folder, -1
        if sys.platform == "linux" and Path(HANDLES).is_dir():
            self._handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            self.path = Path(HANDLES, str(self._handle))

    def close(self) -> None:
        """Close the handle of the folder."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def look(path: Path) -> Look | None:
    """Inode, size and time of a file, which change when it is written to; None if it is absent."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
