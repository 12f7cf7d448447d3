"""Small albums whose items tell which row of the pool they are, so that any answer can be checked.

The metadata of each item is ``{"number": …, "album": …}``, or the number is the name of its file.
So the right code of every item follows from its number and from the model of the collection.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from crashing.world import COPIES, READER, Pool
from zshash import Collection
from zshash.codes import hamming
from zshash.collection import Found

__all__ = ["columns", "make_album", "model_of", "number_of", "wrong_album", "wrong_items"]

N_QUERIES = 3
Fault = tuple[str, str]


def columns(numbers: Sequence[int], album: str) -> dict[str, Any]:
    """Labels, metadata and sources of items of an album."""
    return {
        "labels": [["cat", "dog"][number % 2] for number in numbers],
        "metadata": [{"number": int(number), "album": album} for number in numbers],
        "sources": [f"/{album}/{number}.png" for number in numbers],
    }


def make_album(
    folder: Path, pool: Pool, numbers: Sequence[int], album: str, model: int = 0
) -> Collection:
    """Make an album of rows of the pool, which keeps their features."""
    collection = Collection.create(folder, pool.models[model], keep_features=True, reader=READER)
    collection.add(pool.X[list(numbers)], **columns(numbers, album))
    return collection


def model_of(collection: Collection, pool: Pool) -> int:
    """Number of the model of a collection."""
    return pool.checksums.index(collection.model.checksum)


def number_of(item: Any) -> int:
    """Number of an item in the pool."""
    known = item.metadata.get("number")
    return int(Path(item.source).stem if known is None else known)


def wrong_items(items: Sequence[Any], pool: Pool, model: int) -> list[Fault]:
    """Items whose code is not that of their number under a model."""
    return [
        ("a wrong code", f"item {item.id}: not the code of its features")
        for item in items
        if item.code != pool.codes[model][number_of(item)].tobytes()
    ]


def wrong_album(
    folder: Path, pool: Pool, must: Iterable[int] = (), gone: Iterable[int] = ()
) -> list[Fault]:
    """Everything that is wrong with an album, which must hold some items and lack others."""
    try:
        with Collection.open(folder, reader=READER) as collection:
            return _wrong(collection, pool, set(must), set(gone))
    except Exception as error:  # none is right here
        return [("it can not be used", repr(error))]


def _wrong(collection: Collection, pool: Pool, must: set[int], gone: set[int]) -> list[Fault]:
    items, model = collection.items(), model_of(collection, pool)
    there = {number_of(item) for item in items}
    faults = wrong_items(items, pool, model)
    if lost := must - there:
        faults.append(("acknowledged items are lost", f"{len(lost)}: {sorted(lost)[:5]}"))
    if back := gone & there:
        faults.append(("removed items are there", f"{len(back)}: {sorted(back)[:5]}"))
    faults += _wrong_pictures(collection, items, pool)
    faults += _wrong_searches(collection, items, pool, model)
    faults += [("verify", problem) for problem in collection.verify()]
    with collection._store.writing():  # raises if somebody is locked out
        pass
    return faults


def _wrong_pictures(collection: Collection, items: Sequence[Any], pool: Pool) -> list[Fault]:
    """Copies in the folder of the collection that are not the pictures that were added."""
    faults = []
    for item in items:
        if Path(item.source or "").parent.name == COPIES:
            path = collection.picture(item.id)
            number = number_of(item)
            if not path or not path.is_file() or path.read_bytes() != pool.pictures[number]:
                faults.append(("a wrong picture", f"item {item.id}"))
    return faults


def _wrong_searches(
    collection: Collection, items: Sequence[Any], pool: Pool, model: int
) -> list[Fault]:
    queries = pool.codes[model][:N_QUERIES]
    ids = np.array([item.id for item in items], dtype=np.int64)
    width = queries.shape[1]
    codes = np.frombuffer(b"".join(item.code for item in items), np.uint8).reshape(-1, width)
    faults, answers = [], cast(list[Found], collection.search(code=queries))
    for row, found in zip(hamming(queries, codes), answers, strict=True):
        order = np.lexsort((ids, row))[: len(found)]
        right = list(zip(ids[order].tolist(), row[order].tolist(), strict=True))
        if [(match.id, match.bits) for match in found] != right or len(found) < min(20, len(ids)):
            faults.append(("a wrong search", "other items than NumPy"))
    return faults
