"""Giving the same items the codes of another hash function."""

import sqlite3
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._files import write_whole
from zshash._interrupts import check
from zshash.collection.errors import CollectionError
from zshash.collection.operations.copies import picture
from zshash.collection.operations.features import Vectors, as_kept, from_stored, to_stored
from zshash.collection.operations.pictures import Look, extract, look_at
from zshash.collection.storage.files import delete, model_path, store_model
from zshash.collection.storage.rows import COLUMNS, Row, row_checksum, to_item
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import blobs, check_rows
from zshash.datasets import Pictures
from zshash.learning.model import Model

__all__ = ["check_possible", "extracted", "features_of", "reencode"]

AT_ONCE = 1024


def reencode(store: Store, model: Any, known: Vectors | None = None) -> int:
    """Give all items the codes of another model, in one transaction; return how many got one.

    The new model is written before the transaction, and the old one is deleted after it. Features
    that are `known` need not be read again.
    """
    with store.writing() as state:
        own = store.model.notes.get("extractor")
        sha256 = store_model(store.home, model, {"extractor": own} if own else None)
        if sha256 == state.model:
            return 0
        try:
            stored, file = _read(store, sha256)
            check_possible(store, stored, known or {})
            n, before = _rewrite(store, stored, file, known or {})
        except BaseException:
            _discard(store, sha256)
            raise
        with store.alone():
            store.save()
        _discard(store, before)
        return n


def _read(store: Store, sha256: str) -> tuple[Model, bytes]:
    """The new model and its file, which were just written."""
    path = model_path(store.home, sha256)
    try:
        model, file = Model.load(path, store.reader), path.read_bytes()
    except FileNotFoundError as error:
        raise CollectionError(
            f"{store.folder}: another process has deleted the new model, so nothing was encoded "
            "again: try again"
        ) from error
    model.path = model_path(store.folder, sha256)
    return model, file


def _discard(store: Store, sha256: str) -> None:
    """Delete the file of a model, unless it is the model of the collection.

    That is asked in a transaction, for where the lock got lost, another process may be about to
    give the collection this very model.
    """
    with suppress(CollectionError, OSError), store.alone(), store.catalogue.writing():
        if store.catalogue.state().model != sha256:
            delete([model_path(store.home, sha256)])


def _rewrite(store: Store, model: Model, file: bytes, known: Vectors) -> tuple[int, str]:
    """Give all items codes of the model, whose `file` is given, in one transaction.

    Returns the number of items, and the checksum of the model before.
    """
    with store.changing() as change, store.bar(change.state.items.n) as bar:
        connection, before = store.catalogue.connection, change.state.model
        change.take_model(model.checksum, model.n_bits)
        for rows in _pages(connection, store.folder):
            kept = _stored(store, model, connection, [row for row in rows if row.id not in known])
            vectors = {row.id: known[row.id] for row in rows if row.id in known} | kept
            fresh = extracted(store, model, [row for row in rows if row.id not in vectors])
            if fresh:
                ids = np.array(list(fresh), dtype=np.int64)
                change.put("features", to_stored(store.about, ids, np.stack(list(fresh.values()))))
            vectors |= fresh
            codes = model.hasher.encode(np.stack([vectors[row.id] for row in rows]))
            new = [_recoded(row, code) for row, code in zip(rows, codes, strict=True)]
            change.rewrite(new, model.checksum)
            bar.update(len(rows))
        path = model_path(store.home, model.checksum)
        if not path.exists():  # another writer may have discarded it, where the lock got lost
            write_whole(path, file)
        return change.state.items.n, before


def _pages(connection: sqlite3.Connection, folder: Path) -> Iterator[list[Row]]:
    """All rows, some at a time; each statement ends before its rows are changed."""
    last = -1
    while rows := check_rows(
        folder,
        connection.execute(
            f"SELECT {COLUMNS} FROM items WHERE id > ? ORDER BY id LIMIT {AT_ONCE}", [last]
        ).fetchall(),
    ):
        check()
        yield rows
        last = rows[-1].id


def features_of(store: Store, model: Model, rows: Sequence[Row]) -> Vectors:
    """Features of items by id: those that the collection keeps, else those of their pictures."""
    with store.looking() as connection:
        kept = _stored(store, model, connection, rows)
    return kept | extracted(store, model, [row for row in rows if row.id not in kept])


def _recoded(row: Row, code: NDArray[np.uint8]) -> Row:
    row = row._replace(code=code.tobytes())
    return row._replace(checksum=row_checksum(*row[:8]))


def _stored(
    store: Store, model: Model, connection: sqlite3.Connection, rows: Sequence[Row]
) -> Vectors:
    """Stored features that the new model can hash."""
    if not _fits(store.model.notes, model.notes):
        return {}
    found = blobs(connection, store.folder, "features", [row.id for row in rows])
    return from_stored(found, int(model.hasher.n_features_in_))


def _fits(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether two models were trained on features of the same network, as far as they say."""
    prints = [
        notes["extractor"].get("fingerprint")
        for notes in (old, new)
        if isinstance(notes.get("extractor"), dict)
    ]
    return len(set(prints)) < 2


def check_possible(store: Store, model: Model, known: Container[int] = ()) -> None:
    """Raise, before hours of work, if an item can not be encoded and is not `known`."""
    with store.looking() as connection:
        for rows in _pages(connection, store.folder):
            there = _stored(store, model, connection, rows)
            for row in rows:
                is_known = row.id in there or row.id in known
                if not is_known and not _picture(store, row):
                    raise CollectionError(
                        f"{store.folder}: item {row.id} has neither features that the new model "
                        "can hash nor a picture at its source: remove it first"
                    )


def _picture(store: Store, row: Row) -> Path | None:
    path = picture(store, to_item(row))
    try:
        return path if path and path.is_file() else None
    except (OSError, ValueError):  # an address that can not be a path
        return None


def extracted(
    store: Store, model: Model, rows: Sequence[Row], what: str = "encoded again"
) -> Vectors:
    """Features of the items' pictures, which must not have changed since they were added.

    Otherwise the message says that nothing was done, which is `what`.
    """
    if not rows:
        return {}
    paths, looks = [], []
    for row in rows:
        path = _picture(store, row)
        look = look_at(path, store.reader.limits) if path else f"item {row.id}: it is gone"
        if isinstance(look, Look) and row.size is not None and look.content != row.content:
            look = f"{path}: changed since it was added: sync its folder first"
        if path is None or not isinstance(look, Look):
            raise CollectionError(f"{store.folder}: nothing was {what}: {look}")
        paths.append(path)
        looks.append(look)
    drawn = extract(model, Pictures(tuple(paths)), looks)
    for reason in drawn.failures.values():
        raise CollectionError(f"{store.folder}: nothing was {what}: {reason}")
    features = as_kept(store.about, drawn.features)
    return {rows[place].id: features[at] for at, place in enumerate(drawn.rows)}
