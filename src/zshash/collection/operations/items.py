"""Items by their ids: read from the catalogue and checked against the index."""

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.collection.errors import CollectionError, DamagedError
from zshash.collection.storage.rows import Ids, Item
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import (
    blobs,
    checksums,
    heads,
    items_of,
    whole_rows_of,
)

__all__ = [
    "check_ids",
    "check_known",
    "check_removable",
    "items",
    "pictured",
    "sizes",
    "thumbnail",
    "thumbnails",
]


def check_ids(ids: ArrayLike) -> Ids:
    """Ids as an array of int64."""
    array = np.atleast_1d(np.asarray(ids))
    is_good = array.ndim == 1 and (array.dtype.kind in "iu" or not array.size)
    if not is_good or (array.size and array.max() > np.iinfo(np.int64).max):
        raise CollectionError("ids are whole numbers, as `Collection.ids` gives them")
    return array.astype(np.int64)


def check_known(store: Store, ids: Ids, what: str = "") -> None:
    """Refuse ids that no item has; `what` is added to the message."""
    unknown = _unknown(store, ids)
    if len(unknown):
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        raise CollectionError(f"{store.folder}: there is no item {unknown[0]}{more}{what}")


def _unknown(store: Store, ids: Ids) -> Ids:
    """Those of the given ids that no item has."""
    with store.looking() as connection:
        there = checksums(connection, "items", ids.tolist()) if store.is_shared else None
    known = list(there) if there is not None else store.mirror.index.ids
    return ids[~np.isin(ids, known)]


def items(store: Store, ids: Sequence[int]) -> list[Item]:
    """Items with the given ids; each must be undamaged and have the code that the index has."""
    with store.looking() as connection:
        found = items_of(connection, store.folder, sorted(set(ids)))
    absent = next((number for number in ids if number not in found), None)
    wrong = store.mirror.check(ids, (found[n].code if n in found else None for n in ids))
    if absent is not None or wrong is not None:
        raise DamagedError(
            f"{store.folder}: item {wrong if absent is None else absent} differs between the "
            "catalogue and the index: zshash verify lists all that is wrong; restore the folder "
            "from a copy"
        )
    return [found[number] for number in ids]


def pictured(store: Store, state: State, ids: Sequence[int]) -> set[int]:
    """Those of the given ids whose items have a thumbnail; most often all or none."""
    if state.thumbnails.n in (0, state.items.n):
        return set(ids) if state.thumbnails.n else set()
    statement = "SELECT id FROM thumbnails WHERE id IN (SELECT value FROM json_each(?))"
    with store.looking() as connection:
        return {number for (number,) in connection.execute(statement, [json.dumps(list(ids))])}


def thumbnails(store: Store, ids: Sequence[int]) -> dict[int, bytes]:
    """Thumbnails of those of the given items that have one, by id."""
    with store.reading(), store.looking() as connection:
        return blobs(connection, store.folder, "thumbnails", ids)


def thumbnail(store: Store, number: int) -> bytes | None:
    """Thumbnail of an item, or None."""
    with store.looking() as connection:
        return blobs(connection, store.folder, "thumbnails", [number]).get(number)


def sizes(store: Store, wanted: Sequence[Item]) -> dict[int, tuple[int, int]]:
    """Width and height of the pictures of items as they are seen, by id, where they are known.

    They are told by the metadata, or else by the thumbnail, which may have fewer pixels.
    """
    known = {item.id: item.seen_size for item in wanted}
    unknown = [number for number, size in known.items() if size is None]
    if unknown:
        from zshash.images.thumbnails import HEAD, size_of

        with store.reading(), store.looking() as connection:
            small = heads(connection, "thumbnails", unknown, HEAD)
        known |= {number: size_of(head) for number, head in small.items()}
    return {number: size for number, size in known.items() if size is not None}


def _are_damaged(store: Store, ids: Ids) -> NDArray[np.bool_]:
    """Which ids are those of damaged rows; the damage may be in the id itself."""
    with store.looking() as connection:
        there = checksums(connection, "items", ids.tolist())
        whole = whole_rows_of(connection, list(there))
    return np.isin(ids, [number for number in there if number not in whole])


def check_removable(store: Store, ids: Ids) -> None:
    """Refuse ids that no item has, not even a damaged one."""
    unknown = _unknown(store, ids)
    strange = unknown[~_are_damaged(store, unknown)] if len(unknown) else unknown
    check_known(store, strange, ", so nothing was removed")
