"""Making a collection from pictures: read them, learn from them, encode them.

The pictures are added under a first model, which has learned nothing, and are encoded again by the
one that is learned from all of them. So whatever interrupts the work, what is done stays done, and
the same call goes on.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zshash.collection.errors import CollectionError
from zshash.collection.operations.adding import add_data
from zshash.collection.operations.creating import create, discard
from zshash.collection.operations.features import HALF, SINGLE
from zshash.collection.operations.inputs import Part, as_parts
from zshash.collection.operations.refitting import Recipe, refit
from zshash.collection.results import Added
from zshash.collection.storage.files import is_collection
from zshash.collection.storage.store import Store
from zshash.datasets import DataError, Dataset, Pictures
from zshash.hashing import LSH
from zshash.images import PictureReader
from zshash.learning.model import Model

__all__ = ["MAKING", "make", "unfinished"]

MAKING = "making"  # setting with what a collection is made from, until it is finished
MEMORY = "data in memory"


def make(
    folder: Path,
    source: Any,
    reader: PictureReader,
    recipe: Recipe,
    *,
    labels: Sequence[Any] | None = None,
    metadata: Sequence[dict[str, Any] | None] | None = None,
    index: str | None = None,
    **settings: Any,
) -> Added:
    """Make a collection from pictures or features, or go on with one that was not finished.

    Parameters
    ----------
    folder : Path
    source : path, list of paths, ndarray, Dataset or Pictures
        As for `Collection.add`.
    reader : PictureReader
    recipe : Recipe
        How the model is learned.
    labels, metadata
        As for `Collection.add`.
    index : str, optional
        Where the codes are searched.
    **settings
        Settings of the collection, see `create`.
    """
    plan = {"source": _named(source), "recipe": list(recipe)}
    is_begun = is_collection(folder)
    if is_begun:
        _check_begun(folder, reader, plan)
    parts = as_parts(source, reader.open)
    if not is_begun:
        _begin(folder, parts, reader, recipe, settings | {"settings": {MAKING: plan}})
    store = Store(folder, reader, index)
    try:
        added = add_data(store, parts, labels, metadata, None)
        _check_enough(store)
        refit(store, recipe.changed(aliases=_meanings(parts) | (recipe.aliases or {})))
        _finish(store)
    except DataError:
        if not len(store.ids()):
            store.close()
            discard(folder)
        raise
    finally:
        store.close()
    return added


def _meanings(parts: Sequence[Part]) -> dict[str, str]:
    """WordNet ids that come with the labels of data, by label."""
    pairs = [pair for part in parts for pair in zip(part.names, part.synsets, strict=False)]
    return {name: synset for name, synset in pairs if synset}


def _named(source: Any) -> list[str]:
    """Absolute paths of a source, by which it is known again."""
    paths = source if isinstance(source, list | tuple) else [source]
    return [_name(path.root if isinstance(path, Pictures) else path) for path in paths]


def _name(path: Any) -> str:
    return os.path.realpath(path) if isinstance(path, str | os.PathLike) else MEMORY


def unfinished(folder: Path) -> list[str]:
    """Paths of what a collection is being made from; empty if it is finished."""
    store = Store(folder, PictureReader())
    try:
        with store.reading():
            return _sources(store)
    finally:
        store.close()


def _sources(store: Store) -> list[str]:
    if not store.catalogue.has_setting(MAKING):
        return []
    return [str(path) for path in (store.catalogue.setting(MAKING) or {}).get("source", [])]


def _check_begun(folder: Path, reader: PictureReader, plan: dict[str, Any]) -> None:
    """Refuse a collection that is finished, or is made from something else or in another way."""
    store = Store(folder, reader)
    try:
        with store.reading():
            known = store.catalogue.has_setting(MAKING) and store.catalogue.setting(MAKING)
    finally:
        store.close()
    if not known:
        raise CollectionError(f"{folder}: there is a collection already; Collection.open opens it")
    if known.get("source") != plan["source"]:
        raise CollectionError(
            f"{folder}: it is not finished and is made from {', '.join(known['source'])}: go on "
            "with that, or delete the folder"
        )
    if known != plan:
        raise CollectionError(
            f"{folder}: it is not finished and was begun in another way (length of codes, method, "
            "aliases or effort): go on as it was begun, or delete the folder"
        )


def _begin(
    folder: Path,
    parts: Sequence[Part],
    reader: PictureReader,
    recipe: Recipe,
    settings: dict[str, Any],
) -> None:
    """Make a collection without items, whose model has learned nothing yet."""
    if sum(map(len, parts)) < 2:
        raise DataError("one picture is not enough to learn from: give at least two")
    table = next((part for part in parts if isinstance(part, Dataset)), None)
    facts = reader.facts() if table is None else table.extractor
    width = reader.network.dimension if table is None else table.X.shape[1]
    hasher = LSH(recipe.n_bits, center=False, random_state=0).fit(np.eye(2, width))
    model = Model(hasher, {"extractor": facts} if facts else {}, reader=reader)
    kind = HALF if table is None else SINGLE
    create(folder, model, reader, semantics=recipe.semantics, feature_type=kind, **settings)


def _check_enough(store: Store) -> None:
    with store.reading() as state:
        n = state.items.n
    if n < 2:
        what = "one picture" if n else "no picture"
        raise DataError(
            f"{store.folder}: {what} could be read, and it takes two to learn from them"
        )


def _finish(store: Store) -> None:
    with store.writing(), store.alone(), store.catalogue.writing():
        store.catalogue.put_setting(MAKING, None)
