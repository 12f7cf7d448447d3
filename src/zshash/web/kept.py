"""Files that can be made again, kept in a private folder within a limit of bytes.

Several servers may share the folder. A file is written beside its place and renamed, and begins
with a checksum of the rest, so nobody reads half of one. Those that nobody has read for longest go
first.
"""

import hashlib
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from threading import Lock

__all__ = ["KeptFiles", "private_folder"]

DIGEST = 16  # bytes of a checksum
ENDING = ".kept"
SHARE = 8  # files are counted after one part in so many was written, and no file may have more
LEFT = 1 - 2 / SHARE  # of the limit, after counting; so the limit holds until the next time
STALE = 3600  # seconds after which what somebody began to write is left over from a crash


def private_folder(folder: Path) -> Path | None:
    """A folder that is made for this user alone; None if it can not be, or is somebody else's."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return None
        folder.chmod(0o700)
    except OSError:
        return None
    return folder


class KeptFiles:
    """Contents by their keys, kept on the disk within a limit.

    Parameters
    ----------
    folder : Path or None
        Private folder, as from `private_folder`; without one nothing is kept.
    most : int
        Limit of the bytes of all files together; 0 keeps nothing.
    """

    def __init__(self, folder: Path | None, most: int) -> None:
        self._folder = folder if most else None
        self._most = most
        self._written = most  # since the last look at all files: the first one comes at once
        self._lock = Lock()

    def get(self, key: str) -> bytes | None:
        """Content with this key, or None; it counts as read now."""
        if self._folder is None:
            return None
        path = self._folder / f"{key}{ENDING}"
        try:
            whole = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return whole[DIGEST:] if whole[:DIGEST] == _digest(whole[DIGEST:]) else None

    def put(self, key: str, content: bytes) -> None:
        """Keep a content, unless it is too large or can not be written."""
        if self._folder is None or SHARE * len(content) > self._most:
            return
        temporary = self._folder / f"{token_hex(8)}.new"
        with suppress(OSError):
            try:
                handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(handle, "wb") as file:
                    file.write(_digest(content) + content)
                temporary.replace(self._folder / f"{key}{ENDING}")
            finally:
                temporary.unlink(missing_ok=True)
            self._count(len(content) + DIGEST)

    def drop(self, key: str) -> None:
        """Delete the content with this key, if there is any."""
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / f"{key}{ENDING}").unlink(missing_ok=True)

    def _count(self, written: int) -> None:
        """Look at all files each time that a part of the limit was written."""
        with self._lock:
            self._written += written
            if SHARE * self._written < self._most:
                return
            self._written = 0
        self._clear()

    def _clear(self) -> None:
        """Delete what was read longest ago, until the rest is well within the limit."""
        assert self._folder is not None
        found, now = [], time.time()
        for entry in os.scandir(self._folder):
            with suppress(OSError):  # gone by now
                status = entry.stat(follow_symlinks=False)
                if entry.name.endswith(ENDING):
                    found.append((status.st_mtime_ns, status.st_size, entry.path))
                elif status.st_mtime < now - STALE:
                    os.unlink(entry.path)  # noqa: PTH108
        left = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if left <= LEFT * self._most:
                break
            left -= size
            Path(path).unlink(missing_ok=True)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST).digest()
