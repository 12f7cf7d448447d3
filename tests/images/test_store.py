from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from zshash.images.store import FeatureStore, read_shard, write_shard


def keys_of(*numbers):
    return [f"{number:016d}".encode() for number in numbers]


@pytest.fixture
def rows():
    return np.random.RandomState(0).randn(10, 3).astype(np.float32)


def shards(folder):
    return sorted(folder.glob("*.shard"))


def test_rows_come_back_in_any_order(tmp_path, rows):
    store = FeatureStore(tmp_path, 3)
    for start in (0, 4, 8):
        store.append(keys_of(*range(start, min(start + 4, 10))), rows[start : start + 4])
        store.flush()
    assert len(shards(tmp_path)) == 3
    order = [7, 0, 9, 7, 3]
    for again in (store, FeatureStore(tmp_path, 3)):
        assert_array_equal(again.gather(keys_of(*order)), rows[order])
        assert all(key in again for key in keys_of(*range(10)))
        assert keys_of(10)[0] not in again


def test_rows_that_wait_are_there_too(tmp_path, rows):
    store = FeatureStore(tmp_path, 3)
    store.append(keys_of(1, 2), rows[:2])
    assert keys_of(2)[0] in store
    assert not shards(tmp_path)
    assert_array_equal(store.gather(keys_of(2)), rows[1:2])


def test_rows_in_memory(rows):
    store = FeatureStore(None, 3)
    store.append(keys_of(*range(10)), rows)
    store.flush()
    assert_array_equal(store.gather(keys_of(7, 2)), rows[[7, 2]])


def test_what_can_not_be_read_now_is_not_thrown_away(tmp_path, rows, monkeypatch):
    write_shard(tmp_path / "0.shard", keys_of(0), rows[:1])

    def busy(*_, **__):
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("zshash.images.store.safe_open", busy)
        with pytest.raises(OSError, match="Too many open files"):
            FeatureStore(tmp_path, 3)
    assert_array_equal(FeatureStore(tmp_path, 3).gather(keys_of(0)), rows[:1])


def test_many_rows_are_written_without_being_asked(tmp_path):
    store = FeatureStore(tmp_path, 2)
    for start in range(0, 3000, 100):
        store.append(keys_of(*range(start, start + 100)), np.zeros((100, 2), dtype=np.float32))
    assert len(shards(tmp_path)) == 2
    store.flush()
    assert len(shards(tmp_path)) == 3
    store.flush()
    assert len(shards(tmp_path)) == 3


def test_slow_rows_are_written_after_a_while(tmp_path, rows, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("zshash.images.store.time.monotonic", lambda: now[0])
    store = FeatureStore(tmp_path, 3)
    store.append(keys_of(0), rows[:1])
    assert not shards(tmp_path)
    now[0] = 11.0
    store.append(keys_of(1), rows[1:2])
    assert len(shards(tmp_path)) == 1


def test_every_damage_is_found_and_the_shard_dropped(tmp_path, rows):
    path = tmp_path / "0.shard"
    write_shard(path, keys_of(0, 1), rows[:2])
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        try:
            found = read_shard(path)
        except ValueError:
            continue
        # a name in the header that nobody reads may change; the content may not
        assert found[0] == keys_of(0, 1)
        assert_array_equal(found[1], rows[:2])
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="damaged"):
            read_shard(path)
    with pytest.warns(UserWarning, match=r"0\.shard: damaged; making its features again"):
        store = FeatureStore(tmp_path, 3)
    assert keys_of(0)[0] not in store
    assert not path.exists()


def test_a_shard_of_another_width_is_not_used(tmp_path, rows):
    write_shard(tmp_path / "0.shard", keys_of(0), rows[:1])
    with pytest.warns(UserWarning, match="of another network"):
        assert keys_of(0)[0] not in FeatureStore(tmp_path, 4)


def test_two_writers_do_not_overwrite_each_other(tmp_path, rows, monkeypatch):
    one, two = FeatureStore(tmp_path, 3), FeatureStore(tmp_path, 3)
    one.append(keys_of(0), rows[:1])
    two.append(keys_of(1), rows[1:2])
    with monkeypatch.context() as patch:  # both look before either writes
        patch.setattr(Path, "glob", lambda *_: iter(()))
        one.flush()
        two.flush()
    assert_array_equal(FeatureStore(tmp_path, 3).gather(keys_of(0, 1)), rows[:2])


def test_what_an_interrupted_write_leaves_is_not_read(tmp_path, rows):
    write_shard(tmp_path / "0.shard", keys_of(0), rows[:1])
    (tmp_path / ".1.shard.abc").write_bytes(b"half of it")
    assert keys_of(0)[0] in FeatureStore(tmp_path, 3)
