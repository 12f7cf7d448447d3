"""Files beside the catalogue: copies of pictures, snapshots, the note of the generation."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from zshash.collection.operations.copies import came_as_bytes, is_own_copy
from zshash.collection.storage.checking import lenient
from zshash.collection.storage.contents import Contents
from zshash.collection.storage.files import COPIES, GENERATION, noted_generation
from zshash.collection.storage.following import Following
from zshash.collection.storage.mirror import Mirror
from zshash.collection.storage.rows import COLUMNS, Item, is_whole, to_item
from zshash.collection.storage.snapshot import (
    CONTENTS,
    INDEX,
    Snapshot,
    read_snapshot,
    snapshots,
)
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store

__all__ = ["check_contents", "check_copies", "check_note", "check_snapshots", "read_note"]

DAMAGED = -1
COPY = re.compile("[0-9a-f]{32}")
# A first choice by SQLite: the source ends in the content hash.
HAS_COPY = "substr(CAST(source AS TEXT), -2 * length(content)) = lower(hex(content))"


def read_note(folder: Path) -> int:
    """Generation in the note; 0 if there is none yet, `DAMAGED` if it can not be read."""
    for _ in range(2):  # a writer may be in the middle of it
        generation = noted_generation(folder)
        if generation or not _has_content(folder / GENERATION):
            return generation
    return DAMAGED


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def check_note(generation: int, state: State) -> Iterator[str]:
    """What is wrong with the note of the generation."""
    if generation == DAMAGED:
        yield f"{GENERATION}: it is damaged: delete it, and the next change writes it again"
    elif generation > state.generation:
        yield (
            f"{GENERATION}: the catalogue has lost what was written to it after generation "
            f"{state.generation}: restore the folder from a copy"
        )


def check_snapshots(
    folder: Path, connection: sqlite3.Connection, state: State
) -> Iterator[tuple[str, Mirror | None]]:
    """Name of each snapshot and the index that it leads to, or None if the file is damaged."""
    for name, snapshot in _read_snapshots(folder, INDEX, state):
        mirror = None if snapshot is None else Mirror.of_snapshot(snapshot)
        if mirror is None or _is_at(mirror, connection, folder, state):
            yield name, mirror


def check_contents(folder: Path, connection: sqlite3.Connection, state: State) -> Iterator[str]:
    """What is wrong with the snapshots of known contents."""
    rows = Contents()
    for name, snapshot in _read_snapshots(folder, CONTENTS, state):
        own = Contents()
        own.restore(snapshot)
        if snapshot is None:
            yield f"{name}: it is damaged: delete it, and it is made again"
        elif _is_at(own, connection, folder, state):
            if not rows.agrees(state):
                rows.read_all(connection, folder, state)
            if not own.agrees(state) or not own.same_as(rows):
                yield f"{name}: not what the catalogue says: delete it"


def _read_snapshots(folder: Path, kind: str, state: State) -> Iterator[tuple[str, Snapshot | None]]:
    """Names and contents of all snapshots of a kind; None for a file that is damaged."""
    for generation, path in snapshots(folder, kind):
        try:
            snapshot = read_snapshot(path)
        except OSError:  # a writer has just deleted it
            continue
        except ValueError:
            yield path.name, None
            continue
        if snapshot.generation != generation:
            yield path.name, None
        elif generation <= state.generation:  # a writer may have made a later one
            yield path.name, snapshot


def _is_at(copy: Following, connection: sqlite3.Connection, folder: Path, state: State) -> bool:
    """Whether a copy of the rows is at the state by now, which it follows if it can."""
    if copy.agrees(state):
        return True
    if not copy.can_follow(state):
        return False
    copy.follow(connection, folder, state)
    return True


def check_copies(store: Store) -> Iterator[str]:
    """What is wrong with the copies of pictures that came as bytes."""
    folder = store.folder / COPIES
    missing = {number for number, path in _expected(store) if not path.is_file()}
    if missing:  # another process may have removed the items meanwhile
        missing &= {number for number, _ in _expected(store)}
    if missing and not folder.is_dir():
        yield (
            f"{COPIES}: this folder is missing, with the copies of the pictures of {len(missing)} "
            "items: restore it from a copy, or add these pictures again"
        )
        return
    for number in sorted(missing):
        yield (
            f"item {number}: the copy of its picture is missing: restore it from a copy, or add "
            "the picture again"
        )
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            yield from _check_copy(path)


def _expected(store: Store) -> list[tuple[int, Path]]:
    """Ids of the items that came as bytes, and where the copies of their pictures should be."""
    with store.beside() as (connection, _), lenient(connection):
        rows = connection.execute(f"SELECT {COLUMNS} FROM items WHERE {HAS_COPY}").fetchall()
    items = [to_item(row) for row in rows if is_whole(row)]
    return [(item.id, _place(store, item)) for item in items if came_as_bytes(item)]


def _place(store: Store, item: Item) -> Path:
    return store.folder / COPIES / (item.content or b"").hex()


def _check_copy(path: Path) -> Iterator[str]:
    """What is wrong with one file; a name with a dot before it is that of a half-written one."""
    if path.name.startswith(".") or is_own_copy(path):
        return
    if not COPY.fullmatch(path.name):
        yield f"{COPIES}/{path.name}: no copy of a picture: move it away"
    elif path.exists():  # a writer may have just deleted it
        yield (
            f"{COPIES}/{path.name}: it is damaged: its bytes are not those of its name; add the "
            "picture again, or restore the file from a copy"
        )
