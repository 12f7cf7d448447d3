"""Labels that a folder gives to its pictures: of new files, and of files that have moved."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from zshash.collection.operations.fields import names_of
from zshash.collection.storage.store import Store
from zshash.datasets import DataError, Pictures

__all__ = ["follow", "former_labels", "layout_labels"]

WORDS = "words.txt"  # names of folders that are called by WordNet ids
PICTURE = "0.png"
Labels = dict[str, list[str]]


def layout_labels(store: Store, root: Path) -> Labels:
    """Labels of files by the layout of a folder or of a list; empty if it gives no labels."""
    pictures = _opened(store, root)
    return {} if pictures is None else _by_path(pictures)


def _by_path(pictures: Pictures) -> Labels:
    if pictures.labels is None:
        return {}
    words = names_of(pictures.labels, pictures.names)
    return dict(zip(map(os.path.abspath, pictures.paths), words, strict=False))


def _opened(store: Store, root: Path) -> Pictures | None:
    """Pictures of a folder or of a list, if they can be read; nobody is warned of the layout."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pictures = store.model.open(str(root))
    except DataError:
        return None
    return pictures if isinstance(pictures, Pictures) else None


def former_labels(store: Store, root: Path, paths: Iterable[str]) -> Labels:
    """Labels that the layout of a folder gave to files that were at these paths before.

    The folders may be gone. So they are made again elsewhere, with an empty file in each, and read
    as any folder is. Paths are left out if that is not possible.
    """
    folders = {path: os.path.relpath(Path(path).parent, root) for path in paths}
    try:
        with tempfile.TemporaryDirectory() as home:
            again = _made_again(root, Path(home).resolve(), set(folders.values()))
            pictures = _opened(store, again)
    except OSError:
        return {}
    if pictures is None:
        return {}
    found = _by_path(pictures)
    places = {own: str(again / own / PICTURE) for own in folders.values()}
    return {path: found.get(places[own], []) for path, own in folders.items()}


def _made_again(root: Path, home: Path, folders: set[str]) -> Path:
    """A folder like another one that had pictures in the given folders."""
    again = home / (root.name or "root")
    for folder in folders:
        (again / folder).mkdir(parents=True, exist_ok=True)
        (again / folder / PICTURE).touch()
    for there, here in ((root, again), (root.parent, home)):
        if (there / WORDS).is_file():
            shutil.copyfile(there / WORDS, here / WORDS)
    return again


def follow(own: Sequence[str], before: Sequence[str] | None, now: Sequence[str]) -> list[str]:
    """Labels of an item whose file has moved from one folder to another.

    Parameters
    ----------
    own : list of str
        Labels of the item.
    before : list of str or None
        Labels that the earlier folder gave, if they are known.
    now : list of str
        Labels that the folder gives where the file is now.

    Examples
    --------
    >>> follow(["cat", "sofa"], ["cat"], ["tiger"])
    ['tiger', 'sofa']

    A label that somebody has changed or taken away stays as it is, and so does the label of a file
    whose folder gives none.

    >>> follow(["Tom"], ["cat"], ["tiger"]), follow(["cat"], ["cat"], [])
    (['Tom'], ['cat'])
    """
    if before is None or not now or set(before) == set(now) or not set(before) <= set(own):
        return list(own)
    return list(dict.fromkeys([*now, *(word for word in own if word not in before)]))
