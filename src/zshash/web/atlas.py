"""The map of a collection, kept up to date in a thread of its own.

A request gets the last finished map at once. To make a map, the thread first reads codes and labels
from the collection, a few items at a time so that searches get their turn; then it computes without
the collection.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection import Collection, CollectionError, Item
from zshash.collection.storage.files import noted_generation
from zshash.semantics.names import normalise
from zshash.web.layout import Layout, Places

__all__ = ["Atlas", "items_left"]

ITEMS_AT_ONCE = 2000
MOST_CATEGORIES = 500
NO_CATEGORY = 65535
RETRY_AFTER = 60.0  # seconds after a failure before an unchanged collection is tried again
PAUSE = 0.001  # seconds between reads of items, in which other threads get the collection
PATIENCE = 1.0  # seconds that `close` waits for a computation
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio

log = logging.getLogger("zshash.web")
Ids = NDArray[np.int64]


class Atlas:
    """The map of a collection.

    Parameters
    ----------
    collection : Collection
    most : int
        Most items to show; of a larger collection, a part that is spread evenly over the ids.

    Examples
    --------
    >>> import tempfile
    >>> from zshash import LSH
    >>> X = np.random.RandomState(0).randn(100, 32)
    >>> folder = tempfile.TemporaryDirectory()
    >>> hasher = LSH(n_bits=16, random_state=0).fit(X)
    >>> photos = Collection.create(f"{folder.name}/photos.zshash", hasher)
    >>> added = photos.add(X, labels=["cat"] * 60 + ["dog"] * 40)
    >>> atlas = Atlas(photos)
    >>> atlas.facts()["state"], atlas.wait(), atlas.facts()["state"]
    ('computing', True, 'ready')
    >>> atlas.facts()["categories"][0]
    {'label': 'cat', 'seen': False, 'items': 60}
    >>> atlas.close(), photos.close(), folder.cleanup()
    (None, None, None)
    """

    def __init__(self, collection: Collection, most: int = 100_000) -> None:
        self._collection, self._most = collection, most
        self._changing, self._using = threading.Lock(), threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._made: _Map | None = None
        self._failure: _Failure | None = None
        self._base: _Base | None = None

    def facts(self) -> dict[str, Any]:
        """Facts about the map, ready for JSON; starts to make a new map if the last one is old.

        `state` is "computing" while there is no map yet, or "ready", "empty" or "failed". The
        other facts describe the map whose points `points` returns.
        """
        with self._changing:
            is_working = self._begin()
            made = self._made or _Map()
            if is_working and not made.items:
                state = "computing"
            elif self._failure:
                state = "failed"
            else:
                state = "ready" if made.items else "empty"
        return {
            "state": state,
            "items": made.items,
            "total": made.total,
            "generation": made.generation,
            "categories": [dict(category) for category in made.categories],
        }

    def points(self) -> bytes | None:
        """Ids, places and categories of all items on the map; None while there is no map.

        Little-endian: uint32 n, uint32 0, float64 id[n], uint16 x[n], uint16 y[n] and uint16
        category[n]: the index of a category in the `categories` of `facts`, or 65535 for none.
        """
        with self._changing:
            return self._made.points if self._made else None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no map is being made; False if that takes longer than `timeout` seconds."""
        thread = self._thread
        if thread:
            thread.join(timeout)
        return not (thread and thread.is_alive())

    def close(self) -> None:
        """Make no more maps, and do not read the collection any more.

        Waits a moment for a running computation, and then gives it up.
        """
        with self._changing:
            self._is_closed = True
        with self._using:  # wait until the thread has finished reading the collection
            pass
        self.wait(PATIENCE)

    def _begin(self) -> bool:
        """Start to make a map if one is needed; True if one is being made."""
        if self._thread:
            return True
        generation = noted_generation(self._collection.path)
        is_known = self._made is not None and self._made.generation >= generation
        is_hopeless = self._failure is not None and self._failure.lasts(generation)
        if self._is_closed or is_hopeless or (is_known and not self._failure):
            return False
        self._thread = threading.Thread(
            target=self._work, args=[generation], name="zshash-map", daemon=True
        )
        self._thread.start()
        return True

    def _work(self, generation: int) -> None:
        """Make a map, and note it or its failure."""
        made, failure = None, None
        try:
            made = self._make()
        except _ClosedError:
            pass
        except Exception:
            log.exception("the map of %s can not be made", self._collection.path)
            failure = _Failure(generation, time.monotonic())
        with self._changing:
            self._made, self._failure, self._thread = made or self._made, failure, None

    def _make(self) -> "_Map":
        with self._reading() as collection:
            view = collection.view()  # stays as it is now when the collection changes
        index, model = view.index, view.model
        seen = set(map(normalise, model.seen))
        ids, labels = self._labels(_sample(index.ids, self._most))
        codes = index.get(ids)
        with self._reading() as collection:
            is_of_one_model = collection.model is model
        if not is_of_one_model:  # an index on a server may have given codes of both models
            return self._make()
        places = self._layout(model.checksum, index.ids, codes, index.n_bits).place(codes)
        names, numbers, counts = _categories(labels)
        categories = [
            {"label": name, "seen": normalise(name) in seen, "items": count}
            for name, count in zip(names, counts, strict=True)
        ]
        points = _packed(ids, places, numbers)
        return _Map(view.generation, len(ids), len(index), categories, points)

    def _labels(self, ids: Ids) -> tuple[Ids, list[str | None]]:
        """Ids that still have an item, and the first label of each item."""
        items: list[tuple[int, str | None]] = []
        for start in range(0, len(ids), ITEMS_AT_ONCE):
            with self._reading() as collection:
                found = items_left(collection, ids[start : start + ITEMS_AT_ONCE])
            items += [(item.id, item.labels[0] if item.labels else None) for item in found]
            time.sleep(PAUSE)
        return np.array([number for number, _ in items], dtype=np.int64), [
            label for _, label in items
        ]

    def _layout(self, model: str, ids: Ids, codes: NDArray[np.uint8], n_bits: int) -> Layout:
        """The layout of the last map, or a new one if much has changed since."""
        base = self._base
        if base is None or base.layout.n_bits != n_bits or not base.serves(model, ids):
            newest = int(ids[-1]) if len(ids) else -1
            base = self._base = _Base(Layout(n_bits).fit(codes), model, len(ids), newest)
        return base.layout

    @contextmanager
    def _reading(self) -> Iterator[Collection]:
        """The collection, which is not closed while it is read."""
        with self._using:
            if self._is_closed:
                raise _ClosedError
            yield self._collection


