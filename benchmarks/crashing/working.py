"""The child that is killed: random operations, each announced before and acknowledged after."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crashing.world import BATCH, N_MODELS, N_PICTURES, READER, Pool, Row, World, rows_of
from zshash import Collection
from zshash.collection import adding, store

__all__ = ["work"]

PICTURE_BATCH, MOST_ITEMS = 4, 1500


def work(world: World, pool: Pool, seed: int, target: str, say: Callable[..., None]) -> None:
    """Random operations, the target among the first of them, each announced and acknowledged."""
    adding.FEATURES_AT_ONCE = adding.CODES_AT_ONCE = BATCH
    adding.PICTURES_AT_ONCE, store.LEAST_TAIL = PICTURE_BATCH, 2 * BATCH
    rng = np.random.RandomState(seed)
    if not world.created:
        say(op="create")
        Collection.create(
            world.folder, pool.models[0], keep_features=world.keeps_features, thumbnails=16
        ).close()
        say(done="create")
    say(op="open")
    collection = Collection.open(world.folder, reader=READER)
    say(done="open")
    # The log is copied into the catalogue after every few pages, not after a thousand.
    collection._store.catalogue.connection.execute("PRAGMA wal_autocheckpoint = 16")
    for kind in plan(world, target, rng):
        operate(collection, world, pool, kind, rng, say)
    say(op="close")
    collection.close()
    say(done="close")


def plan(world: World, target: str, rng: Any) -> Iterator[str]:
    """Kinds of operations in a random order, the target twice among them."""
    kinds = ["add"] * 5 + ["remove"] * 2 + ["compact", "sync"]
    kinds += ["reencode"] * world.keeps_features
    for _ in range(2):
        yield from map(str, rng.choice(kinds, rng.randint(3)))
        if target in kinds:
            yield target
    yield from map(str, rng.choice(kinds, rng.randint(3)))


def operate(
    collection: Collection, world: World, pool: Pool, kind: str, rng: Any, say: Callable[..., None]
) -> None:
    """One operation, announced before and acknowledged after."""
    if kind == "add":
        how = "features" if world.keeps_features else str(rng.choice(["codes", "features"]))
        operation = {"how": how, "n": int(rng.randint(1, 300)), "seed": int(rng.randint(2**31))}
        say(op=kind, **operation)
        ids = add(collection, pool, rows_of(operation), how)
        say(done=kind, ids=ids)
    elif kind == "remove":
        present = collection.ids
        least = max(0, len(present) - MOST_ITEMS)
        n = min(len(present), least + int(rng.randint(1, 60)))
        chosen = sorted(map(int, rng.choice(present, n, replace=False))) if n else []
        say(op=kind, ids=chosen)
        collection.remove(chosen)
        say(done=kind)
    elif kind == "compact":
        say(op=kind)
        collection.compact()
        say(done=kind)
    elif kind == "sync":
        change_folder(world.photos, pool, rng)
        say(op=kind, files=files_of(world.photos, pool))
        collection.sync(world.photos)
        items = collection.items(collection.ids)
        names = {item.id: Path(item.source or "").name for item in items if in_folder(item, world)}
        say(done=kind, names=names)
    else:
        model = int(rng.randint(N_MODELS))
        say(op=kind, model=model)
        collection.reencode(pool.models[model])
        say(done=kind)


def add(collection: Collection, pool: Pool, rows: list[Row], how: str) -> list[int]:
    """Add rows as codes or as features; their ids."""
    numbers = [row.number for row in rows]
    known: Any = {
        "sources": [row.source for row in rows],
        "labels": [row.labels for row in rows],
        "metadata": [json.loads(row.metadata) for row in rows],
    }
    if how == "codes":
        added = collection.add_codes(pool.codes[0][numbers], **known)
    else:
        added = collection.add(pool.X[numbers], **known)
    return [int(number) for number in added.ids]


def change_folder(photos: Path, pool: Pool, rng: Any) -> None:
    """Add, replace, move and delete some files, each whole."""
    for _ in range(rng.randint(1, 12)):
        files = files_of(photos, pool)
        number = int(rng.choice(sorted(set(range(N_PICTURES)) - set(files.values()))))
        old = photos / str(rng.choice(sorted(files))) if files else None
        new = photos / f"{rng.randint(10**6)}.png"
        what = rng.randint(4)
        if old and what == 0 and len(files) > 1:
            old.unlink()
        elif old and what == 1:
            old.rename(new)
        elif old is None or what == 2 or len(files) < 20:
            put_picture(new, pool.pictures[number])
        else:
            put_picture(old, pool.pictures[number])


def put_picture(path: Path, data: bytes) -> None:
    """Write a picture whole, from outside the folder."""
    temporary = path.parent.with_name("picture")
    temporary.write_bytes(data)
    temporary.replace(path)


def files_of(photos: Path, pool: Pool) -> dict[str, int]:
    """Names of the files, and which picture each one holds."""
    return {path.name: pool.numbers[path.read_bytes()] for path in sorted(photos.iterdir())}


def in_folder(item: Any, world: World) -> bool:
    """Whether an item comes from the folder that is followed."""
    return bool(item.source) and Path(item.source).parent == world.photos
