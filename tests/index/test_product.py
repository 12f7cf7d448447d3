"""The index of parts against NumPy: sums of whole numbers, sorted."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash.index import ProductIndex, _lookups, _products
from zshash.index._products import best_sums, make_tables

LOOPS, AT_ONCE = _products._sift_by_loops, _products._sift_at_once
SHAPES = [(1, 1, 300), (3, 2, 1000), (8, 8, 20_000), (16, 4, 5000), (128, 2, 700)]


def made(n_bytes, width, n, seed=0):
    """Centres, and codes half of which come twice."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (n, n_bytes), dtype=np.uint8)
    codes[n // 2 :] = codes[: n - n // 2]
    return rng.standard_normal((n_bytes, 256, width)), codes


def expected(centres, codes, ids, queries, k):
    """Scores and ids by whole numbers, as the index promises."""
    tables = make_tables(queries, centres.transpose(0, 2, 1))
    sums = tables.sums[:, np.arange(len(centres)), codes].sum(axis=2)
    order = np.lexsort((np.broadcast_to(ids, sums.shape), -sums))[:, :k]
    best = np.take_along_axis(sums, order, axis=1).astype(float)
    return np.ldexp(best, tables.exponents[:, None]), ids[order]


@pytest.mark.parametrize("k", [1, 10, 10_000])
@pytest.mark.parametrize(("n_bytes", "width", "n"), SHAPES)
def test_against_numpy(n_bytes, width, n, k):
    centres, codes = made(n_bytes, width, n)
    rng = np.random.default_rng(1)
    ids = rng.permutation(3 * n)[:n]
    index = ProductIndex(centres)
    index.add(codes[: n // 3], ids[: n // 3])
    index.add(codes[n // 3 :], ids[n // 3 :])
    queries = rng.standard_normal((20, n_bytes * width))
    scores, found = index.search_real(queries, k)
    for one, other in zip((scores, found), expected(centres, codes, ids, queries, k), strict=True):
        np.testing.assert_array_equal(one, other)
    vectors = np.hstack([centres[part][codes[:, part]] for part in range(n_bytes)])
    products = np.sort(queries @ vectors.T, axis=1)[:, ::-1][:, :k]
    np.testing.assert_allclose(scores, products, rtol=0, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 5), st.integers(1, 400), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_few_different_entries(n_bytes, n, k, seed):
    """Entries of which many are equal, zero or very different, so that many codes tie."""
    rng = np.random.default_rng(seed)
    centres = rng.choice([0.0, 1.0, -1.0, 1e-9, 1e9], size=(n_bytes, 256, 1))
    codes = rng.integers(0, 256, (n, n_bytes), dtype=np.uint8)
    index = ProductIndex(centres)
    index.add(codes)
    queries = rng.choice([0.0, 1.0, -2.0], size=(3, n_bytes))
    found = index.search_real(queries, k)
    for one, other in zip(found, expected(centres, codes, np.arange(n), queries, k), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("limit", [-1, 0, 60, 254, 255])
def test_both_ways_to_sift(limit):
    """Codes in question are those whose losses, cut at 255, are within the limit."""
    rng = np.random.default_rng(limit + 1)
    planes = rng.integers(0, 256, (3, 200), dtype=np.uint8)
    losses = rng.integers(0, 120, (2, 3, 256), dtype=np.uint8)
    lost = losses[1, np.arange(3)[:, None], planes].sum(axis=0, dtype=int)
    right = np.flatnonzero((lost <= limit) | (limit == 255))
    right = right[(right >= 8) & (right < 190)]
    room = np.empty(200, dtype=np.int64)
    n = LOOPS(planes, 8, 190, losses, 1, limit, room)
    assert room[:n].tolist() == right.tolist()
    if not _lookups.can_look_up():
        pytest.skip("this processor looks up no bytes at once")
    n = AT_ONCE(planes, 8, 190, losses, 1, limit, room)
    whole = 8 + (190 - 8) // _lookups.CODES * _lookups.CODES  # the others are left to their sums
    assert room[:n][room[:n] < whole].tolist() == right[right < whole].tolist()
    assert room[:n][room[:n] >= whole].tolist() == (list(range(whole, 190)) if limit >= 0 else [])


def test_what_the_machine_can_do(monkeypatch):
    def unknown():
        raise RuntimeError("failed to get host cpu features")

    monkeypatch.setattr(_lookups.llvm, "get_host_cpu_features", unknown)
    assert not _lookups.can_look_up()
    monkeypatch.setattr(_lookups.llvm, "get_host_cpu_features", lambda: {"avx512vbmi": True})
    monkeypatch.setattr(_lookups.config, "CPU_NAME", None, raising=False)
    monkeypatch.setattr(_lookups.config, "CPU_FEATURES", None, raising=False)
    assert _lookups.can_look_up()
    monkeypatch.setattr(_lookups.config, "CPU_NAME", "haswell", raising=False)
    assert not _lookups.can_look_up()


def test_a_guess_that_is_too_high():
    """The codes that the guess looks at are far better than all others."""
    n, k = 10 * _products.SAMPLES, 100
    centres = np.zeros((2, 256, 1))
    centres[:, :, 0] = np.arange(256)
    codes = np.random.default_rng(0).integers(0, 20, (n, 2), dtype=np.uint8)
    codes[::10] = 255
    codes[10 * k // 2 :: 10] = 200
    tables = make_tables(np.ones((1, 2)), centres.transpose(0, 2, 1))
    sums = np.empty((1, k), dtype=np.int64)
    positions = np.empty((1, k), dtype=np.int64)
    best_sums(np.ascontiguousarray(codes.T), tables.sums, k, sums, positions)
    totals = tables.sums[0, np.arange(2), codes].sum(axis=1)
    np.testing.assert_array_equal(positions[0], np.argsort(-totals, kind="stable")[:k])


def test_a_query_is_answered_the_same_in_any_company():
    centres, codes = made(8, 3, 500)
    index = ProductIndex(centres)
    index.add(codes)
    queries = np.random.default_rng(0).standard_normal((40, 24))
    together = index.search_real(queries, k=20)
    for row in (0, 17, 39):
        for one, other in zip(
            index.search_real(queries[row : row + 1], k=20), together, strict=True
        ):
            np.testing.assert_array_equal(one[0], other[row])


def test_changes():
    centres, codes = made(4, 2, 50)
    index = ProductIndex(centres)
    assert index.search_real(np.ones((2, 8)), k=3)[1].shape == (2, 0)
    index.add(codes)
    query = np.ones((1, 8))
    first = index.search_real(query, k=1)[1][0, 0]
    assert index.remove([first]) == 1
    assert first not in index
    assert len(index) == 49
    assert first not in index.search_real(query, k=49)[1]
    index.add(codes[first : first + 1], [first])
    assert index.search_real(query, k=1)[1][0, 0] == first
    np.testing.assert_array_equal(index.codes, codes)
    np.testing.assert_array_equal(index.get([first, 0]), codes[[first, 0]])
    assert index.ids.tolist() == list(range(50))
    assert repr(index) == "ProductIndex(4 bytes, vectors of 8 numbers)"


def test_searches_while_codes_come():
    centres, codes = made(8, 1, 3000)
    index = ProductIndex(centres)
    index.add(codes[:1000])
    wrong = []

    def search():
        for _ in range(30):
            n = len(index)
            scores, ids = index.search_real(np.ones((1, 8)), k=5)
            right = expected(centres, codes, np.arange(3000), np.ones((1, 8)), 5)[0]
            if not (scores <= right).all() or ids.max() >= 3000 or len(index) < n:
                wrong.append(ids)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for start in range(1000, 3000, 100):
        index.add(codes[start : start + 100])
    for thread in threads:
        thread.join()
    assert not wrong
    found = index.search_real(np.ones((1, 8)), k=5)
    right = expected(centres, codes, np.arange(3000), np.ones((1, 8)), 5)
    np.testing.assert_array_equal(found[1], right[1])


@pytest.mark.parametrize(
    ("centres", "message"),
    [
        (np.zeros((8, 16, 2)), r"shape \(n_bytes, 256, width\), got \(8, 16, 2\)"),
        (np.zeros((8, 256, 0)), "shape"),
        (np.zeros((256, 2)), "shape"),
        (np.full((1, 256, 1), np.nan), "NaN"),
    ],
)
def test_centres_that_are_none(centres, message):
    with pytest.raises(ValueError, match=message):
        ProductIndex(centres)


def test_bad_arguments():
    centres, codes = made(4, 2, 10)
    index = ProductIndex(centres)
    index.add(codes)
    with pytest.raises(ValueError, match=r"shape \(q, 8\), got \(1, 7\)"):
        index.search_real(np.ones((1, 7)), k=1)
    with pytest.raises(ValueError, match="NaN"):
        index.search_real(np.full((1, 8), np.inf), k=1)
    with pytest.raises(ValueError, match="k"):
        index.search_real(np.ones((1, 8)), k=0)
    with pytest.raises(ValueError, match="already holds id 3"):
        index.add(codes[:1], [3])
    with pytest.raises(ValueError, match="does not hold id 99"):
        index.remove([99])
    with pytest.raises((ValueError, TypeError)):
        index.add(codes[:, :3])
    assert len(index) == 10
