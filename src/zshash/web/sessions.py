"""Sessions of browsers: random ids in cookies, which can be revoked."""

import hashlib
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["Sessions"]

LASTS = 30 * 86_400.0  # seconds that a session lasts without any request
REFRESHED = 3_600.0  # seconds after which the use of a session is noted again
MOST = 10_000  # sessions at the same time
LONGEST = 128  # characters of a cookie that is looked at


class Sessions:
    """Sessions that browsers have got for the token.

    A session is an empty file in a folder that all processes of a server share: its name is a hash
    of the session's id, so the folder does not tell any id, and its time is when the session was
    used last. To check a session costs one look at one file, and removing the file ends it in all
    processes at once. The hash has the token as its key: another token knows none of the sessions.

    Parameters
    ----------
    folder : Path
        Private folder, which is made if it is missing. A server has a new one after each start.
    token : str

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> sessions = Sessions(Path(folder.name) / "sessions", "a token of the server")
    >>> one = sessions.open()
    >>> sessions.knows(one), sessions.knows("another")
    (True, False)
    >>> sessions.close(one)
    >>> sessions.knows(one), folder.cleanup()
    (False, None)
    """

    def __init__(self, folder: Path, token: str) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._key = hashlib.blake2b(token.encode()).digest()

    def open(self) -> str:
        """Begin a session and return its id; the oldest one ends if there are too many."""
        self._make_room()
        value = secrets.token_urlsafe(32)
        os.close(os.open(self._path(value), os.O_WRONLY | os.O_CREAT, 0o600))
        return value

    def knows(self, value: str) -> bool:
        """Whether a session has begun and not ended; its time begins again."""
        if not 0 < len(value) <= LONGEST:
            return False
        path = self._path(value)
        try:
            age = time.time() - path.stat().st_mtime
            if age > LASTS:
                path.unlink()
                return False
            if age > REFRESHED:
                os.utime(path)
        except OSError:
            return False
        return True

    def close(self, value: str) -> None:
        """End a session, if there is one with this id."""
        if 0 < len(value) <= LONGEST:
            with suppress(OSError):
                self._path(value).unlink()

    def close_all(self) -> int:
        """End all sessions, and return how many there were."""
        return sum(map(_remove, self._folder.iterdir()))

    def _path(self, value: str) -> Path:
        content = value.encode("utf-8", "replace")
        name = hashlib.blake2b(content, key=self._key, digest_size=24).hexdigest()
        return self._folder / name

    def _make_room(self) -> None:
        """Remove sessions that lasted too long, and the oldest ones where there are too many."""
        used: list[tuple[float, Path]] = []
        for path in self._folder.iterdir():
            with suppress(OSError):  # another process has just removed it
                used.append((path.stat().st_mtime, path))
        used.sort()
        limit = time.time() - LASTS
        for place, (when, path) in enumerate(used):
            if when < limit or place <= len(used) - MOST:
                _remove(path)


def _remove(path: Path) -> bool:
    with suppress(OSError):  # another process has just removed it
        path.unlink()
        return True
    return False
