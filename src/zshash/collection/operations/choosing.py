"""Which picture of a group of copies is kept, and which files and items would go."""

import struct
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from zshash.collection.errors import CollectionError
from zshash.collection.operations.copies import picture
from zshash.collection.operations.duplicates import ALIKE
from zshash.collection.results import Group
from zshash.collection.storage.rows import Item
from zshash.collection.storage.store import Store
from zshash.images.exif import picture_facts
from zshash.images.formats.stripping import kind_of

__all__ = ["KEEP", "LARGEST", "OLDEST", "Choice", "Picture", "choose"]

LARGEST, OLDEST = "largest", "oldest"
KEEP = (LARGEST, OLDEST)
HEAD = 1 << 16  # bytes that tell the kind of a file
RAW = (
    ".3fr",
    ".arw",
    ".cr2",
    ".cr3",
    ".dng",
    ".iiq",
    ".nef",
    ".orf",
    ".pef",
    ".raf",
    ".rw2",
    ".srw",
)


class Picture(NamedTuple):
    """A picture of a group.

    Attributes
    ----------
    item : Item
    path : Path or None
        Where its file should be.
    width, height : int
        Of the upright picture, 0 if they are not known.
    bytes : int
        Size of the file, 0 if it is not known.
    is_raw : bool
        Whether it is a camera's file with the pixels of the sensor.
    is_cropped : bool
        Whether it is cut out of another picture of the group.
    copies : tuple of str
        Other files with the same bytes.
    """

    item: Item
    path: Path | None
    width: int
    height: int
    bytes: int
    is_raw: bool
    is_cropped: bool = False
    copies: tuple[str, ...] = ()


class Choice(NamedTuple):
    """The picture of a group that is kept, and the others; copies of the kept one go, too."""

    kept: Picture
    others: tuple[Picture, ...]

    @property
    def bytes(self) -> int:
        """Size of all files that would go."""
        copies = self.kept.bytes * len(self.kept.copies)
        return copies + sum(own.bytes * (1 + len(own.copies)) for own in self.others)


def choose(store: Store, groups: Iterable[Group], keep: str) -> list[Choice]:
    """Choose the picture to keep of each group.

    Parameters
    ----------
    store : Store
    groups : list of Group
        Copies; items that only look alike are refused.
    keep : {"largest", "oldest"}
        Most pixels, then most bytes; or earliest time, of the camera or else of the file. A
        camera's raw file comes before pictures that were made from it, and a picture before
        those that are cut out of it.

    Raises
    ------
    CollectionError
        If a group has items that only look alike: nobody should clean up by that.
    """
    if keep not in KEEP:
        raise CollectionError(f"keep is {' or '.join(KEEP)}, not {keep!r}")
    choices: list[Choice] = []
    taken: set[int] = set()
    for group in sorted(groups, key=lambda group: -len(group.items)):
        if group.level == ALIKE:
            raise CollectionError("items that look alike may be different pictures: keep them all")
        if not taken & {item.id for item in group.items}:
            taken |= {item.id for item in group.items}
            choices.append(_choose(_pictures(store, group), keep))
    return sorted(choices, key=lambda choice: choice.kept.item.id)


def _choose(pictures: Sequence[Picture], keep: str) -> Choice:
    kept = min(pictures, key=_by_size if keep == LARGEST else _by_time)
    return Choice(kept, tuple(own for own in pictures if own is not kept))


def _by_size(own: Picture) -> tuple[Any, ...]:
    return *_by_worth(own), -own.width * own.height, -own.bytes, own.item.id


def _by_time(own: Picture) -> tuple[Any, ...]:
    return *_by_worth(own), _time(own.item), *_by_size(own)


def _by_worth(own: Picture) -> tuple[bool, bool]:
    """Whatever the rule, raw files come first, and then pictures from which nothing was cut off."""
    return not own.is_raw, own.is_cropped


def _time(item: Item) -> datetime:
    """When a picture was taken by the camera's clock, else the time of its file."""
    taken = item.metadata.get("taken")
    if isinstance(taken, str):
        try:
            return datetime.fromisoformat(taken).replace(tzinfo=None)
        except ValueError:
            pass
    if item.mtime_ns is None:
        return datetime.max
    return datetime.fromtimestamp(item.mtime_ns / 1e9)  # in local time, as cameras have it


def _pictures(store: Store, group: Group) -> list[Picture]:
    return [_picture(store, item, group) for item in group.items]


def _picture(store: Store, item: Item, group: Group) -> Picture:
    path = picture(store, item)
    width, height = (item.metadata.get(name) for name in ("width", "height"))
    if not (isinstance(width, int) and isinstance(height, int)):
        width, height = _size(path)
    others = tuple(copy for copy in group.copies.get(item.id, ()) if copy != item.source)
    is_cropped = item.id in group.cropped
    return Picture(item, path, width, height, item.size or 0, _is_raw(path), is_cropped, others)


def _size(path: Path | None) -> tuple[int, int]:
    """Upright width and height of a picture, from its file; zeros if it can not be read."""
    try:
        facts = picture_facts(path.read_bytes()) if path and path.is_file() else {}
    except OSError:
        facts = {}
    return facts.get("width", 0), facts.get("height", 0)


def _is_raw(path: Path | None) -> bool:
    """Whether a file is a camera's raw file, by its name or its first bytes."""
    if path is None or path.suffix.lower() in RAW:
        return path is not None
    try:
        if not path.is_file():  # opening a pipe would wait for ever
            return False
        with path.open("rb") as file:
            return kind_of(memoryview(file.read(HEAD))) == "RAW"
    except (OSError, ValueError, struct.error):
        return False
