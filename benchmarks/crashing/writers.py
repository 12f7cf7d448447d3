"""A process that writes to an album and keeps account of what was acknowledged."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from crashing.albums import columns
from crashing.working import write_codes
from crashing.world import N_PHOTOS, READER, Pool, Row
from zshash import Collection
from zshash.collection import CollectionError
from zshash.collection.errors import DamagedError
from zshash.collection.exchange import exchange
from zshash.collection.storage.rows import to_text
from zshash.datasets import DataError

__all__ = ["Account", "Writer", "read_slowly"]

AT_ONCE, SLOW = 5, 0.03
Account = dict[str, list[tuple[int, float, float]]]


def read_slowly(seed: int) -> None:
    """Let this process take up to 30 ms to read a file of codes, as it does for a large one."""
    rng = random.Random(seed)

    def slowed(read: Callable[..., Any]) -> Callable[..., Any]:
        def slow(*given: Any, **more: Any) -> Iterator[Any]:
            batches = list(read(*given, **more))
            time.sleep(rng.uniform(0, SLOW))
            yield from batches

        return slow

    for suffix, read in list(exchange.READERS.items()):
        exchange.READERS[suffix] = slowed(read)


class Writer:
    """Random writes to an album; `added` and `removed` hold numbers, and when each was written.

    Parameters
    ----------
    folder : Path
        Folder of the album.
    pool : Pool
    place : int
        Which writer this is: each has numbers of its own, 0 to 3.
    seed : int
    verbs : tuple of str
        Names of the methods to choose from.
    """

    def __init__(
        self, folder: Path, pool: Pool, place: int, seed: int, verbs: tuple[str, ...]
    ) -> None:
        self.folder, self.pool, self.place, self.verbs = folder, pool, place, verbs
        self.rng = random.Random(seed)
        first = 400 + 300 * place
        self.features = list(range(first, first + 300))
        self.by_path = list(range(N_PHOTOS + 25 * place, N_PHOTOS + 25 * place + 25))
        self.as_bytes = list(range(300 + 25 * place, 325 + 25 * place))
        self.there: set[int] = set()  # acknowledged, and nobody has tried to remove it
        self.account: Account = {"added": [], "removed": [], "tried": []}
        self.done: Counter[str] = Counter()
        self.unclear: list[str] = []

    def work(self, collection: Collection, goes_on: Callable[[], bool]) -> None:
        """Write as long as `goes_on` says so; refusals are counted, and other errors kept."""
        while goes_on():
            verb = self.rng.choice(self.verbs)
            try:
                getattr(self, verb)(collection)
                self.done[verb] += 1
            except Exception as error:
                is_clear = isinstance(error, CollectionError | DataError)
                self.done["refused" if is_clear else "failed"] += 1
                if not is_clear or isinstance(error, DamagedError):
                    self.unclear.append(f"{verb}: {error!r}")
                time.sleep(0.002)

    def add(self, collection: Collection) -> None:
        """Add features of some numbers."""
        numbers = self._free(self.features)
        self._added(numbers, lambda: collection.add(self.pool.X[numbers], **self._known(numbers)))

    def add_files(self, collection: Collection) -> None:
        """Add pictures as bytes."""
        numbers = self._free(self.as_bytes)
        files = [self.pool.pictures[number] for number in numbers]
        known = self._known(numbers)
        del known["sources"]
        self._added(numbers, lambda: collection.add_files(files, **known))

    def imports(self, collection: Collection) -> None:
        """Import codes that one of the first two models has made, as the file says."""
        numbers = self._free(self.by_path)
        path = self.folder.with_name(f"import {self.place}.npz")
        known = self._known(numbers)
        rows = [
            Row("import", number, str(self.pool.path(number)), (label,), to_text(facts))
            for number, label, facts in zip(
                numbers, known["labels"], known["metadata"], strict=True
            )
        ]
        write_codes(path, self.pool, rows, self.rng.randrange(2))
        self._added(numbers, lambda: exchange.import_codes(collection, path))

    def remove(self, collection: Collection) -> None:
        """Remove some items that this writer has added."""
        numbers = self.rng.sample(sorted(self.there), min(AT_ONCE, len(self.there)))
        marks = ", ".join(map(str, numbers)) or "-1"
        began = time.monotonic()
        ids = collection.find(f"number in ({marks})")
        self.there -= set(numbers)
        self._note("tried", numbers, began)
        collection.remove(ids)
        self._note("removed", numbers, began)

    def reencode(self, collection: Collection) -> None:
        """Change to one of the first two models."""
        collection.reencode(self.pool.models[self.rng.randrange(2)])

    def compact(self, collection: Collection) -> None:
        """Compact the collection."""
        collection.compact()

    def reopen(self, _: Collection) -> None:
        """Open the folder anew, read and close it."""
        with Collection.open(self.folder, reader=READER) as collection:
            collection.items()

    def _free(self, numbers: list[int]) -> list[int]:
        return sorted(self.rng.sample(numbers, AT_ONCE))

    def _known(self, numbers: list[int]) -> dict[str, Any]:
        return columns(numbers, f"writer {self.place}")

    def _added(self, numbers: list[int], add: Callable[[], object]) -> None:
        began = time.monotonic()
        self._note("tried", numbers, began)
        add()
        self.there |= set(numbers)
        self._note("added", numbers, began)

    def _note(self, what: str, numbers: list[int], began: float) -> None:
        self.account[what] += [(number, began, time.monotonic()) for number in numbers]
