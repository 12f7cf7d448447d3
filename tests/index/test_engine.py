"""Ways of searching against NumPy, on sets large enough for blocks, samples and several tables."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from zshash import codes
from zshash.index import HammingIndex, _engine
from zshash.index._buckets import CHUNK, _sort, look, steps_within
from zshash.index._runs import as_codes, as_words
from zshash.index._tables import choose_pieces, make_buckets


def clustered(n, n_bits, seed, n_centres=20, flips=0.05):
    """Codes around a few centres, which are the same for every seed."""
    centres = np.random.default_rng(99).integers(0, 2, (n_centres, n_bits))
    rng = np.random.default_rng(seed)
    return codes.pack(centres[rng.integers(0, n_centres, n)] ^ (rng.random((n, n_bits)) < flips))


def even(n, n_bits, seed):
    return codes.pack(np.random.default_rng(seed).integers(0, 2, (n, n_bits)))


def nearest(data, queries, k):
    """Distances and positions by a stable sort of all distances."""
    distances = codes.hamming(queries, data).astype(np.int64)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, 1), order


def within(data, queries, r):
    distances = codes.hamming(queries, data).astype(np.int64)
    order = np.argsort(distances, axis=1, kind="stable")
    ordered = np.take_along_axis(distances, order, 1)
    kept = ordered <= r
    return np.concatenate([[0], kept.sum(axis=1).cumsum()]), ordered[kept], order[kept]


def check(data, n_bits, queries, k, r):
    index = HammingIndex(n_bits)
    index.add(data)
    index.prepare()
    for found, expected in (
        (index.search(queries, k), nearest(data, queries, k)),
        (index.radius(queries, r), within(data, queries, r)),
    ):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.fixture(params=["scan", "buckets"])
def way(request, monkeypatch):
    monkeypatch.setattr(_engine, "PATIENCE", 0 if request.param == "scan" else 100)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("n_bits", [8, 40, 64, 128, 200])
@pytest.mark.parametrize("make", [clustered, even])
@pytest.mark.parametrize(("n", "k"), [(300, 300), (9001, 1), (20_000, 700)])
def test_against_sorting(n_bits, make, n, k):
    check(make(n, n_bits, 0), n_bits, make(70, n_bits, 1), k, r=3)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("reverse", [False, True])
def test_codes_that_lie_in_order_of_distance(reverse):
    """The worst for a running limit, and for one that is guessed from a sample."""
    query = even(1, 64, 0)
    data = even(30_000, 64, 1)
    data = data[np.argsort(codes.hamming(query, data)[0], kind="stable")]
    check(data[::-1] if reverse else data, 64, query, k=900, r=20)


def test_a_guess_that_is_wrong():
    """All near codes lie where no sample is taken."""
    n = 3 * 4096
    data = np.full((n, 8), 255, dtype=np.uint8)
    data[1::3] = 0
    check(data, 64, np.zeros((3, 8), np.uint8), k=5000, r=0)


def test_a_guess_that_is_too_low():
    """Near codes lie only where the sample is taken, and all others as far away as can be."""
    data = np.full((3 * 4096, 8), 255, dtype=np.uint8)
    data[::64] = 0
    check(data, 64, np.zeros((3, 8), np.uint8), k=300, r=0)
    index = HammingIndex(64)
    index.add(data)
    scores, ids = index.search_real(np.full((3, 64), -1.0), k=300)
    assert scores.tolist() == [[64.0] * 192 + [-64.0] * 108] * 3
    np.testing.assert_array_equal(ids, nearest(data, np.zeros((3, 8), np.uint8), 300)[1])


@pytest.mark.parametrize("last", ["near", "far"])
def test_room_that_runs_out_anywhere(last, monkeypatch):
    """Ever nearer codes, but the nearest in front, and far ones where the sample is taken."""
    monkeypatch.setattr(_engine, "PATIENCE", 0)
    n = 3 * 4096
    apart = 40 - np.arange(n) // 512
    apart[: n - 1024 : 64], apart[1:40] = 60, 0
    if last == "far":
        apart[-4096:] = 60
    data, queries = codes.pack(np.arange(64) < apart[:, None]), np.zeros((4, 8), np.uint8)
    index = HammingIndex(64)
    index.add(data)
    for k in range(1960, 2010, 4):
        np.testing.assert_array_equal(index.search(queries, k), nearest(data, queries, k))


def test_one_crowded_bucket():
    data = np.zeros((5000, 16), np.uint8)
    data[:, -1] = np.arange(5000) % 7
    check(data, 128, data[:5], k=30, r=2)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("n", [1, 31, 32, 33, 4096, 4127])
def test_ends_of_blocks(n):
    data = even(n, 64, 0)
    check(data, 64, even(5, 64, 1), k=n, r=64)
    check(data, 64, even(33, 64, 1), k=1, r=0)


def test_threads_do_not_matter(monkeypatch):
    data, queries = clustered(30_000, 128, 0), clustered(300, 128, 1)
    vectors = np.random.default_rng(0).standard_normal((90, 128))
    index = HammingIndex(128)
    index.add(data)

    def answers():
        return (
            *index.search(queries, 50),
            *index.radius(queries, 5),
            *index.search_real(vectors, 20),
            *index.search(queries[:1], 4000),
        )

    with threadpool_limits(1):
        alone = answers()
    index.prepare()
    monkeypatch.setattr(_engine, "LARGE", 0)
    with threadpool_limits(2):
        together = answers()
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_several_threads_may_search_at_once():
    data, queries = clustered(20_000, 64, 0), clustered(50, 64, 1)
    index = HammingIndex(64)
    for part in np.array_split(data, 7):
        index.add(part)
    expected, wrong = nearest(data, queries, 10), []

    def search():
        for _ in range(20):
            if not np.array_equal(index.search(queries, 10)[1], expected[1]):
                wrong.append(1)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_buckets_are_made_when_queries_have_paid_for_them():
    index = HammingIndex(64)
    index.add(clustered(20_000, 64, 0))
    codes_alone = index.nbytes
    assert codes_alone == 20_000 * 16
    queries = clustered(500, 64, 1)
    index.radius(queries[:100], 2)
    assert index.nbytes == codes_alone
    for _ in range(10):
        index.radius(queries, 2)
    assert index.nbytes > codes_alone
    index.add(queries[:1])
    assert index.nbytes == codes_alone + 16


def test_one_strange_query_does_not_decide(monkeypatch):
    monkeypatch.setattr(_engine, "PATIENCE", 5)
    index = HammingIndex(64)
    index.add(clustered(20_000, 64, 0))
    index.prepare()
    engine = index._searcher()
    index.search(even(1, 64, 5), 50)
    assert engine._too_many > 50
    index.search(clustered(40, 64, 1), 50)
    assert engine._few == 50
    assert engine._too_many > 50


def test_buckets_are_left_alone_where_most_queries_give_up():
    index = HammingIndex(64)
    index.add(even(20_000, 64, 0))
    index.prepare()
    engine = index._searcher()
    index.search(even(100, 64, 1), 2000)
    assert engine._too_many == 2000
    index.search(even(100, 64, 1), 3000)
    assert engine._too_many == 2000


@pytest.mark.parametrize("n_bits", [8, 20, 64, 65, 100, 128, 1000, 1024])
@pytest.mark.parametrize("n", [1, 100, 10**6, 10**9])
def test_pieces_are_disjoint_and_inside_the_code(n, n_bits):
    pieces = choose_pieces(n, n_bits)
    bits = [
        64 * word + 63 - shift - i for word, shift, length in pieces.tolist() for i in range(length)
    ]
    assert 1 <= len(pieces) <= 8
    assert len(set(bits)) == len(bits)
    assert max(bits) < n_bits
    assert pieces[:, 2].min() >= 1


def test_each_step_completes_one_more_distance():
    data, queries = clustered(3000, 64, 0), clustered(20, 64, 1)
    buckets = make_buckets(as_words(data), choose_pieces(3000, 64))
    rows = np.ascontiguousarray(as_words(queries).T)
    for r in range(9):
        room = np.empty(CHUNK, dtype=np.int64)
        is_complete, begins, distances, positions, _ = look(
            buckets, rows, 10**9, r + 1, r, 10**12, room
        )
        assert is_complete.all()
        for one, other in zip(
            (begins, distances, positions), within(data, queries, r), strict=True
        ):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [1, 5, 60])
def test_a_query_is_complete_only_when_its_nearest_are_found(k):
    data, queries = clustered(3000, 64, 0), clustered(40, 64, 1)
    buckets = make_buckets(as_words(data), choose_pieces(3000, 64))
    rows, expected = np.ascontiguousarray(as_words(queries).T), nearest(data, queries, k)
    n_complete = []
    for n_steps in range(1, 16):
        room = np.empty(CHUNK, dtype=np.int64)
        is_complete, begins, *found, _ = look(buckets, rows, k, n_steps, 64, 10**12, room)
        for one, other in zip(found, expected, strict=True):
            for row in np.flatnonzero(is_complete):
                np.testing.assert_array_equal(one[begins[row] : begins[row] + k], other[row])
        n_complete.append(is_complete.sum())
    assert len(set(n_complete)) > 3


@pytest.mark.parametrize("lengths", [[1], [3, 5], [9, 30], [30, 9], [20, 20, 20], [2] * 50])
def test_sorting_stays_in_its_room(lengths):
    values = np.random.default_rng(0).permutation(sum(lengths) + 2)
    for begin, end in pairwise(np.cumsum([1, *lengths])):
        values[begin:end].sort()
    expected, room = values.copy(), np.full(30, -1)
    expected[1:-1].sort()
    _sort(values, 1, len(values) - 1, room[:10])
    np.testing.assert_array_equal(values, expected)
    assert (room[10:] == -1).all()


def test_steps_stay_in_their_budget():
    pieces = choose_pieces(10**6, 64)
    assert steps_within(pieces, 0) == 0
    assert steps_within(pieces, 300) == 3
    assert steps_within(pieces, 10**30) == 22 + 22 + 23 - 1


@pytest.mark.parametrize("n_bits", [8, 12, 64, 72, 128])
def test_words_and_back(n_bits):
    data = even(10, n_bits, 0)
    np.testing.assert_array_equal(as_codes(as_words(data), n_bits), data)


@pytest.mark.parametrize("largest", [2.0**-1074, 2.0**-1040, 2.0**-1000, 2.0**1000])
def test_weights_of_any_size(largest):
    index = HammingIndex(64)
    index.add(even(100, 64, 0))
    scores, _ = index.search_real(np.full((1, 64), largest), 100)
    signs = 2.0 * codes.unpack(even(100, 64, 0), 64) - 1
    np.testing.assert_array_equal(scores[0], np.sort(signs.sum(axis=1))[::-1] * largest)


@pytest.mark.parametrize("n_bits", [8, 60, 64, 130])
@pytest.mark.parametrize(("n", "k"), [(50, 50), (50, 60), (5000, 1), (20_000, 300)])
@pytest.mark.parametrize("kind", ["normal", "whole", "one", "zero", "wide"])
def test_real_values_against_numpy(n_bits, n, k, kind):
    rng = np.random.default_rng(0)
    data = clustered(n, n_bits, 0)
    vectors = {
        "normal": rng.standard_normal((40, n_bits)),
        "whole": rng.integers(-3, 4, (40, n_bits)).astype(float),
        "one": np.eye(n_bits)[rng.integers(0, n_bits, 40)] * -1e-300,
        "zero": np.zeros((40, n_bits)),
        "wide": rng.standard_normal((40, n_bits)) * 10.0 ** rng.integers(-30, 30, (40, n_bits)),
    }[kind]
    index = HammingIndex(n_bits)
    index.add(data, np.arange(n) * 3)
    scores, ids = index.search_real(vectors, k)
    signs = 2 * codes.unpack(data, n_bits).astype(np.int64) - 1
    for row, vector in enumerate(vectors):
        # Exact sums of the entries, rounded at 40 digits below the largest one.
        unit = 2.0 ** (np.frexp(np.abs(vector).max())[1] - 40)
        sums = signs @ np.rint(vector / unit).astype(np.int64)
        order = np.argsort(-sums, kind="stable")[:k]
        np.testing.assert_array_equal(ids[row], 3 * order)
        np.testing.assert_array_equal(scores[row], sums[order] * unit)
        if kind != "wide":
            np.testing.assert_allclose(scores[row], signs[order] @ vector, rtol=1e-9, atol=1e-9)


def test_a_subset_answers_like_an_index_of_its_own():
    data, queries = clustered(2000, 64, 0), clustered(9, 64, 1)
    index = HammingIndex(64)
    index.add(data)
    chosen = np.random.default_rng(0).permutation(2000)[:700]
    part = index.subset(chosen)
    distances, ids = part.search(queries, 20)
    expected = nearest(data[np.sort(chosen)], queries, 20)
    np.testing.assert_array_equal(distances, expected[0])
    np.testing.assert_array_equal(ids, np.sort(chosen)[expected[1]])
    assert len(index) == 2000
