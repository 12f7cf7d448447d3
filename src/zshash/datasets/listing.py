"""Which pictures are in a folder."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from zshash.datasets.data import unreadable

__all__ = ["SUFFIXES", "contents", "is_picture", "pictures_below", "unread_below"]

SUFFIXES = frozenset([
    ".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".gif", ".webp",
    ".tif", ".tiff", ".bmp", ".ppm", ".pgm", ".pbm", ".pnm",
])  # fmt: skip
"""Endings of files that are taken for pictures, in lower case."""

UNREAD = frozenset([
    ".heic", ".heif", ".avif", ".jp2", ".jxl", ".tga", ".ico", ".svg", ".psd",
    ".raw", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf", ".rw2",
])  # fmt: skip
"""Endings of pictures that nothing here can read."""

Identity = tuple[int, int]


def is_picture(name: str) -> bool:
    """Whether a file has the name of a picture and is not hidden.

    >>> is_picture("n02123045_1.JPEG"), is_picture("notes.txt"), is_picture(".cat.jpg")
    (True, False, False)
    """
    stem, dot, suffix = name.rpartition(".")
    return bool(stem) and dot + suffix.lower() in SUFFIXES and not _is_hidden(name)


def contents(folder: Path) -> tuple[list[Path], list[Path]]:
    """The folders and the pictures directly in a folder, sorted; hidden ones do not count."""
    folders, pictures = [], []
    for entry in _entries(folder):
        if _is_folder(entry):
            folders.append(Path(entry.path))
        elif is_picture(entry.name):
            pictures.append(Path(entry.path))
    return folders, pictures


def pictures_below(folder: Path, parent: Path) -> list[Path]:
    """The pictures at any depth below a folder, sorted by the parts of their paths.

    Links to folders are followed, but no folder is visited twice, and `parent` is not visited.
    """
    return list(_walk(folder, {_identity(parent)}))


def unread_below(folder: Path) -> Counter[str]:
    """Number of pictures below a folder of kinds that are not read, by their endings."""
    names = (name for _, _, files in os.walk(folder) for name in files if not _is_hidden(name))
    suffixes = (os.path.splitext(name)[1].lower() for name in names)  # noqa: PTH122, faster for many names
    return Counter(suffix for suffix in suffixes if suffix in UNREAD)


def _walk(folder: Path, visited: set[Identity]) -> Iterator[Path]:
    if not _is_new(folder, visited):
        return
    waiting = [iter(_entries(folder))]  # no recursion: folders may be nested deeper than it goes
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
        elif _is_folder(entry):
            if _is_new(entry.path, visited):
                waiting.append(iter(_entries(entry.path)))
        elif is_picture(entry.name):
            yield Path(entry.path)


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            visible = [entry for entry in entries if not _is_hidden(entry.name)]
    except OSError as error:
        raise unreadable(folder, error) from error
    return sorted(visible, key=lambda entry: entry.name)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _is_new(folder: str | Path, visited: set[Identity]) -> bool:
    """Note that a folder is visited; False if it was visited before."""
    identity = _identity(folder)
    if identity in visited:
        return False
    visited.add(identity)
    return True


def _identity(folder: str | Path) -> Identity:
    try:
        status = Path(folder).stat()
    except OSError as error:
        raise unreadable(folder, error) from error
    return status.st_dev, status.st_ino
