"""Finding items: by code, by picture, by condition; what is given out is checked first."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.collection.errors import DAMAGED, CollectionError, DamagedError
from zshash.collection.rows import Ids, Item, Match, to_item
from zshash.collection.store import Store
from zshash.collection.tables import blobs, rows_of
from zshash.collection.where import metadata_fields, parse
from zshash.datasets import Dataset, Pictures
from zshash.index import HammingIndex

__all__ = ["code_of_query", "find", "items", "nearest", "thumbnail", "within"]

QUERY = "give the path or the bytes of a picture, its pixels (uint8), or features (d,)"


def check_ids(ids: ArrayLike) -> Ids:
    """Ids as an array of int64."""
    array = np.atleast_1d(np.asarray(ids))
    is_good = array.ndim == 1 and (array.dtype.kind in "iu" or not array.size)
    if not is_good or (array.size and array.max() > np.iinfo(np.int64).max):
        raise CollectionError("ids are whole numbers, as `Collection.ids` gives them")
    return array.astype(np.int64)


def check_known(store: Store, ids: Ids, what: str = "") -> None:
    """Refuse ids that nothing has; `what` is added to the message."""
    unknown = ids[~np.isin(ids, store.mirror.index.ids)]
    if len(unknown):
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        raise CollectionError(f"{store.folder}: there is no item {unknown[0]}{more}{what}")


def items(store: Store, ids: Sequence[int]) -> list[Item]:
    """The items under ids that the index has: each as it was written, with the code searched."""
    with store.catalogue.reading() as connection:
        rows = rows_of(connection, store.folder, sorted(set(ids)))
    for number, code in zip(ids, store.mirror.codes(ids), strict=True):
        if number not in rows or rows[number].code != code:
            raise DamagedError(
                f"{store.folder}: item {number} is not in the catalogue as it is in the index: "
                "zshash verify lists all that is wrong; restore it from a copy"
            )
    made = {number: to_item(row) for number, row in rows.items()}
    return [made[number] for number in ids]


def find(store: Store, where: str) -> Ids:
    """Ids of the items that meet a condition, in their order."""
    condition = parse(where)
    with store.catalogue.reading() as connection:
        try:
            found = connection.execute(
                f"SELECT id FROM items WHERE {condition.sql} ORDER BY id", condition.parameters
            ).fetchall()
        except sqlite3.OperationalError as error:
            if (error.sqlite_errorcode & 0xFF) != sqlite3.SQLITE_ERROR:
                raise
            if "malformed JSON" in str(error):
                raise DamagedError(
                    f"{store.folder}: {DAMAGED} (labels or metadata of an item are no JSON)"
                ) from error
            raise CollectionError(
                f"{store.folder}: the condition {where!r} can not be used ({error})"
            ) from error
    return np.array([row[0] for row in found], dtype=np.int64)


def unknown_fields(store: Store, where: str) -> list[str]:
    """Which keys of metadata a condition names that no item has."""
    with store.catalogue.reading() as connection:
        return [
            name
            for name, there in metadata_fields(where).items()
            if not connection.execute(
                f"SELECT 1 FROM items WHERE {there.sql} LIMIT 1", there.parameters
            ).fetchone()
        ]


def searched(store: Store, where: str | None) -> HammingIndex:
    """The index of all items, or of those that meet a condition."""
    index = store.mirror.index
    if where is None:
        return index
    ids = find(store, where)
    try:
        return index.subset(ids)
    except ValueError as error:
        raise DamagedError(
            f"{store.folder}: the catalogue has items that its index has not"
        ) from error


def nearest(store: Store, codes: NDArray[np.uint8], k: int, where: str | None) -> list[list[Match]]:
    """The `k` nearest items of each code."""
    distances, ids = searched(store, where).search(codes, k)
    return matches(store, distances.tolist(), ids.tolist())


def within(store: Store, codes: NDArray[np.uint8], r: int, where: str | None) -> list[list[Match]]:
    """The items within a radius of each code."""
    limits, distances, ids = searched(store, where).radius(codes, r)
    parts = list(zip(limits[:-1].tolist(), limits[1:].tolist(), strict=True))
    return matches(
        store,
        [distances[start:stop].tolist() for start, stop in parts],
        [ids[start:stop].tolist() for start, stop in parts],
    )


def matches(
    store: Store, distances: Sequence[Sequence[float]], ids: Sequence[Sequence[int]]
) -> list[list[Match]]:
    """Items with their distances, a list for each query."""
    wanted = sorted({number for own in ids for number in own})
    found = dict(zip(wanted, items(store, wanted), strict=True))
    return [
        [Match(found[number], distance) for distance, number in zip(far, own, strict=True)]
        for far, own in zip(distances, ids, strict=True)
    ]


def thumbnail(store: Store, number: int) -> bytes | None:
    """The small picture of an item, if it has one."""
    with store.catalogue.reading() as connection:
        return blobs(connection, store.folder, "thumbnails", [number]).get(number)


def code_of_query(store: Store, query: Any) -> NDArray[np.uint8]:
    """The code (1, bytes) of a picture or of features."""
    data: Dataset | Pictures
    if isinstance(query, str | os.PathLike):
        data = Pictures((Path(query),))
    elif isinstance(query, bytes) or (isinstance(query, np.ndarray) and query.dtype == np.uint8):
        data = Pictures(_pixels(store, query)[None])
    else:
        data = Dataset(_features(query))
    source = os.fspath(query) if isinstance(query, str | os.PathLike) else "the query"
    return store.encoder.encode(store.encoder.features(data, source))


def _pixels(store: Store, query: bytes | NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pixels as the network would get them from a file."""
    from zshash.images.decoding import decode

    reader = store.encoder.picture_reader
    return np.asarray(decode(query, reader.limits, reader.network.side))


def _features(query: Any) -> NDArray[np.float32]:
    try:
        features = np.asarray(query, dtype=np.float32)
    except (TypeError, ValueError):
        raise TypeError(f"{type(query).__name__} can not be searched for: {QUERY}") from None
    if features.ndim != 1:
        raise ValueError(f"an array of shape {features.shape} can not be searched for: {QUERY}")
    return features[None]
