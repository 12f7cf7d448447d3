"""What must be in a collection, by all that was acknowledged."""

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

import zshash
from zshash.images import PictureReader
from zshash.images.extractor import Extractor
from zshash.index import HammingIndex

__all__ = ["BATCH", "READER", "Items", "Pool", "Row", "World", "outcomes", "rows_of", "synced"]

N_BITS, N_POOL, N_MODELS, N_PICTURES = 32, 2000, 3, 200
BATCH = 64


class Pixels(Extractor):
    """The pixels themselves of pictures of two by two."""

    name, dimension, fingerprint, side = "pixels", 12, "pixels 1", 2

    def prepare(self, image: Image.Image) -> Any:
        """All values of a picture."""
        return np.asarray(image, dtype=np.float32)

    def run(self, batch: Any) -> Any:
        """A row for each picture."""
        return batch.reshape(len(batch), -1)


READER = PictureReader(extractor=Pixels(), cache=False)


class Pool:
    """What items are made of: features, pictures of them, and their codes under each model."""

    def __init__(self, folder: Path) -> None:
        values = np.random.RandomState(0).randint(0, 256, (N_POOL, 12), dtype=np.uint8)
        self.X = values.astype(np.float32)
        self.models = [folder / f"{number}.zshash" for number in range(N_MODELS)]
        self.codes = []
        for number, path in enumerate(self.models):
            hasher = zshash.LSH(n_bits=N_BITS, random_state=number).fit(self.X)
            zshash.save(hasher, path, notes={"extractor": READER.facts()})
            self.codes.append(hasher.encode(self.X))
        index = HammingIndex(N_BITS)  # compiled here once, not by every child
        index.add(self.codes[0])
        index.search(self.codes[0][:1], 10)
        index.radius(self.codes[0][:1], 9)
        self.pictures = [_png(row) for row in values[:N_PICTURES]]
        self.numbers = {data: number for number, data in enumerate(self.pictures)}


def _png(values: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(values.reshape(2, 2, 3)).save(file, "PNG")
    return file.getvalue()


class Row(NamedTuple):
    """What an item must be."""

    how: str  # codes, features or picture
    number: int  # in the pool
    source: str
    labels: tuple[str, ...] = ()
    metadata: str = "{}"


Items = dict[int, Row]


@dataclass
class World:
    """What must be in the folder, by all that was acknowledged."""

    folder: Path
    photos: Path
    keeps_features: bool
    is_new: bool = True
    created: bool = False
    model: int = 0
    next_id: int = 0
    items: Items = field(default_factory=dict)
    pending: dict[str, Any] | None = None

    def take(self, items: Items, model: int | None = None) -> None:
        """Items as they are now."""
        self.items = items
        self.model = self.model if model is None else model
        self.next_id = max([self.next_id, *(number + 1 for number in items)])


def rows_of(operation: dict[str, Any]) -> list[Row]:
    """The things that an `add` is given."""
    name, how = operation["seed"], operation["how"]
    numbers = np.random.RandomState(name).randint(0, N_POOL, operation["n"])
    labels: list[tuple[str, ...]] = [(), ("cat",), ("dog", "cat")]
    return [
        Row(how, int(number), f"{name}/{i}", labels[i % 3], json.dumps({"batch": name, "i": i}))
        for i, number in enumerate(numbers)
    ]


def outcomes(world: World, operation: dict[str, Any] | None) -> list[tuple[Items, int]]:
    """Items and model after an operation, last, and as they may be if it was cut off."""
    kind, found = operation["op"] if operation else "", [(world.items, world.model)]
    if operation and kind == "add":
        items, rows = dict(world.items), rows_of(operation)
        known = {row.number for row in items.values() if row.how == "features"}
        number = world.next_id
        for start in range(0, len(rows), BATCH):
            for row in rows[start : start + BATCH]:
                if row.how == "codes" or row.number not in known:
                    items[number], number = row, number + 1
                    known |= {row.number} if row.how == "features" else set()
            found.append((dict(items), world.model))
    elif operation and kind == "remove":
        gone = set(operation["ids"])
        found.append(({i: row for i, row in world.items.items() if i not in gone}, world.model))
    elif operation and kind == "reencode":
        found.append((world.items, operation["model"]))
    return found


def pictures_of(items: Items) -> Items:
    """Those of the items that come from pictures."""
    return {number: row for number, row in items.items() if row.how == "picture"}


def synced(world: World, files: dict[str, int], names: dict[int, str]) -> tuple[Items, list[str]]:
    """Items after the folder was followed, if they are those that have these names, and faults."""
    before, faults = pictures_of(world.items), []
    if sorted(names.values()) != sorted(files):
        faults.append(f"sync: {len(names)} items for {len(files)} files")
    items = {number: row for number, row in world.items.items() if row.how != "picture"}
    for number, name in names.items():
        items[number] = Row("picture", files.get(name, -1), str(world.photos / name))
        faults += wrong_id(world, number, items[number])
    kept = set(files.values())
    for number, row in before.items():
        if row.number in kept and items.get(number, row).number != row.number:
            faults.append(f"sync: item {number} lost its picture, which is still there")
    return items, faults


def wrong_id(world: World, number: int, row: Row) -> list[str]:
    """An id is new, or its item has kept its picture or its name."""
    old = world.items.get(number)
    good = number >= world.next_id if old is None else row[1] == old[1] or row[2] == old[2]
    return [] if good else [f"sync: id {number} was given to something else"]
