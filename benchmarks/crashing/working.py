"""The process that is attacked: random operations, each announced before, acknowledged after."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crashing.world import (
    ADDING,
    BATCH,
    N_BITS,
    N_MODELS,
    N_PHOTOS,
    PICTURE_BATCH,
    READER,
    Pool,
    Row,
    World,
    rows_of,
)
from zshash import Collection
from zshash.collection.exchange.batches import Batch, Header
from zshash.collection.exchange.exchange import export_codes, import_codes
from zshash.collection.exchange.numpy_files import write_npz
from zshash.collection.operations import adding
from zshash.collection.storage import catalogue, store

__all__ = ["Say", "kinds_for", "operate", "small_steps", "use_format", "work", "write_codes"]

MOST_ITEMS = 1500
FORMAT = catalogue.FORMAT_VERSION
Say = Callable[..., None]


def small_steps() -> None:
    """Make batches and snapshots small, so that there are many."""
    adding.FEATURES_AT_ONCE = adding.CODES_AT_ONCE = BATCH
    adding.PICTURES_AT_ONCE, store.LEAST_TAIL = PICTURE_BATCH, 2 * BATCH


def use_format(formats: int) -> None:
    """Let this process have a later format, whose migration rewrites every row."""

    def migrate(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE moved AS SELECT * FROM items")
        connection.execute("UPDATE items SET mtime_ns = mtime_ns, labels = labels")
        connection.execute("DROP TABLE moved")

    for module in (catalogue, store):
        vars(module)["FORMAT_VERSION"] = FORMAT + formats
    catalogue.MIGRATIONS.update({FORMAT + own: migrate for own in range(formats)})


def work(world: World, pool: Pool, seed: int, target: str, say: Say) -> None:
    """Do random operations, the target among the first; announce and acknowledge each."""
    small_steps()
    use_format(world.formats)
    rng = np.random.RandomState(seed)
    if not world.created:
        say(op="create")
        create(world, pool).close()
        say(done="create")
    kind = "migrate" if target == "migrate" else "open"
    say(op=kind)
    collection = Collection.open(world.folder, reader=READER)
    say(done=kind)
    # The log is copied into the catalogue after every few pages, not after a thousand.
    collection._store.catalogue.connection.execute("PRAGMA wal_autocheckpoint = 16")
    for kind in plan(world, target, rng):
        operate(collection, world, pool, kind, rng, say)
    say(op="close")
    collection.close()
    say(done="close")


def create(world: World, pool: Pool) -> Collection:
    """Make the collection of a world."""
    keeps = world.keeps_features
    model = pool.models[0]
    return Collection.create(world.folder, model, keep_features=keeps, thumbnails=16, reader=READER)


def kinds_for(world: World) -> list[str]:
    """Operations that change a collection: codes alone can not be encoded again."""
    kinds = ["features", "pictures", "files", "remove", "compact", "sync", "export"]
    return kinds + (["reencode"] if world.keeps_features else ["codes", "import"])


def plan(world: World, target: str, rng: Any) -> Iterator[str]:
    """Kinds of operations in a random order, the target twice among them."""
    kinds = kinds_for(world)
    likely = [*kinds, "features", "features", "remove"]
    for _ in range(2):
        yield from map(str, rng.choice(likely, rng.randint(3)))
        if target in kinds:
            yield target
    yield from map(str, rng.choice(likely, rng.randint(3)))


def operate(
    collection: Collection, world: World, pool: Pool, kind: str, rng: Any, say: Say
) -> None:
    """Do one operation; announce it before, and acknowledge it after."""
    if kind in ADDING:
        _add_some(collection, world, pool, kind, rng, say)
    elif kind == "remove":
        chosen = _chosen(collection, rng)
        say(op=kind, ids=chosen)
        collection.remove(chosen)
        say(done=kind)
    elif kind == "compact":
        say(op=kind)
        collection.compact()
        say(done=kind)
    elif kind == "export":
        path = exported(world)
        path.unlink(missing_ok=True)
        say(op=kind)
        export_codes(collection, path)
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


def exported(world: World) -> Path:
    """File that `export` writes."""
    return world.folder.with_name("exported.npz")


def _chosen(collection: Collection, rng: Any) -> list[int]:
    """Ids of some items, more of them if there are many."""
    present = collection.ids
    least = max(0, len(present) - MOST_ITEMS)
    n = min(len(present), least + int(rng.randint(1, 60)))
    return sorted(map(int, rng.choice(present, n, replace=False))) if n else []


def _add_some(
    collection: Collection, world: World, pool: Pool, kind: str, rng: Any, say: Say
) -> None:
    most = 300 if kind not in ("pictures", "files") else 12
    operation = {"op": kind, "n": int(rng.randint(1, most)), "seed": int(rng.randint(2**31))}
    rows = rows_of(operation, world, pool)
    path = world.folder.with_name("import.npz")
    if kind == "import":
        write_codes(path, pool, rows, world.model)
    say(**operation)
    ids = add(collection, pool, rows, path)
    say(done=kind, ids=ids)


def write_codes(path: Path, pool: Pool, rows: list[Row], model: int) -> None:
    """Write codes of rows by a model to a file, as an export of another collection would be."""
    batch = Batch(
        pool.codes[model][[row.number for row in rows]],
        np.arange(len(rows), dtype=np.int64),
        [row.source for row in rows],
        [list(row.labels) for row in rows],
        [json.loads(row.metadata) for row in rows],
        [None for _ in rows],
    )
    write_npz(path, [batch], Header(N_BITS, pool.checksums[model]))


def add(collection: Collection, pool: Pool, rows: list[Row], path: Path) -> list[int]:
    """Add rows, all in the same way; returns the ids of the new items."""
    how, numbers = rows[0].how, [row.number for row in rows]
    known: Any = {
        "labels": [row.labels for row in rows],
        "metadata": [json.loads(row.metadata) for row in rows],
    }
    sources = [row.source for row in rows]
    if how == "import":
        added = import_codes(collection, path)
    elif how == "codes":
        added = collection.add_codes(pool.codes[0][numbers], sources=sources, **known)
    elif how == "files":
        added = collection.add_files([pool.pictures[number] for number in numbers], **known)
    elif how == "pictures":
        added = collection.add([pool.path(number) for number in numbers], **known)
    else:
        added = collection.add(pool.X[numbers], sources=sources, **known)
    return [int(number) for number in added.ids]


def change_folder(photos: Path, pool: Pool, rng: Any) -> None:
    """Add, replace, move and delete some files, each in one step."""
    for _ in range(rng.randint(1, 12)):
        files = files_of(photos, pool)
        number = int(rng.choice(sorted(set(range(N_PHOTOS)) - set(files.values()))))
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
    """Write a picture in one step, by moving it into the folder."""
    temporary = path.parent.with_name("picture")
    temporary.write_bytes(data)
    temporary.replace(path)


def files_of(photos: Path, pool: Pool) -> dict[str, int]:
    """Names of the files, each with the number of its picture."""
    return {path.name: pool.numbers[path.read_bytes()] for path in sorted(photos.iterdir())}


def in_folder(item: Any, world: World) -> bool:
    """Whether an item comes from the folder that is followed."""
    return bool(item.source) and Path(item.source).parent == world.photos
