"""Why an item is found: what a name means to the model, and what a code means in names.

What `zshash.ZSH` and `zshash.MTH` have learned is a map A: a code b stands at bA among the vectors
of names.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.codes import unpack
from zshash.collection.filtering import label_counts
from zshash.collection.names import (
    Vectors,
    called_of,
    check_names,
    full_vectors,
    meaningful,
    place_among_seen,
    seen_of,
    specs_of,
    vectors_of,
)
from zshash.collection.store import Store
from zshash.encoding import Encoder
from zshash.semantics.names import normalise

__all__ = ["Forecast", "Meaning", "NearName", "explain_code", "explain_name"]

SHOWN = 10
MOST_LABELS = 1000  # whose meanings are looked up
CLOSE, FAR = 2 / 3, 1 / 3
FEWEST = 3  # seen categories to compare a name with


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


def explain_name(store: Store, name: str) -> Meaning:
    """The seen categories that are nearest to a name, and what that makes one expect."""
    with store.reading():
        encoder = store.encoder
    check_names(store, encoder)
    seen = seen_of(encoder)
    vectors = full_vectors(specs_of(store, encoder), seen, called_of(encoder), name)
    cosines = vectors[:-1] @ vectors[-1]
    is_seen = place_among_seen(encoder, name) is not None
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
    check_names(store, encoder)
    names, vectors = _all_names(store, encoder)
    bits = unpack(code[None], int(encoder.hasher.n_bits))[0]
    meaning = encoder.hasher.meanings(2.0 * bits - 1.0)
    cosines = vectors @ meaning / max(float(np.linalg.norm(meaning)), np.finfo(float).tiny)
    seen = set(map(normalise, seen_of(encoder)))
    order = np.argsort(-cosines, kind="stable")[:n]
    return [NearName(names[i], float(cosines[i]), normalise(names[i]) in seen) for i in order]


def _all_names(store: Store, encoder: Encoder) -> tuple[tuple[str, ...], Vectors]:
    """The seen names, then other labels of items whose meaning is known, and their vectors."""
    seen = seen_of(encoder)
    known = set(map(normalise, seen))
    others = [label for label in label_counts(store) if label and normalise(label) not in known]
    specs, called = specs_of(store, encoder), called_of(encoder)
    labels = meaningful(specs, called, tuple(others[:MOST_LABELS]))
    return (*seen, *labels), vectors_of(specs, seen, called, labels)
