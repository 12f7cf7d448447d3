"""Names of categories: items that fit one best, and what names and codes mean to the model.

The rule that ranks by name is in `zshash.learning.name_rule`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from zshash.collection.errors import CollectionError
from zshash.collection.operations.filtering import label_counts
from zshash.collection.storage.rows import Ids
from zshash.collection.storage.store import Store
from zshash.index import CodeIndex, HammingIndex
from zshash.learning.model import Model
from zshash.learning.name_rule import Query as Name
from zshash.learning.name_rule import Standing, Vectors, scores, standing_of
from zshash.learning.names import Meaning, Names, NamesError, NearName

__all__ = [
    "Name",
    "best_by_name",
    "explain_name",
    "knows_names",
    "name_of",
    "names_near",
]


def knows_names(store: Store) -> bool:
    """Whether the model was trained with meanings of names, and their source is available."""
    try:
        _names(store, _model(store))
    except CollectionError:
        return False
    return True


def explain_name(store: Store, name: str) -> Meaning:
    """Seen categories nearest to a name, and a forecast of how well a search for it works."""
    return _names(store, _model(store)).meaning(name)


def names_near(store: Store, model: Model, code: Any, n: int) -> list[NearName]:
    """Names whose vectors have the largest cosines with the meaning of a packed code.

    These are the names of the seen categories and all labels of items with a known meaning.
    """
    labels = [label for label in label_counts(store) if label]
    return _names(store, model).nearest(code, labels, n)


def _model(store: Store) -> Model:
    with store.reading():
        return store.model


def _names(store: Store, model: Model) -> Names:
    """Meanings of names for a model of the collection.

    Raises
    ------
    CollectionError
        If the model was not trained with the meanings of names, or a source is missing.
    """
    with _reporting(store):
        return model.names(store.about["semantics"])


@contextmanager
def _reporting(store: Store) -> Iterator[None]:
    """Add the collection's folder to errors about names."""
    try:
        yield
    except NamesError as error:
        raise CollectionError(f"{store.folder}: {error}") from error


def name_of(store: Store, model: Model, name: str) -> Name:
    """Query for a name, as the model understands it."""
    with _reporting(store):
        return _names(store, model).query(name)


def best_by_name(
    store: Store,
    model: Model,
    name: Name,
    found: CodeIndex,
    generation: int,
    where: str | None,
    k: int,
) -> tuple[Vectors, Ids]:
    """Scores and ids of the `k` items of an index that fit a name best, ties by id.

    `found` is the index of the items that meet `where` at a generation.
    """
    index = _held(store, found, generation, where or "")
    standing = _standing(store, model, name.seen, index, generation, where or "")
    fit, ids = scores(model.hasher, index.codes, name, standing), index.ids
    if k < len(fit):
        chosen = np.flatnonzero(fit >= np.partition(fit, -k)[-k])
        fit, ids = fit[chosen], ids[chosen]
    order = np.lexsort((ids, -fit))[:k]
    return fit[order], ids[order]


def _held(store: Store, index: CodeIndex, generation: int, where: str) -> HammingIndex:
    """Copy of an index in memory, which nobody else changes; remembered if a server has it."""
    if isinstance(index, HammingIndex):
        return index.in_memory()
    key = f"\0codes {where}"
    known: HammingIndex | None = store.remembered.get(generation, key)
    if known is None:
        known = index.in_memory()
        store.remembered.put(generation, key, known)
    return known


def _standing(
    store: Store,
    model: Model,
    seen: Vectors,
    index: HammingIndex,
    generation: int,
    where: str,
) -> Standing:
    """Standing of all codes among the seen names, remembered until items change."""
    key = f"\0standing {where}"
    known: tuple[Model, Ids, Standing] | None = store.remembered.get(generation, key)
    if known is None or known[0] is not model or not np.array_equal(known[1], index.ids):
        known = model, index.ids, standing_of(model.hasher, index.codes, seen)
        store.remembered.put(generation, key, known)
    return known[2]
