import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from zshash import LSH, Collection, CollectionError
from zshash.collection.errors import DamagedError
from zshash.collection.storage import catalogue
from zshash.collection.storage.rows import COLUMNS
from zshash.collection.storage.snapshot import write_snapshot


@pytest.fixture
def closed(tmp_path, hasher, reader, pictures):
    folder = tmp_path / "album.zshash"
    with Collection.create(folder, hasher, reader=reader, keep_features=True) as album:
        album.add(pictures)
    return folder


def edit(folder, *statements):
    with closing(sqlite3.connect(folder / "catalogue.sqlite", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE items SET labels = '[\"cow\"]' WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET code = x'0000' WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET source = NULL WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET source = CAST(source AS BLOB) WHERE id = 3", "item 3: its row"),
        ("UPDATE items SET content = NULL WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET metadata = '{\"a\":1}' WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET size = NULL WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET mtime_ns = 5 WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET checksum = 5 WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET checksum = 'x' WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET labels = 5.5 WHERE id = 3", "item 3: its row is damaged"),
        ("UPDATE items SET id = 300 WHERE id = 3", "item 300: its row is damaged"),
        ("DELETE FROM items WHERE id = 3", "items: 11 rows, but there should be 12"),
        ("UPDATE thumbnails SET value = x'00' WHERE id = 3", "its entry in thumbnails is damaged"),
        (
            "UPDATE thumbnails SET id = 300 WHERE id = 3",
            "it has an entry in thumbnails, but there is no such item",
        ),
        ("DELETE FROM thumbnails WHERE id = 3", "thumbnails: 11 rows, but there should be 12"),
        ("UPDATE features SET value = x'00' WHERE id = 3", "its entry in features is damaged"),
        ("DELETE FROM features WHERE id = 3", "features: 11 rows, but there should be 12"),
        ("INSERT INTO settings VALUES ('more', '1', 1)", "its setting 'more' is not whole"),
        ("DELETE FROM items WHERE id >= 0", "items: 0 rows, but there should be 12"),
    ],
)
def test_damage_is_found(closed, statement, problem):
    with Collection.open(closed) as album:
        assert album.verify() == []
    edit(closed, statement)
    with Collection.open(closed) as album:
        found = album.verify()
        assert any(problem in line for line in found), found
        assert len(set(found)) == len(found)


def test_two_changes_that_cancel_out(closed):
    with closing(sqlite3.connect(closed / "catalogue.sqlite", isolation_level=None)) as connection:
        row = connection.execute(f"SELECT {COLUMNS} FROM items WHERE id = 3").fetchone()
        connection.execute("DELETE FROM items WHERE id = 3")
        connection.execute("INSERT INTO items VALUES (?,?,?,?,?,?,?,?,?)", [*row[:8], row[8] ^ 1])
    with Collection.open(closed) as album:
        assert "item 3: its row is damaged" in album.verify()


def test_damaged_items_are_not_served(closed):
    edit(closed, "UPDATE items SET labels = '[\"cow\"]' WHERE id = 3")
    with Collection.open(closed) as album:
        assert album[4].labels == ("dog",)
        with pytest.raises(CollectionError, match=r"item 3 is damaged .* zshash verify"):
            album.search(code=album.index.codes[3:4], k=12)
        with pytest.raises(CollectionError, match="item 3 is damaged"):
            album[3]
    edit(closed, "DELETE FROM items WHERE id = 3")
    with (
        Collection.open(closed) as album,
        pytest.raises(CollectionError, match="item 3 differs between the catalogue and the index"),
    ):
        album[3]
    next(closed.glob("index*")).unlink()
    with pytest.raises(CollectionError, match="items are missing from it"):
        Collection.open(closed)


@pytest.mark.parametrize("condition", ["label = 'cat'", "year = 2020", "year = null"])
def test_conditions_on_what_is_no_json(closed, condition):
    with Collection.open(closed) as album:
        edit(closed, "UPDATE items SET labels = '[', metadata = '{' WHERE id = 3")
        with pytest.raises(DamagedError, match="no JSON"):
            album.find(condition)


def test_damaged_thumbnails_and_features(closed, X):
    edit(
        closed,
        "UPDATE thumbnails SET value = x'00' WHERE id = 3",
        "UPDATE features SET value = x'00' WHERE id = 4",
    )
    with Collection.open(closed) as album:
        with pytest.raises(CollectionError, match="entry of item 3 in thumbnails is damaged"):
            album.thumbnail(3)
        with pytest.raises(CollectionError, match="entry of item 4 in features is damaged"):
            album.reencode(LSH(n_bits=8, random_state=0).fit(X))
        np.testing.assert_array_equal(album.index.ids, np.arange(12))


def test_a_model_that_is_damaged(closed):
    (path,) = closed.glob("model-*")
    whole = path.read_bytes()
    with Collection.open(closed) as album:
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert album.verify() == [
            f"{closed}: its model {path.name} is damaged: restore it from a copy"
        ]
    with pytest.raises(CollectionError, match=r"its model .* is damaged"):
        Collection.open(closed)
    path.unlink()
    with pytest.raises(CollectionError, match=r"its model .* is missing"):
        Collection.open(closed)


def test_a_snapshot_that_lies(closed):
    with Collection.open(closed) as album:
        good = album._store.mirror.snapshot()
        codes = good.codes.copy()
        codes[3] ^= 1
        write_snapshot(closed, replace(good, codes=codes))
        assert album.verify() == [
            f"index-{good.generation}.codes: not what the catalogue says: delete it"
        ]


def test_space_is_given_back(folder, hasher):
    codes = np.random.RandomState(0).randint(0, 256, size=(20000, 2)).astype(np.uint8)
    with Collection.create(folder, hasher) as photos:
        photos.add_codes(codes, sources=[f"/photos/{i}" for i in range(20000)])
        photos.remove(range(100, 20000))
        (folder / f"model-{'0' * 12}.safetensors").write_bytes(b"of a reencode that was killed")
        (folder / "notes.txt").write_text("of the user")
        facts = photos.compact()
        assert facts["items"] == 100
        assert facts["bytes after"] < facts["bytes before"] / 10
        assert facts["files deleted"] == 1
        assert photos.verify() == []
        assert photos.add_codes(codes[:1]).ids.tolist() == [20000]
    assert (folder / "notes.txt").exists()
    with closing(sqlite3.connect(folder / "catalogue.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM changes").fetchone() == (0,)
    with Collection.open(folder) as photos:
        assert len(photos) == 101
        assert photos.verify() == []


def test_readers_go_on(folder, hasher, X, monkeypatch):
    monkeypatch.setattr(catalogue, "SECONDS_TO_WAIT", 0.01)
    with Collection.create(folder, hasher) as photos, Collection.open(folder) as reader:
        photos.add(X)
        assert len(reader) == 60
        photos.remove([1])
        with reader._store.reading():
            facts = photos.compact()
            assert facts["log in use"]
            assert len(reader._store.mirror.index) == 59
        photos.remove([2])
        assert reader.ids.tolist() == [0, *range(3, 60)]
