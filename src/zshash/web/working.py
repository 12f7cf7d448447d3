"""A process that does long work for a server: `python -m zshash.web.working NAME FOLDER …`.

It writes how far it is, has the lowest priority, and ends when the server ends.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash._progress import told
from zshash.collection import Collection, CollectionError, Group
from zshash.collection.operations.reviewing import mark_of
from zshash.images import Limits, PictureReader
from zshash.web.errors import describe
from zshash.web.jobs import JobState, write_state

__all__ = ["main"]

PATIENCE = 60.0  # seconds to wait for another process that is writing
LEAST_PAUSE = 0.3  # seconds between two writes of the state
NICE = 10
# Names of the parts of each work, and the share of the whole that is done when a part begins.
PARTS = {
    "refit": {"reading features": 0.0, "learning": 0.3, "": 0.7},
    "duplicates": {"": 0.0},
}
NAMES = {"refit": "giving all pictures new codes", "duplicates": "comparing pictures"}


class Teller:
    """Writes how far the work is, not too often.

    Parameters
    ----------
    path : Path
        File for the state.
    work : str
        A key of `PARTS`.
    generation : int
    """

    def __init__(self, path: Path, work: str, generation: int) -> None:
        self._path, self._work, self._generation = path, work, generation
        self._last = 0.0

    def __call__(self, part: str, done: float) -> None:
        """Note that a part is done so far."""
        now = time.monotonic()
        if now - self._last < LEAST_PAUSE:
            return
        self._last = now
        begins = PARTS[self._work]
        start = begins.get(part, 0.0)
        end = min([own for own in begins.values() if own > start], default=1.0)
        overall = round(start + (end - start) * done, 4)
        self.write("running", part or NAMES[self._work], overall)

    def write(self, state: str, part: str = "", done: float = 0.0, text: str = "") -> None:
        """Write a state."""
        write_state(self._path, JobState(state, part, done, text, self._generation))


def refit(album: Collection, _: Path) -> str:
    """Learn again from all pictures; return a sentence about it."""
    n = album.refit()
    if not n:
        return "nothing has changed since the last time"
    labels = len([name for name in album.labels() if name])
    known = f" and {labels} label{'s' * (labels != 1)}" if labels else ""
    return f"learned from {n} picture{'s' * (n != 1)}{known}"


def find_duplicates(level: str) -> Callable[[Collection, Path], str]:
    """Work that finds groups at a level and writes them to a file."""

    def work(album: Collection, result: Path) -> str:
        ids, found = album.ids, album.duplicates(level, kept=True)
        groups = [_group(album, one) for one in found if len(one.items) > 1]
        facts = {"ids": ids.tolist(), "groups": groups, "unknown": found.unknown}
        write_whole(result, json.dumps(facts).encode())
        return f"{len(groups)} group{'s' * (len(groups) != 1)}"

    return work


def _group(album: Collection, group: Group) -> dict[str, Any]:
    marks = {item.id: mark_of(item) for item in group.items}
    return {"level": group.level, "items": list(marks.items()), "keep": _kept(album, group)}


def _kept(album: Collection, group: Group) -> int | None:
    """Id of the picture that is worth most; None where the pictures may be different ones."""
    with suppress(CollectionError):
        return album.choose_copies([group])[0].kept.item.id
    return None


WORK: dict[str, Callable[[Collection, Path], str]] = {
    "refit": refit,
    "duplicates-same": find_duplicates("same"),
    "duplicates-alike": find_duplicates("alike"),
}


def main(name: str, folder: str, path: str, result: str, *numbers: str) -> None:
    """Do a piece of work, and write its outcome.

    The numbers are the generation of the collection, and the most pixels and bytes of a picture.
    """
    generation, pixels, size = map(int, numbers)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    teller = Teller(Path(path), name.partition("-")[0], generation)
    folders = [Path(folder)]
    try:
        reader = PictureReader(limits=Limits(pixels, size), cache=False)
        with (
            Collection.open(folder, reader=reader, patience=PATIENCE) as album,
            told(teller),
        ):
            try:
                text = WORK[name](album, Path(result))
            except Exception as error:
                folders += _folders_in(str(error), album)
                raise
    except Exception as error:
        teller.write("failed", text=describe(error, folders).detail)
        raise
    teller.write("done", done=1.0, text=text)


def _folders_in(text: str, album: Collection) -> list[Path]:
    """Folders of those pictures that a sentence names: clients do not see where these are."""
    sources = [item.source for item in album.each() if item.source is not None]
    return [Path(source).parent for source in sources if source in text]


def _end_with_the_server() -> None:
    """End this process when the server, which holds the other end of standard input, has ended."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # at once: clearing up the memory takes a while, and the lock would stay
