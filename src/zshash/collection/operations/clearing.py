"""Copies of pictures are removed from a collection, and their files deleted if that is wanted.

Nothing is deleted before the picture that is kept was read and found to be as it was added; the
same holds for each file that goes. What can not be deleted safely stays, with its item, and is
told. A file goes before its item: after a crash between them the item is left, without a file.
"""

import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from zshash._interrupts import check
from zshash.collection.operations.choosing import Choice, Picture
from zshash.collection.operations.copies import came_as_bytes
from zshash.collection.operations.pictures import Look, look_at
from zshash.collection.operations.removing import remove
from zshash.collection.operations.same_files import put_same_files
from zshash.collection.storage.rows import Item
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import items_of

__all__ = ["Cleared", "clear"]

LIBRARIES = (".photoslibrary", ".photolibrary", ".aplibrary", ".migratedphotolibrary", ".lrdata")
"""Endings of folders that belong to other programs, which keep lists of the files inside."""
NOTES = (".xmp", ".aae", ".pp3", ".dop")
"""Endings of files in which other programs note what somebody has done to a picture."""


@dataclass
class Cleared:
    """What was removed and deleted, and why some was not.

    Attributes
    ----------
    removed : list of int
        Ids of items that are no longer in the collection.
    deleted : list of str
        Paths of files that are gone.
    bytes : int
        Size of these files.
    failures : list of str
        What stays, and why, a sentence each.
    undo : str or None
        What `Collection.restore` takes to bring the items back; None if files were deleted.
    """

    removed: list[int] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    bytes: int = 0
    failures: list[str] = field(default_factory=list)
    undo: str | None = None


def clear(store: Store, choices: Iterable[Choice], *, delete_files: bool = False) -> Cleared:
    """Remove the other pictures of each choice, and delete their files if that is wanted."""
    done = Cleared()
    with store.writing():
        going = list[int]()
        for choice in choices:
            check()
            if delete_files:
                _delete(store, choice, done)
            else:
                going += _removable(store, choice, done)
        if going:
            done.undo = remove(store, np.unique(going)).key
            done.removed += going
    return done


def _removable(store: Store, choice: Choice, done: Cleared) -> list[int]:
    """Ids of items whose files are elsewhere; whoever has no other file stays."""
    going = []
    for own in choice.others:
        if not _is_as_before(store, own.item):
            done.failures.append(f"item {own.item.id}: changed meanwhile")
        elif came_as_bytes(own.item):
            done.failures.append(f"item {own.item.id}: the collection has its only file")
        else:
            going.append(own.item.id)
    return going


def _is_as_before(store: Store, item: Item) -> bool:
    with store.looking() as connection:
        return items_of(connection, store.folder, [item.id]).get(item.id) == item


def _delete(store: Store, choice: Choice, done: Cleared) -> None:
    """Delete the files of the other pictures, then remove the items whose files are gone."""
    kept = choice.kept
    reason = _changed(store, kept.item, kept.path)
    if reason:
        going = ", ".join(str(own.item.id) for own in choice.others) or str(kept.item.id)
        done.failures.append(f"{kept.path}: {reason}, so no copy of it was deleted ({going})")
        return
    _delete_copies(store, kept, kept, done)
    gone = [
        own.item.id
        for own in choice.others
        if _delete_copies(store, own, kept, done) and _delete_own(store, own, kept, done)
    ]
    if gone:
        remove(store, np.unique(gone), undo=False)
        done.removed += gone


def _delete_copies(store: Store, own: Picture, kept: Picture, done: Cleared) -> bool:
    """Delete the other files with the bytes of a picture; return whether none is left."""
    left = [
        path for path in own.copies if not _delete_file(store, own.item, Path(path), kept, done)
    ]
    if len(left) < len(own.copies):
        with store.changing() as change:
            put_same_files(change, {own.item.id: left})
    return not left


def _delete_own(store: Store, own: Picture, kept: Picture, done: Cleared) -> bool:
    """Delete the file of a picture; copies that the collection keeps go with their items."""
    reason = ""
    if came_as_bytes(own.item):
        reason = _changed(store, own.item, own.path)
    elif own.is_raw and not kept.is_raw:
        reason = "a camera's raw file, and the picture that is kept is none"
    elif own.path is not None:
        return _delete_file(store, own.item, own.path, kept, done)
    else:
        reason = "no file is known"
    if reason:
        done.failures.append(f"{own.path or f'item {own.item.id}'}: {reason}")
    return not reason


def _delete_file(store: Store, item: Item, path: Path, kept: Picture, done: Cleared) -> bool:
    """Delete a file if nothing speaks against it; return whether it is gone."""
    try:
        reason = _changed(store, item, path) or _reason_to_stay(store, path, kept.path)
        if not reason:
            path.unlink()
    except OSError as error:
        reason = error.strerror or "can not be deleted"
    if reason:
        done.failures.append(f"{path}: {reason}")
        return False
    done.deleted.append(str(path))
    done.bytes += item.size or 0
    return True


def _changed(store: Store, item: Item, path: Path | None) -> str:
    """Why a file is not what the collection knows, or an empty text."""
    if not _is_as_before(store, item):
        return "its item has changed meanwhile"
    if path is None or item.content is None:
        return "the collection does not know the content of a file for it"
    look = look_at(path, store.reader.limits)
    if not isinstance(look, Look):
        return look.removeprefix(f"{path}: ")
    return "" if look.content == item.content else "changed since it was added"


def _reason_to_stay(store: Store, path: Path, kept: Path | None) -> str:
    """Why a file is not deleted although it is a copy, or an empty text."""
    assert kept is not None  # its content was compared
    if stat.S_ISLNK(path.lstat().st_mode) or _leaves(path, kept):
        return "reached through a link, which may lead anywhere"
    if path.samefile(kept):
        return "another name of the file that is kept"
    if store.folder in path.parents:
        return "inside the collection"
    owner = next((own for own in path.parents if own.suffix.lower() in LIBRARIES), None)
    if owner:
        return f"belongs to the library {owner.name} of another program"
    notes = _notes(path)
    return f"another program has notes on it in {notes.name}" if notes else ""


def _leaves(path: Path, kept: Path) -> bool:
    """Whether a link to a folder lies between a file and the folders it shares with another."""
    shared = set(kept.parents)
    return any(folder.is_symlink() for folder in path.parents if folder not in shared)


def _notes(path: Path) -> Path | None:
    """File beside a picture in which another program has notes on it."""
    names = [path.name, path.stem]
    places = (
        path.with_name(name + end) for name in names for end in (*NOTES, *map(str.upper, NOTES))
    )
    return next((place for place in places if place.exists()), None)
