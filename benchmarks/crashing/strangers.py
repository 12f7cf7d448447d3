"""A process of another user, who may read a collection and not write to it."""

import json
import os
import random
from pathlib import Path
from typing import Any, cast

from crashing.world import READER, Pool
from zshash import Collection
from zshash.collection import CollectionError, Found

__all__ = ["NOBODY", "read_as_nobody", "write_for_others"]

NOBODY = 65534


def write_for_others(collection: Collection, pool: Pool, rng: random.Random) -> Any:
    """Change a collection, and tell what others must read from now on."""
    what = rng.choice(("remove", "add", "reencode"))
    if what == "remove":
        collection.remove([5, 6, 7])
    elif what == "add":
        collection.add(pool.X[[1000, 1001]], metadata=[{"number": 1000}, {"number": 1001}])
    else:
        collection.reencode(pool.models[2])
    return seen(collection, pool)


def seen(collection: Collection, pool: Pool) -> Any:
    """What a collection answers: codes of all items, a search and a condition, ready for JSON."""
    return [
        [[item.id, item.code.hex()] for item in collection.items()],
        [[match.id, match.bits] for match in cast(Found, collection.search(pool.X[5], k=10))],
        collection.find("number < 30").tolist(),
    ]


def read_as_nobody(folder: Path, pool: Pool, ask: int, pipe: int) -> None:
    """Read before and after somebody else has written, and tell the second answer."""
    try:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            collection = Collection.open(folder, reader=READER)
            seen(collection, pool)
        finally:
            os.write(pipe, b"\n")
            os.read(ask, 1)
        told = ["told", seen(collection, pool)]
    except CollectionError as error:
        told = ["refused", str(error)]
    except Exception as error:
        told = ["failed", repr(error)]
    os.write(pipe, json.dumps(told).encode())
