"""What was added before is known again, without reading all rows in every process."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from zshash import LSH, Collection
from zshash.collection.errors import DamagedError
from zshash.collection.storage.contents import Contents, _hashes

X = np.random.RandomState(0).randn(300, 12).astype(np.float32)


@pytest.fixture
def folder(tmp_path):
    """A collection of 200 of the rows, of which some were removed again."""
    hasher = LSH(n_bits=16, random_state=0).fit(X)
    with Collection.create(tmp_path / "album", hasher) as album:
        album.add(X[:150])
        album.remove([3, 4, 149])
        album.add(X[150:200])
    return tmp_path / "album"


def files(folder):
    return sorted(path.name for path in folder.glob("contents-*.codes"))


def no_reading(*_):
    raise AssertionError("all rows are read")


def added(folder, rows):
    with Collection.open(folder) as album:
        report = album.add(rows)
    with Collection.open(folder) as album:
        assert album.verify() == []
    return len(report.ids), len(report.duplicates)


def test_the_next_process_goes_on_from_the_snapshot(folder, monkeypatch):
    assert len(files(folder)) == 1
    monkeypatch.setattr(Contents, "read_all", no_reading)
    with Collection.open(folder) as album:
        album.remove([20])  # it does not look at contents, and leaves the snapshot as it is
    with Collection.open(folder) as album:
        report = album.add(X[:210])
        assert len(report.ids) == 14  # removed before: 3, 4, 149 and 20; new: 10
        assert len(report.duplicates) == 196
    assert len(files(folder)) == 1
    with Collection.open(folder) as album:
        assert len(album.add(X[:210]).ids) == 0


def test_without_a_snapshot_all_rows_are_read(folder):
    for name in files(folder):
        (folder / name).unlink()
    assert added(folder, X[:205]) == (8, 197)
    assert len(files(folder)) == 1


@pytest.mark.parametrize("place", [0, 30, -100, -1])
def test_a_damaged_snapshot_counts_as_absent_and_is_told(folder, place):
    path = folder / files(folder)[0]
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with Collection.open(folder) as album:
        assert album.verify() == [f"{path.name}: it is damaged: delete it, and it is made again"]
    assert added(folder, X[:205]) == (8, 197)


def test_a_snapshot_of_another_collection_is_not_used(folder, tmp_path):
    hasher = LSH(n_bits=16, random_state=0).fit(X)
    with Collection.create(tmp_path / "other", hasher) as other:
        other.add(X[250:280])
        other.add(X[280:290])
        other.add(X[290:])
    (strange,) = (tmp_path / "other").glob("contents-*.codes")
    (folder / files(folder)[0]).write_bytes(strange.read_bytes())
    assert added(folder, X[:205]) == (8, 197)


def test_verify_compares_it_with_the_rows(folder):
    with Collection.open(folder) as album:
        album.add(X[:1])
        own = album._store._contents
        own._hashes = own._hashes.copy()
        own._hashes[5] ^= 1 << 40
        album._store._tail = 1
        album._store.save()
        (problem,) = album.verify()
        assert problem == f"{files(folder)[0]}: not what the catalogue says: delete it"


def test_contents_that_end_alike(tmp_path):
    hasher = LSH(n_bits=16, random_state=0).fit(X)
    codes = np.arange(6, dtype=np.uint8).reshape(3, 2)
    contents = [b"one-with-the-same-end", b"two-with-the-same-end", b"\xff" * 8]
    with Collection.create(tmp_path / "album", hasher) as album:
        assert len(album.add_codes(codes, contents=contents).ids) == 3
        assert_array_equal(album.add_codes(codes, contents=contents).duplicates, [0, 1, 2])
    with Collection.open(tmp_path / "album") as album:
        report = album.add_codes(codes[::-1], contents=contents[::-1])
        assert_array_equal(report.duplicates, [2, 1, 0])
        assert len(album.add_codes(codes[:1], contents=[b"three-with-the-same-end"]).ids) == 1


def test_hashes_of_counters_differ():
    for contents in (
        [number.to_bytes(16, "little") for number in range(1000)],
        [number.to_bytes(16, "big") for number in range(1000)],
        [number.to_bytes(2, "little") for number in range(1000)],
        [f"row-{number}".encode() for number in range(1000)],
    ):
        assert len(set(_hashes(contents))) > 900


def test_compact_keeps_it(folder, monkeypatch):
    with Collection.open(folder) as album:
        album.add(X[200:201])
        album.compact()
    assert len(files(folder)) == 1
    monkeypatch.setattr(Contents, "read_all", no_reading)
    with Collection.open(folder) as album:
        assert len(album.add(X[:200]).ids) == 3


def test_a_lost_row_is_not_taken_for_a_new_one(folder):
    with Collection.open(folder) as album:
        album._store.catalogue.connection.execute("DELETE FROM items WHERE id = 7")
        with pytest.raises(DamagedError):
            album.add(X[7:8])
