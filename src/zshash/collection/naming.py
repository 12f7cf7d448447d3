"""Names and codes: finding items by a category's name, and names by an item's code.

What `zshash.ZSH` has learned is A = WRᵀ: a code b stands at bA among the vectors of names. How
well it fits a name y is the cosine of the two, b·Ay / ‖bA‖.
"""

from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.codes import unpack
from zshash.collection.errors import CollectionError
from zshash.collection.filtering import label_counts
from zshash.collection.rows import Found, Page, Ranking
from zshash.collection.searching import OtherModel, Rank, best_page
from zshash.collection.store import Store
from zshash.encoding import Encoder
from zshash.hashing import ZSH
from zshash.index import HammingIndex
from zshash.semantics import Source, UnknownNames, open_source
from zshash.semantics.names import normalise, synonyms

__all__ = [
    "Forecast",
    "Meaning",
    "NearName",
    "explain_code",
    "explain_name",
    "knows_names",
    "search_name",
]

ONE_HOT, WORDNET = "onehot", "wordnet"
SHOWN = 10
MOST_LABELS = 1000  # whose meanings are looked up
CLOSE, FAR = 2 / 3, 1 / 3
FEWEST = 3  # seen categories to compare a name with
CODES_AT_ONCE = 65_536
Vectors = NDArray[np.float64]


class NearName(NamedTuple):
    """A category's name, how near its meaning is, and whether the model was trained on it."""

    name: str
    cosine: float
    seen: bool


class Forecast(NamedTuple):
    """How well a category may be found, from what its name means.

    Attributes
    ----------
    verdict : {"seen", "close", "usual", "far", "unknown"}
    similarity : float
        Cosine of the name to the nearest one of a seen category.
    rank : float
        Share of the seen categories whose own nearest other one is less near; NaN where there
        are too few to compare with.
    text : str
        The same in words.
    """

    verdict: str
    similarity: float
    rank: float
    text: str


class Meaning(NamedTuple):
    """What a name means to a model.

    Attributes
    ----------
    name : str
    seen : bool
        Whether the model was trained on pictures of this category.
    nearest : list of NearName
        Seen categories by meaning, nearest first.
    forecast : Forecast
    """

    name: str
    seen: bool
    nearest: list[NearName]
    forecast: Forecast


def knows_names(store: Store) -> bool:
    """Whether the model was trained with the meanings of names, and these are to be had."""
    with store.reading():
        encoder = store.encoder
    try:
        _check_names(store, encoder)
    except CollectionError:
        return False
    return True


def search_name(store: Store, name: str, page: Page, where: str | None) -> Found:
    """A page of the items whose codes fit a name best."""
    while True:
        with store.reading():
            encoder = store.encoder
        rank = _ranks(store, encoder, _vector(store, encoder, name), page.k, where or "")
        try:
            return best_page(store, rank, page, where, encoder)
        except OtherModel:
            continue


def _ranks(store: Store, encoder: Encoder, vector: Vectors, k: int, where: str) -> Rank:
    """What finds the items that fit a vector best."""
    direction = encoder.hasher.directions(vector)

    def rank(index: HammingIndex, generation: int) -> list[Ranking]:
        index = copy(index)  # as it is now, whoever changes it meanwhile
        return [_best(index, direction, _lengths(store, encoder, index, generation, where), k)]

    return rank


def _best(index: HammingIndex, direction: Vectors, lengths: Vectors, k: int) -> Ranking:
    """The `k` items of the largest cosines b·Ay / ‖bA‖, ties by id."""
    codes, ids = index.codes, index.ids
    scores = _products(codes, direction) / lengths
    if k < len(scores):
        chosen = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
        scores, ids = scores[chosen], ids[chosen]
    order = np.lexsort((ids, -scores))[:k]
    return Ranking(scores[order], ids[order])


def _products(codes: NDArray[np.uint8], direction: Vectors) -> Vectors:
    """b·d of packed codes, by way of what each byte contributes."""
    signs = 2.0 * unpack(np.arange(256, dtype=np.uint8)[:, None], 8) - 1.0
    padded = np.zeros(8 * codes.shape[1])
    padded[: len(direction)] = direction
    tables = padded.reshape(-1, 8) @ signs.T
    sums = np.zeros(len(codes))
    for column, table in zip(codes.T, tables, strict=True):
        sums += table[column]
    return sums


