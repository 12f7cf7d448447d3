"""The expected state of a collection, from all acknowledged operations."""

import hashlib
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

import zshash
from zshash.collection.storage.rows import content_of
from zshash.images import PictureReader
from zshash.images.extractor import Extractor
from zshash.index import HammingIndex
from zshash.semantics import WordNet

__all__ = [
    "ADDING",
    "BATCH",
    "PICTURE_BATCH",
    "READER",
    "Items",
    "Pool",
    "Row",
    "World",
    "outcomes",
    "rows_of",
    "synced",
]

N_BITS, N_POOL, N_MODELS = 32, 2000, 3
# Pictures in the folder that is followed, those that are added by path, and those as bytes.
N_PHOTOS, N_BY_PATH, N_AS_BYTES = 200, 100, 100
N_RESERVED = 100  # the last features of the pool, which only another process adds
BATCH, PICTURE_BATCH = 64, 4
ADDING = ("features", "codes", "import", "pictures", "files")
PICTURED = ("pictures", "files")
COPIES = "pictures"
SEEN = ["cat", "dog", "truck", "ship"]


class Pixels(Extractor):
    """An extractor whose features are the pixels of pictures of two by two."""

    name, dimension, fingerprint, side = "pixels", 12, "pixels 1", 2

    def prepare(self, image: Image.Image) -> Any:
        """All pixel values of a picture."""
        return np.asarray(image, dtype=np.float32)

    def run(self, batch: Any) -> Any:
        """A row for each picture."""
        return batch.reshape(len(batch), -1)


READER = PictureReader(extractor=Pixels(), cache=False)


class Pool:
    """Material for items: features, pictures of them, and their codes under each model.

    Parameters
    ----------
    folder : Path
        Where models and pictures are written.
    is_named : bool
        Whether the models know the meanings of names.
    """

    def __init__(self, folder: Path, is_named: bool = False) -> None:
        values = np.random.RandomState(0).randint(0, 256, (N_POOL, 12), dtype=np.uint8)
        self.X = values.astype(np.float32)
        self.models = [folder / f"{number}.zshash" for number in range(N_MODELS)]
        self.hashers = [(_zsh if is_named else _lsh)(self.X, own) for own in range(N_MODELS)]
        notes: dict[str, Any] = {"extractor": READER.facts()}
        notes |= {"labels": ["wordnet"], "seen": SEEN} if is_named else {}
        for hasher, path in zip(self.hashers, self.models, strict=True):
            zshash.hashing.save(hasher, path, notes=notes)
        self.codes = [hasher.encode(self.X) for hasher in self.hashers]
        self.checksums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in self.models]
        index = HammingIndex(N_BITS)  # compiled here once, not by every child
        index.add(self.codes[0])
        index.search(self.codes[0][:1], 10)
        index.radius(self.codes[0][:1], 9)
        self.pictures = [_png(row) for row in values[: N_PHOTOS + N_BY_PATH + N_AS_BYTES]]
        self.numbers = {data: number for number, data in enumerate(self.pictures)}
        self.folder = folder / "by path"
        self.folder.mkdir()
        for number in range(N_PHOTOS, N_PHOTOS + N_BY_PATH):
            self.path(number).write_bytes(self.pictures[number])

    def path(self, number: int) -> Path:
        """File of a picture that is added by path."""
        return self.folder / f"{number}.png"


def _lsh(X: Any, seed: int) -> Any:
    return zshash.LSH(n_bits=N_BITS, normalize=False, random_state=seed).fit(X)


def _zsh(X: Any, seed: int) -> Any:
    """A hash function that knows names, trained on categories that depend on the first features."""
    vectors = WordNet(basis=SEEN).embed(SEEN)
    categories = (X[:, 0] > 127) + 2 * (X[:, 1] > 127)
    return zshash.ZSH(n_bits=N_BITS, n_anchors=40, random_state=seed).fit(X, vectors[categories])


