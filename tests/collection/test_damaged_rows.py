"""Rows whose checksums are wrong are never served, never missed, and can be removed."""

import sqlite3
from contextlib import closing, suppress

import numpy as np
import pytest

from tests.collection.conftest import draw
from zshash import Collection
from zshash.collection.errors import DamagedError
from zshash.collection.exchange.exchange import export_codes

DAMAGE = {
    "labels": "UPDATE items SET labels = '[\"cow\"]' WHERE id = 3",
    "metadata": "UPDATE items SET metadata = '{\"yeas\":2003}' WHERE id = 3",
    "source": "UPDATE items SET source = '/elsewhere' WHERE id = 3",
    "content": "UPDATE items SET content = x'00112233445566778899aabbccddeeff' WHERE id = 3",
    "code": "UPDATE items SET code = x'0000' WHERE id = 3",
    "checksum": "UPDATE items SET checksum = checksum + 1 WHERE id = 3",
    "no Unicode": "UPDATE items SET labels = CAST(x'5b22ff225d' AS TEXT) WHERE id = 3",
    "no JSON": "UPDATE items SET metadata = '{' WHERE id = 3",
    "strange": "UPDATE items SET checksum = 'x', labels = 5.5 WHERE id = 3",
}


@pytest.fixture(params=DAMAGE)
def damage(request):
    return DAMAGE[request.param]


@pytest.fixture
def filled(album, pictures):
    """Twelve pictures from files, and one that came as bytes."""
    album.add(pictures, metadata=[{"year": 2000 + i} for i in range(12)])
    album.add_files([draw(pictures.parent / "one.png", 77).read_bytes()])
    return album


