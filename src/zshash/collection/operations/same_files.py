"""Files that hold the very bytes of an item's file: whatever its copies, it is stored once.

Their paths are kept beside the item, so that duplicates can be told and cleaned up later.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from zshash.collection.storage.change import Change
from zshash.collection.storage.rows import to_text
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import blobs, items_of

__all__ = ["add_same_files", "put_same_files", "same_files"]


def same_files(store: Store, ids: Sequence[int] | None = None) -> dict[int, list[str]]:
    """Paths of other files with the same bytes, for those of the items that have such files."""
    with store.looking() as connection:
        if not store.catalogue.state().same_files.n:
            return {}
        if ids is None:
            ids = [number for (number,) in connection.execute("SELECT id FROM same_files")]
        found = blobs(connection, store.folder, "same_files", ids)
    return {number: json.loads(value) for number, value in found.items()}


def put_same_files(change: Change, files: Mapping[int, Iterable[str]]) -> None:
    """Store the paths of other files with the same bytes, in place of earlier ones."""
    own = {number: sorted(set(paths)) for number, paths in files.items()}
    change.put("same_files", {n: to_text(paths).encode() for n, paths in own.items() if paths})
    change.forget("same_files", [number for number, paths in own.items() if not paths])


def add_same_files(store: Store, files: Mapping[str, int]) -> None:
    """Note files whose bytes are those of items, given by path; known ones are left out."""
    ids = sorted(set(files.values()))
    if not ids:
        return
    with store.looking() as connection:
        sources = {n: item.source for n, item in items_of(connection, store.folder, ids).items()}
    known = same_files(store, ids)
    new = {
        path: number
        for path, number in files.items()
        if path not in (sources.get(number), *known.get(number, ()))
    }
    if new:
        mine = {number: list(known.get(number, ())) for number in new.values()}
        for path, number in new.items():
            mine[number].append(path)
        with store.changing() as change:
            put_same_files(change, mine)
