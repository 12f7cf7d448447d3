"""Meanings of names, for a model that was trained with the meanings of names."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from zshash.codes import unpack
from zshash.hashing.hasher import SemanticHasher
from zshash.learning.name_rule import Query, Vectors, query_of
from zshash.semantics import Source, UnknownNames, open_source
from zshash.semantics.names import normalise, synonyms

if TYPE_CHECKING:
    from zshash.learning.model import Model

__all__ = ["Forecast", "Meaning", "Names", "NamesError", "NearName"]

ONE_HOT, WORDNET = "onehot", "wordnet"
SHOWN = 10
MOST_NAMES = 1000  # at most so many names are looked up
CLOSE, FAR = 2 / 3, 1 / 3
FEWEST = 3  # seen categories that a forecast needs


class NamesError(ValueError):
    """A model can not rank by name, or not by this name; the message says why and what to do."""


class NearName(NamedTuple):
    """Name of a category, cosine of its meaning, and whether the model was trained on it."""

    name: str
    cosine: float
    seen: bool


class Forecast(NamedTuple):
    """Forecast of how well a category can be found.

    Attributes
    ----------
    verdict : {"seen", "close", "usual", "far", "unknown"}
    similarity : float
        Cosine of the name to the nearest name of a seen category.
    rank : float
        Share of the seen categories that are further from their nearest other category than the
        name is from its nearest one; NaN if there are too few seen categories. For a model that
        knows what its network knows, share of the known categories whose best items stand out
        less, if each is predicted from all others; NaN for a known name.
    text : str
        The forecast in words.
    """

    verdict: str
    similarity: float
    rank: float = float("nan")
    text: str = ""


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


@dataclass(frozen=True)
class Names:
    """The names that a model was trained with, and where their vectors come from.

    Attributes
    ----------
    hasher : Hasher
        A fitted method that learns what names mean.
    specs : tuple of str
        Sources of the vectors, as `zshash.semantics.open_source` takes them.
    seen : tuple of str
        Names of the seen categories.
    called : tuple of str
        How WordNet knows the seen categories: by their ids where the data had them, else by name.
    """

    hasher: SemanticHasher
    specs: tuple[str, ...]
    seen: tuple[str, ...]
    called: tuple[str, ...]

    @classmethod
    def of(cls, model: "Model", semantics: Sequence[str] | None = None) -> Self:
        """The names of a model.

        Parameters
        ----------
        model : Model
        semantics : list of str, optional
            Sources of the vectors, by default those that the model's notes name.

        Raises
        ------
        NamesError
            If the model was not trained with the meanings of names, or a source is missing.
        """
        if not isinstance(model.hasher, SemanticHasher):
            raise NamesError(
                f"{type(model.hasher).__name__} does not learn what names mean, so items can not "
                "be searched by name: make the collection with a model of ZSH or MTH"
            )
        notes = model.notes
        if notes.get("n_unlabelled") and not notes.get("seen"):
            raise NamesError(
                "the model was learned from pictures without labels, so it knows no names: search "
                "by picture, or learn from pictures of which some are labelled"
            )
        specs = semantics or notes.get("labels") or ()
        if not specs or ONE_HOT in specs or not notes.get("seen"):
            raise NamesError(
                "the model was not trained with the meanings of names, or does not say so: fit a "
                "model with wordnet or a file of word vectors as source of the labels' meanings"
            )
        missing = [spec for spec in specs if spec != WORDNET and not Path(spec).is_file()]
        if missing:
            raise NamesError(
                f"{missing[0]} is not there, and the model was trained with the word vectors in "
                "this file: name the file as semantics when the collection is made"
            )
        seen = tuple(notes["seen"])
        return cls(model.hasher, tuple(specs), seen, tuple(notes.get("synsets") or seen))

    def query(self, name: str) -> Query:
        """The query for a name.

        Raises
        ------
        UnknownNames
            If no source knows the name.
        NamesError
            If the name has nothing in common with the seen categories, or its vector has another
            length than in the training.
        """
        try:
            vectors = self.vectors((name,))
        except UnknownNames:
            raise
        except ValueError as error:
            raise NamesError(
                f"{name!r} has nothing in common with the categories that the model was trained "
                f"on, so it can not be searched for ({error})"
            ) from error
        expected = self.hasher.mapping_.shape[1]
        if vectors.shape[1] != expected:
            raise NamesError(
                f"the model was trained with vectors of {expected} numbers for a name, and these "
                f"have {vectors.shape[1]}: name the same sources as semantics"
            )
        return query_of(vectors[-1], vectors[:-1])

    def vectors(self, names: tuple[str, ...] = ()) -> Vectors:
        """Vectors of the seen names, then of `names`, in the space that the seen names span."""
        return _vectors(self.specs, self.seen, self.called, names)

    @cached_property
    def _spellings(self) -> frozenset[str]:
        return frozenset(map(normalise, self.seen))

    def is_seen(self, name: str) -> bool:
        """Whether a seen category has this name."""
        return normalise(name) in self._spellings

    def meaning(self, name: str) -> Meaning:
        """The seen categories that are nearest to a name, and a forecast for it."""
        vectors = _full_vectors(self.specs, self.seen, self.called, name)
        near = vectors[:-1] @ vectors[-1]
        order = np.argsort(-near, kind="stable")[:SHOWN]
        nearest = [NearName(self.seen[place], float(near[place]), True) for place in order]
        is_seen = self.is_seen(name)
        return Meaning(name, is_seen, nearest, _forecast(name, nearest[0], is_seen, vectors[:-1]))

    def nearest(self, code: NDArray[np.uint8], others: Sequence[str], n: int) -> list[NearName]:
        """The names whose vectors have the largest cosines with the meaning of a packed code.

        Parameters
        ----------
        code : ndarray of shape (bytes,)
        others : list of str
            Names other than those of the seen categories. The first thousand are looked up; names
            without a known meaning are left out.
        n : int
            How many names to return.
        """
        unseen = [name for name in others if not self.is_seen(name)]
        known = _meaningful(self.specs, self.called, tuple(unseen[:MOST_NAMES]))
        names, vectors = (*self.seen, *known), self.vectors(known)
        bits = unpack(code[None], int(self.hasher.n_bits))[0]
        place = self.hasher.meanings(2.0 * bits - 1.0)
        near = vectors @ place / max(float(np.linalg.norm(place)), np.finfo(float).tiny)
        order = np.argsort(-near, kind="stable")[:n]
        return [NearName(names[i], float(near[i]), self.is_seen(names[i])) for i in order]


def _forecast(name: str, nearest: NearName, is_seen: bool, seen: Vectors) -> Forecast:
    """Forecast for a name, from the cosines of the seen names with each other."""
    if is_seen:
        text = f"The model was trained on pictures of {name}."
        return Forecast("seen", nearest.cosine, text=text)
    if len(seen) < FEWEST:
        text = f"The model has seen only {len(seen)} categories, too few for a forecast."
        return Forecast("unknown", nearest.cosine, text=text)
    among = seen @ seen.T
    np.fill_diagonal(among, -1.0)
    is_further = among.max(axis=1) < nearest.cosine
    rank = float(is_further.mean())
    verdict = "close" if rank >= CLOSE else "far" if rank < FAR else "usual"
    means = {
        "close": "so it should be found well",
        "usual": "so expect about what a typical category gets",
        "far": "so expect little: the model has learned hardly anything about its looks",
    }
    text = (
        f"No picture of {name} was labelled for the model. Nearest to it in meaning is "
        f"{nearest.name}. Of the {len(seen)} seen categories {is_further.sum()} are further from "
        f"their own nearest one, {means[verdict]}. This is a hint, not a promise."
    )
    return Forecast(verdict, nearest.cosine, rank, text=text)


@lru_cache(maxsize=64)
def _vectors(
    specs: tuple[str, ...], seen: tuple[str, ...], called: tuple[str, ...], names: tuple[str, ...]
) -> Vectors:
    """Vectors of the seen names, then of `names`; kept, because large files are slow to read.

    WordNet looks up the seen names as `called`.
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
    """Vectors of the seen names and of `name`, in the space that all of them span."""
    parts = []
    for spec in specs:
        wanted = [*(called if spec == WORDNET else seen), name]
        parts.append(open_source(spec, seen=wanted, only=wanted).embed(wanted))
    return np.asarray(np.hstack(parts) / np.sqrt(len(parts)), dtype=np.float64)


@lru_cache(maxsize=8)
def _meaningful(
    specs: tuple[str, ...], called: tuple[str, ...], labels: tuple[str, ...]
) -> tuple[str, ...]:
    """The labels that have a vector in every source."""
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
