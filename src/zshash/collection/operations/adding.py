"""Adding data of any kind: what is new is encoded and written, batch by batch."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash._interrupts import check, interruptible
from zshash.codes import check_codes, code_bytes
from zshash.collection.errors import DamagedError, OtherModel
from zshash.collection.operations.inputs import Columns, as_parts, columns_of
from zshash.collection.operations.pictures import Look, extract, look_at_all
from zshash.collection.operations.writing import (
    Encoded,
    Report,
    Sifted,
    by_the_model,
    is_known,
    sift,
    write,
)
from zshash.collection.results import Added
from zshash.collection.storage.rows import Ids, content_of
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.datasets import DataError, Dataset, Pictures
from zshash.images.reading import warn_of_failures
from zshash.images.store import FeatureStore
from zshash.learning.model import Model

__all__ = ["add_codes", "add_data", "add_pictures"]

FEATURES_AT_ONCE = 16384
PICTURES_AT_ONCE = 256
CODES_AT_ONCE = 131072  # few transactions: each touches most pages of the index over contents
Tick = Callable[[int], Any]


def add_data(store: Store, data: Any, labels: Any, metadata: Any, sources: Any) -> Added:
    """Add everything in `data` that the collection does not have yet."""
    report = Report()
    with store.writing():
        with interruptible():
            parts = as_parts(data, store.model.open)
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
    store.model.check(dataset, source)
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
        part = Dataset(features, extractor=dataset.extractor)
        sifted, ids = by_the_model(store, partial(_add_rows, store, part, own))
        report.take(sifted, sifted.new, ids)
        tick(len(features))


def _add_rows(store: Store, part: Dataset, columns: Columns, model: Model) -> tuple[Sifted, Ids]:
    """Add features as one batch, by a model, which may be another one than at the start."""
    model.check(part, "the data")
    sifted = sift(store, columns.contents)
    new = part.X[sifted.new]
    encoded = Encoded(model.checksum, encode(model, new), columns.pick(sifted.new), new)
    return sifted, write(store, encoded)


def add_pictures(
    store: Store, pictures: Pictures, columns: Columns, report: Report, tick: Tick
) -> None:
    """Add pictures that the collection does not have yet; the report lists unreadable ones."""
    kept = cache(partial(kept_features, pictures))
    kept(store.model)  # warns, if need be, where the user's line is still near
    for rows in _slices(len(pictures), PICTURES_AT_ONCE):
        part = pictures.select(np.arange(rows.start, rows.stop))
        found = look_at_all(part.sources, store.reader.limits)
        report.failures += [look for look in found if isinstance(look, str)]
        places = [place for place, look in enumerate(found) if isinstance(look, Look)]
        looks = [look for look in found if isinstance(look, Look)]
        own = seen(columns.pick([rows.start + place for place in places]), looks)
        readable = part.select(np.array(places, dtype=np.int64))
        added = by_the_model(store, partial(_add_seen, store, readable, looks, own, kept))
        report.failures += added.failures
        report.take(added.sifted, added.good, added.ids)
        report.failures += _like_failed(part, places, added.sifted, added.good)
        tick(len(part))


class _Seen(NamedTuple):
    """What became of pictures: which are new, which rows could be used, and their ids."""

    sifted: Sifted
    good: list[int]
    ids: Ids
    failures: list[str]


def _add_seen(
    store: Store,
    pictures: Pictures,
    looks: Sequence[Look],
    columns: Columns,
    kept: Callable[[Model], FeatureStore | None],
    model: Model,
) -> _Seen:
    """Add pictures that were just looked at as one batch, by a model."""
    sifted = sift(store, columns.contents)
    drawn = extract(
        model,
        pictures.select(np.array(sifted.new, dtype=np.int64)),
        [looks[row] for row in sifted.new],
        side=store.about["thumbnails"],
        kept=kept(model),
    )
    good = [sifted.new[row] for row in drawn.rows]
    codes = encode(model, drawn.features)
    encoded = Encoded(model.checksum, codes, columns.pick(good), drawn.features, drawn.thumbnails)
    return _Seen(sifted, good, write(store, encoded), list(drawn.failures.values()))


def _like_failed(
    part: Pictures, places: list[int], sifted: Sifted, good: list[int]
) -> Iterator[str]:
    """Messages about copies of pictures that could not be used, which are left out, too."""
    names = part.paths or [f"row {row}" for row in range(len(part))]
    for row, twin in sifted.twins.items():
        if twin not in good:
            yield f"{names[places[row]]}: the same as {names[places[twin]]}"


def kept_features(pictures: Pictures, model: Model) -> FeatureStore | None:
    """Store on disk of the pictures' features by the model's network, or None."""
    if not len(pictures):
        return None
    kept = model.picture_reader.store(pictures)
    return kept if kept.folder else None  # a store in memory would only grow


def seen(columns: Columns, looks: list[Look]) -> Columns:
    """Columns with the content hash, size and time of each item's file."""
    columns.contents = [look.content for look in looks]
    columns.sizes = [look.size for look in looks]
    columns.times = [look.mtime_ns for look in looks]
    return columns


def add_codes(store: Store, codes: ArrayLike, columns: Columns, model: str | None = None) -> Added:
    """Add packed codes (n, bytes) that were made elsewhere, by `model` if that is known.

    Raises
    ------
    OtherModel
        If the collection has another model, or gets one before all codes are written.
    """
    report = Report()
    with store.writing() as state:
        check_model(store.folder, state, model)
        packed = check_codes("codes", codes, state.n_bits)
        for rows in _slices(len(packed), CODES_AT_ONCE):
            _add_codes(store, Encoded(state.model, packed[rows], columns.pick(rows)), report)
    return report.result()


def check_model(folder: Path, state: State, model: str | None) -> None:
    """Refuse codes of another model; `model` is a checksum or its first digits, if it is known."""
    if model is not None and not state.model.startswith(model):
        raise OtherModel(
            f"{folder}: the codes are those of another model than the collection has, so they "
            "were not added: encode the data again"
        )


def _add_codes(store: Store, encoded: Encoded, report: Report) -> None:
    """Write codes as if all were new, which is quickest; if some are known, write the others."""
    n = len(encoded.codes)
    try:
        if not store.known(encoded.columns.contents):
            report.take(Sifted(list(range(n)), {}, {}), range(n), write(store, encoded))
            return
    except DamagedError as error:  # several of them are alike
        if not is_known(error):
            raise
    sifted = sift(store, encoded.columns.contents)
    columns = encoded.columns.pick(sifted.new)
    new = Encoded(encoded.model, encoded.codes[sifted.new], columns)
    report.take(sifted, sifted.new, write(store, new))


def encode(model: Model, features: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Packed codes (n, bytes) of features; n may be 0."""
    if not len(features):
        return np.empty((0, code_bytes(model.n_bits)), dtype=np.uint8)
    return model.encode(features)


def _slices(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, size):
        check()
        yield slice(start, min(start + size, n))
