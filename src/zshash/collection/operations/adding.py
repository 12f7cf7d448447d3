"""Adding data of any kind: what is new is encoded and written, batch by batch."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash._interrupts import check, interruptible
from zshash.codes import check_codes, code_bytes
from zshash.collection.errors import DamagedError, OtherModel
from zshash.collection.operations.features import as_kept
from zshash.collection.operations.inputs import Columns, as_parts, columns_of
from zshash.collection.operations.pictures import Look, Looks, extract, look_at_all
from zshash.collection.operations.portraits import Style
from zshash.collection.operations.same_files import add_same_files
from zshash.collection.operations.unreadable import Unreadable
from zshash.collection.operations.writing import (
    Encoded,
    Report,
    Sifted,
    by_the_model,
    is_known,
    sift,
    with_facts,
    write,
)
from zshash.collection.results import Added
from zshash.collection.storage.rows import Ids, content_of
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import all_rows
from zshash.datasets import DataError, Dataset, Pictures
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
        total, unreadable = sum(map(len, parts)), Unreadable(store)
        with store.bar(total) as bar:
            for part, own in zip(parts, columns, strict=True):
                if isinstance(part, Pictures):
                    _add_files(store, part, own, report, bar.update, unreadable)
                else:
                    _add_features(store, part, own, report, bar.update)
        unreadable.remember(report.failures)
    unreadable.warn(report.failures, total)
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


def _add_files(
    store: Store,
    pictures: Pictures,
    columns: Columns,
    report: Report,
    tick: Tick,
    unreadable: Unreadable,
) -> None:
    """Add pictures; files that could not be read before are left out, copies are noted."""
    if pictures.paths:
        rows = unreadable.untold(pictures.paths)
        tick(len(pictures) - len(rows))
        pictures, columns = pictures.select(np.array(rows, dtype=np.int64)), columns.pick(rows)
    known = _known_looks(store, pictures)
    add_pictures(store, pictures, columns, report, tick, known=known, notes_copies=True)


def _known_looks(store: Store, pictures: Pictures) -> Looks:
    """Looks of those pictures' files that are items already, by path."""
    paths = set(map(os.path.abspath, pictures.paths))
    found: Looks = {}
    with store.looking() as connection:
        for rows in all_rows(connection, store.folder) if paths else ():
            for row in rows:
                if row.content and row.size is not None and row.source in paths:
                    found[str(row.source)] = Look(row.content, row.size, row.mtime_ns)
    return found


def add_pictures(
    store: Store,
    pictures: Pictures,
    columns: Columns,
    report: Report,
    tick: Tick,
    *,
    known: Looks | None = None,
    notes_copies: bool = False,
) -> None:
    """Add pictures that the collection does not have yet; the report lists unreadable ones.

    Files that still have the size and time of their `known` looks are not read again. With
    `notes_copies`, the paths of files with the same bytes as items are kept beside these.
    """
    kept = cache(partial(kept_features, store, pictures))
    kept(store.model)  # warns, if need be, where the user's line is still near
    for rows in _slices(len(pictures), PICTURES_AT_ONCE):
        part = pictures.select(np.arange(rows.start, rows.stop))
        found = look_at_all(part.sources, store.reader.limits, known)
        report.failures += [look for look in found if isinstance(look, str)]
        places = [place for place, look in enumerate(found) if isinstance(look, Look)]
        looks = [look for look in found if isinstance(look, Look)]
        own = seen(columns.pick([rows.start + place for place in places]), looks)
        readable = part.select(np.array(places, dtype=np.int64))
        added = by_the_model(store, partial(_add_seen, store, readable, looks, own, kept))
        report.failures += added.failures
        report.take(added.sifted, added.good, added.ids)
        if notes_copies and part.paths:
            files = [os.path.abspath(part.paths[place]) for place in places]  # noqa: PTH100
            add_same_files(store, {files[row]: n for row, n in added.sifted.known.items()})
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
    sifted, features_there = sift(store, columns.contents), kept(model)
    if features_there is None and store.about["keep_features"]:
        features_there = FeatureStore(None, model.hasher.n_features_in_)  # for this batch
    drawn = extract(
        model,
        pictures.select(np.array(sifted.new, dtype=np.int64)),
        [looks[row] for row in sifted.new],
        style=Style.of(store.about),
        kept=features_there,
    )
    good = [sifted.new[row] for row in drawn.rows]
    features, own = as_kept(store.about, drawn.features), columns.pick(good)
    facts = [portrait.facts for portrait in drawn.portraits]
    own.metadata = list(map(with_facts, own.metadata, facts))
    codes = encode(model, features)
    encoded = Encoded(model.checksum, codes, own, features, drawn.portraits)
    return _Seen(sifted, good, write(store, encoded), list(drawn.failures.values()))


def _like_failed(
    part: Pictures, places: list[int], sifted: Sifted, good: list[int]
) -> Iterator[str]:
    """Messages about copies of pictures that could not be used, which are left out, too."""
    names = part.paths or [f"row {row}" for row in range(len(part))]
    for row, twin in sifted.twins.items():
        if twin not in good:
            yield f"{names[places[row]]}: the same as {names[places[twin]]}"


def kept_features(store: Store, pictures: Pictures, model: Model) -> FeatureStore | None:
    """Store on disk of the pictures' features by the model's network, or None.

    A collection that keeps features itself only takes those that are in the store already.
    """
    if not len(pictures):
        return None
    kept = model.picture_reader.store(pictures)
    if kept.folder and store.about["keep_features"] and not len(kept):
        with suppress(OSError):
            kept.folder.rmdir()
        return None
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
