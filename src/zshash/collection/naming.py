"""Finding items by the name of a category, as far as the model has learned what names mean.

A code b stands at bA among the vectors of names, where A is the map that `zshash.ZSH` and
`zshash.MTH` learn. How well it fits a name is the cosine of bA and the name's vector y, less a part
of the largest cosine that another category has, one that was seen:

    score(b, y) = cos(bA, y) − 0.6 · max cos(bA, yₛ) over the seen categories s other than y

Without that part, pictures of a seen category are found for all names near its own, ahead of those
that nobody labelled. 0.6 was chosen by hiding some of the *seen* categories of two data sets, where
0.5 to 0.8 do about as well.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.codes import unpack
from zshash.collection.errors import CollectionError
from zshash.collection.names import (
    Vectors,
    called_of,
    check_names,
    seen_of,
    specs_of,
    vectors_of,
)
from zshash.collection.rows import Found, Ids, Page, Ranking
from zshash.collection.searching import OtherModel, Rank, best_page
from zshash.collection.store import Store
from zshash.encoding import Encoder
from zshash.index import CodeIndex, HammingIndex
from zshash.semantics import UnknownNames

__all__ = ["knows_names", "search_name"]

OTHERS = 0.6  # how much the best other category counts
SAME = 0.9999  # cosine of two names that can not be told apart
CODES_AT_ONCE = 32_768


class Query(NamedTuple):
    """A name as the model knows it.

    Attributes
    ----------
    vector : ndarray of shape (p,)
    seen : ndarray of shape (c, p)
        Vectors of the seen names.
    place : int or None
        Which of these it is itself, or can not be told from.
    """

    vector: Vectors
    seen: Vectors
    place: int | None


class Standing(NamedTuple):
    """Where codes stand among the names: lengths ‖bA‖, and how well seen ones fit.

    Attributes
    ----------
    lengths, first, second : ndarray of shape (n,)
        The latter are the largest cosine with a seen name, and the next one.
    which : ndarray of shape (n,)
        The name with the largest.
    """

    lengths: Vectors
    first: Vectors
    second: Vectors
    which: NDArray[np.int64]

    def others(self, place: int | None) -> Vectors:
        """The largest cosine with a seen name other than that at `place`."""
        if place is None:
            return self.first
        return np.where(self.which == place, self.second, self.first)


def knows_names(store: Store) -> bool:
    """Whether the model was trained with the meanings of names, and these are to be had."""
    with store.reading():
        encoder = store.encoder
    try:
        check_names(store, encoder)
    except CollectionError:
        return False
    return True


def search_name(store: Store, name: str, page: Page, where: str | None) -> Found:
    """A page of the items whose codes fit a name best."""
    while True:
        with store.reading():
            encoder = store.encoder
        rank = _ranks(store, encoder, _query(store, encoder, name), page.k, where or "")
        try:
            return best_page(store, rank, page, where, encoder)
        except OtherModel:
            continue


def _ranks(store: Store, encoder: Encoder, query: Query, k: int, where: str) -> Rank:
    """What finds the items that fit a name best."""
    direction = encoder.hasher.directions(query.vector)

    def rank(found: CodeIndex, generation: int) -> list[Ranking]:
        index = _held(store, found, generation, where)
        standing = _standing(store, encoder, query.seen, index, generation, where)
        scores = _products(index.codes, direction) / standing.lengths
        return [_best(index, scores - OTHERS * standing.others(query.place), k)]

    return rank


def _held(store: Store, index: CodeIndex, generation: int, where: str) -> HammingIndex:
    """An index as it is now, whoever changes it meanwhile; remembered where it is a server's."""
    if isinstance(index, HammingIndex):
        return index.in_memory()
    key = f"\0codes {where}"
    known: HammingIndex | None = store.remembered.get(generation, key)
    if known is None:
        known = index.in_memory()
        store.remembered.put(generation, key, known)
    return known


def _best(index: HammingIndex, scores: Vectors, k: int) -> Ranking:
    """The `k` items of the largest scores, ties by id."""
    ids = index.ids
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


def _standing(
    store: Store,
    encoder: Encoder,
    seen: Vectors,
    index: HammingIndex,
    generation: int,
    where: str,
) -> Standing:
    """Where all codes stand, remembered until items change."""
    key = f"\0standing {where}"
    known: tuple[Encoder, Ids, Standing] | None = store.remembered.get(generation, key)
    if known is None or known[0] is not encoder or not np.array_equal(known[1], index.ids):
        known = encoder, index.ids, standing_of(encoder, seen, index.codes)
        store.remembered.put(generation, key, known)
    return known[2]


def standing_of(encoder: Encoder, seen: Vectors, codes: NDArray[np.uint8]) -> Standing:
    """Where packed codes (n, bytes) stand; ‖bA‖² = bAAᵀbᵀ, whatever the length of the vectors."""
    n_bits = int(encoder.hasher.n_bits)
    meaning = encoder.hasher.meanings(np.eye(n_bits))
    form = (meaning @ meaning.T).astype(np.float32)
    directions = encoder.hasher.directions(seen).T.astype(np.float32)
    n = len(codes)
    standing = Standing(np.empty(n), np.empty(n), np.empty(n), np.empty(n, dtype=np.int64))
    for start in range(0, n, CODES_AT_ONCE):
        rows = slice(start, min(start + CODES_AT_ONCE, n))
        signs = 2 * unpack(codes[rows], n_bits).astype(np.float32) - 1
        squares = np.einsum("ij,ij->i", signs @ form, signs)
        standing.lengths[rows] = np.sqrt(np.maximum(squares, np.finfo(np.float32).tiny))
        _fill(standing, rows, signs @ directions)
    return standing


def _fill(standing: Standing, rows: slice, products: NDArray[np.float32]) -> None:
    """Note the two largest of the products of each code with the seen names."""
    places = np.arange(len(products))
    which = products.argmax(axis=1)
    standing.which[rows] = which
    standing.first[rows] = products[places, which] / standing.lengths[rows]
    products[places, which] = -np.inf
    second = products.max(axis=1)
    standing.second[rows] = np.where(np.isinf(second), 0.0, second) / standing.lengths[rows]


def _query(store: Store, encoder: Encoder, name: str) -> Query:
    """A name, which the model can make something of."""
    check_names(store, encoder)
    specs = specs_of(store, encoder)
    try:
        vectors = vectors_of(specs, seen_of(encoder), called_of(encoder), (name,))
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
    cosines = vectors[:-1] @ vectors[-1]
    place = int(cosines.argmax())
    return Query(vectors[-1], vectors[:-1], place if cosines[place] > SAME else None)
