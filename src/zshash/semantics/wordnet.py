"""Vectors of category names, and distances between them, from WordNet's nouns.

A name becomes its synset and all hypernym ancestors: one coordinate for each, weighted with
log(N / number of synsets at or below it), where N is the number of noun synsets. Two names are
alike if they share specific ancestors: a tabby and a poodle share *carnivore*, a tabby and a
truck little more than *whole*.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from zshash.semantics.names import as_names, unit
from zshash.semantics.nouns import nouns

__all__ = ["WordNet"]

DIMENSION = 512
Via = Literal["ancestor", "any"]


class WordNet:
    """Source of vectors from the hypernyms of a name, WordNet 3.0.

    A name is a noun in any spelling ("tabby cat", "Tabby_cat", "tabby-cats"), several synonyms
    with commas between them, or a synset id ("n02123045"). A name means its first, most frequent
    sense; a name that is no noun of WordNet means its head noun ("red garbage lorry" → "lorry").

    Parameters
    ----------
    basis : iterable of str, optional
        The seen names. The coordinates are then exactly the synsets of these names and their
        ancestors, ordered by id: a hash function trained on these names can tell nothing else
        apart. Without a basis, all coordinates are projected on 512 dimensions by fixed random
        signs, which keeps cosines approximately.

    Attributes
    ----------
    basis : tuple of str or None
        As given.
    dimension : int
        Length of a vector.

    Examples
    --------
    >>> source = WordNet()
    >>> source.embed(["truck", "tabby cat"]).shape
    (2, 512)
    >>> source.hops("cat", "dog")
    4
    >>> WordNet(basis=["cat", "truck"]).embed(["tabby"]).shape
    (1, 22)
    """

    def __init__(self, basis: Iterable[str] | None = None) -> None:
        self.basis = None if basis is None else tuple(as_names(basis))
        self._coordinates = None if self.basis is None else _coordinates(self.basis)

    def __repr__(self) -> str:
        return "WordNet()" if self.basis is None else f"WordNet(basis=<{len(self.basis)} names>)"

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and nouns().row(name) is not None

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return DIMENSION if self._coordinates is None else len(self._coordinates)

    def embed(self, names: Iterable[str]) -> NDArray[np.float32]:
        """Vectors of the names, (n, dimension), of unit length.

        Parameters
        ----------
        names : iterable of str

        Raises
        ------
        UnknownNames
            Where WordNet has no noun for some names; it lists them all.
        ValueError
            Where a name shares no ancestor with the basis, or is the root itself.
        """
        names = as_names(names)
        paths = [_path(row) for row in nouns().rows(names)]
        if self._coordinates is None:
            vectors = _project(paths)
        else:
            vectors = _restrict(paths, self._coordinates)
        lost = [name for name, vector in zip(names, vectors, strict=True) if not vector.any()]
        if lost:
            cause = (
                "it is the root" if self.basis is None else "no ancestor is shared with the basis"
            )
            raise ValueError(f"no vector for {', '.join(map(repr, lost))}: {cause}")
        return unit(vectors)

    def synset(self, name: str) -> str:
        """Id of the synset that a name means.

        >>> WordNet().synset("tabby cat")
        'n02123045'
        """
        return _ids(nouns().rows(as_names([name])))[0]

    def name(self, synset: str) -> str:
        """First name of a synset.

        >>> WordNet().name("n02123045")
        'tabby'
        """
        return nouns().names[nouns().rows(as_names([synset]))[0]]

    def ancestors(self, name: str) -> list[str]:
        """Ids of all hypernyms of a name, nearest first, the root last.

        >>> [WordNet().name(synset) for synset in WordNet().ancestors("tabby")][:3]
        ['domestic cat', 'domestic animal', 'cat']
        """
        return _ids(nouns().above(nouns().rows(as_names([name]))[0]))

    def hops(self, a: str, b: str, via: Via = "ancestor") -> int:
        """Number of edges on the shortest path between two names.

        Parameters
        ----------
        a, b : str
        via : {"ancestor", "any"}
            Whether a path goes up to a common ancestor and down again, which is the usual
            distance in WordNet, or any way along the hypernyms, up and down in turn.

        Examples
        --------
        The paths lead over *feline*, *carnivore* and *canine*, and over *domestic cat* and
        *domestic animal*:

        >>> WordNet().hops("cat", "dog"), WordNet().hops("cat", "dog", via="any")
        (4, 3)
        """
        return int(self.hops_matrix([a], [b], via)[0, 0])

    def hops_matrix(
        self, names_a: Iterable[str], names_b: Iterable[str] | None = None, via: Via = "ancestor"
    ) -> NDArray[np.int64]:
        """Hops from each name of `names_a` to each of `names_b`, by default `names_a` again.

        >>> WordNet().hops_matrix(["cat", "dog", "truck"])
        array([[ 0,  4, 17],
               [ 4,  0, 12],
               [17, 12,  0]])
        """
        if via not in get_args(Via):
            raise ValueError(f"via must be 'ancestor' or 'any', not {via!r}")
        a = as_names(names_a)
        b = a if names_b is None else as_names(names_b)
        rows = nouns().rows([*a, *b])
        return nouns().hops(rows[: len(a)], rows[len(a) :], any_path=via == "any")


def _ids(rows: Iterable[int]) -> list[str]:
    return [f"n{nouns().offsets[row]:08d}" for row in rows]


def _path(row: int) -> list[int]:
    """Rows of a synset and its ancestors, without the root, whose weight is zero."""
    return [i for i in (row, *nouns().above(row)) if nouns().weights[i] > 0]


def _coordinates(basis: Sequence[str]) -> NDArray[np.int64]:
    """Rows of the basis and its ancestors, ascending, which is the order of the ids."""
    rows = sorted({i for row in nouns().rows(basis) for i in _path(row)})
    if not rows:
        raise ValueError("the basis has no synset other than the root; give it the seen names")
    return np.array(rows, dtype=np.int64)


def _restrict(
    paths: Sequence[Sequence[int]], coordinates: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Weights of the coordinates on each path, (n, coordinates)."""
    vectors = np.zeros((len(paths), len(coordinates)))
    for vector, path in zip(vectors, paths, strict=True):
        common = np.isin(coordinates, path)
        vector[common] = nouns().weights[coordinates[common]]
    return vectors


def _project(paths: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Weighted sum of the random signs of the synsets on each path, (n, 512)."""
    rows = sorted({row for path in paths for row in path})
    signs = {row: _signs(synset) for row, synset in zip(rows, _ids(rows), strict=True)}
    vectors = np.zeros((len(paths), DIMENSION))
    for vector, path in zip(vectors, paths, strict=True):
        for row in path:
            vector += nouns().weights[row] * signs[row]
    return vectors


def _signs(synset: str) -> NDArray[np.float64]:
    """Signs ±1/sqrt(512) that depend on nothing but the id, so vectors never change."""
    digest = hashlib.shake_256(synset.encode()).digest(DIMENSION // 8)
    positive = np.unpackbits(np.frombuffer(digest, np.uint8)).astype(bool)
    return np.where(positive, 1.0, -1.0) / math.sqrt(DIMENSION)
