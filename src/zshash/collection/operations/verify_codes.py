"""Encoding items again: codes that another model has made look like any others."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from zshash.collection.operations.copies import picture
from zshash.collection.operations.features import Vectors, from_stored
from zshash.collection.operations.pictures import Look, extract, look_at
from zshash.collection.storage.rows import Row, to_item
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import whole_blobs, whole_rows_of
from zshash.datasets import Pictures
from zshash.learning.model import Model

__all__ = ["encode_again"]

AT_MOST = 500
NEAR_ZERO = 1e-3  # of the mean size of an item's values: rounding may turn such a bit
NAMED = 5


def encode_again(store: Store, n: int = AT_MOST) -> tuple[list[str], int, int]:
    """Compare the codes of a random sample of items with those that the model gives them.

    Returns what is wrong, how many items were encoded again, and how many could not be: they have
    neither features in the collection nor a picture that is still there and unchanged.
    """
    with store.reading(), store.looking() as connection:
        model, ids = store.model, store.ids()
        chosen = np.random.default_rng().choice(ids, min(n, len(ids)), replace=False).tolist()
        rows = whole_rows_of(connection, chosen)
        kept = whole_blobs(connection, "features", list(rows))
    vectors = from_stored(kept, int(model.hasher.n_features_in_))
    vectors |= _extracted(store, model, [row for row in rows.values() if row.id not in vectors])
    wrong = _wrong(model, rows, vectors)
    problems = []
    if wrong:
        named = ", ".join(map(str, wrong[:NAMED])) + (", …" if len(wrong) > NAMED else "")
        problems.append(
            f"{len(wrong)} of {len(vectors)} items that were encoded again have other codes than "
            f"the model gives them ({named}): remove and add them again, or restore the folder "
            "from a copy"
        )
    return problems, len(vectors), len(chosen) - len(vectors)


def _extracted(store: Store, model: Model, rows: Sequence[Row]) -> Vectors:
    """Features of pictures that are still as they were when they were added."""
    found = [(row, path, look) for row in rows for path, look in [_unchanged(store, row)] if look]
    if not found:
        return {}
    pictures = Pictures(tuple(path for _, path, _ in found))
    try:
        drawn = extract(model, pictures, [look for _, _, look in found])
    except (ValueError, OSError, ImportError):  # the network can not be used here
        return {}
    return {found[place][0].id: drawn.features[at] for at, place in enumerate(drawn.rows)}


def _unchanged(store: Store, row: Row) -> tuple[Path, Look | None]:
    """Path of an item's picture, and its look if it is the one that was added."""
    path = picture(store, to_item(row)) if row.size is not None else None
    try:
        look = look_at(path, store.reader.limits) if path is not None else ""
    except ValueError:  # an address that can not be a path
        look = ""
    is_same = isinstance(look, Look) and look.content == row.content
    return path or Path(), look if isinstance(look, Look) and is_same else None


def _wrong(model: Model, rows: dict[int, Row], vectors: Vectors) -> list[int]:
    """Ids of the items whose codes are not those of the model."""
    if not vectors:
        return []
    values = model.project(np.stack(list(vectors.values())))
    stored = np.array([list(rows[number].code) for number in vectors], dtype=np.uint8)
    differs = np.unpackbits(stored ^ model.quantize(values), axis=1)[:, : values.shape[1]] > 0
    sizes = np.abs(values)
    is_sure = sizes > NEAR_ZERO * sizes.mean(axis=1, keepdims=True)
    return sorted(np.array(list(vectors))[(differs & is_sure).any(axis=1)].tolist())
