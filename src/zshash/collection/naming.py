"""Finding pictures of a category by its name, as far as the model has learned what names mean."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import CollectionError
from zshash.collection.rows import Match
from zshash.collection.searching import matches, searched
from zshash.collection.store import Store
from zshash.hashing import ZSH
from zshash.semantics import open_source

__all__ = ["search_name"]

ONE_HOT, WORDNET = "onehot", "wordnet"


def search_name(store: Store, name: str, k: int, where: str | None) -> list[Match]:
    """The `k` items whose codes fit a name best."""
    direction = _direction(store, name)
    index: Any = searched(store, where)
    if not len(index):
        return []
    scores, ids = index.search_weighted(direction[None], k)
    return matches(store, scores.tolist(), ids.tolist())[0]


def _direction(store: Store, name: str) -> NDArray[np.float32]:
    """How much each bit speaks for a name: A(y − ȳ), (n_bits,)."""
    hasher, notes = store.encoder.hasher, store.encoder.notes
    if not isinstance(hasher, ZSH):
        raise CollectionError(
            f"{store.folder}: {type(hasher).__name__} does not learn what names mean, so items "
            "can not be searched by name: make the collection with a model of ZSH"
        )
    specs, seen = _specs(store), tuple(notes["seen"])
    vectors = _vectors(specs, seen, tuple(notes.get("synsets") or seen), name)
    expected = hasher.mapping_.shape[1]
    if vectors.shape[1] != expected:
        raise CollectionError(
            f"{store.folder}: its model was trained with vectors of {expected} numbers for a "
            f"name, and these have {vectors.shape[1]}: name the same sources as semantics"
        )
    direction = hasher.directions(vectors[0], vectors[1:].mean(axis=0))
    return np.asarray(direction, dtype=np.float32)


def _specs(store: Store) -> tuple[str, ...]:
    """The sources of vectors that the model was trained with."""
    notes = store.encoder.notes
    specs = store.about["semantics"] or notes.get("labels") or ()
    if not specs or ONE_HOT in specs or not notes.get("seen"):
        raise CollectionError(
            f"{store.folder}: its model was not trained with the meanings of names, or does not "
            "say so: fit one with --labels wordnet or a file of word vectors"
        )
    missing = [spec for spec in specs if spec != WORDNET and not Path(spec).is_file()]
    if missing:
        raise CollectionError(
            f"{store.folder}: {missing[0]} is not there, and its model was trained with the "
            "vectors in it: name that file as semantics when the collection is made"
        )
    return tuple(specs)


@lru_cache(maxsize=64)
def _vectors(
    specs: tuple[str, ...], seen: tuple[str, ...], synsets: tuple[str, ...], name: str
) -> NDArray[np.float64]:
    """Vectors of a name and of all seen ones; large files are read only once for each name.

    WordNet knew the seen ones by their ids where the data had them.
    """
    parts = []
    for spec in specs:
        called = synsets if spec == WORDNET else seen
        names = [name, *called]
        parts.append(open_source(spec, seen=called, only=names).embed(names))
    return np.asarray(np.hstack(parts) / np.sqrt(len(parts)), dtype=np.float64)
