"""From codes to rows: what is not there yet is written in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zshash.collection.inputs import Columns
from zshash.collection.rows import Added, Ids, row_checksum
from zshash.collection.store import Store
from zshash.collection.tables import known_contents

__all__ = ["Encoded", "Report", "Sifted", "sift", "write"]


@dataclass
class Encoded:
    """Codes (n, bytes) of some items and what is to be stored beside them."""

    codes: NDArray[np.uint8]
    columns: Columns
    features: NDArray[np.float32] | None = None
    thumbnails: Sequence[bytes | None] = ()


@dataclass
class Sifted:
    """Which rows of a batch are new; the others with the item, or the row, that they equal."""

    new: list[int]
    known: dict[int, int]
    twins: dict[int, int]


@dataclass
class Report:
    """What has become of the things that were to be added."""

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
        """All of it."""
        ids = np.concatenate([np.empty(0, dtype=np.int64), *self.ids])
        return Added(ids, np.array(self.duplicates, dtype=np.int64), tuple(self.failures))


def sift(store: Store, contents: Sequence[bytes | None]) -> Sifted:
    """Part what is new from what the collection, or an earlier row, has already."""
    if not any(contents):
        return Sifted(list(range(len(contents))), {}, {})
    with store.looking() as connection:
        there = known_contents(connection, contents)
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


def write(store: Store, encoded: Encoded) -> Ids:
    """Write items in one transaction; when this returns, they are on the disk."""
    if not len(encoded.codes):
        return np.empty(0, dtype=np.int64)
    with store.changing() as change:
        first = change.state.next_id
        ids = change.add(_rows(first, encoded), encoded.codes)
        pictures = enumerate(encoded.thumbnails, start=first)
        change.put("thumbnails", {number: value for number, value in pictures if value})
        if encoded.features is not None and store.about["keep_features"]:
            change.put("features", stored_features(ids, encoded.features))
    return ids


def stored_features(ids: Ids, features: NDArray[np.float32]) -> dict[int, bytes]:
    """Features as they are stored: little-endian float32."""
    table = np.ascontiguousarray(features, dtype="<f4")
    return {number: row.tobytes() for number, row in zip(ids.tolist(), table, strict=True)}


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
