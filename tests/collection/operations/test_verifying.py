"""`verify` looks at everything in the folder of a collection."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from tests.collection.conftest import draw
from zshash import LSH, Collection
from zshash.collection.operations import adding
from zshash.collection.operations.verify_codes import encode_again
from zshash.collection.operations.verifying import verify_tables


@pytest.fixture
def files(tmp_path):
    """The bytes of five pictures."""
    return [draw(tmp_path / "drawn" / f"{i}.png", i).read_bytes() for i in range(5)]


@pytest.fixture
def filled(album, files):
    album.add_files(files)
    return album


def edit(folder, *statements):
    with closing(sqlite3.connect(folder / "catalogue.sqlite", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_copies_of_pictures_that_are_as_they_were(filled, files, tmp_path, reader):
    assert filled.verify() == []
    filled.remove([1])
    (filled.path / "pictures" / ".half-written").write_bytes(b"of a writer that was killed")
    assert filled.verify() == []
    filled.close()
    moved = tmp_path / "elsewhere"
    shutil.move(filled.path, moved)
    with Collection.open(moved, reader=reader) as photos:
        assert photos.verify() == []
        photos.picture(3).unlink()
        (problem,) = photos.verify()
        assert "item 3: the copy of its picture is missing" in problem
        photos.add_files(files[3:4])
        assert photos.verify() == []


def test_every_flipped_bit_of_a_copy_is_found(filled):
    path = filled.picture(2)
    whole = path.read_bytes()
    for place in range(0, 8 * len(whole), 97):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        (problem,) = filled.verify()
        assert f"pictures/{path.name}: it is damaged" in problem
    path.write_bytes(whole)
    assert filled.verify() == []


def test_what_is_wrong_with_the_folder_of_copies(filled):
    folder = filled.path / "pictures"
    (folder / "notes.txt").write_text("of a stranger")
    (folder / "more").mkdir()
    assert [line.partition(":")[0] for line in filled.verify()] == [
        "pictures/more",
        "pictures/notes.txt",
    ]
    filled.picture(0).rename(folder / ("0" * 32))
    found = filled.verify()
    assert any("item 0: the copy of its picture is missing" in line for line in found)
    assert any(f"pictures/{'0' * 32}: it is damaged" in line for line in found)
    shutil.rmtree(folder)
    (problem,) = filled.verify()
    assert "pictures: this folder is missing, with the copies of the pictures of 5" in problem


def test_pictures_that_came_by_path_need_no_copy(filled, pictures):
    filled.add(pictures)
    shutil.rmtree(pictures)
    assert filled.verify() == []


@pytest.mark.parametrize("is_known", [False, True])
def test_a_copy_whose_name_is_taken_by_other_bytes(album, files, is_known):
    """An orphan, or the damaged copy of an item: the right bytes are written."""
    album.add_files(files[:1])
    path = album.picture(0)
    if not is_known:
        album.remove([0])
    path.write_bytes(files[1])
    added = album.add_files(files[:1])
    number = 0 if is_known else 1
    assert (added.ids.tolist(), added.duplicates.tolist()) == (([], [0]) if is_known else ([1], []))
    assert album.picture(number).read_bytes() == files[0]
    assert album.search(files[0], k=1)[0].bits == 0
    assert album.verify() == []


def behind(album):
    """Let a change be in the log that the snapshot does not have."""
    album._store.save = lambda: None
    album.remove([1, 2])
    album.close()


@pytest.mark.parametrize("column", ["generation", "id", "delta", "checksum"])
def test_the_log_of_changes_has_checksums(photos, X, folder, column):
    photos.add(X)
    photos.close()
    with Collection.open(folder) as again:
        behind(again)
    edit(folder, f"UPDATE changes SET {column} = {column} + 40 WHERE id = 1")
    with Collection.open(folder) as again:  # all rows are read, for the log can not be followed
        assert again.ids.tolist() == [0, *range(3, 60)]
        assert any("changes: the row of item" in line for line in again.verify())
        again.compact()
        assert again.verify() == []


def test_a_log_whose_ids_were_exchanged_is_not_followed(album, pictures, reader):
    """The sum of all changes is right, but the wrong item would be read again."""
    album.add(pictures)
    album.close()
    with Collection.open(album.path, reader=reader) as again:
        again._store.save = lambda: None
        draw(pictures / "cat" / "1.png", 99)
        again.sync(pictures)
    edit(album.path, "UPDATE changes SET id = 5")
    with Collection.open(album.path, reader=reader) as again:
        code = again[1].code
        assert 1 in [match.id for match in again.search(code=code, radius=0)]
        assert any("changes" in line for line in again.verify())


def test_a_lost_row_of_the_log(photos, X, folder):
    photos.add(X)
    photos.remove([1, 2])
    edit(folder, "DELETE FROM changes WHERE id = 1")
    assert photos.verify() == ["changes: 1 rows, but there should be 2"]


def test_a_damaged_snapshot_is_told(photos, X, folder):
    photos.add(X)
    photos.close()
    (path,) = folder.glob("index-*")
    whole = path.read_bytes()
    with Collection.open(folder) as again:
        path.write_bytes(whole[:-1])
        assert again.verify() == [f"{path.name}: it is damaged: delete it, and it is made again"]
    with Collection.open(folder) as again:
        assert again.verify() == []
    assert path.read_bytes() == whole


def test_a_damaged_note_of_the_generation_is_told(photos, X, folder):
    photos.add(X)
    path = folder / "generation"
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        (problem,) = photos.verify()
        assert problem.startswith("generation: ")
    path.write_bytes(b"")  # a writer was killed before its first words
    assert photos.verify() == []
    path.unlink()
    assert photos.verify() == []


def test_all_damaged_settings_are_listed(photos):
    edit(
        photos.path,
        "INSERT INTO settings VALUES ('more', '1', 1)",
        "INSERT INTO settings VALUES ('other', '1', 1)",
    )
    assert len(photos.verify()) == 2


def test_tables_of_a_collection_that_can_not_be_opened(photos, X, folder):
    photos.add(X)
    photos.close()
    next(folder.glob("index-*")).unlink()
    edit(folder, "UPDATE items SET labels = '[\"x\"]' WHERE id IN (3, 5)")
    found = verify_tables(folder)
    assert found[:2] == ["item 3: its row is damaged", "item 5: its row is damaged"]


@pytest.fixture(params=[True, False], ids=["features are kept", "pictures only"])
def kept(tmp_path, hasher, reader, request):
    made = Collection.create(tmp_path / "a", hasher, reader=reader, keep_features=request.param)
    with made as album:
        yield album


def test_a_sample_is_encoded_again(kept, pictures):
    kept.add(pictures)
    right = kept.verify(deep=True)
    assert (right, right.encoded, right.not_encoded) == ([], 12, 0)
    kept.add_codes(np.zeros((4, 2), np.uint8))  # nothing says what these were made from
    mixed = kept.verify(deep=True)
    assert (mixed, mixed.encoded, mixed.not_encoded) == ([], 12, 4)
    (pictures / "cat" / "0.png").write_bytes(b"another picture")
    (pictures / "cat" / "1.png").unlink()
    gone = kept.verify(deep=True)
    n_kept = 12 if kept.info()["features"] else 10
    assert (gone, gone.encoded, gone.not_encoded) == ([], n_kept, 16 - n_kept)
    assert encode_again(kept._store, 7)[1:] in [(i, 7 - i) for i in range(8)]


def test_codes_of_another_model_are_found(kept, pictures, X, monkeypatch):
    other = LSH(n_bits=16, random_state=5).fit(X)
    kept.add(pictures / "cat" / "0.png")
    with monkeypatch.context() as patch:
        patch.setattr(adding, "encode", lambda _, features: other.encode(features))
        kept.add(pictures)
    assert kept.verify() == []
    (problem,) = kept.verify(deep=True)
    assert "11 of 12 items that were encoded again have other codes" in problem
    assert "(1, 2, 3, 4, 5, …)" in problem
