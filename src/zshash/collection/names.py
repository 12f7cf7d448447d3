"""What names mean, as the model of a collection was told when it was trained."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import CollectionError
from zshash.collection.store import Store
from zshash.encoding import Encoder
from zshash.hashing.meaning import Meaning
from zshash.semantics import Source, UnknownNames, open_source
from zshash.semantics.names import normalise, synonyms

__all__ = [
    "Vectors",
    "called_of",
    "check_names",
    "full_vectors",
    "meaningful",
    "place_among_seen",
    "seen_of",
    "specs_of",
    "vectors_of",
]

ONE_HOT, WORDNET = "onehot", "wordnet"
Vectors = NDArray[np.float64]


def check_names(store: Store, encoder: Encoder) -> None:
    """Refuse a model that was not trained with the meanings of names."""
    if not isinstance(encoder.hasher, Meaning):
        raise CollectionError(
            f"{store.folder}: {type(encoder.hasher).__name__} does not learn what names mean, so "
            "items can not be searched by name: make the collection with a model of ZSH or "
            "MTH"
        )
    specs_of(store, encoder)


def seen_of(encoder: Encoder) -> tuple[str, ...]:
    """Names of the categories that the model was trained on."""
    return tuple(encoder.notes["seen"])


def called_of(encoder: Encoder) -> tuple[str, ...]:
    """How WordNet knew the seen names: by their ids where the data had them."""
    return tuple(encoder.notes.get("synsets") or encoder.notes["seen"])


def place_among_seen(encoder: Encoder, name: str) -> int | None:
    """Which of the seen categories a name is that of, None where it is of none."""
    wanted = normalise(name)
    places = [place for place, own in enumerate(seen_of(encoder)) if normalise(own) == wanted]
    return places[0] if places else None


def specs_of(store: Store, encoder: Encoder) -> tuple[str, ...]:
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
def vectors_of(
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
def full_vectors(
    specs: tuple[str, ...], seen: tuple[str, ...], called: tuple[str, ...], name: str
) -> Vectors:
    """The same of one more name, with all that it means: also what no seen one shares with it."""
    parts = []
    for spec in specs:
        wanted = [*(called if spec == WORDNET else seen), name]
        parts.append(open_source(spec, seen=wanted, only=wanted).embed(wanted))
    return np.asarray(np.hstack(parts) / np.sqrt(len(parts)), dtype=np.float64)


@lru_cache(maxsize=8)
def meaningful(
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
