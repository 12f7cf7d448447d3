"""Files that could not be read: each is told once, and tried again when it has changed.

A collection remembers them in a setting of its catalogue, with the marks of each file and the
reason. Where the limits of the reader or the version of this program change, all are tried again.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from zshash._warnings import warn_user
from zshash.collection.storage.store import Store
from zshash.images.reading import PictureWarning, warn_of_failures

__all__ = ["ToldBefore", "Unreadable", "unreadable"]

SETTING = "unreadable"
VERSION = version("zshash")
PASSING = tuple(
    os.strerror(number)
    for number in (errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
)


class ToldBefore(PictureWarning):
    """Files were left out that could not be read, of which an earlier call has warned."""


def unreadable(store: Store) -> dict[str, str]:
    """Messages on the files that could not be read, by path; inside `reading` or `writing`."""
    return {path: str(entry[-1]) for path, entry in _load(store).items()}


def _load(store: Store) -> dict[str, list[Any]]:
    """Marks of each file and the message on it, by path."""
    if not store.catalogue.has_setting(SETTING):
        return {}
    return dict(store.catalogue.setting(SETTING))


class Unreadable:
    """What a call that reads pictures needs to know of files that could not be read before.

    A call asks `is_told` about each file before it reads it, and gives all messages to `remember`
    at its end. Where a picture that can not be read is an error, all files are tried.

    Parameters
    ----------
    store : Store
        Inside `reading` or `writing`.

    Attributes
    ----------
    told : dict of str to str
        Messages on the files that `is_told` knew, by path.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._known = store, _load(store)
        self._tried: dict[str, list[Any]] = {}
        self.told: dict[str, str] = {}

    def is_told(self, path: str) -> bool:
        """Whether a file could not be read before and has not changed since."""
        marks, known = self._marks(path), self._known.get(_absolute(path), [])
        if known[:-1] == marks and self._store.reader.on_error == "skip":
            self.told[path] = str(known[-1])
            return True
        self._tried[path] = marks
        return False

    def untold(self, paths: Sequence[str]) -> list[int]:
        """Rows of the files to read: all but those that `is_told` knows."""
        return [row for row, path in enumerate(paths) if not self.is_told(path)]

    def _marks(self, path: str) -> list[Any]:
        """Values of which one changes when it makes sense to read a file again."""
        limits = self._store.reader.limits
        rules = [limits.pixels, limits.bytes, VERSION]
        try:
            status = Path(path).stat()
        except OSError:
            return [None, None, None, *rules]
        # the last one changes with the permissions of the file, too
        return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, *rules]

    def remember(
        self, messages: Iterable[str], is_gone: Callable[[str], bool] = lambda _: False
    ) -> None:
        """Store which files could not be read; forget those that were read, or that are gone.

        Parameters
        ----------
        messages : list of str
            Each begins with the path of its file and a colon.
        is_gone : callable
            Whether a file that was not tried is no longer there.
        """
        tried = set(map(_absolute, self._tried))
        now = {
            path: known
            for path, known in self._known.items()
            if path not in tried and not is_gone(path)
        }
        for message in messages:
            path = next(self._paths_in(message), None)
            if path is not None and not _is_passing(message):
                own = _absolute(path)
                now[own] = [*self._tried[path], own + message[len(path) :]]
        if now != self._known:
            with self._store.alone(), self._store.catalogue.writing():
                self._store.catalogue.put_setting(SETTING, now)
            self._known = now

    def _paths_in(self, message: str) -> Iterator[str]:
        """Paths of tried files that a message begins with."""
        end = message.find(": ")
        while end >= 0:
            if message[:end] in self._tried:
                yield message[:end]
            end = message.find(": ", end + 1)

    def warn(self, messages: Sequence[str], total: int) -> None:
        """Warn of each file that could not be read, and of the number of those told before."""
        warn_of_failures(messages, total)
        if self.told:
            n = len(self.told)
            files = "file that can not be read was" if n == 1 else "files that can not be read were"
            warn_user(f"{self._store.folder}: {n} {files} told before", ToldBefore)


def _is_passing(message: str) -> bool:
    """Whether a reason may be gone the next time: also once a missing package is installed."""
    return message.endswith(PASSING) or "pip install" in message


def _absolute(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100, Path would not drop what is before ".."
