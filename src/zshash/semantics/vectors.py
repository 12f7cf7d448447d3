"""Vectors of category names from a table of word vectors: word2vec, GloVe, fastText."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.semantics.names import (
    UnknownNames,
    as_names,
    head_forms,
    normalise,
    singular_forms,
    suggest,
    synonyms,
    unit,
)
from zshash.semantics.nouns import nouns
from zshash.semantics.vector_files import read_vectors

__all__ = ["WordVectors"]


class WordVectors:
    """Source of vectors from a table of word vectors.

    A name is looked up as it is, in lower case, with other separators ("tabby_cat" for "tabby
    cat") and in the singular. A name of several words that is not in the table gets the mean
    vector of its words or, if a word is unknown, the vector of its head noun. Synonyms may be
    given with commas between them.

    Parameters
    ----------
    words : iterable of str
        If a word comes twice, its first vector counts.
    vectors : array-like of shape (n, p)

    Attributes
    ----------
    words : list of str
        As given.
    vectors : (n, p) array of float32
        As given, not scaled to unit length.
    dimension : int
        Length of a vector, p.

    Examples
    --------
    >>> source = WordVectors(["cat", "Siamese"], [[2, 0], [0, 1]])
    >>> source.embed(["cats", "siamese cat"])
    array([[1.        , 0.        ],
           [0.70710677, 0.70710677]], dtype=float32)
    >>> "dog" in source
    False
    """

    def __init__(self, words: Iterable[str], vectors: ArrayLike) -> None:
        self.words = list(words)
        if not all(isinstance(word, str) for word in self.words):
            raise TypeError("words must be strings")
        self.vectors = _matrix(vectors)
        if len(self.words) != len(self.vectors):
            raise ValueError(f"{len(self.words)} words, but {len(self.vectors)} vectors")
        bad = np.flatnonzero(~np.isfinite(self.vectors).all(axis=1))
        if len(bad):
            raise ValueError(f"the vector of {self.words[bad[0]]!r} has values that are not finite")

    @classmethod
    def load(cls, path: str | PathLike[str], only: Iterable[str] | None = None) -> Self:
        """Read word2vec or GloVe text, fastText's ``.vec``, plain or gzip, or an npz file.

        Parameters
        ----------
        path : path
            An npz file has the arrays ``words`` and ``vectors``.
        only : iterable of str, optional
            Keep just what `embed` needs for these names, for files larger than memory. Lines
            of other words are not checked.
        """
        wanted = None if only is None else _wanted(as_names(only))
        words, vectors = read_vectors(Path(path), wanted)
        try:
            return cls(words, vectors)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def __repr__(self) -> str:
        return f"WordVectors(<{len(self)} words>, dimension={self.dimension})"

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._vector(name) is not None

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    def embed(self, names: Iterable[str]) -> NDArray[np.float32]:
        """Vectors of the names, (n, dimension), of unit length.

        Parameters
        ----------
        names : iterable of str

        Raises
        ------
        UnknownNames
            Where the table has no word for some names; it lists them all.
        ValueError
            Where a vector is zero.
        """
        names = as_names(names)
        found = [self._vector(name) for name in names]
        unknown = [name for name, vector in zip(names, found, strict=True) if vector is None]
        if unknown:
            raise UnknownNames({"WordVectors": suggest(unknown, self._normal)})
        return unit(np.array(found, np.float64).reshape(len(names), self.dimension), names)

    @cached_property
    def _exact(self) -> dict[str, int]:
        return _first_rows(self.words)

    @cached_property
    def _normal(self) -> dict[str, int]:
        rows = _first_rows(map(normalise, self.words))
        rows.pop("", None)  # words of nothing but hyphens
        return rows

    def _vector(self, name: str) -> NDArray[np.float32] | None:
        """Vector of a name, not scaled to unit length; None if unknown."""
        parts = synonyms(name)
        row = self._row([name.strip(), *parts])
        if row is None:
            row = self._row(form for part in parts for form in singular_forms(part, _irregular))
        if row is None:
            mean = next((mean for mean in map(self._mean, parts) if mean is not None), None)
            if mean is not None:
                return mean
            row = self._row(form for part in parts for form in head_forms(part, _irregular))
        return None if row is None else np.asarray(self.vectors[row])

    def _row(self, forms: Iterable[str]) -> int | None:
        """Row of the first form that the table has, or None."""
        for form in forms:
            row = self._exact.get(form, self._exact.get(form.lower()))
            if row is None:
                row = self._normal.get(normalise(form))
            if row is not None:
                return row
        return None

    def _mean(self, name: str) -> NDArray[np.float32] | None:
        """Mean of the unit vectors of several words; None for one word or an unknown word."""
        words = normalise(name).split()
        found = [self._row([word, *singular_forms(word, _irregular)]) for word in words]
        rows = [row for row in found if row is not None]
        if len(rows) < max(2, len(words)):
            return None
        mean: NDArray[np.float32] = unit(self.vectors[rows], words).mean(axis=0)
        return mean


def _matrix(vectors: ArrayLike) -> NDArray[np.float32]:
    try:
        matrix = np.asarray(vectors)
    except ValueError:  # rows of different lengths
        matrix = np.array(None)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        raise ValueError("vectors must be a matrix of numbers, a row per word")
    with np.errstate(over="ignore"):  # what overflows is reported as not finite
        return matrix.astype(np.float32, copy=False)


def _first_rows(words: Iterable[str]) -> dict[str, int]:
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)
    return rows


def _irregular(plural: str) -> list[str]:
    return nouns().irregular(plural)


def _wanted(names: Iterable[str]) -> set[str]:
    """Normal forms of all words that `WordVectors.embed` may look up for the names."""
    return {normalise(form) for name in names for form in (name, *_forms(name))}


def _forms(name: str) -> Iterator[str]:
    for part in synonyms(name):
        yield from head_forms(part, _irregular)
        for phrase in (part, *normalise(part).split()):
            yield phrase
            yield from singular_forms(phrase, _irregular)
