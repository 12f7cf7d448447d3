"""The searches that are timed find what brute force finds."""

import faiss
import numpy as np
import pytest

from zshash.datasets import DataError
from zshash.studies.data import Sources
from zshash.studies.rivals2026.timing import BLOCK, CODINGS, N_TRAIN, Clusters, K, SearchTime

N, D = 3000, 64


@pytest.fixture
def searched():
    """Vectors that an index was filled with, and queries."""
    vectors = Clusters(D, 0)
    return np.concatenate(list(vectors.blocks(N))), vectors.draw(5)


def signs(vectors):
    return np.where(vectors >= 0, 1.0, -1.0)


def best(near):
    return -np.sort(-near, axis=1)[:, :K]


def test_real_queries_find_the_bits_that_agree_most(searched):
    stored, queries = searched
    near = queries @ signs(stored).T
    found = CODINGS["bits"](faiss, Clusters(D, 0), N)(queries)[1]
    np.testing.assert_allclose(np.take_along_axis(near, found, 1), best(near), rtol=1e-4)


def test_bits_find_the_nearest_bits(searched):
    stored, queries = searched
    near = signs(queries) @ signs(stored).T
    found = CODINGS["bits by bits"](faiss, Clusters(D, 0), N)(queries)[1]
    np.testing.assert_array_equal(np.take_along_axis(near, found, 1), best(near))


def test_parts_and_floats_keep_more_and_less():
    vectors = Clusters(D, 0)
    vectors.draw(min(N, N_TRAIN))  # what an index learns from
    stored, queries = np.concatenate(list(vectors.blocks(N))), vectors.draw(5)
    near = queries @ stored.T
    exact = CODINGS["floats"](faiss, Clusters(D, 0), N)(queries)[1]
    np.testing.assert_allclose(np.take_along_axis(near, exact, 1), best(near), rtol=1e-4)
    far = np.square(queries[:, None] - stored).sum(axis=2)
    nearest = np.argsort(far, axis=1)[:, :10]
    coarse = CODINGS["PQ"](faiss, Clusters(D, 0), N)(queries)[1]
    kept = np.mean([np.isin(*pair) for pair in zip(nearest, coarse, strict=True)])
    assert kept > 0.5
    parts = CODINGS["parts"](faiss, Clusters(D, 0), N)(queries)[1]
    best_ones = np.argsort(-near, axis=1)[:, :10]
    assert np.mean([np.isin(*pair) for pair in zip(best_ones, parts, strict=True)]) > 0.5


def test_vectors_come_in_blocks():
    sizes = [len(block) for block in Clusters(8, 0).blocks(BLOCK + 7)]
    assert sizes == [BLOCK, 7]


@pytest.mark.parametrize("coding", CODINGS)
def test_a_run(coding):
    task = SearchTime(coding=coding, bits=32, n=2000)
    assert task.rehearse(Sources()) == ""
    run = task.run(1, Sources())
    assert run["seed"] == 1
    assert run["milliseconds"] > 0
    assert task.label == f"search of {coding}, 4 bytes"


def test_files_are_told_apart():
    tasks = [
        SearchTime(coding=coding, bits=bits, n=n)
        for coding in CODINGS
        for bits in (32, 64)
        for n in (10, 20)
    ]
    assert len({task.path() for task in tasks}) == len(tasks)


def test_an_unknown_coding_is_refused():
    with pytest.raises(DataError, match="'trees' is no coding: there are bits, bits by bits"):
        SearchTime(coding="trees")
