"""Quantised teachers against bits of the same number of bytes.

The teacher of metric-transfer hashing compares vectors by their inner products, and its bits are a
way to store what it says. A product quantiser can store the same vectors, or the real outputs of
the network that has learned from the teacher. Here they compete, inductively and with unlabelled
pictures.
"""

from collections.abc import Callable, Iterable, Iterator
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

__all__ = ["Contest", "inductive", "with_unlabelled"]

STUDENT_BITS = 128  # outputs of the network whose real values are quantised
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


def inductive(contest: Contest, sizes: Iterable[int]) -> Found:
    """Score bits and quantised teachers of `sizes` bytes that learn from training samples alone."""
    X, rows = contest.dataset.X, contest.split.train
    lesson = X[rows], contest.known_labels(rows)
    compared = {
        "teacher": Preparation(MTH().shrinkage, WEIGHT).fit(*lesson)(X),
        "milder teacher": Preparation(MILD, WEIGHT).fit(*lesson)(X),
    }
    for name, vectors in compared.items():
        yield f"{name}, not coded", contest.score(products(vectors, vectors))
    compared["student"] = contest.fit(rows, STUDENT_BITS).project(X)
    for n_bytes in sizes:
        yield f"bits, {n_bytes} bytes", contest.score_bits(contest.fit(rows, 8 * n_bytes))
        for name, vectors in compared.items():
            parts = contest.quantise(vectors, rows, n_bytes)
            near = quantised(parts, vectors, vectors)
            yield f"OPQ of the {name}, {n_bytes} bytes", contest.score(near)


def with_unlabelled(contest: Contest, sizes: Iterable[int]) -> Found:
    """Score bits and quantised teachers of `sizes` bytes that learn from unlabelled samples, too.

    The samples of the pool are stored as the teacher sees them, averaged with their neighbours; a
    query is not averaged, as it is not in the pool. "searched twice" averages it with the first
    results of a first search, as they are stored.
    """
    X, rows = contest.dataset.X, contest.split.pool
    student = contest.fit(rows, STUDENT_BITS)
    plain, averages = pool_teacher(X, rows, contest.known_labels(rows), student)
    yield "teacher, not coded", contest.score(products(plain, averages))
    twice = searched_twice(plain, averages)
    yield "teacher, not coded, searched twice", contest.score(twice)
    outputs = unit_rows(student.project(X))
    for n_bytes in sizes:
        bits = contest.fit(rows, 8 * n_bytes)
        yield f"bits, {n_bytes} bytes", contest.score_bits(bits)
        twice = searched_twice(*bit_vectors(bits, X))
        yield f"bits, {n_bytes} bytes, searched twice", contest.score(twice)
        for name, queries, stored in (
            ("teacher", plain, averages),
            ("student", outputs, outputs),
        ):
            parts, told = contest.quantise(stored, rows, n_bytes), f"{name}, {n_bytes} bytes"
            yield f"OPQ of the {told}", contest.score(quantised(parts, queries, stored))
            twice = searched_twice(queries, unit_rows(decoded(parts, stored)))
            yield f"OPQ of the {told}, searched twice", contest.score(twice)


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
