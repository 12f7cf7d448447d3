import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zshash import Collection, CollectionError
from zshash.collection.storage import snapshot, store
from zshash.collection.storage.snapshot import (
    Snapshot,
    newest_snapshot,
    read_snapshot,
    write_snapshot,
)


def example(n=3, n_bits=16, generation=7):
    codes = np.random.RandomState(n).randint(0, 256, size=(n, -(-n_bits // 8)), dtype=np.uint8)
    return Snapshot(generation, n_bits, 2**64 - 1, 10 * n, np.arange(n) * 3, codes)


@given(st.integers(0, 20), st.integers(8, 64))
def test_what_was_written_is_read(tmp_path_factory, n, n_bits):
    written = example(n, n_bits)
    read = read_snapshot(write_snapshot(tmp_path_factory.mktemp("s"), written))
    assert (read.generation, read.n_bits, read.digest) == (7, n_bits, 2**64 - 1)
    assert (read.next_id, read.n) == (10 * n, n)
    np.testing.assert_array_equal(read.ids, written.ids)
    np.testing.assert_array_equal(read.codes, written.codes)


def test_every_flipped_bit_is_noticed(tmp_path):
    path = write_snapshot(tmp_path, example())
    data = path.read_bytes()
    for place in range(8 * len(data)):
        broken = bytearray(data)
        broken[place // 8] ^= 1 << place % 8
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="not whole"):
            read_snapshot(path)
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match="not whole"):
            read_snapshot(path)
    assert newest_snapshot(tmp_path) is None


def test_whole_files_of_another_kind(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot, "VERSION", 2)
    path = write_snapshot(tmp_path, example())
    monkeypatch.undo()
    with pytest.raises(ValueError, match="of another format"):
        read_snapshot(path)
    path.rename(tmp_path / "index-8.codes")
    assert newest_snapshot(tmp_path) is None


def test_the_newest_that_is_whole(tmp_path):
    for generation in (9, 10, 11):
        path = write_snapshot(tmp_path, example(generation=generation))
    path.write_bytes(b"broken")
    assert newest_snapshot(tmp_path).generation == 10


def test_a_broken_snapshot_is_made_again(folder, hasher, X):
    with Collection.create(folder, hasher) as photos:
        photos.add(X)
    (path,) = folder.glob("index-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with Collection.open(folder) as photos:
        assert photos.search(X[7], k=1)[0].id == 7
        assert photos.verify() == []
    path.unlink()
    with Collection.open(folder) as photos:
        assert len(photos.ids) == 60


def test_a_snapshot_of_other_items(tmp_path, hasher, X):
    for name in ("a", "b"):
        with Collection.create(tmp_path / name, hasher) as photos:
            photos.add(X if name == "a" else X[::-1])
    (ours,), (theirs,) = (tmp_path / "a").glob("index*"), (tmp_path / "b").glob("index*")
    ours.write_bytes(theirs.read_bytes())
    with Collection.open(tmp_path / "a") as photos:
        np.testing.assert_array_equal(photos.index.codes, hasher.encode(X))


def test_a_catalogue_that_lost_writes(folder, hasher, X):
    with Collection.create(folder, hasher) as photos:
        photos.add(X[:10])
    earlier = (folder / "catalogue.sqlite").read_bytes()
    with Collection.open(folder) as photos:
        photos.add(X[10:])
    (folder / "catalogue.sqlite").write_bytes(earlier)
    lost = r"lost what was written .* or delete generation and index-2\.codes"
    with pytest.raises(CollectionError, match=lost):
        Collection.open(folder)
    (folder / "generation").unlink()
    with pytest.raises(CollectionError, match=r"or delete index-2\.codes"):
        Collection.open(folder)
    (folder / "index-2.codes").unlink()
    with Collection.open(folder) as photos:
        assert len(photos) == 10


def test_when_snapshots_are_written(folder, hasher, monkeypatch):
    monkeypatch.setattr(store, "LEAST_TAIL", 4)
    written = []
    original = store.write_snapshot
    monkeypatch.setattr(
        store, "write_snapshot", lambda *args: written.append(args[1].n) or original(*args)
    )
    with Collection.create(folder, hasher) as photos:
        for _ in range(100):
            photos.add_codes(np.zeros((1, 2), dtype=np.uint8))
        assert len(written) < 20
        assert np.diff(written).max() <= 25
        assert len(list(folder.glob("index-*"))) == 1
    assert written[-1] == 100
    n_written = len(written)
    with Collection.open(folder) as photos:
        assert len(photos.ids) == 100
    assert len(written) == n_written


def test_an_old_snapshot_is_brought_up_to_date(folder, hasher, X, monkeypatch):
    with Collection.create(folder, hasher) as photos:
        photos.add(X[:20])
    monkeypatch.setattr(store.Store, "save", lambda _: None)
    with Collection.open(folder) as photos:
        photos.remove([3, 4])
        photos.add(X[20:40])
        photos.remove([25])
        expected = photos.ids.tolist()
    assert [path.name for path in folder.glob("index-*")] == ["index-1.codes"]
    monkeypatch.setattr(store.Mirror, "of_rows", None)
    with Collection.open(folder) as photos:
        assert photos.ids.tolist() == expected