def _lengths(
    store: Store, encoder: Encoder, index: HammingIndex, generation: int, where: str
) -> Vectors:
    """‖bA‖ of all codes, remembered until items change."""
    key = f"\0lengths {where}"
    known: tuple[Encoder, Vectors] | None = store.remembered.get(generation, key)
    if known is None or known[0] is not encoder or len(known[1]) != len(index):
        known = encoder, lengths_of(encoder.hasher, index.codes)
        store.remembered.put(generation, key, known)
    return known[1]


def lengths_of(hasher: ZSH, codes: NDArray[np.uint8]) -> Vectors:
    """‖bA‖ of packed codes (n, bytes); as ‖bA‖² = bAAᵀbᵀ, the length of names does not matter."""
    meaning = hasher.meanings(np.eye(hasher.n_bits))
    form = (meaning @ meaning.T).astype(np.float32)
    squares = np.empty(len(codes))
    for start in range(0, len(codes), CODES_AT_ONCE):
        bits = unpack(codes[start : start + CODES_AT_ONCE], hasher.n_bits).astype(np.float32)
        signs = 2 * bits - 1
        squares[start : start + CODES_AT_ONCE] = np.einsum("ij,ij->i", signs @ form, signs)
    return np.sqrt(np.maximum(squares, np.finfo(np.float32).tiny))


def explain_name(store: Store, name: str) -> Meaning:
    """The seen categories that are nearest to a name, and what that makes one expect."""
    with store.reading():
        encoder = store.encoder
    _check_names(store, encoder)
    seen = _seen(encoder)
    vectors = _full_vectors(_specs(store, encoder), seen, _called(encoder), name)
    cosines = vectors[:-1] @ vectors[-1]
    is_seen = normalise(name) in map(normalise, seen)
    order = np.argsort(-cosines, kind="stable")[:SHOWN]
    nearest = [NearName(seen[place], float(cosines[place]), True) for place in order]
    return Meaning(name, is_seen, nearest, _forecast(name, nearest[0], is_seen, vectors[:-1]))


def _forecast(name: str, nearest: NearName, is_seen: bool, seen: Vectors) -> Forecast:
    """Compare how near a name's nearest seen category is with how near these have one."""
    if is_seen:
        text = f"The model was trained on pictures of {name}."
        return Forecast("seen", nearest.cosine, float("nan"), text)
    if len(seen) < FEWEST:
        text = f"The model has seen only {len(seen)} categories, too few for a forecast."
        return Forecast("unknown", nearest.cosine, float("nan"), text)
    among = seen @ seen.T
    np.fill_diagonal(among, -1.0)
    is_further = among.max(axis=1) < nearest.cosine
    rank = float(is_further.mean())
    verdict = "close" if rank >= CLOSE else "far" if rank < FAR else "usual"
    means = {
        "close": "so it should be found well",
        "usual": "so expect about what a typical category gets",
        "far": "so expect little: what it looks like was hardly learned from them",
    }
    text = (
        f"No picture of {name} was labelled for the model. Nearest to it in meaning is "
        f"{nearest.name}. Of the {len(seen)} seen categories {is_further.sum()} are further from "
        f"their own nearest one, {means[verdict]}. A hint, and no promise."
    )
    return Forecast(verdict, nearest.cosine, rank, text)


def explain_code(store: Store, code: NDArray[np.uint8], n: int) -> list[NearName]:
    """The names whose vectors have the largest cosines with what a code means."""
    with store.reading():
        encoder = store.encoder
    _check_names(store, encoder)
    names, vectors = _all_names(store, encoder)
    bits = unpack(code[None], int(encoder.hasher.n_bits))[0]
    meaning = encoder.hasher.meanings(2.0 * bits - 1.0)
    cosines = vectors @ meaning / max(float(np.linalg.norm(meaning)), np.finfo(float).tiny)
    seen = set(map(normalise, _seen(encoder)))
    order = np.argsort(-cosines, kind="stable")[:n]
    return [NearName(names[i], float(cosines[i]), normalise(names[i]) in seen) for i in order]


