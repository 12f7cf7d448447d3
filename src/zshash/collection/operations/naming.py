"""Names of categories: items that fit one best, and what names and codes mean to the model.

Names are read in `zshash.learning.readings`; for a model that knows only its labels, the rule is in
`zshash.learning.name_rule`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from zshash.codes import unpack
from zshash.collection.errors import CollectionError
from zshash.collection.operations.filtering import label_counts
from zshash.collection.operations.queries import Query
from zshash.collection.operations.where_sql import compare
from zshash.collection.storage.rows import Ids
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import rows_where
from zshash.index import CodeIndex, HammingIndex
from zshash.learning.model import Model
from zshash.learning.name_rule import Query as Name
from zshash.learning.name_rule import Standing, Vectors, scores, standing_of
from zshash.learning.names import Meaning, Names, NamesError, NearName
from zshash.learning.readings import Embed, Reading, explain, joined, likely_names, read_name

__all__ = [
    "Name",
    "best_by_name",
    "best_by_reading",
    "explain_name",
    "knows_names",
    "names_near",
    "understand",
]

LABELS_AT_ONCE = 500  # SQLite takes a limited number of parameters


def knows_names(store: Store) -> bool:
    """Whether the model knows names: those of its network, or those that it was trained with."""
    if _model(store).knowledge is not None:
        return True
    try:
        _names(store, _model(store))
    except CollectionError:
        return False
    return True


def explain_name(store: Store, name: str) -> Meaning:
    """Known categories nearest to a name, and a forecast of how well a search for it works."""
    model = _model(store)
    if model.knowledge is not None:
        with _reporting(store):
            read = read_name(model.knowledge, name, _labels(store), _embed(model))
            return explain(model.knowledge, read)
    return _names(store, _model(store)).meaning(name)


def names_near(store: Store, model: Model, code: Any, n: int) -> list[NearName]:
    """Names whose vectors have the largest cosines with the meaning of a packed code.

    These are the names of the seen categories and all labels of items with a known meaning.
    """
    if model.knowledge is not None:
        signs = 2.0 * unpack(code[None], model.n_bits)[0] - 1.0
        return likely_names(model.knowledge, signs, n)
    return _names(store, model).nearest(code, _labels(store), n)


def _labels(store: Store) -> list[str]:
    """All labels of items."""
    return [label for label in label_counts(store) if label]


def _embed(model: Model) -> Embed | None:
    """Query for a text, where the model's network reads texts itself."""
    reads = model.knowledge is not None and model.knowledge.decoder.shape[1]
    return model.query_of_text if reads else None


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


def understand(
    store: Store, model: Model, query: Query, values: NDArray[np.float64]
) -> Name | Reading:
    """What the names of a query mean to the model; `values` are those of its picture, if any."""
    knowledge = model.knowledge
    with _reporting(store):
        if knowledge is not None:
            words = query.words or {query.name or "": 1.0}
            others = [(values, 1.0)] if query.is_shown else []
            return joined(knowledge, words, _labels(store), _embed(model), others)
        if query.words:
            raise NamesError(
                "several names together, or a picture and a name, need a model that was learned "
                "from features of a network with known categories: search for one at a time"
            )
        return _names(store, model).query(query.name or "")


def best_by_reading(
    store: Store,
    model: Model,
    reading: Reading,
    index: CodeIndex,
    state: State,
    where: str | None,
    k: int,
) -> tuple[Vectors, Ids, Reading]:
    """Scores and ids of the `k` items that fit a name best, and the reading with its verdict.

    Items with a label that the name means come first. `index` holds the items that meet `where`.
    """
    first = _with_labels(store, index, state, where, reading.labels)
    scores, ids = _cosines(index if first is None else first, reading.values, k)
    n_first = 0 if first is None else len(ids)
    if first is not None and n_first < k:
        rest, others = _cosines(index, reading.values, k + n_first)
        is_new = ~np.isin(others, ids)
        scores = np.concatenate([scores, rest[is_new][: k - n_first]])
        ids = np.concatenate([ids, others[is_new][: k - n_first]])
    if not reading.is_plain:
        return scores, ids, reading
    assert model.knowledge is not None
    direction = reading.things[0].direction
    nothing = not n_first and bool(len(ids))
    nothing = nothing and model.knowledge.is_nothing(direction, float(scores[0]))
    likely = model.knowledge.probabilities(direction, scores)
    scores = scores if np.isnan(likely).any() else likely
    scores[:n_first] = 1.0
    return scores, ids, replace(reading, nothing=nothing)


def _cosines(index: CodeIndex, values: Vectors, k: int) -> tuple[Vectors, Ids]:
    """Cosines of the best `k` items with a query of unit length, and their ids."""
    if not len(index):
        return np.empty(0), np.empty(0, dtype=np.int64)
    products, ids = index.search_real(values[None], min(k, len(index)))
    return products[0] / np.sqrt(len(values)), ids[0]


def _with_labels(
    store: Store, index: CodeIndex, state: State, where: str | None, labels: Sequence[str]
) -> CodeIndex | None:
    """Index of the items of `index` that have one of some labels; None without labels.

    `index` holds the items that meet `where`. Results are remembered until items change.
    """
    if not labels:
        return None
    key = f"\0labelled {where!r} {labels!r}"
    known: CodeIndex | None = store.remembered.get(state.generation, key)
    if known is not None:
        return known
    generation, ids = _labelled(store, labels)
    is_same = generation == state.generation  # otherwise the search will start again
    if where is not None or not is_same:
        ids = ids[np.isin(ids, index.ids)]
    found = index.subset(ids)
    if is_same:
        store.remembered.put(generation, key, found)
    return found


def _labelled(store: Store, labels: Sequence[str]) -> tuple[int, Ids]:
    """Generation of the catalogue that was read, and ids of the items with one of some labels.

    A condition as users write them would be too long for the labels of a large collection.
    """
    found: list[int] = []
    with store.beside() as (connection, state):
        for part in gen_batches(len(labels), LABELS_AT_ONCE):
            condition = compare(["label"], "in", labels[part])
            sql, parameters = condition.sql, condition.parameters
            blocks = rows_where(connection, store.folder, state.items, sql, parameters)
            found += [row[0] for rows in blocks for row in rows]
    return state.generation, np.unique(np.array(found, dtype=np.int64))


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