def _png(values: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(values.reshape(2, 2, 3)).save(file, "PNG")
    return file.getvalue()


class Row(NamedTuple):
    """The expected state of an item."""

    how: str  # a kind of ADDING, or picture, which is one of the folder that is followed
    number: int  # in the pool
    source: str
    labels: tuple[str, ...] = ()
    metadata: str = "{}"


Items = dict[int, Row]


@dataclass
class World:
    """The expected state of the folder, from all acknowledged operations."""

    folder: Path
    photos: Path
    keeps_features: bool
    is_new: bool = True
    created: bool = False
    model: int = 0
    next_id: int = 0
    formats: int = 0  # how many formats later than the present one
    items: Items = field(default_factory=dict)
    pending: dict[str, Any] | None = None

    def take(self, items: Items, model: int | None = None) -> None:
        """Replace the expected items."""
        self.items = items
        self.model = self.model if model is None else model
        self.next_id = max([self.next_id, *(number + 1 for number in items)])

    def acknowledge(self, record: dict[str, Any], pool: Pool) -> list[str]:
        """Note that the pending operation is done: from now on it must not be lost."""
        pending, kind, before = self.pending, record["done"], self.next_id
        assert pending is not None
        self.created, self.pending = True, None
        if kind == "sync":
            names = {int(number): name for number, name in record["names"].items()}
            items, faults = synced(self, pending["files"], names)
            self.take(items)
            return faults
        self.take(*outcomes(self, pending, pool)[-1])
        if kind in ADDING and record["ids"] != list(range(before, self.next_id)):
            return [f"{kind}: other ids than the next ones"]
        return []


def rows_of(operation: dict[str, Any], world: World, pool: Pool) -> list[Row]:
    """The rows that an operation adds, if none of them is there already."""
    name, how, n = operation["seed"], operation["op"], operation["n"]
    first, last = {
        "pictures": (N_PHOTOS, N_PHOTOS + N_BY_PATH),
        "files": (N_PHOTOS + N_BY_PATH, N_PHOTOS + N_BY_PATH + N_AS_BYTES),
    }.get(how, (0, N_POOL - N_RESERVED))
    numbers = np.random.RandomState(name).randint(first, last, n).tolist()
    labels: list[tuple[str, ...]] = [(), ("cat",), ("dog", "cat")]
    return [
        Row(
            how,
            number,
            _source(how, number, f"{name}/{i}", world, pool),
            labels[i % 3],
            json.dumps({"batch": name, "i": i}),
        )
        for i, number in enumerate(numbers)
    ]


def _source(how: str, number: int, other: str, world: World, pool: Pool) -> str:
    if how == "pictures":
        return str(pool.path(number))
    if how == "files":
        return str(world.folder / COPIES / content_of(pool.pictures[number]).hex())
    return other


def outcomes(world: World, operation: dict[str, Any] | None, pool: Pool) -> list[tuple[Items, int]]:
    """Allowed states of items and model if an operation is cut off; the last is its end."""
    kind, found = operation["op"] if operation else "", [(world.items, world.model)]
    if operation and kind in ADDING:
        rows = rows_of(operation, world, pool)
        found += [(items, world.model) for items in _growing(world, rows)]
    elif operation and kind == "remove":
        gone = set(operation["ids"])
        found.append(({i: row for i, row in world.items.items() if i not in gone}, world.model))
    elif operation and kind == "reencode":
        found.append((world.items, operation["model"]))
    return found


def _growing(world: World, rows: list[Row]) -> list[Items]:
    """All items after each batch of an operation that adds rows."""
    items, found, number = dict(world.items), [], world.next_id
    known = {row[:2] for row in items.values()}
    at_once = PICTURE_BATCH if rows and rows[0].how in PICTURED else BATCH
    for start in range(0, len(rows), at_once):
        for row in rows[start : start + at_once]:
            if row.how in ("codes", "import") or row[:2] not in known:
                items[number], number = row, number + 1
                known.add(row[:2])
        found.append(dict(items))
    return found


def pictures_of(items: Items) -> Items:
    """The items that come from the folder that is followed."""
    return {number: row for number, row in items.items() if row.how == "picture"}


def synced(world: World, files: dict[str, int], names: dict[int, str]) -> tuple[Items, list[str]]:
    """Items after a sync, from the pictures of files and the file names of ids; and faults."""
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
    """Faults of an id: it must be new, or its item must have kept its picture or its name."""
    old = world.items.get(number)
    good = number >= world.next_id if old is None else row[1] == old[1] or row[2] == old[2]
    return [] if good else [f"sync: id {number} was given to something else"]
