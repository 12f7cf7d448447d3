"""The index against a plain oracle: a dictionary, Python sorting and Python's bit counts."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zshash import codes
from zshash.index import HammingIndex, _engine

SETTINGS = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WIDTHS = [8, 9, 12, 48, 64, 96, 128, 1000, 1024]


def pool(seed, n_bits, n=6):
    """A few codes near each other, so that small samples of them repeat and tie."""
    rng = np.random.default_rng(seed)
    bits = np.repeat(rng.integers(0, 2, (1, n_bits)), n, axis=0)
    bits[:, :4] = rng.integers(0, 2, (n, 4))
    bits[-1] = rng.integers(0, 2, n_bits)
    return codes.pack(bits)


def neighbours(held, query):
    """All (distance, id) of the codes in a dictionary id -> bytes, in order."""
    query = int.from_bytes(query.tobytes())
    pairs = ((int.from_bytes(code) ^ query, i) for i, code in held.items())
    return sorted((difference.bit_count(), i) for difference, i in pairs)


def check(index, held, queries, k, r):
    """The index answers like the oracle that holds the same codes."""
    assert len(index) == len(held)
    assert index.ids.tolist() == sorted(held)
    assert [code.tobytes() for code in index.codes] == [held[i] for i in sorted(held)]
    distances, ids = index.search(queries, k)
    limits, near_distances, near_ids = index.radius(queries, r)
    assert distances.shape == ids.shape == (len(queries), min(k, len(held)))
    assert limits.shape == (len(queries) + 1,)
    for i, query in enumerate(queries):
        expected = neighbours(held, query)
        assert list(zip(distances[i], ids[i], strict=True)) == expected[:k]
        part = slice(limits[i], limits[i + 1])
        found = list(zip(near_distances[part], near_ids[part], strict=True))
        assert found == [pair for pair in expected if pair[0] <= r]
    assert limits[-1] == len(near_ids) == len(near_distances)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.integers(0, 5), max_size=8)),
        st.tuples(st.just("add under ids"), st.lists(st.integers(0, 5), max_size=8)),
        st.tuples(st.just("remove"), st.lists(st.integers(0, 40), max_size=5)),
        st.tuples(st.just("read"), st.just([])),
    ),
    max_size=8,
)


@pytest.fixture(params=["scan", "buckets", "as it sees fit"])
def way(request, monkeypatch):
    """Way of searching: never in buckets, always if possible, or whatever is the least work."""
    if request.param == "scan":
        monkeypatch.setattr(_engine, "BUILD_WORK", 10**9)
    if request.param == "buckets":
        monkeypatch.setattr(_engine, "BUILD_WORK", 0)
        monkeypatch.setattr(_engine, "PATIENCE", 10**5)


@pytest.mark.usefixtures("way")
@SETTINGS
@given(
    n_bits=st.sampled_from(WIDTHS),
    steps=STEPS,
    n_queries=st.integers(0, 4),
    k=st.integers(1, 30),
    r=st.integers(0, 9),
    seed=st.integers(0, 1000),
)
def test_answers_like_a_dictionary(n_bits, steps, n_queries, k, r, seed):
    rng = np.random.default_rng(seed)
    choices = pool(seed, n_bits)
    index, held, next_id = HammingIndex(n_bits), {}, 0
    for step, numbers in steps:
        new = choices[np.array(numbers, dtype=int) % len(choices)]
        if step == "add":
            index.add(new)
            ids = range(next_id, next_id + len(numbers))
        elif step == "add under ids":
            free = np.setdiff1d(np.arange(-20, 60), list(held))
            ids = rng.choice(free, len(numbers), replace=False).tolist()
            index.add(new, ids)
        elif step == "remove":
            unwanted = [i for i in numbers if i in held]
            assert index.remove(unwanted) == len(set(unwanted))
            held = {i: code for i, code in held.items() if i not in unwanted}
            continue
        else:
            assert index.search(choices[:1], 1)[1].shape == (1, min(1, len(held)))
            continue
        held.update(zip(ids, (code.tobytes() for code in new), strict=True))
        next_id = max([next_id, *(i + 1 for i in ids)])
    check(index, held, choices[:n_queries], k, r)


@pytest.mark.usefixtures("way")
@SETTINGS
@given(
    n_bits=st.integers(codes.MIN_BITS, codes.MAX_BITS),
    n=st.integers(0, 20),
    k=st.integers(1, 25),
    seed=st.integers(0, 1000),
)
def test_every_width(n_bits, n, k, seed):
    rng = np.random.default_rng(seed)
    data = codes.pack(rng.integers(0, 2, (n + 2, n_bits)))
    index = HammingIndex(n_bits)
    index.add(data[2:])
    held = {i: code.tobytes() for i, code in enumerate(data[2:])}
    check(index, held, data[:2], k, n_bits // 2)


def test_ties_are_ordered_by_id():
    index = HammingIndex(8)
    index.add(np.zeros((4, 1), np.uint8), ids=[9, -3, 5, 0])
    index.add(np.full((2, 1), 128, np.uint8), ids=[-7, 2])
    query = np.zeros((1, 1), np.uint8)
    distances, ids = index.search(query, 5)
    assert ids.tolist() == [[-3, 0, 5, 9, -7]]
    assert distances.tolist() == [[0, 0, 0, 0, 1]]
    assert index.search(query, 2)[1].tolist() == [[-3, 0]]
    assert index.radius(query, 0)[2].tolist() == [-3, 0, 5, 9]
    assert index.radius(query, 10**9)[2].tolist() == [-3, 0, 5, 9, -7, 2]


def test_small_batches_are_rarely_copied():
    index = HammingIndex(64)
    for i in range(500):
        index.add(np.full((1, 8), i % 256, np.uint8))
    assert len(index._layers.later) < 10
    assert index.ids.tolist() == list(range(500))
    assert index.codes[:, 0].tolist() == [i % 256 for i in range(500)]


def test_ids_are_never_used_again():
    index = HammingIndex(8)
    code = np.zeros((1, 1), np.uint8)
    index.add(code, [7])
    index.remove([7])
    index.add(code)
    assert index.ids.tolist() == [8]


def test_membership_and_words():
    index = HammingIndex(12)
    index.add(np.zeros((2, 2), np.uint8), [3, 5])
    index.add(np.zeros((1, 2), np.uint8), [4])
    assert 3 in index
    assert np.int64(4) in index
    for missing in (6, -1, 2**70, "3", 3.0):
        assert missing not in index
    assert repr(index) == "HammingIndex(n_bits=12)"
    assert index.n_bits == 12


def test_what_it_holds_can_not_be_changed_from_outside():
    index = HammingIndex(8)
    data, ids = np.zeros((2, 1), np.uint8), np.array([0, 1])
    index.add(data, ids)
    data[:], ids[:] = 255, 9
    assert index.codes.tolist() == [[0], [0]]
    assert index.ids.tolist() == [0, 1]
    index.codes[:] = 255
    assert index.codes.tolist() == [[0], [0]]
    with pytest.raises(ValueError, match="read-only"):
        index.ids[0] = 1


@pytest.mark.parametrize("n_bits", [7, 1025, 0, -8, 8.0, "64", float("nan")])
def test_bad_widths(n_bits):
    with pytest.raises(ValueError, match="n_bits must be a whole number from 8 to 1024, got"):
        HammingIndex(n_bits)


@pytest.fixture
def index():
    """Five codes of 12 bits under the ids 0, 2, 4, 6 and 8, in two runs."""
    index = HammingIndex(12)
    index.add(pool(1, 12)[:4], [0, 2, 4, 6])
    index.add(pool(1, 12)[4:5], [8])
    return index


NAN = float("nan")
BAD_CODES = [
    (np.zeros((1, 3), np.uint8), r"of 12 bits must have the shape \(n, 2\), got \(1, 3\)"),
    (np.zeros(2, np.uint8), r"must have the shape \(n, 2\), got \(2,\)"),
    (np.zeros((1, 2)), r"must be packed bytes \(uint8\), got float64"),
    (np.zeros((1, 2), np.int64), r"must be packed bytes \(uint8\), got int64"),
    ([[NAN, 1.0]], r"must be packed bytes \(uint8\), got float64"),
    (np.array([[0, 8]], np.uint8), "must leave the last 4 bits of the last byte zero"),
]
ONE = np.zeros((1, 2), np.uint8)
REFUSED = [
    *(("add", (bad,), "codes .*" + message) for bad, message in BAD_CODES),
    *(("search", (bad, 1), "queries .*" + message) for bad, message in BAD_CODES),
    *(("radius", (bad, 1), "queries .*" + message) for bad, message in BAD_CODES),
    ("add", (ONE, [2]), "already holds id 2; remove"),
    ("add", (np.zeros((3, 2), np.uint8), [1, 8, 6]), "already holds ids 6, 8; remove"),
    ("add", (np.zeros((3, 2), np.uint8), [1, 1, 3]), "ids must differ, but id 1 came twice"),
    ("add", (ONE, [1, 3]), "there are 1 codes but 2 ids"),
    ("add", (ONE, 1), r"ids must be 1-D, got the shape \(\)"),
    ("add", (ONE, [1.5]), "whole numbers that fit in int64, got float64"),
    ("add", (ONE, [NAN]), "whole numbers that fit in int64, got float64"),
    ("add", (ONE, ["a"]), "whole numbers that fit in int64, got <U1"),
    ("add", (ONE, [True]), "whole numbers that fit in int64, got bool"),
    ("add", (ONE, [2**63]), "whole numbers that fit in int64, got uint64"),
    ("add", (ONE, [2**70]), "whole numbers that fit in int64, got object"),
    ("remove", ([0, 1],), "does not hold id 1, so nothing was removed"),
    ("remove", (list(range(20)),), "does not hold ids 1, 3, 5, 7, 9 and 10 more, so"),
    ("remove", ([[0]],), "ids must be 1-D"),
    *(("search", (ONE, k), "k must be a whole number of at least 1") for k in (0, -1, 1.0, NAN)),
    *(
        ("search_real", (np.zeros((1, 12)), k), "k must be a whole number of at least 1")
        for k in (0, 1.0)
    ),
    ("search_real", (np.zeros((1, 11)), 1), r"must have the shape \(q, 12\), got \(1, 11\)"),
    ("search_real", (np.zeros(12), 1), r"must have the shape \(q, 12\), got \(12,\)"),
    ("search_real", (np.full((1, 12), NAN), 1), "must not hold NaN or infinity"),
    ("subset", ([0, 1],), "the index does not hold id 1"),
    ("get", ([0, 1],), "the index does not hold id 1"),
    *(("radius", (ONE, r), "r must be a whole number of at least 0") for r in (-1, 1.0, NAN)),
]


@pytest.mark.parametrize(("method", "arguments", "message"), REFUSED)
def test_a_refused_call_changes_nothing(index, method, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(index, method)(*arguments)
    assert index.ids.tolist() == [0, 2, 4, 6, 8]
    np.testing.assert_array_equal(index.codes, pool(1, 12)[:5])
    index.add(ONE)
    assert index.ids[-1] == 9


def test_ids_run_out():
    index = HammingIndex(8)
    index.add(np.zeros((1, 1), np.uint8), [2**63 - 1])
    with pytest.raises(ValueError, match="do not fit in 64 bits; pass ids"):
        index.add(np.zeros((1, 1), np.uint8))
    index.add(np.zeros((1, 1), np.uint8), [-(2**63)])
    index.add(np.zeros((0, 1), np.uint8))
    assert len(index) == 2


def test_empty():
    index = HammingIndex(8)
    queries = np.zeros((3, 1), np.uint8)
    index.add(queries[:0])
    index.add(queries[:0], [])
    assert index.remove([]) == 0
    distances, ids = index.search(queries, 4)
    assert distances.shape == ids.shape == (3, 0)
    limits, distances, ids = index.radius(queries, 4)
    assert limits.tolist() == [0, 0, 0, 0]
    assert len(distances) == len(ids) == 0
    assert index.codes.shape == (0, 1)
    scores, ids = index.search_real(np.ones((3, 8)), 4)
    assert scores.shape == ids.shape == (3, 0)
    index.prepare()
    assert index.nbytes == 0


def test_unsigned_ids_are_looked_up_exactly():
    index = HammingIndex(8)
    index.add(np.zeros((3, 1), np.uint8), 2**53 + np.arange(3))
    assert [np.uint64(2**53 + i) in index for i in range(-1, 4)] == [False, *[True] * 3, False]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))])
def test_copies_are_indexes_of_their_own(index, copied):
    index.search(ONE, 1)
    index.remove([8])
    other = copied(index)
    other.add(ONE)
    assert other.ids.tolist() == [0, 2, 4, 6, 9]
    assert index.ids.tolist() == [0, 2, 4, 6]
    np.testing.assert_array_equal(other.search(ONE, 4)[0], other.search(ONE, 5)[0][:, :4])


def test_a_search_sees_one_state_while_codes_change():
    """Codes say which ids they have: none may turn up under another one."""
    index, wrong, is_over = HammingIndex(64), [], threading.Event()
    ids = np.arange(3000)
    index.add(ids.astype(">u8").view(np.uint8).reshape(-1, 8), ids)

    def search():
        while not is_over.is_set():
            some = np.random.default_rng(0).choice(ids, 20)
            distances, found = index.search(some.astype(">u8").view(np.uint8).reshape(-1, 8), 1)
            is_good = np.bitwise_count(found[:, 0] ^ some) == distances[:, 0]
            if not is_good.all():
                wrong.append(some[~is_good])

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for step in range(100):
        some = ids[step::7]
        index.remove(some)
        for part in np.array_split(some, 3):
            index.add(part.astype(">u8").view(np.uint8).reshape(-1, 8), part)
    is_over.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(index) == 3000
