"""Another hash function for the same items."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import CollectionError
from zshash.collection.files import delete, model_path, store_model
from zshash.collection.keeping import picture
from zshash.collection.pictures import Look, extract, look_at
from zshash.collection.rows import COLUMNS, Row, row_checksum, to_item
from zshash.collection.store import Store
from zshash.collection.tables import blobs, check_rows
from zshash.collection.writing import stored_features
from zshash.datasets import Pictures
from zshash.encoding import Encoder

__all__ = ["reencode"]

AT_ONCE = 1024
Vectors = dict[int, NDArray[np.float32]]


def reencode(store: Store, hasher: Any) -> int:
    """Give all items the codes of another hasher, in one transaction; how many got one.

    The new model is on the disk before the catalogue speaks of it, and the old one until then.
    """
    with store.writing() as state:
        own = store.encoder.notes.get("extractor")
        sha256 = store_model(store.folder, hasher, {"extractor": own} if own else None)
        if sha256 == state.model:
            return 0
        path = model_path(store.folder, sha256)
        try:
            encoder = Encoder(path, store.reader)
            _check_possible(store, encoder)
            _rewrite(store, encoder)
        except BaseException:
            with suppress(CollectionError, OSError), store.looking():
                if store.catalogue.state().model != sha256:
                    delete([path])
            raise
        with store.alone():
            store.save()
        delete([model_path(store.folder, state.model)])
        return state.items.n


def _rewrite(store: Store, encoder: Encoder) -> None:
    with store.changing() as change, store.bar(change.state.items.n) as bar:
        connection = store.catalogue.connection
        for rows in _pages(connection, store.folder):
            vectors = _stored(store, encoder, connection, rows)
            missing = [row for row in rows if row.id not in vectors]
            fresh = _extracted(store, encoder, missing)
            if store.about["keep_features"] and fresh:
                ids = np.array(list(fresh), dtype=np.int64)
                change.put("features", stored_features(ids, np.stack(list(fresh.values()))))
            vectors |= fresh
            codes = encoder.hasher.encode(np.stack([vectors[row.id] for row in rows]))
            change.rewrite([_recoded(row, code) for row, code in zip(rows, codes, strict=True)])
            bar.update(len(rows))
        change.state = replace(
            change.state,
            base=change.state.generation,
            model=encoder.checksum,
            n_bits=int(encoder.hasher.n_bits),
        )


def _pages(connection: sqlite3.Connection, folder: Path) -> Iterator[list[Row]]:
    """All rows, some at a time; each statement ends before its rows are changed."""
    last = -1
    while rows := check_rows(
        folder,
        connection.execute(
            f"SELECT {COLUMNS} FROM items WHERE id > ? ORDER BY id LIMIT {AT_ONCE}", [last]
        ).fetchall(),
    ):
        yield rows
        last = rows[-1].id


def _recoded(row: Row, code: NDArray[np.uint8]) -> Row:
    row = row._replace(code=code.tobytes())
    return row._replace(checksum=row_checksum(*row[:8]))


def _stored(
    store: Store, encoder: Encoder, connection: sqlite3.Connection, rows: Sequence[Row]
) -> Vectors:
    """Stored features that the new model can hash."""
    if not _fits(store.encoder.notes, encoder.notes):
        return {}
    found = blobs(connection, store.folder, "features", [row.id for row in rows])
    width = 4 * encoder.hasher.n_features_in_
    return {
        number: np.frombuffer(value, dtype="<f4").astype(np.float32, copy=False)
        for number, value in found.items()
        if len(value) == width
    }


def _fits(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether two models were trained on features of the same network, as far as they say."""
    prints = [
        notes["extractor"].get("fingerprint")
        for notes in (old, new)
        if isinstance(notes.get("extractor"), dict)
    ]
    return len(set(prints)) < 2


def _check_possible(store: Store, encoder: Encoder) -> None:
    """Refuse before hours of work if there is an item that can not be encoded."""
    with store.looking() as connection:
        for rows in _pages(connection, store.folder):
            there = _stored(store, encoder, connection, rows)
            for row in rows:
                if row.id not in there and not _picture(store, row):
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


def _extracted(store: Store, encoder: Encoder, rows: Sequence[Row]) -> Vectors:
    """Features of the items' pictures, which must be the ones that were added."""
    if not rows:
        return {}
    paths, looks = [], []
    for row in rows:
        path = _picture(store, row)
        look = look_at(path, store.reader.limits) if path else f"item {row.id}: it is gone"
        if isinstance(look, Look) and row.size is not None and look.content != row.content:
            look = f"{path}: changed since it was added: sync its folder first"
        if path is None or not isinstance(look, Look):
            raise CollectionError(f"{store.folder}: nothing was encoded again: {look}")
        paths.append(path)
        looks.append(look)
    drawn = extract(encoder, Pictures(tuple(paths)), looks, side=0)
    for reason in drawn.failures.values():
        raise CollectionError(f"{store.folder}: nothing was encoded again: {reason}")
    return {rows[place].id: drawn.features[at] for at, place in enumerate(drawn.rows)}
