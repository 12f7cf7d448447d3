"""Files of the pictures of items, read only if they still are what was added.

Whoever can write to a folder of pictures may put a link in the place of one, which leads to a file
of somebody else. The bytes of a picture tell: as long as they are those that were added, it does
not matter by which way they came, and albums of links work. Other bytes count only where no link is
on the way to them.
"""

import os
import stat
from pathlib import Path

from zshash.collection.storage.rows import content_of
from zshash.images import Limits

__all__ = ["OriginalError", "read_original"]

READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # no pipe blocks it
PASS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
PLAIN = getattr(os, "O_NOFOLLOW", 0)


class OriginalError(ValueError):
    """The file of a picture can not be used; the message gives its path and the reason."""


def read_original(
    path: Path, content: bytes | None, limits: Limits, *, changed: bool = False
) -> bytes:
    """Bytes of the file of a picture.

    Parameters
    ----------
    path : Path
    content : bytes or None
        Hash of the bytes that were added, if it is known.
    limits : Limits
    changed : bool
        Whether other bytes are taken, too, if no link is on the way to them.

    Raises
    ------
    OriginalError
        If the file is gone, too large or not the one that was added.
    """
    try:
        data = _read(os.open(path, READ), limits)
        if content is not None and content_of(data) == content:
            return data
        if changed:
            return _read(_open_plain(path), limits)
    except (OSError, ValueError) as error:
        raise OriginalError(f"{path}: {_reason(error)}") from error
    raise OriginalError(f"{path}: changed since it was added: sync its folder first")


def _read(handle: int, limits: Limits) -> bytes:
    """All bytes of an open file, which is closed."""
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a file")
        if status.st_size > limits.bytes:
            raise ValueError(f"{status.st_size} bytes, more than the limit of {limits.bytes}")
        return file.read(status.st_size)


def _open_plain(path: Path) -> int:
    """Open a file, folder after folder from the root; OSError where one of them is a link."""
    first, *folders, name = Path(os.path.abspath(path)).parts  # noqa: PTH100, follows no link
    handle = os.open(first, PASS)
    try:
        for folder in folders:
            inner = os.open(folder, PASS | PLAIN, dir_fd=handle)
            os.close(handle)
            handle = inner
        return os.open(name, READ | PLAIN, dir_fd=handle)
    finally:
        os.close(handle)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else str(error)) or "can not be read"
