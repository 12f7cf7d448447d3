"""Quantised teachers against bits of the same number of bytes.

The teacher of metric-transfer hashing compares vectors by their inner products, and its bits are a
way to store what it says. A product quantiser can store the same vectors, or the real outputs of
the network that has learned from the teacher. Here they compete, inductively and with unlabelled
pictures.
"""

from collections.abc import Callable, Iterable, Iterator
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

__all__ = ["inductive", "with_unlabelled"]

STUDENT_BITS = 128  # outputs of the network whose real values are quantised
MOST_ROWS = 10_000  # that a quantiser learns from
FIRST = 20  # results of a first search that a query is averaged with

Found = Iterator[tuple[str, dict[str, Any]]]
"""Names of codings, with their scores."""
Values = Callable[[Numbers], Vectors]
"""Vectors of samples by their row numbers."""


def inductive(
    dataset: Dataset,
    split: Split,
    protocol: Protocol,
    *,
    sizes: Iterable[int],
    seed: int,
    effort: str = "best",
    quantiser: Callable[[int], DecodedQuantiser] = OPQ,
) -> Found:
    """Score bits and quantised teachers that learn from the training samples alone.

    Parameters
    ----------
    dataset, split, protocol
        As for `zshash.studies.rivals2026.scoring.score`.
    sizes : iterable of int
        Bytes of a code.
    seed : int
    effort : {"best", "fast"}
        Of MTH.
    quantiser : callable
        Makes a quantiser of so many bytes.

    Yields
    ------
    name, scores : str, dict
        Scores as of `zshash.evaluation.protocol.score`, where only bits have "map".
    """
    assert dataset.labels is not None
    lesson = dataset.X[split.train], dataset.labels[split.train]
    teachers = {
        name: Preparation(shrinkage, WEIGHT).fit(*lesson)(dataset.X)
        for name, shrinkage in (("teacher", MTH().shrinkage), ("milder teacher", MILD))
    }
    for name, vectors in teachers.items():
        yield f"{name}, not coded", score_similarities(dataset, products(vectors), split, protocol)
    student = fitted(*lesson, STUDENT_BITS, seed, effort)
    outputs = student.project(dataset.X)
    for n_bytes in sizes:
        bits = fitted(*lesson, 8 * n_bytes, seed, effort)
        yield f"bits, {n_bytes} bytes", score_hasher(dataset, bits, split, protocol)
        for name, vectors in (teachers | {"student": outputs}).items():
            parts = quantiser(n_bytes).fit(vectors[split.train], seed)
            near = quantised(parts, vectors, vectors)
            scores = score_similarities(dataset, near, split, protocol)
            yield f"OPQ of the {name}, {n_bytes} bytes", scores


def with_unlabelled(
    dataset: Dataset,
    split: Split,
    protocol: Protocol,
    *,
    sizes: Iterable[int],
    seed: int,
    effort: str = "best",
    quantiser: Callable[[int], DecodedQuantiser] = OPQ,
) -> Found:
    """Score bits and quantised teachers that also learn from unlabelled samples.

    The samples of the pool are stored as the teacher sees them, averaged with their neighbours; a
    query is not averaged, as it is not in the pool. "searched twice" averages it with the first
    results of a first search, as they are stored. Parameters and results are those of `inductive`.
    """
    assert dataset.labels is not None
    rows = split.pool
    lesson = dataset.X[rows], split.known_labels(dataset.labels)[rows]
    student = fitted(*lesson, STUDENT_BITS, seed, effort)
    plain, averages = pool_teacher(dataset.X, rows, lesson[1], student)
    for told, near in (
        ("", products(plain, averages)),
        (", searched twice", searched_twice(plain, averages)),
    ):
        scores = score_similarities(dataset, near, split, protocol)
        yield f"teacher, not coded{told}", scores
    outputs = student.project(dataset.X)
    some = np.sort(np.random.RandomState(seed).permutation(rows)[:MOST_ROWS])
    for n_bytes in sizes:
        bits = student
        if 8 * n_bytes != STUDENT_BITS:
            bits = fitted(*lesson, 8 * n_bytes, seed, effort)
        yield f"bits, {n_bytes} bytes", score_hasher(dataset, bits, split, protocol)
        near = searched_twice(*bit_vectors(bits, dataset.X))
        scores = score_similarities(dataset, near, split, protocol)
        yield f"bits, {n_bytes} bytes, searched twice", scores
        for name, queries, stored in (
            ("teacher", plain, averages),
            ("student", unit_rows(outputs), unit_rows(outputs)),
        ):
            parts = quantiser(n_bytes).fit(stored[some], seed)
            near = quantised(parts, queries, stored)
            scores = score_similarities(dataset, near, split, protocol)
            yield f"OPQ of the {name}, {n_bytes} bytes", scores
            near = searched_twice(queries, unit_rows(decoded(parts, stored)))
            scores = score_similarities(dataset, near, split, protocol)
            yield f"OPQ of the {name}, {n_bytes} bytes, searched twice", scores


def fitted(X: Vectors, labels: NDArray[Any], n_bits: int, seed: int, effort: str) -> MTH:
    """MTH, fitted to features with these labels."""
    return MTH(n_bits, effort=effort, random_state=seed).fit(X, labels)


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


def products(queries: Vectors, stored: Vectors | None = None) -> Similarities:
    """Inner products of vectors (n, d), a row for each sample."""
    stored = queries if stored is None else stored
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