def edit(folder, *statements):
    with closing(sqlite3.connect(folder / "catalogue.sqlite", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


ASKED = {
    "find": lambda album, _: album.find("label = 'dog'"),
    "find by year": lambda album, _: album.find("year >= 2000"),
    "find by id": lambda album, _: album.find("id = 5"),
    "search": lambda album, _: album.search(item=5, k=1, where="label = 'dog'"),
    "labels": lambda album, _: album.labels(),
    "unknown fields": lambda album, _: album.unknown_fields("colour = 'red'"),
    "add again": lambda album, pictures: album.add(pictures),
    "add one": lambda album, pictures: album.add(str(pictures / "cat" / "3.png")),
    "add bytes": lambda album, pictures: album.add_files(
        [(pictures / "cat" / "3.png").read_bytes()]
    ),
    "sync": lambda album, pictures: album.sync(pictures),
    "compact": lambda album, _: album.compact(),
    "items": lambda album, _: album.items(),
    "export": lambda album, pictures: export_codes(album, pictures.parent / "all.npz"),
}


@pytest.mark.parametrize("how", ASKED)
def test_a_damaged_row_is_neither_served_nor_missed(filled, pictures, damage, how):
    edit(filled.path, damage)
    with pytest.raises(DamagedError, match="item 3 is damaged in the catalogue: zshash verify"):
        ASKED[how](filled, pictures)
    assert "item 3: its row is damaged" in filled.verify()
    assert len(filled) == 13


@pytest.mark.parametrize("contents", [[b"new"], [b"new", None]])
def test_what_is_new_is_told_from_all_rows(filled, damage, reader, contents):
    """The damaged item might be the one that is added."""
    filled.close()
    for path in filled.path.glob("contents-*.codes"):
        path.unlink()
    edit(filled.path, damage)
    codes = np.zeros((len(contents), 2), np.uint8)
    with Collection.open(filled.path, reader=reader) as again:
        with pytest.raises(DamagedError, match="item 3 is damaged"):
            again.add_codes(codes, contents=contents)
        again.remove([3])
        assert again.add_codes(codes, contents=contents).ids[0] == 13


def test_what_is_new_is_told_from_contents_that_were_verified_before(filled, damage, reader):
    filled.close()
    edit(filled.path, damage)
    with Collection.open(filled.path, reader=reader) as again:
        assert again.add_codes(np.zeros((1, 2), np.uint8), contents=[b"new"]).ids[0] == 13
        assert "item 3: its row is damaged" in again.verify()


@pytest.mark.parametrize("how", ["find", "labels", "unknown fields", "add again", "sync"])
def test_a_lost_row_is_noticed(filled, pictures, how):
    edit(filled.path, "DELETE FROM items WHERE id = 3")
    with pytest.raises(DamagedError, match="items are missing from it"):
        ASKED[how](filled, pictures)


def test_results_of_before_are_remembered(filled):
    """They were found in rows that were whole."""
    before = filled.search(item=5, k=20, where="label = 'dog'")
    edit(filled.path, DAMAGE["labels"])
    assert filled.search(item=5, k=20, where="label = 'dog'") == before


def test_damaged_items_can_be_removed_by_their_ids(filled, damage, reader):
    edit(filled.path, damage)
    assert filled.remove([3]) == 1
    check_without_3(filled)
    filled.close()
    next(filled.path.glob("index-*")).unlink()  # the index comes from the rows and their tally
    with Collection.open(filled.path, reader=reader) as again:
        check_without_3(again)


def check_without_3(album):
    assert album.ids.tolist() == [0, 1, 2, *range(4, 13)]
    assert album.find("label = 'cat'").tolist() == [0, 1, 2]
    assert album.verify() == []


def test_a_reader_follows_the_removal_of_a_damaged_item(filled, damage, reader):
    with Collection.open(filled.path, reader=reader) as other:
        edit(filled.path, damage)
        filled.remove([3])
        check_without_3(other)


def test_an_item_whose_id_is_damaged(filled):
    edit(filled.path, "UPDATE items SET id = 300 WHERE id = 3")
    with pytest.raises(DamagedError, match="item 300 is damaged"):
        filled.find("year > 0")
    assert filled.remove([300]) == 1
    assert filled.find("label = 'cat'").tolist() == [0, 1, 2]
    assert filled.ids.tolist() == [0, 1, 2, *range(4, 13)]
    with pytest.raises(ValueError, match="there is no item 300"):
        filled.remove([300])


def test_several_damaged_items(filled):
    edit(
        filled.path,
        DAMAGE["checksum"],
        "UPDATE items SET checksum = checksum + 5 WHERE id = 5",
    )
    with pytest.raises(DamagedError, match=r"item 5 is damaged, too.*all damaged items together"):
        filled.remove([3])
    assert len(filled) == 13
    assert filled.remove([3, 5]) == 2
    assert filled.verify() == []


def test_damaged_entries_beside_an_item_go_with_it(filled):
    edit(filled.path, "UPDATE thumbnails SET checksum = 5 WHERE id = 3")
    with pytest.raises(DamagedError, match="entry of item 3 in thumbnails is damaged"):
        filled.thumbnail(3)
    filled.remove([3])
    assert filled.verify() == []


def test_the_copy_of_a_damaged_item_stays(filled):
    copy = filled.picture(12)
    edit(filled.path, "UPDATE items SET labels = '[\"cow\"]' WHERE id = 12")
    with pytest.raises(DamagedError):
        filled.compact()
    assert copy.exists()
    filled.remove([12])
    assert copy.exists()  # it may be all that is left
    filled.compact()
    assert not copy.exists()


def test_a_thumbnail_of_another_item_is_never_shown(filled, X):
    filled.add(X[:3])  # has none
    assert filled.pictured([3, 4, 13]) == {3, 4}
    edit(filled.path, "UPDATE thumbnails SET id = 13 WHERE id = 3")
    assert filled.pictured([3, 4, 13]) == {4, 13}  # there is one, which nobody has read yet
    with pytest.raises(DamagedError, match="item 13 in thumbnails"):
        filled.thumbnail(13)


def test_a_damaged_index_over_contents(filled, pictures, reader):
    """SQLite's own index may have lost an entry: the items are known all the same."""
    path = filled.path / "catalogue.sqlite"
    content, source = filled[3].content, pictures / "cat" / "3.png"
    filled.close()
    data = bytearray(path.read_bytes())
    places = [place for place in range(len(data)) if data.startswith(content, place)]
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 0x80
        path.write_bytes(damaged)
        with Collection.open(filled.path, reader=reader) as again:
            with suppress(DamagedError):  # where the row itself is damaged
                added = again.add(str(source))
                assert (added.ids.tolist(), added.duplicates.tolist()) == ([], [3])
            assert again.verify()
            assert len(again) == 13
    assert len(places) == 2