class _ClosedError(Exception):
    """The atlas was closed while it made a map."""


@dataclass(frozen=True)
class _Map:
    generation: int = 0
    items: int = 0
    total: int = 0
    categories: Sequence[dict[str, Any]] = ()
    points: bytes = bytes(8)


@dataclass(frozen=True)
class _Failure:
    generation: int
    time: float

    def lasts(self, generation: int) -> bool:
        """Whether it is too early to try again with the same generation."""
        return generation == self.generation and time.monotonic() < self.time + RETRY_AFTER


@dataclass(frozen=True)
class _Base:
    """A layout and the items it was made for: newer items have larger ids than `newest`."""

    layout: Layout
    model: str
    n: int
    newest: int

    def serves(self, model: str, ids: Ids) -> bool:
        """Whether the model is the same and at most a quarter of the items was added or removed."""
        added = len(ids) - int(np.searchsorted(ids, self.newest, side="right"))
        removed = self.n - (len(ids) - added)
        return model == self.model and 4 * (added + removed) <= self.n


def _sample(ids: Ids, most: int) -> Ids:
    """At most `most` of the ids, spread evenly; most of them stay chosen when ids are added.

    The fractional parts of the ids' multiples of the golden ratio are spread evenly. The ids with
    the smallest fractional parts are chosen.
    """
    if len(ids) <= most:
        return ids
    multiples = ids.astype(np.uint64) * GOLDEN
    return np.sort(ids[np.argpartition(multiples, most)[:most]])


def items_left(collection: Collection, ids: Ids) -> list[Item]:
    """Items with these ids, without ids that no item has any more."""
    while True:
        try:
            return collection.items(ids)
        except CollectionError:
            left = ids[np.isin(ids, collection.ids)]
            if len(left) == len(ids):
                raise
            ids = left


def _categories(labels: list[str | None]) -> tuple[list[str], NDArray[np.uint16], list[int]]:
    """The most frequent labels, the index among them for each item, and the count of each label."""
    counts = Counter(label for label in labels if label is not None)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_CATEGORIES]
    number = {label: i for i, (label, _) in enumerate(ordered)}
    numbers = [NO_CATEGORY if label is None else number.get(label, NO_CATEGORY) for label in labels]
    return list(number), np.array(numbers, dtype=np.uint16), [count for _, count in ordered]


def _packed(ids: Ids, places: Places, numbers: NDArray[np.uint16]) -> bytes:
    """Points in the bytes that `Atlas.points` returns."""
    x, y = np.rint(np.float64(65535) * places.T)
    columns = [([len(ids), 0], "<u4"), (ids, "<f8"), (x, "<u2"), (y, "<u2"), (numbers, "<u2")]
    return b"".join(np.asarray(column).astype(kind).tobytes() for column, kind in columns)
