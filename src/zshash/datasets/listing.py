"""Which pictures are in a folder, at any depth."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from zshash.datasets.clutter import is_clutter, is_library, is_original
from zshash.datasets.data import DataError, unreadable

__all__ = [
    "SUFFIXES",
    "VIDEOS",
    "Folder",
    "Listing",
    "contents",
    "is_picture",
    "list_tree",
    "pictures_below",
]

SUFFIXES = frozenset([
    ".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".gif", ".webp",
    ".tif", ".tiff", ".bmp", ".ppm", ".pgm", ".pbm", ".pnm", ".avif", ".heic", ".heif", ".hif",
    ".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".orf", ".rw2", ".pef", ".srw", ".raf",
])  # fmt: skip
"""Endings of files that are taken for pictures, in lower case."""

UNREAD = frozenset([
    ".jp2", ".jxl", ".tga", ".ico", ".svg", ".psd", ".xcf", ".raw", ".crw", ".mrw", ".x3f", ".3fr",
    ".iiq", ".kdc", ".erf", ".mef", ".mos", ".sr2", ".srf", ".rwl",
])  # fmt: skip
"""Endings of pictures that nothing here can read."""

VIDEOS = frozenset([
    ".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".wmv", ".asf", ".flv", ".ogv", ".3gp",
    ".3g2", ".mpg", ".mpeg", ".vob", ".mts", ".m2ts", ".insv", ".lrv",
])  # fmt: skip
"""Endings of videos."""

LEFT_OUT = UNREAD | VIDEOS
COPIES = "SYNOPHOTO"  # small copies that Synology makes begin with this
Identity = tuple[int, int]
Visit = tuple[int, str, set[str], Iterator[str]]


class Folder(NamedTuple):
    """Name of a folder, and the number of the folder above it (−1 for the first one)."""

    name: str
    parent: int


@dataclass
class Listing:
    """The pictures below a folder, and what is left out there.

    Attributes
    ----------
    pictures : list of Path
        Sorted by the parts of their paths.
    homes : list of int
        Number of the folder that each picture lies in.
    folders : list of Folder
        All visited folders; the first is the one that was listed, and each comes after the folder
        above it.
    left_out : Counter
        Number of videos, and of pictures of kinds that are not read, by their endings.
    unreadable : dict
        For each folder that can not be read, the reason.
    """

    pictures: list[Path] = field(default_factory=list)
    homes: list[int] = field(default_factory=list)
    folders: list[Folder] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unreadable: dict[str, str] = field(default_factory=dict)


def is_picture(name: str) -> bool:
    """Whether a file has the name of a picture and is not hidden.

    >>> is_picture("n02123045_1.JPEG"), is_picture("notes.txt"), is_picture(".cat.jpg")
    (True, False, False)
    """
    return _ending(name) in SUFFIXES and not name.startswith((".", COPIES))


def contents(folder: Path) -> tuple[list[Path], list[Path]]:
    """The folders and the pictures directly in a folder, sorted; hidden ones do not count."""
    try:
        folders, pictures = _scan(str(folder), Counter())
    except OSError as error:
        raise unreadable(folder, error) from error
    return [folder / name for name in sorted(folders)], [folder / name for name in sorted(pictures)]


def pictures_below(folder: Path, parent: Path) -> list[Path]:
    """The pictures at any depth below a folder, sorted by the parts of their paths.

    Links to folders are followed, but no folder is visited twice, and `parent` is not visited.

    Raises
    ------
    DataError
        If one of the folders can not be read: nobody knows which pictures are there.
    """
    listing = list_tree(folder, [parent])
    for name, reason in listing.unreadable.items():
        raise DataError(f"{name}: {reason}")
    return listing.pictures


def list_tree(root: Path, outside: Iterable[Path] = ()) -> Listing:
    """List the pictures at any depth below a folder, in one walk.

    Hidden files and folders do not count, nor does what `zshash.datasets.clutter` knows. Links to
    folders are followed, but no folder is visited twice, and the folders above `root` and those
    in `outside` are not visited. Files and folders that vanish meanwhile are left out.

    Raises
    ------
    DataError
        If `root` itself can not be read.
    """
    listing = Listing()
    visited = set(_identities([*root.resolve().parents, *outside]))
    waiting = _enter(listing, str(root), Folder(root.resolve().name, -1), visited)
    for name, reason in listing.unreadable.items():
        raise DataError(f"{name}: {reason}")
    while waiting:  # no recursion: folders may be nested deeper than it goes
        number, path, folders, names = waiting[-1]
        for name in names:
            if name in folders:
                below = os.path.join(path, name)  # noqa: PTH118, faster for many folders
                waiting += _enter(listing, below, Folder(name, number), visited)
                break
            listing.pictures.append(Path(f"{path}/{name}"))
            listing.homes.append(number)
        else:
            waiting.pop()
    return listing


def _enter(listing: Listing, path: str, folder: Folder, visited: set[Identity]) -> list[Visit]:
    """Begin the visit of a folder; empty if it was visited before or can not be read."""
    try:
        identity = _identity(path)
        if identity in visited:
            return []
        visited.add(identity)
        folders, pictures = _scan(path, listing.left_out)
    except (FileNotFoundError, NotADirectoryError) as error:
        if not listing.folders:
            raise unreadable(path, error) from error
        return []
    except OSError as error:
        listing.unreadable[path] = error.strerror or "it can not be read"
        return []
    if is_library(folder.name):
        folders = set(filter(is_original, folders))
    listing.folders.append(folder)
    names = iter(sorted([*folders, *pictures]))
    return [(len(listing.folders) - 1, path, folders, names)]


def _scan(folder: str, left_out: Counter[str]) -> tuple[set[str], list[str]]:
    """Names of the folders and of the pictures in a folder; counts files that are left out."""
    folders, pictures = set(), []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if _is(entry.is_dir):
                if not is_clutter(name):
                    folders.add(name)
            elif is_picture(name):
                if _is(entry.is_file):
                    pictures.append(name)
            elif not name.startswith(".") and (ending := _ending(name)) in LEFT_OUT:
                left_out[ending] += 1
    return folders, pictures


def _ending(name: str) -> str:
    """Ending of a file's name in lower case, with its dot; empty for a name without a dot.

    >>> _ending("IMG_1.JPG"), _ending("notes")
    ('.jpg', '')
    """
    stem, dot, ending = name.rpartition(".")
    return dot + ending.lower() if stem else ""


def _is(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except OSError:  # a link that leads to itself, or to where nobody may look
        return False


def _identities(folders: Iterable[Path]) -> Iterator[Identity]:
    for folder in folders:
        with suppress(OSError):  # a folder that nobody may look at can not be visited either
            yield _identity(folder)


def _identity(folder: str | Path) -> Identity:
    status = os.stat(folder)  # noqa: PTH116, faster for many folders
    return status.st_dev, status.st_ino
