"""Vectors of labels in one source of meanings, also of labels that the source does not know.

Vectors of the labels that a source knows have its own coordinates. Each label that it does not
know gets one more coordinate, where it has 1 and all others have 0: it is as far from every other
label as one-hot labels are from each other.

    source's own coordinates | unknown labels that were seen, in their order | other unknown labels

So the coordinates of the seen labels are the same whatever other labels there are.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.semantics import Source, WordNet, open_source
from zshash.semantics.names import synonyms

__all__ = ["WORDNET", "Placed", "place"]

WORDNET = "wordnet"


class Placed(NamedTuple):
    """Vectors of words in one source.

    Attributes
    ----------
    vectors : ndarray of shape (n, p), float32
        Of unit length.
    is_known : ndarray of shape (n,), bool
        Whether the source knows the word; if not, it has a coordinate of its own.
    """

    vectors: NDArray[np.float32]
    is_known: NDArray[np.bool_]


def place(source: str, seen: Sequence[str], others: Sequence[str] = ()) -> Placed:
    """Vectors of the seen words, then of other words, in the space that the seen words span.

    Parameters
    ----------
    source : str
        "wordnet" or a file of word vectors, as `zshash.semantics.open_source` takes them.
    seen : list of str
        For WordNet ids or names. "" is a word that no source knows.
    others : list of str
        Words that share nothing with the seen ones count as unknown.

    Examples
    --------
    >>> placed = place("wordnet", ["cat", "", "truck"], ["tabby", ""])
    >>> placed.is_known.tolist()
    [True, False, True, True, False]
    >>> placed.vectors.shape, placed.vectors[[1, 4], -2:].tolist()
    ((5, 24), [[1.0, 0.0], [0.0, 1.0]])
    """
    stamp = None
    if source != WORDNET and Path(source).is_file():
        status = Path(source).stat()
        stamp = status.st_size, status.st_mtime_ns
    return _place(source, tuple(seen), tuple(others), stamp)


@lru_cache(maxsize=8)
def _place(
    source: str, seen: tuple[str, ...], others: tuple[str, ...], _: tuple[int, int] | None
) -> Placed:
    """`place`, kept because large files are slow to read; the last argument is a file's stamp."""
    words = [*seen, *others]
    opened = _open(source, seen, words)
    known = {} if opened is None else _known_vectors(opened, words)
    is_known = np.array([number in known for number in range(len(words))], dtype=np.bool_)
    width, unknown = 0 if opened is None else opened.dimension, np.flatnonzero(~is_known)
    vectors = np.zeros((len(words), width + len(unknown)), dtype=np.float32)
    for number, vector in known.items():
        vectors[number, :width] = vector
    vectors[unknown, width + np.arange(len(unknown))] = 1
    vectors.flags.writeable = False  # all callers share it
    return Placed(vectors, is_known)


def _open(source: str, seen: Sequence[str], words: Sequence[str]) -> Source | None:
    """The source with all that it needs for the words; None if no vector can be made."""
    if source == WORDNET:
        basis = [word for word in seen if _has_vector(word)]
        return WordNet(basis) if basis else None
    wanted = [word for word in words if synonyms(word)]
    return open_source(source, only=wanted) if wanted else None


def _has_vector(word: str) -> bool:
    """Whether WordNet knows a word, and not as the root, which has no vector."""
    return word in WordNet() and bool(WordNet().ancestors(word))


def _known_vectors(source: Source, words: Sequence[str]) -> dict[int, NDArray[np.float32]]:
    """Vectors of the words that a source knows, by their numbers."""
    named = {number: word for number, word in enumerate(words) if synonyms(word)}
    try:
        return dict(zip(named, source.embed(named.values()), strict=True))
    except ValueError:  # UnknownNames, or a word that shares nothing with the seen ones
        known = {number: word for number, word in named.items() if _knows(source, word)}
        return dict(zip(known, source.embed(known.values()), strict=True)) if known else {}


def _knows(source: Source, word: str) -> bool:
    try:
        return bool(len(source.embed([word])))
    except ValueError:
        return False
