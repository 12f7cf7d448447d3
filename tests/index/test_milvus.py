"""The index in Milvus against the one in memory, on a real server."""

import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from zshash import codes
from zshash.index import HammingIndex, MilvusIndex
from zshash.index._milvus_address import Address
from zshash.index._milvus_table import LIMIT
from zshash.index.milvus import MilvusError, _conditions

INT64 = np.iinfo(np.int64)
SETTINGS = settings(
    max_examples=6,
    phases=[Phase.generate],  # each example takes a second, and many are needed to find a smaller
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def opened(milvus):
    """An index of each length, which takes seconds to make, so that tests share it."""
    made = {}

    def get(n_bits):
        if n_bits not in made:
            made[n_bits] = MilvusIndex(f"milvus://{milvus.address}/bits_{n_bits}", n_bits)
        index = made[n_bits]
        index._table.limit = LIMIT
        index.discard(index.ids)
        index.note(next_id=0)
        return index

    yield get
    for index in made.values():
        index.close()


def near_each_other(seed, n, n_bits):
    """Codes that differ in a few bits only, so that most of them tie."""
    rng = np.random.default_rng(seed)
    bits = np.repeat(rng.integers(0, 2, (1, n_bits)), n, axis=0)
    bits[:, -6:] = rng.integers(0, 2, (n, 6))
    return codes.pack(bits)


def clustered(seed, n, n_bits=64, size=1000):
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 256, (n // size, n_bits // 8), dtype=np.uint8)
    noise = np.packbits(rng.random((n, n_bits)) < 0.03, axis=1)
    return centres[np.arange(n) % len(centres)] ^ noise


def assert_same(index, twin, queries, k, r):
    assert len(index) == len(twin)
    for found, wanted in zip(index.search(queries, k), twin.search(queries, k), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    for found, wanted in zip(index.radius(queries, r), twin.radius(queries, r), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@SETTINGS
@given(
    n_bits=st.sampled_from([8, 12, 64, 1000]),
    n=st.integers(0, 30),
    limit=st.sampled_from([4, 7, LIMIT]),
    k=st.integers(1, 40),
    r=st.integers(0, 9),
    seed=st.integers(0, 1000),
)
def test_answers_like_the_index_in_memory(opened, n_bits, n, limit, k, r, seed):
    rng = np.random.default_rng(seed)
    index, twin = opened(n_bits), HammingIndex(n_bits)
    index._table.limit = limit
    own = near_each_other(seed, n, n_bits)
    ids = rng.choice(np.arange(-40, 40), n, replace=False)
    for each in (index, twin):
        each.add(own, ids)
        each.remove(ids[: n // 4])
        each.add(own[:2])  # under the ids after the largest
    queries = near_each_other(seed, 3, n_bits)
    assert_same(index, twin, queries, k, r)
    np.testing.assert_array_equal(index.ids, twin.ids)
    np.testing.assert_array_equal(index.codes, twin.codes)
    chosen = twin.ids[rng.random(len(twin)) < 0.5]
    np.testing.assert_array_equal(index.get(chosen), twin.get(chosen))
    assert_same(index.subset(chosen), twin.subset(chosen), queries, k, r)
    held = index.subset(chosen).in_memory()
    np.testing.assert_array_equal(held.ids, chosen)
    np.testing.assert_array_equal(held.codes, twin.get(chosen))
    vectors = rng.normal(size=(2, n_bits))
    for found, wanted in zip(
        index.search_real(vectors, k), twin.search_real(vectors, k), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


def test_more_ties_than_an_answer_may_have(opened):
    n = 2 * LIMIT + 1000
    index, twin = opened(64), HammingIndex(64)
    own = np.zeros((n, 8), dtype=np.uint8)
    own[:1000, 0] = 1
    ids = np.random.default_rng(0).permutation(n) - 5000
    for each in (index, twin):
        each.add(own, ids)
    queries = np.zeros((2, 8), dtype=np.uint8)
    queries[1, 0] = 1
    for k in (10, LIMIT, LIMIT + 5, n):
        assert_same(index, twin, queries, k, 0)
    assert_same(index, twin, queries, 10, 1)
    np.testing.assert_array_equal(index.ids, twin.ids)
    part = ids[ids % 3 > 0]
    assert_same(index.subset(part), twin.subset(part), queries, 20, 1)


def test_ids_at_the_limits(opened):
    index, twin = opened(64), HammingIndex(64)
    ids = [INT64.min, INT64.min + 1, -1, 0, INT64.max - 2, INT64.max - 1]
    own = near_each_other(3, len(ids), 64)
    for each in (index, twin):
        each.add(own, ids)
    index._table.limit = 3
    assert_same(index, twin, own[:2], 6, 6)
    np.testing.assert_array_equal(index.ids, twin.ids)
    np.testing.assert_array_equal(index.get(ids), own)
    ends = [INT64.min, INT64.max - 1]
    assert_same(index.subset(ends), twin.subset(ends), own[:2], 6, 64)
    assert INT64.min in index
    assert int(INT64.min) - 1 not in index
    assert index.remove(ends) == twin.remove(ends)
    assert INT64.min not in index
    assert_same(index, twin, own[:2], 6, 6)
    with pytest.raises(ValueError, match="do not fit in 64 bits"):
        index.add(own[:1])
    with pytest.raises(ValueError, match="Milvus does not return id 9223372036854775807"):
        index.add(own[:1], [INT64.max])


def test_nothing_there(opened):
    index, twin = opened(12), HammingIndex(12)
    queries = np.zeros((2, 2), dtype=np.uint8)
    assert_same(index, twin, queries, 3, 12)
    assert_same(index, twin, queries[:0], 3, 12)
    assert index.ids.shape == (0,)
    assert index.codes.shape == (0, 2)
    assert index.search_real(np.ones((1, 12)), 3)[1].shape == (1, 0)
    index.add(queries[:0], [])
    assert index.remove([]) == 0
    assert len(index.subset([])) == 0
    assert_same(index.subset([]), twin, queries, 3, 12)
    assert "3" not in index


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("add", (np.zeros((2, 2), dtype=np.uint8), [7, 7])),
        ("add", (np.zeros((2, 2), dtype=np.uint8), [7])),
        ("add", (np.zeros((1, 2), dtype=np.uint8), [5])),
        ("add", (np.zeros((1, 3), dtype=np.uint8),)),
        ("add", (np.ones((1, 2), dtype=np.uint8),)),
        ("add", (np.zeros((1, 2)),)),
        ("add", (np.zeros((1, 2), dtype=np.uint8), [0.5])),
        ("remove", ([5, 6],)),
        ("remove", ([[5]],)),
        ("get", ([6],)),
        ("subset", ([5, 6],)),
        ("search", (np.zeros((1, 2), dtype=np.uint8), 0)),
        ("search", (np.zeros((1, 3), dtype=np.uint8), 1)),
        ("radius", (np.zeros((1, 2), dtype=np.uint8), -1)),
        ("search_real", (np.ones((1, 11)), 1)),
        ("search_real", (np.full((1, 12), np.nan), 1)),
    ],
)
def test_refuses_what_the_index_in_memory_refuses(opened, method, arguments):
    index, twin = opened(12), HammingIndex(12)
    messages = []
    for each in (index, twin):
        each.add(np.zeros((1, 2), dtype=np.uint8), [5])
        with pytest.raises(ValueError, match=r".") as caught:
            getattr(each, method)(*arguments)
        messages.append(str(caught.value))
        assert len(each) == 1
    assert messages[0] == messages[1]


def test_many_queries_in_one_call(opened):
    index, twin = opened(64), HammingIndex(64)
    own = clustered(1, 3000, size=100)
    for each in (index, twin):
        each.add(own)
    assert_same(index, twin, own[:300], 50, 3)


def test_what_others_write_is_seen_after_a_refresh(milvus, opened):
    index = opened(64)
    other = MilvusIndex(f"milvus://{milvus.address}/bits_64", 64)
    other.add(np.zeros((5, 8), dtype=np.uint8), range(5))
    index.refresh()
    assert len(index) == 5
    other.remove([2])
    index.refresh()
    assert index.ids.tolist() == [0, 1, 3, 4]
    other.close()


def test_another_length_or_other_fields(milvus, opened):
    opened(12), opened(64)
    with pytest.raises(ValueError, match="its codes have 12 bits, not 16: choose another name"):
        MilvusIndex(f"milvus://{milvus.address}/bits_12", 16)
    with pytest.raises(ValueError, match="its codes have 64 bits, not 128: choose another name"):
        MilvusIndex(f"milvus://{milvus.address}/bits_64", 128)
    with pytest.raises(ValueError, match="n_bits must be a whole number from 8 to 1024"):
        MilvusIndex(f"milvus://{milvus.address}/bits_64", 4)
    client = opened(64)._table._client
    client.create_collection("foreign", dimension=8)
    with pytest.raises(ValueError, match="other fields than id and code"):
        MilvusIndex(f"milvus://{milvus.address}/foreign", 64)


def test_clear_may_change_the_length(milvus):
    index = MilvusIndex(f"milvus://{milvus.address}/cleared", 16)
    index.add(np.zeros((3, 2), dtype=np.uint8))
    index.note(generation=7)
    assert index.notes() == {"n_bits": "16", "next_id": "3", "generation": "7"}
    index.clear(24)
    assert index.n_bits == 24
    assert index.notes() == {"n_bits": "24"}
    index.add(np.zeros((2, 3), dtype=np.uint8))
    index.prepare()
    assert index.search(np.zeros((1, 3), dtype=np.uint8), 5)[1].tolist() == [[0, 1]]
    index.close()


def test_a_collection_that_somebody_dropped(milvus):
    index = MilvusIndex(f"milvus://{milvus.address}/dropped", 16)
    index._table.drop()
    with pytest.raises(MilvusError, match="dropped"):
        index.search(np.zeros((1, 2), dtype=np.uint8), 1)
    index.close()


@pytest.mark.usefixtures("milvus_client")
def test_nothing_answers():
    start = time.monotonic()
    with pytest.raises(MilvusError, match=r"127.0.0.1:1/x: no Milvus server answers there"):
        MilvusIndex("milvus://127.0.0.1:1/x", 16)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    "text",
    [
        "milvus://host",
        "milvus://host/",
        "milvus:///name",
        "milvus://host:port/name",
        "milvus://host:99999/name",
        "milvus://host/a-b",
        "milvus://host/a/b",
        "milvus://host/name?secure=maybe",
        "milvus://host/name?colour=red",
        "milvus://host/name?timeout=0",
        "milvus://host/name?",
        "http://host/name",
        "name",
    ],
)
def test_malformed_addresses(text):
    if text.endswith("?"):
        assert str(Address.parse(text)) == "milvus://host:19530/name"
        return
    with pytest.raises(ValueError, match="not the address of a collection in Milvus"):
        Address.parse(text)


def test_addresses_keep_secrets(monkeypatch):
    address = Address.parse("milvus://me:p%40ss@host:1/name?secure=true&timeout=5")
    assert address.token == "me:p@ss"
    assert address.uri == "https://host:1"
    assert str(address) == "milvus://host:1/name?secure=true&timeout=5"
    assert "p@ss" not in repr(address)
    assert Address.parse("milvus://[::1]/name?token=secret").token == "secret"
    assert str(Address.parse("milvus://[::1]/name?token=secret")) == "milvus://[::1]:19530/name"
    for wrong in (
        "milvus://me:pass@host/a-b",
        "milvus://me:a/pass@host/name",
        "milvus://me:p?a@pass/@host/name",
        "milvus:/me:pass@host/name",
        "milvus://host/a-b?token=pass&secure=true",
        "milvus://host/a-b?token=p@pass",
        "milvus://host/name?password=pass",
        "milvus://host/name#token=pass",
    ):
        with pytest.raises(ValueError, match="not the address") as caught:
            Address.parse(wrong)
        assert "pass" not in str(caught.value)
    monkeypatch.setenv("ZSHASH_MILVUS_TOKEN", "root:Milvus")
    assert Address.parse("milvus://host/name").token == "root:Milvus"


def test_conditions_of_many_ids():
    ids = np.concatenate([np.arange(100), [200, 300], np.arange(1000, 1100)])
    assert _conditions(ids) == [
        "((id >= 0 and id <= 99) or (id >= 1000 and id <= 1099))",
        "id in [200, 300]",
    ]
    assert _conditions(np.array([INT64.min, INT64.max])) == [
        f"(id in [{INT64.max}] or id < {-INT64.max})"
    ]


def test_the_client_is_imported_when_it_is_needed():
    code = "import sys, zshash.index\nassert 'pymilvus' not in sys.modules\n"
    code += "zshash.index.MilvusIndex('milvus://127.0.0.1:1/x', 16)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pymilvus is not installed: pip install 'zshash[milvus]'" in done.stderr


def test_a_million_codes(opened):
    index, twin = opened(64), HammingIndex(64)
    own = clustered(0, 1_000_000)
    for each in (index, twin):
        each.add(own)
    index.prepare()
    queries = own[::200_000]
    assert_same(index, twin, queries, 100, 2)
    found, wanted = index.search(queries[:2], 5000), twin.search(queries[:2], 5000)
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])
