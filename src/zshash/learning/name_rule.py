"""The rule that ranks codes by the name of a category, for a model that knows only its labels.

A model that knows what its network knows ranks by `zshash.learning.knowledge` instead.

A code b stands at bA among the vectors of names, where A is the map that `zshash.ZSH` and
`zshash.MTH` learn. The score of a code for a name is the cosine of bA and the name's vector y, less
a part of the largest cosine of bA with the name of another category that was seen:

    score(b, y) = cos(bA, y) − 0.6 · max cos(bA, yₛ) over the seen categories s other than y

Without that part, pictures of a seen category come first for all names near its own, ahead of
pictures that nobody labelled. 0.6 was chosen by hiding some of the *seen* categories of two data
sets, where 0.5 to 0.8 do about as well.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.codes import unpack
from zshash.hashing.hasher import SemanticHasher

__all__ = [
    "OTHERS",
    "SAME",
    "Query",
    "Standing",
    "Vectors",
    "cosines",
    "products",
    "query_of",
    "scores",
    "standing_of",
]

OTHERS = 0.6  # how much the best other category counts
SAME = 0.9999  # cosine of two names that can not be told apart
CODES_AT_ONCE = 32_768

Vectors = NDArray[np.float64]


class Query(NamedTuple):
    """A name to rank by.

    Attributes
    ----------
    vector : ndarray of shape (p,)
        Vector of the name, of unit length.
    seen : ndarray of shape (c, p)
        Vectors of the names of the seen categories.
    place : int or None
        Index of the seen category with this name, or with the same vector; None without one.
    """

    vector: Vectors
    seen: Vectors
    place: int | None


class Standing(NamedTuple):
    """Where codes stand among the names of the seen categories.

    Attributes
    ----------
    lengths : ndarray of shape (n,)
        Length ‖bA‖ of the meaning bA of each code.
    first, second : ndarray of shape (n,)
        The largest cosine of each code with a seen name, and the next one.
    which : ndarray of shape (n,)
        Index of the seen name with the largest cosine.
    """

    lengths: Vectors
    first: Vectors
    second: Vectors
    which: NDArray[np.int64]

    def others(self, place: int | None) -> Vectors:
        """The largest cosine of each code with a seen name other than the one at `place`."""
        if place is None:
            return self.first
        return np.where(self.which == place, self.second, self.first)


def query_of(vector: Vectors, seen: Vectors) -> Query:
    """A query for the name that has this vector."""
    similarities = seen @ vector
    place = int(similarities.argmax())
    return Query(vector, seen, place if similarities[place] > SAME else None)


def scores(
    hasher: SemanticHasher, codes: NDArray[np.uint8], query: Query, standing: Standing
) -> Vectors:
    """How well packed codes (n, bytes) fit a name, by the rule of this module; higher is better.

    Examples
    --------
    >>> from zshash.hashing.hasher import SemanticHasher
    >>> class Plain(SemanticHasher):
    ...     n_bits = 8
    ...     def code_meanings(self):
    ...         return np.eye(8)[:, :2] * [3.0, 4.0]
    >>> codes, seen = np.array([[255]], dtype=np.uint8), np.array([[1.0, 0.0]])
    >>> standing = standing_of(Plain(), codes, seen)
    >>> query = query_of(np.array([0.0, 1.0]), seen)
    >>> cosines(Plain(), codes, query.vector, standing).round(2), query.place
    (array([0.8]), None)
    >>> scores(Plain(), codes, query, standing).round(2)
    array([0.44])
    """
    own = cosines(hasher, codes, query.vector, standing)
    return np.asarray(own - OTHERS * standing.others(query.place))


def cosines(
    hasher: SemanticHasher, codes: NDArray[np.uint8], vector: Vectors, standing: Standing
) -> Vectors:
    """Cosines of the meanings of packed codes (n, bytes) with the vector (p,) of a name."""
    return np.asarray(products(codes, hasher.directions(vector)) / standing.lengths)


def products(codes: NDArray[np.uint8], direction: Vectors) -> Vectors:
    """Inner products of packed codes (n, bytes) with a direction (n_bits,); a bit is 1 or −1.

    The products are sums over bytes, taken from a table for each byte, so equal codes have equal
    products to the last digit.
    """
    signs = 2.0 * unpack(np.arange(256, dtype=np.uint8)[:, None], 8) - 1.0
    padded = np.zeros(8 * codes.shape[1])
    padded[: len(direction)] = direction
    tables = padded.reshape(-1, 8) @ signs.T
    sums = np.zeros(len(codes))
    for column, table in zip(codes.T, tables, strict=True):
        sums += table[column]
    return sums


def standing_of(hasher: SemanticHasher, codes: NDArray[np.uint8], seen: Vectors) -> Standing:
    """Where packed codes (n, bytes) stand among the vectors (c, p) of the seen names.

    Lengths are ‖bA‖² = bAAᵀbᵀ, which costs the same whatever the length of the vectors.
    """
    n, n_bits = len(codes), int(hasher.n_bits)
    meaning = hasher.meanings(np.eye(n_bits))
    form, directions = meaning @ meaning.T, hasher.directions(seen).T
    standing = Standing(np.empty(n), np.empty(n), np.empty(n), np.empty(n, dtype=np.int64))
    for start in range(0, n, CODES_AT_ONCE):
        rows = slice(start, min(start + CODES_AT_ONCE, n))
        signs = 2.0 * unpack(codes[rows], n_bits) - 1.0
        squares = np.einsum("ij,ij->i", signs @ form, signs)
        standing.lengths[rows] = np.sqrt(np.maximum(squares, np.finfo(np.float32).tiny))
        _fill(standing, rows, signs @ directions)
    return standing


def _fill(standing: Standing, rows: slice, seen: Vectors) -> None:
    """Store the two largest of the products (n, c) of each code with the seen names."""
    places = np.arange(len(seen))
    which = seen.argmax(axis=1)
    standing.which[rows] = which
    standing.first[rows] = seen[places, which] / standing.lengths[rows]
    seen[places, which] = -np.inf
    second = seen.max(axis=1)
    standing.second[rows] = np.where(np.isinf(second), 0.0, second) / standing.lengths[rows]
