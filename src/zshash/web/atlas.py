"""The map of a collection, kept up to date in a thread of its own.

A request gets the last finished map at once. To make a map, the thread first reads codes and labels
from the collection, a few items at a time so that searches get their turn; then it computes without
the collection. Processes that serve one collection share a folder: one of them makes a map, and the
others read it there.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._files import write_whole
from zshash.collection import Collection, CollectionError, Item
from zshash.collection.errors import BusyError
from zshash.collection.storage.files import noted_generation
from zshash.collection.storage.locks import WriterLock
from zshash.web.basis import Basis
from zshash.web.colouring import colour
from zshash.web.layout import Layout
from zshash.web.maps import KEPT, FinishedMap, MapFolder, pack_map
from zshash.web.regions import told

__all__ = ["Atlas", "items_left"]

ITEMS_AT_ONCE = 2000
RETRY_AFTER = 60.0  # seconds after a failure before an unchanged collection is tried again
PAUSE = 0.001  # seconds between reads of items, in which other threads get the collection
PATIENCE = 1.0  # seconds that `close` waits for a computation
GLANCE = 0.2  # seconds after which a thread looks again whether another process has made the map
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
    folder : Path, optional
        Folder that the processes of one server share.

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
    {'label': 'cat', 'seen': False, 'items': 60, 'recognised': False}
    >>> atlas.close(), photos.close(), folder.cleanup()
    (None, None, None)
    """

    def __init__(
        self, collection: Collection, most: int = 100_000, folder: Path | None = None
    ) -> None:
        self._collection, self._most = collection, most
        self._folder = None if folder is None else MapFolder(folder)
        self._changing, self._using = threading.Lock(), threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._made: list[FinishedMap] = []  # the newest first
        self._failure: _Failure | None = None
        self._basis: Basis | None = None

    def facts(self) -> dict[str, Any]:
        """Facts about the map, ready for JSON; starts to make a new map if the last one is old.

        `state` is "computing" while there is no map yet, or "ready", "empty" or "failed". The
        other facts describe the map with this generation and digest.
        """
        with self._changing:
            is_working = self._begin()
            facts = dict(self._made[0].facts) if self._made else dict(NOTHING)
            if is_working and not facts["items"]:
                state = "computing"
            elif self._failure:
                state = "failed"
            else:
                state = "ready" if facts["items"] else "empty"
        return {"state": state, **facts}

    def points(self, generation: int | None = None, digest: str | None = None) -> bytes | None:
        """Ids, places and categories of all items on the map; None if this map is not kept.

        By default those of the newest map. The last two maps are kept.

        Little-endian: uint32 n, uint32 m, float64 id[n], uint16 x[n], uint16 y[n], uint16
        category[n] and m bytes of JSON: what `facts` says about this very map, without `state`. A
        category is an index in the `categories` of these facts, or 65535 for none.
        """
        with self._changing:
            made = list(self._made)
        if generation is not None and self._folder is not None:
            made += self._folder.all()
        for one in made:
            of, content = one.key
            if generation in (None, of) and digest in (None, content):
                return one.points
        return None

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
        is_known = bool(self._made) and self._made[0].key[0] >= generation
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
            made = self._make() if self._folder is None else self._share(self._folder, generation)
        except _ClosedError:
            pass
        except Exception:
            log.exception("the map of %s can not be made", self._collection.path)
            failure = _Failure(generation, time.monotonic())
        with self._changing:
            if made is not None:
                self._made = [made, *self._made][:KEPT]
            self._failure, self._thread = failure, None

    def _share(self, folder: MapFolder, generation: int) -> FinishedMap:
        """The map that another process makes or has made, or one that this process makes."""
        lock = WriterLock(folder.path)
        while not self._is_closed:
            with suppress(BusyError), lock.held():
                made = folder.newest(generation)
                if made is None:
                    made = self._make()
                    folder.put(made)
                return made
            time.sleep(GLANCE)
        raise _ClosedError

    def _make(self) -> FinishedMap:
        with self._reading() as collection:
            view = collection.view()  # stays as it is now when the collection changes
        index, model = view.index, view.model
        ids, labels = self._labels(_sample(index.ids, self._most))
        codes = index.get(ids)
        with self._reading() as collection:
            is_of_one_model = collection.model is model
        if not is_of_one_model:  # an index on a server may have given codes of both models
            return self._make()
        places = self._layout(model.checksum, index.ids, codes, index.n_bits).place(codes)
        coloured = colour(model, labels, codes, places)
        x, y = np.rint(np.float64(65535) * places.T)
        facts = {
            "generation": view.generation,
            "items": len(ids),
            "total": len(index),
            "categories": coloured.categories,
            "regions": told(coloured.regions),
        }
        return pack_map([(ids, "<f8"), (x, "<u2"), (y, "<u2"), (coloured.numbers, "<u2")], facts)

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
        path = None if self._folder is None else self._folder.path / "layout.npz"
        basis = Basis.read(path) if path is not None and path.exists() else self._basis
        if basis is None or basis.layout.n_bits != n_bits or not basis.serves(model, ids):
            newest = int(ids[-1]) if len(ids) else -1
            basis = Basis(Layout(n_bits).fit(codes), model, len(ids), newest)
            if path is not None:
                write_whole(path, basis.to_bytes())
        self._basis = basis
        return basis.layout

    @contextmanager
    def _reading(self) -> Iterator[Collection]:
        """The collection, which is not closed while it is read."""
        with self._using:
            if self._is_closed:
                raise _ClosedError
            yield self._collection


class _ClosedError(Exception):
    """The atlas was closed while it made a map."""


NOTHING: dict[str, Any] = {
    "generation": 0,
    "items": 0,
    "total": 0,
    "categories": [],
    "regions": [],
    "digest": "",
}


@dataclass(frozen=True)
class _Failure:
    generation: int
    time: float

    def lasts(self, generation: int) -> bool:
        """Whether it is too early to try again with the same generation."""
        return generation == self.generation and time.monotonic() < self.time + RETRY_AFTER


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
