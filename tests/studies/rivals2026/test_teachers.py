from functools import partial

import numpy as np
import pytest

from zshash import MTH
from zshash.codes import hamming
from zshash.datasets import digits
from zshash.evaluation.protocol import Protocol
from zshash.evaluation.protocol import score as score_hasher
from zshash.hashing.steps.graphs import nearest_neighbors
from zshash.hashing.steps.rows import unit_rows
from zshash.studies.rivals2026 import teachers
from zshash.studies.rivals2026.quantisers import OPQ

DATA = digits()
PROTOCOL = Protocol([1, 7], n_train=500, n_queries=40, k=50, n_seen_queries=30)
SPLIT = PROTOCOL.split(DATA, 0)
CONTEST = teachers.Contest(DATA, SPLIT, PROTOCOL, 0, "fast", partial(OPQ, n_rounds=5))
TWICE = "teacher in OPQ, twice"
MAPS = ("map_real", "map_real_alone", "map_real_seen")


@pytest.fixture(scope="module")
def hasher():
    labels = SPLIT.known_labels(DATA.labels)[SPLIT.pool]
    return MTH(16, effort="fast", random_state=0).fit(DATA.X[SPLIT.pool], labels)


@pytest.fixture(scope="module")
def pooled():
    return dict(teachers.with_unlabelled(CONTEST, 32))


def test_many_bytes_keep_what_the_teacher_says(pooled):
    whole, stored = pooled["teacher"], pooled["teacher in OPQ"]
    assert list(pooled) == ["bits", "bits, twice", "teacher", "teacher in OPQ", TWICE]
    for key in MAPS:
        assert stored[key] == pytest.approx(whole[key], abs=0.03)
        assert pooled[TWICE][key] > stored[key] - 0.01


def test_codings_of_training_samples_alone():
    found = dict(teachers.inductive(CONTEST, 8))
    names = ["bits", "bits, twice"]
    for name in ("teacher", "milder teacher"):
        names += [name, f"{name} in OPQ", f"{name} in OPQ, twice"]
    assert list(found) == names
    lesson = DATA.X[SPLIT.train], DATA.labels[SPLIT.train]
    bits = MTH(64, effort="fast", random_state=0).fit(*lesson)
    assert found["bits"] == score_hasher(DATA, bits, SPLIT, PROTOCOL)
    assert min(scores["map_real"] for scores in found.values()) > 0.6


def test_the_teacher_of_a_pool(hasher):
    rows = SPLIT.pool
    labels = SPLIT.known_labels(DATA.labels)[rows]
    plain, averages = teachers.pool_teacher(DATA.X, rows, labels, hasher)
    raw = unit_rows(DATA.X).astype(float)
    values, axes = np.linalg.eigh(np.cov(raw[rows].T, bias=True))
    T = axes @ np.diag((values + hasher.shrinkage_ * values.mean()) ** -0.5) @ axes.T
    expected = unit_rows((raw - raw[rows].mean(axis=0)) @ T)
    np.testing.assert_allclose(plain, expected, atol=2e-3)
    outside = np.setdiff1d(np.arange(len(DATA.X)), rows)
    np.testing.assert_array_equal(averages[outside], plain[outside])
    _, neighbors = nearest_neighbors(plain[rows], 10)

    def agreement(vectors):
        return np.einsum("id,ijd->ij", vectors, vectors[neighbors]).mean()

    # samples of the pool are nearer to their neighbours than they were
    assert agreement(averages[rows]) > agreement(plain[rows]) + 0.05


def test_bits_as_vectors_have_hamming_distances(hasher):
    codes = hasher.encode(DATA.X[:50])
    outputs, signs = teachers.bit_vectors(hasher, DATA.X[:50])
    np.testing.assert_allclose(8 * (1 - signs @ signs.T), hamming(codes, codes), atol=1e-4)
    np.testing.assert_array_equal(np.sign(outputs), np.sign(signs))
    np.testing.assert_allclose(np.linalg.norm(outputs, axis=1), 1, rtol=1e-5)


def test_decoded_vectors_are_those_that_similarities_compare():
    vectors = unit_rows(DATA.X)[:400, :62]  # 8 bytes do not divide 62
    quantiser = OPQ(8).fit(vectors, seed=0)
    gaps = vectors[:9, None] - teachers.decoded(quantiser, vectors)[None]
    near = teachers.quantised(quantiser, vectors, vectors)(np.arange(9), np.arange(400))
    np.testing.assert_allclose(near, -np.square(gaps).sum(axis=2), atol=1e-2)


def test_a_second_search_by_a_loop():
    queries, stored = unit_rows(DATA.X[:300]), unit_rows(DATA.X[:300, ::-1])
    asked, database = np.array([5, 200]), np.arange(100)  # 5 is in the database, 200 is not
    found = teachers.searched_twice(queries, stored)(asked, database)
    for row, query in zip(found, asked, strict=True):
        order = sorted(database, key=lambda i: -queries[query] @ stored[i])
        first = [i for i in order if i != query][: teachers.FIRST]
        average = queries[query] + stored[first].sum(axis=0)
        expected = stored[database] @ (average / np.linalg.norm(average))
        np.testing.assert_allclose(row, expected, atol=1e-5)
