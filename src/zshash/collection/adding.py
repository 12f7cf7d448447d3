"""Adding data of any kind: what is new is encoded and written, batch by batch."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.codes import code_bytes
from zshash.collection.errors import DamagedError
from zshash.collection.inputs import Columns, as_parts, columns_of
from zshash.collection.pictures import Look, extract, look_at_all
from zshash.collection.rows import Added, content_of
from zshash.collection.store import Store
from zshash.collection.writing import Encoded, Report, Sifted, sift, write
from zshash.datasets import DataError, Dataset, Pictures
from zshash.images.reading import warn_of_failures

__all__ = ["add_codes", "add_data", "add_pictures"]

FEATURES_AT_ONCE = 16384
PICTURES_AT_ONCE = 256
CODES_AT_ONCE = 131072  # few transactions: each touches most pages of the index over contents
Tick = Callable[[int], Any]


def add_data(store: Store, data: Any, labels: Any, metadata: Any, sources: Any) -> Added:
    """Add all that `data` holds and that is not there yet."""
    report = Report()
    with store.writing():
        parts = as_parts(data, store.encoder.open)
        columns = columns_of(parts, labels, metadata, sources)
        for part in parts:
            if isinstance(part, Dataset):
                _check_features(store, part, data)
        total = sum(map(len, parts))
        with store.bar(total) as bar:
            for part, own in zip(parts, columns, strict=True):
                if isinstance(part, Pictures):
                    add_pictures(store, part, own, report, bar.update)
                else:
                    _add_features(store, part, own, report, bar.update)
    warn_of_failures(report.failures, total, stacklevel=4)
    return report.result()


def _check_features(store: Store, dataset: Dataset, data: Any) -> None:
    source = os.fspath(data) if isinstance(data, str | os.PathLike) else "the data"
    store.encoder.check(dataset, source)
    for rows in _slices(len(dataset), FEATURES_AT_ONCE):
        bad = np.flatnonzero(~np.isfinite(dataset.X[rows]).all(axis=1))
        if bad.size:
            raise DataError(
                f"{source}: row {rows.start + bad[0]} holds NaN or infinity: remove or repair it"
            )


def _add_features(
    store: Store, dataset: Dataset, columns: Columns, report: Report, tick: Tick
) -> None:
    for rows in _slices(len(dataset), FEATURES_AT_ONCE):
        features, own = np.ascontiguousarray(dataset.X[rows], dtype="<f4"), columns.pick(rows)
        own.contents = [content_of(row) for row in features]
        sifted = sift(store, own.contents)
        new = features[sifted.new]
        encoded = Encoded(encode(store, new), own.pick(sifted.new), new)
        report.take(sifted, sifted.new, write(store, encoded))
        tick(len(features))


def add_pictures(
    store: Store, pictures: Pictures, columns: Columns, report: Report, tick: Tick
) -> None:
    """Add pictures that are not there yet; what can not be read goes into the report."""
    kept = kept_features(store, pictures)
    for rows in _slices(len(pictures), PICTURES_AT_ONCE):
        part = pictures.select(np.arange(rows.start, rows.stop))
        found = look_at_all(part.sources, store.reader.limits)
        report.failures += [look for look in found if isinstance(look, str)]
        places = [place for place, look in enumerate(found) if isinstance(look, Look)]
        looks = [look for look in found if isinstance(look, Look)]
        own = seen(columns.pick([rows.start + place for place in places]), looks)
        sifted = sift(store, own.contents)
        chosen = part.select(np.array([places[row] for row in sifted.new], dtype=np.int64))
        drawn = extract(
            store.encoder,
            chosen,
            [looks[row] for row in sifted.new],
            side=store.about["thumbnails"],
            kept=kept,
        )
        report.failures += drawn.failures.values()
        good = [sifted.new[row] for row in drawn.rows]
        codes = encode(store, drawn.features)
        encoded = Encoded(codes, own.pick(good), drawn.features, drawn.thumbnails)
        report.take(sifted, good, write(store, encoded))
        report.failures += _like_failed(part, places, sifted, good)
        tick(len(part))


def _like_failed(
    part: Pictures, places: list[int], sifted: Sifted, good: list[int]
) -> Iterator[str]:
    """Why copies of pictures that could not be used are left out, too."""
    names = part.paths or [f"row {row}" for row in range(len(part))]
    for row, twin in sifted.twins.items():
        if twin not in good:
            yield f"{names[places[row]]}: the same as {names[places[twin]]}"


def kept_features(store: Store, pictures: Pictures) -> Any:
    """Where features of the pictures are kept between calls, None where they are not."""
    if not len(pictures):
        return None
    kept = store.encoder.picture_reader.store(pictures)
    return kept if kept.folder else None  # one in memory would only grow


def seen(columns: Columns, looks: list[Look]) -> Columns:
    """The columns with what was seen of each item's file."""
    columns.contents = [look.content for look in looks]
    columns.sizes = [look.size for look in looks]
    columns.times = [look.mtime_ns for look in looks]
    return columns


def add_codes(store: Store, codes: NDArray[np.uint8], columns: Columns) -> Added:
    """Add codes that are made already."""
    report = Report()
    with store.writing():
        for rows in _slices(len(codes), CODES_AT_ONCE):
            _add_codes(store, Encoded(codes[rows], columns.pick(rows)), report)
    return report.result()


def _add_codes(store: Store, encoded: Encoded, report: Report) -> None:
    """Write codes as if all were new, which is quickest; sift them if the catalogue objects."""
    n = len(encoded.codes)
    try:
        report.take(Sifted(list(range(n)), {}, {}), range(n), write(store, encoded))
        return
    except DamagedError as error:
        if not isinstance(error.__cause__, sqlite3.IntegrityError):
            raise
    sifted = sift(store, encoded.columns.contents)
    new = Encoded(encoded.codes[sifted.new], encoded.columns.pick(sifted.new))
    report.take(sifted, sifted.new, write(store, new))


def encode(store: Store, features: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Packed codes (n, bytes), also where there are none to make."""
    if not len(features):
        return np.empty((0, code_bytes(store.mirror.index.n_bits)), dtype=np.uint8)
    return store.encoder.hash(features)


def _slices(n: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
