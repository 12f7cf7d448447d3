"""Writing encoded items: new ones are told from known ones and written in one transaction.

Codes go together with the model that made them, from `by_the_model` to the transaction.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import CollectionError, DamagedError, OtherModel
from zshash.collection.operations.features import to_stored
from zshash.collection.operations.inputs import Columns
from zshash.collection.operations.portraits import Portrait
from zshash.collection.results import Added
from zshash.collection.storage.change import Change
from zshash.collection.storage.rows import Ids, row_checksum, to_text
from zshash.collection.storage.store import Store
from zshash.learning.model import Model

__all__ = [
    "Encoded",
    "Report",
    "Sifted",
    "by_the_model",
    "is_known",
    "put_beside",
    "sift",
    "with_facts",
    "write",
]

ATTEMPTS = 3
Result = TypeVar("Result")


@dataclass
class Encoded:
    """Codes (n, bytes) of items, and the columns, features and portraits stored beside them.

    `model` is the checksum of the model that made the codes.
    """

    model: str
    codes: NDArray[np.uint8]
    columns: Columns
    features: NDArray[np.float32] | None = None
    portraits: Sequence[Portrait] = ()


@dataclass
class Sifted:
    """New rows of a batch; others with the item (`known`) or earlier row (`twins`) they equal."""

    new: list[int]
    known: dict[int, int]
    twins: dict[int, int]


@dataclass
class Report:
    """Ids, duplicates and failures of adding, collected batch by batch."""

    ids: list[Ids] = field(default_factory=list)
    duplicates: list[int] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def take(self, sifted: Sifted, written: Sequence[int], ids: Ids) -> None:
        """Note that the rows `written` of a batch are there now, under `ids`."""
        self.ids.append(ids)
        if sifted.twins:
            places = dict(zip(written, ids.tolist(), strict=True))
            twins = {row: places[twin] for row, twin in sifted.twins.items() if twin in places}
            sifted.known.update(twins)
        self.duplicates += [sifted.known[row] for row in sorted(sifted.known)]

    def result(self) -> Added:
        """The whole report as `Added`."""
        ids = np.concatenate([np.empty(0, dtype=np.int64), *self.ids])
        return Added(ids, np.array(self.duplicates, dtype=np.int64), tuple(self.failures))


def sift(store: Store, contents: Sequence[bytes | None]) -> Sifted:
    """Tell new rows from those whose content the collection or an earlier row has."""
    if not any(contents):
        return Sifted(list(range(len(contents))), {}, {})
    there = store.known(contents)
    sifted, first = Sifted([], {}, {}), dict[bytes, int]()
    for row, content in enumerate(contents):
        if content is None:
            sifted.new.append(row)
        elif content in there:
            sifted.known[row] = there[content]
        elif content in first:
            sifted.twins[row] = first[content]
        else:
            first[content] = row
            sifted.new.append(row)
    return sifted


def by_the_model(store: Store, work: Callable[[Model], Result]) -> Result:
    """Result of `work`, which encodes a batch by the model that it gets, and writes it.

    The lock keeps other writers away. On file systems where it got lost, another process may give
    the collection another model, or add the same items, before the batch is written: then nothing
    of the batch was written, and `work` is done again.
    """
    for _ in range(ATTEMPTS - 1):
        with store.reading():
            model = store.model
        try:
            return work(model)
        except OtherModel:
            continue
        except DamagedError as error:
            if not is_known(error):
                raise
    with store.reading():
        model = store.model
    return work(model)


def is_known(error: CollectionError) -> bool:
    """Whether items were refused because the catalogue has others of the same content."""
    return isinstance(error.__cause__, sqlite3.IntegrityError)


def write(store: Store, encoded: Encoded) -> Ids:
    """Write items in one transaction; when this returns, they are on the disk.

    Raises
    ------
    OtherModel
        If the collection has another model than the codes.
    """
    if not len(encoded.codes):
        return np.empty(0, dtype=np.int64)
    with store.changing() as change:
        first = change.state.next_id
        ids = change.add(_rows(first, encoded), encoded.codes, encoded.model)
        put_beside(store, change, ids, encoded.features, encoded.portraits)
    return ids


def put_beside(
    store: Store,
    change: Change,
    ids: Ids,
    features: NDArray[np.float32] | None,
    portraits: Sequence[Portrait],
) -> None:
    """Store what is kept of items beside their rows; portraits have facts in the rows, too."""
    pairs = list(zip(ids.tolist(), portraits, strict=False))
    change.put("thumbnails", {number: own.thumbnail for number, own in pairs if own.thumbnail})
    change.put("prints", {number: own.print for number, own in pairs if own.print})
    if features is not None:
        change.put("features", to_stored(store.about, ids, features))


def with_facts(metadata: str, facts: dict[str, Any]) -> str:
    """Metadata as JSON, with what a camera has noted; what a person has said goes first.

    >>> with_facts('{"year":1999}', {"year": 2021, "camera": "X100"})
    '{"year":1999,"camera":"X100"}'
    """
    own = json.loads(metadata)
    return to_text(own | {key: value for key, value in facts.items() if key not in own})


def _rows(first: int, encoded: Encoded) -> list[tuple[object, ...]]:
    codes, columns = encoded.codes, encoded.columns
    width, data = codes.shape[1], codes.tobytes()
    fields = zip(
        range(first, first + len(codes)),
        [data[start : start + width] for start in range(0, len(data), width)],
        columns.sources,
        columns.contents,
        columns.labels,
        columns.metadata,
        columns.sizes,
        columns.times,
        strict=True,
    )
    return [(*row, row_checksum(*row)) for row in fields]
