"""Learning again: a new model from all pictures of a collection, and its codes in one step."""

import json
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._interrupts import check, interruptible
from zshash._progress import watched
from zshash.collection.operations.features import Vectors
from zshash.collection.operations.reencoding import check_possible, features_of, reencode
from zshash.collection.storage.rows import Ids
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import rows_of
from zshash.datasets import DataError, Dataset
from zshash.hashing.hasher import Hasher
from zshash.hashing.mth import MTH
from zshash.images import PictureReader
from zshash.learning.fitting import METHOD, N_BITS, fit, make_hasher
from zshash.learning.model import Model
from zshash.learning.sources import with_labels
from zshash.learning.statistics import own_prior

__all__ = ["LEARNED", "Recipe", "n_unlearned", "recipe_of", "refit"]

LEARNED = "learned"  # note of a model that was learned from the pictures of its collection
AT_ONCE = 1024
MOST = 100_000  # samples to learn from: half a gigabyte of features
WORTH = 0.25  # new items, as a share of those learned from, that make learning again pay
LEAST = 20  # new items that make it pay at all
OWN = ("n_bits", "random_state", "prior")  # parameters that `fit` gets or sets in another way


class Recipe(NamedTuple):
    """How a model is learned; the fields are parameters of `zshash.fit`."""

    method: str = METHOD
    n_bits: int = N_BITS
    semantics: list[str] | None = None
    aliases: dict[str, str] | None = None
    random_state: int = 0
    parameters: Mapping[str, Any] = {"effort": "fast"}

    def changed(self, **changes: Any) -> "Recipe":
        """The recipe with other fields; parameters of the same method are added to those it has.

        >>> Recipe().changed(n_bits=32, effort="best").parameters
        {'effort': 'best'}
        """
        own = {name: value for name, value in changes.items() if name in self._fields}
        more = {name: value for name, value in changes.items() if name not in self._fields}
        is_same = own.get("method", self.method).lower() == self.method.lower()
        kept = self.parameters if is_same else {}
        return self._replace(**own, parameters={**kept, **more})


def recipe_of(store: Store) -> Recipe:
    """How the model of a collection was learned, as far as it says."""
    model = store.model
    parameters = model.hasher.get_params()
    seed = parameters.get("random_state")
    own = {name: value for name, value in parameters.items() if name not in OWN}
    sources = store.about["semantics"] or model.semantics
    if sources is None and model.notes.get("labels") == ["onehot"]:
        sources = ["onehot"]
    return Recipe(
        model.method,
        model.n_bits,
        None if sources is None else list(sources),
        model.notes.get("aliases"),
        seed if isinstance(seed, int) else 0,
        own,
    )


def refit(store: Store, recipe: Recipe) -> int:
    """Learn a model from all items and give them its codes; return how many got one.

    Readers see the codes of the model before until all items have those of the new one.
    """
    with store.writing() as state:
        check_possible(store, store.model)
        ids = _chosen(store.ids(), recipe.random_state)
        vectors, labels = _samples(store, ids)
        with interruptible(), watched(store.progress), warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* labelled samples have the same label")
            model = _learn(store, recipe, vectors, labels)
        model.notes[LEARNED] = {"items": state.items.n, "next_id": state.next_id}
        return reencode(store, model, vectors)


def _chosen(ids: Ids, seed: int) -> Ids:
    """Ids of the items to learn from: all of them, or many at random."""
    if len(ids) <= MOST:
        return ids
    return np.sort(np.random.RandomState(seed).choice(ids, MOST, replace=False))


def _samples(store: Store, ids: Ids) -> tuple[Vectors, list[list[str]]]:
    """Features and labels of items, in the order of ids."""
    vectors, labels = Vectors(), list[list[str]]()
    with store.bar(len(ids), "reading features") as bar:
        for start in range(0, len(ids), AT_ONCE):
            check()
            own = ids[start : start + AT_ONCE].tolist()
            with store.looking() as connection:
                found = rows_of(connection, store.folder, own)
            rows = [found[number] for number in own]
            features = features_of(store, store.model, rows)
            vectors |= {number: features[number] for number in own}
            labels += [json.loads(row.labels) for row in rows]
            bar.update(len(rows))
    return vectors, labels


def _learn(store: Store, recipe: Recipe, vectors: Vectors, labels: list[list[str]]) -> Model:
    if len(vectors) < 2:
        raise DataError(f"{store.folder}: there are not enough pictures to learn from: add some")
    facts = store.model.notes.get("extractor")
    X: NDArray[np.float32] = np.stack(list(vectors.values()))
    data = Dataset(X, extractor=facts if isinstance(facts, dict) else None)
    model = fit(
        with_labels(data, labels, None) if any(labels) else data,
        method=_hasher(recipe, data.extractor),
        semantics=recipe.semantics,
        aliases=_usable(recipe.aliases, labels),
        random_state=recipe.random_state,
        reader=_reader(store),
        progress=store.progress,
    )
    model.notes["features"] = "the collection itself"
    del model.notes["fit_seconds"]  # the same pictures give the same model
    return model


def _hasher(recipe: Recipe, extractor: dict[str, Any] | None) -> Hasher:
    """The estimator of a recipe; MTH knows the statistics of the network's features."""
    hasher = make_hasher(recipe.method, recipe.n_bits, recipe.random_state, recipe.parameters)
    if isinstance(hasher, MTH) and hasher.normalize and "prior" not in recipe.parameters:
        hasher.prior = own_prior(extractor)
    return hasher


def _reader(store: Store) -> PictureReader:
    """Reader with the network of the collection's model, where that is at hand."""
    network = None
    with suppress(ValueError, ImportError, OSError):
        network = store.model.picture_reader.network if "extractor" in store.model.notes else None
    return replace(store.reader, extractor=network, options={})


def _usable(aliases: Mapping[str, str] | None, labels: list[list[str]]) -> dict[str, str] | None:
    """Aliases of labels that items have."""
    there = {word for own in labels for word in own}
    return {label: name for label, name in (aliases or {}).items() if label in there} or None


def n_unlearned(store: Store) -> int:
    """Number of items that came after the model was learned from the others, if learning pays.

    It is 0 where few items are new, and where the model was learned elsewhere.
    """
    with store.reading() as state:
        learned = store.model.notes.get(LEARNED)
        if not isinstance(learned, dict):
            return 0
        new = int((store.ids() >= learned["next_id"]).sum())
        return new if new >= max(LEAST, WORTH * learned["items"]) and state.items.n else 0