def _all_names(store: Store, encoder: Encoder) -> tuple[tuple[str, ...], Vectors]:
    """The seen names, then other labels of items whose meaning is known, and their vectors."""
    seen = _seen(encoder)
    known = set(map(normalise, seen))
    others = [label for label in label_counts(store) if label and normalise(label) not in known]
    specs, called = _specs(store, encoder), _called(encoder)
    labels = _meaningful(specs, called, tuple(others[:MOST_LABELS]))
    return (*seen, *labels), _vectors(specs, seen, called, labels)


def _vector(store: Store, encoder: Encoder, name: str) -> Vectors:
    """The vector of a name, which the model can make something of."""
    _check_names(store, encoder)
    try:
        vectors = _vectors(_specs(store, encoder), _seen(encoder), _called(encoder), (name,))
    except UnknownNames:
        raise
    except ValueError as error:
        raise CollectionError(
            f"{store.folder}: {name!r} has nothing in common with the categories that the model "
            f"was trained on, so it can not be searched for ({error})"
        ) from error
    expected = encoder.hasher.mapping_.shape[1]
    if vectors.shape[1] != expected:
        raise CollectionError(
            f"{store.folder}: its model was trained with vectors of {expected} numbers for a "
            f"name, and these have {vectors.shape[1]}: name the same sources as semantics"
        )
    vector: Vectors = vectors[-1]
    return vector


def _check_names(store: Store, encoder: Encoder) -> None:
    if not isinstance(encoder.hasher, ZSH):
        raise CollectionError(
            f"{store.folder}: {type(encoder.hasher).__name__} does not learn what names mean, so "
            "items can not be searched by name: make the collection with a model of ZSH"
        )
    _specs(store, encoder)


def _seen(encoder: Encoder) -> tuple[str, ...]:
    return tuple(encoder.notes["seen"])


def _called(encoder: Encoder) -> tuple[str, ...]:
    """How WordNet knew the seen names: by their ids where the data had them."""
    return tuple(encoder.notes.get("synsets") or encoder.notes["seen"])


def _specs(store: Store, encoder: Encoder) -> tuple[str, ...]:
    """The sources of vectors that the model was trained with."""
    notes = encoder.notes
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
    specs: tuple[str, ...], seen: tuple[str, ...], called: tuple[str, ...], names: tuple[str, ...]
) -> Vectors:
    """Vectors of all seen names, then of others; large files are read only once for each of these.

    WordNet knows the seen ones as they were `called`.
    """
    parts = []
    for spec in specs:
        basis = called if spec == WORDNET else seen
        wanted = [*basis, *names]
        parts.append(open_source(spec, seen=basis, only=wanted).embed(wanted))
    return np.asarray(np.hstack(parts) / np.sqrt(len(parts)), dtype=np.float64)


@lru_cache(maxsize=64)
def _full_vectors(
    specs: tuple[str, ...], seen: tuple[str, ...], called: tuple[str, ...], name: str
) -> Vectors:
    """The same of one more name, with all that it means: also what no seen one shares with it."""
    parts = []
    for spec in specs:
        wanted = [*(called if spec == WORDNET else seen), name]
        parts.append(open_source(spec, seen=wanted, only=wanted).embed(wanted))
    return np.asarray(np.hstack(parts) / np.sqrt(len(parts)), dtype=np.float64)


@lru_cache(maxsize=8)
def _meaningful(
    specs: tuple[str, ...], called: tuple[str, ...], labels: tuple[str, ...]
) -> tuple[str, ...]:
    """Those labels that all sources have a vector for."""
    labels = tuple(label for label in labels if synonyms(label))
    for spec in specs:
        source = open_source(spec, seen=called, only=labels)
        try:
            source.embed(labels)
        except UnknownNames as error:
            labels = tuple(label for label in labels if label not in error.names)
        except ValueError:  # a name that has nothing in common with the seen ones
            pass
        labels = tuple(label for label in labels if _has_vector(source, label))
    return labels


def _has_vector(source: Source, label: str) -> bool:
    try:
        return bool(len(source.embed([label])))
    except ValueError:
        return False
