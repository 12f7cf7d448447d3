"""Quantised teachers against bits of the same number of bytes.

The teacher of metric-transfer hashing compares vectors by their inner products, and its bits are a
way to store what it says. A product quantiser can store the same vectors. Here they compete,
inductively and with unlabelled pictures, in one search and in two: the query of the second is the
average of the query and the first results, as they are stored.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash import MTH
from zshash.codes import unpack
from zshash.datasets import Dataset, Split
from zshash.evaluation.protocol import Protocol
from zshash.evaluation.protocol import score as score_hasher
from zshash.hashing.steps import pool
from zshash.hashing.steps.linear import spectrum
from zshash.hashing.steps.rows import Rows, unit_rows
from zshash.studies.rivals2026.preparations import MILD, WEIGHT, Preparation
from zshash.studies.rivals2026.quantisers import OPQ, DecodedQuantiser, Vectors
from zshash.studies.rivals2026.scoring import Numbers, Similarities, score_similarities

__all__ = ["BITS", "Contest", "inductive", "with_unlabelled"]

BITS = "bits"
MOST_ROWS = 10_000  # that a quantiser learns from
FIRST = 20  # results of a first search that a query is averaged with

Found = Iterator[tuple[str, dict[str, Any]]]
"""Names of codings, with their scores as of `scoring.score`; only bits have "map"."""


@dataclass(frozen=True)
class Contest:
    """Where codings compete.

    Attributes
    ----------
    dataset, split, protocol
        As for `zshash.studies.rivals2026.scoring.score`.
    seed : int
    effort : {"best", "fast"}
        Of MTH.
    quantiser : callable
        Makes a quantiser of so many bytes.
    """

    dataset: Dataset
    split: Split
    protocol: Protocol
    seed: int
    effort: str = "best"
    quantiser: Callable[[int], DecodedQuantiser] = OPQ

    def score(self, near: Similarities) -> dict[str, Any]:
        """Scores of similarities."""
        return score_similarities(self.dataset, near, self.split, self.protocol)

    def score_bits(self, hasher: MTH) -> dict[str, Any]:
        """Scores of a hash function, by Hamming distances, too."""
        return score_hasher(self.dataset, hasher, self.split, self.protocol)

    def fit(self, rows: Numbers, n_bits: int) -> MTH:
        """MTH, fitted to `rows`; labels of training samples alone are known."""
        labels = self.known_labels(rows)
        hasher = MTH(n_bits, effort=self.effort, random_state=self.seed)
        return hasher.fit(self.dataset.X[rows], labels)

    def known_labels(self, rows: Numbers) -> NDArray[Any]:
        """Labels of `rows`, −1 where they are not known."""
        assert self.dataset.labels is not None
        return self.split.known_labels(self.dataset.labels)[rows]

    def quantise(self, vectors: Vectors, rows: Numbers, n_bytes: int) -> DecodedQuantiser:
        """A quantiser that has learned from some of the vectors with these row numbers."""
        some = np.sort(np.random.RandomState(self.seed).permutation(rows)[:MOST_ROWS])
        return self.quantiser(n_bytes).fit(vectors[some], self.seed)


def inductive(contest: Contest, n_bytes: int) -> Found:
    """Score bits and quantised teachers that learn from training samples alone."""
    X, rows = contest.dataset.X, contest.split.train
    lesson = X[rows], contest.known_labels(rows)
    yield from _bits(contest, contest.fit(rows, 8 * n_bytes))
    for name, shrinkage in (("teacher", MTH().shrinkage), ("milder teacher", MILD)):
        vectors = Preparation(shrinkage, WEIGHT).fit(*lesson)(X)
        yield from _quantised(contest, name, (vectors, vectors), rows, n_bytes)


def with_unlabelled(contest: Contest, n_bytes: int) -> Found:
    """Score bits and quantised teachers that learn from unlabelled samples, too.

    The samples of the pool are stored as the teacher sees them, averaged with their neighbours; a
    query is not averaged, as it is not in the pool.
    """
    X, rows = contest.dataset.X, contest.split.pool
    hasher = contest.fit(rows, 8 * n_bytes)
    yield from _bits(contest, hasher)
    pair = pool_teacher(X, rows, contest.known_labels(rows), hasher)
    yield from _quantised(contest, "teacher", pair, rows, n_bytes)


def _bits(contest: Contest, hasher: MTH) -> Found:
    yield BITS, contest.score_bits(hasher)
    yield f"{BITS}, twice", contest.score(searched_twice(*bit_vectors(hasher, contest.dataset.X)))


def _quantised(
    contest: Contest, name: str, pair: tuple[Vectors, Vectors], rows: Numbers, n_bytes: int
) -> Found:
    """Scores of vectors, as queries and as stored, that are not coded, and coded in `n_bytes`."""
    queries, stored = pair
    yield name, contest.score(products(queries, stored))
    parts = contest.quantise(stored, rows, n_bytes)
    yield f"{name} in OPQ", contest.score(quantised(parts, queries, stored))
    restored = unit_rows(decoded(parts, stored))
    yield f"{name} in OPQ, twice", contest.score(searched_twice(queries, restored))


def pool_teacher(
    X: Vectors, rows: Numbers, labels: NDArray[Any], hasher: MTH
) -> tuple[Vectors, Vectors]:
    """Whitened unit-length features X (n, d), and the same with averages in the place of `rows`.

    Whitening and averages are those from which `hasher` has learned; `labels` are of the rows.
    """
    unit = unit_rows(X)
    whitening = spectrum(Rows(unit[rows])).whitening(hasher.shrinkage_)
    Z = unit_rows(whitening(Rows(unit)).X)  # noqa: N806
    known, own = np.unique(labels, return_inverse=True)
    categories = own - int(known[0] == -1)
    averages = Z.copy()
    k = pool.n_neighbors(len(rows))
    averages[rows] = pool.teacher(Z[rows], categories, hasher.averaging_, k)
    return Z, averages


def products(queries: Vectors, stored: Vectors) -> Similarities:
    """Inner products of vectors (n, d) as queries and as stored, a row for each sample."""
    return lambda asked, database: queries[asked] @ stored[database].T


def quantised(quantiser: DecodedQuantiser, queries: Vectors, vectors: Vectors) -> Similarities:
    """Similarities to the codes of vectors (n, d), a row for each sample."""
    codes = quantiser.encode(vectors)
    return lambda asked, database: quantiser.similarities(queries[asked], codes[database])


def decoded(quantiser: DecodedQuantiser, vectors: Vectors) -> Vectors:
    """What the codes of vectors (n, d) stand for."""
    restored: Vectors = quantiser.index_.sa_decode(quantiser.encode(vectors))
    return restored[:, : vectors.shape[1]]


def bit_vectors(hasher: MTH, X: Vectors) -> tuple[Vectors, Vectors]:
    """Real outputs at unit length, and bits as 1 and −1 at unit length."""
    signs = 2 * unpack(hasher.encode(X), hasher.n_bits).astype(np.float32) - 1
    return unit_rows(hasher.project(X)), unit_rows(signs)


def searched_twice(queries: Vectors, stored: Vectors) -> Similarities:
    """Inner products of queries that are averaged with their first results.

    A query that is in the database is no result of its own.
    """

    def near(asked: Numbers, database: Numbers) -> Vectors:
        own, items = queries[asked], stored[database]
        first = own @ items.T
        first[asked[:, None] == database] = -np.inf
        best = np.argpartition(-first, FIRST)[:, :FIRST]
        found: Vectors = unit_rows(own + items[best].sum(axis=1)) @ items.T
        return found

    return near
