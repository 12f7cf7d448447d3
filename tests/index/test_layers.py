"""Codes that come and go beside many codes in buckets."""

import multiprocessing
import threading

import numpy as np
import pytest

from zshash.index import HammingIndex, _layers

N_BITS = 64


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(_layers, "LEAST_KEPT", 100)


def clustered(n, seed, n_centres=20):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).integers(0, 256, (n_centres, 8), dtype=np.uint8)
    codes = centres[rng.integers(0, n_centres, n)]
    for _ in range(3):
        bits = rng.integers(0, N_BITS, n)
        codes[np.arange(n), bits // 8] ^= (128 >> (bits % 8)).astype(np.uint8)
    return codes


def prepared(n=4000, shared=None):
    index = HammingIndex(N_BITS)
    index.add(clustered(n, 1), np.arange(n) * 3)
    index.prepare(shared)
    return index


def plain(index):
    """The same codes in an index without layers."""
    made = HammingIndex(N_BITS)
    made.add(index.codes, index.ids)
    return made


def check(index, seed=5):
    """All answers are those of an index without layers."""
    other, queries = plain(index), clustered(40, seed)
    values = np.random.default_rng(seed).standard_normal((40, N_BITS))
    for k in (1, 10, 200, len(index), len(index) + 5):
        for own, theirs in zip(index.search(queries, k), other.search(queries, k), strict=True):
            np.testing.assert_array_equal(own, theirs)
        for own, theirs in zip(
            index.search_real(values, k), other.search_real(values, k), strict=True
        ):
            np.testing.assert_array_equal(own, theirs)
    for r in (0, 2, 20, 64):
        for own, theirs in zip(index.radius(queries, r), other.radius(queries, r), strict=True):
            np.testing.assert_array_equal(own, theirs)
    some = index.ids[::-7]
    np.testing.assert_array_equal(index.get(some), other.get(some))
    assert len(index) == len(index.ids) == len(index.codes)


def test_codes_that_come_and_go_leave_the_buckets_alone():
    index = prepared()
    engine, rng = index._searcher(), np.random.default_rng(3)
    for step in range(6):
        index.add(clustered(30, 10 + step))
        index.remove(rng.choice(index.ids, 20, replace=False))
        check(index, step)
        assert index._searcher() is engine
    assert 0 < index.n_loose <= 300


def test_codes_that_get_other_values_under_the_same_ids():
    index = prepared()
    engine, ids = index._searcher(), index.ids[100:150]
    index.remove(ids)
    index.add(clustered(50, 77), ids)
    assert index.get(ids).tolist() == clustered(50, 77).tolist()
    check(index)
    index.remove(ids[:10])
    assert ids[0] not in index
    assert ids[10] in index
    check(index)
    assert index._searcher() is engine


def test_all_near_codes_may_be_gone():
    index = prepared()
    query = clustered(1, 5)
    index.remove(index.search(query, 200)[1][0])
    check(index)
    assert index._searcher().bucket_bytes


def test_too_many_changes_make_one_run_again():
    index = prepared()
    index.add(clustered(1000, 9))
    check(index)
    assert index.n_loose == 0
    assert not index._searcher().bucket_bytes


def test_preparing_takes_over_what_came_since():
    index = prepared()
    index.add(clustered(100, 9))
    index.remove(index.ids[:50])
    before = index.ids
    index.prepare()
    assert index.n_loose == 0
    assert index.ids.tolist() == before.tolist()
    check(index)


def test_an_index_changes_while_it_is_prepared():
    index, is_over = prepared(20_000), threading.Event()

    def prepare():
        while not is_over.is_set():
            index.prepare()

    thread = threading.Thread(target=prepare)
    thread.start()
    held = dict(zip(index.ids.tolist(), index.codes.tolist(), strict=True))
    for step in range(30):
        codes = clustered(20, step)
        first = index.ids[-1] + 1
        index.add(codes)
        held |= {int(first) + i: code for i, code in enumerate(codes.tolist())}
        for number in index.ids[step::400][:20].tolist():
            index.remove([number])
            del held[number]
    is_over.set()
    thread.join()
    assert dict(zip(index.ids.tolist(), index.codes.tolist(), strict=True)) == held
    check(index)


def test_processes_share_files(tmp_path):
    first = prepared(shared=tmp_path)
    second = prepared()
    second.add(clustered(20, 3))
    second.remove(second.ids[:20])
    second.prepare(tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["codes-0-64", "codes.lock"]
    assert second.n_loose == 40
    for index in (first, second):
        check(index)
    second.add(clustered(400, 4))
    second.prepare(tmp_path)  # too many differ by now
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["codes-1-64", "codes.lock"]
    assert second.n_loose == 0
    first.prepare(tmp_path)
    for index in (first, second):
        check(index)


def test_files_of_other_codes_are_not_used(tmp_path):
    prepared(shared=tmp_path)
    index = HammingIndex(128)
    index.add(np.random.default_rng(0).integers(0, 256, (500, 16), dtype=np.uint8))
    index.prepare(tmp_path)
    assert index.search(index.codes[:1], 1)[1].tolist() == [[0]]
    empty = HammingIndex(N_BITS)
    empty.prepare(tmp_path)
    assert len(empty) == 0


def _prepare(folder):
    prepared(20_000, folder)


def test_processes_that_begin_at_the_same_time_make_the_files_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    started = [context.Process(target=_prepare, args=[tmp_path]) for _ in range(2)]
    for process in started:
        process.start()
    for process in started:
        process.join(120)
        assert process.exitcode == 0
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["codes-0-64", "codes.lock"]
