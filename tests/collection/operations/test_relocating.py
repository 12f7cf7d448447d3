import os
import shutil

import pytest

from tests.collection.conftest import draw
from zshash import CollectionError
from zshash.collection.operations.same_files import same_files
from zshash.collection.operations.unreadable import unreadable
from zshash.images import PictureWarning


def facts(album):
    return [(item.id, item.code, item.labels, item.content) for item in album.items()]


def sources(album):
    return [item.source for item in album.items()]


@pytest.fixture
def moved(album, pictures, tmp_path):
    """An album whose pictures are on another disk by now."""
    album.add(pictures)
    new = tmp_path / "disk" / "photos"
    new.parent.mkdir()
    pictures.rename(new)
    return new


def test_paths_change_and_nothing_else(album, pictures, moved):
    before, paths = facts(album), sources(album)
    found = album.relocate(pictures, str(moved) + "/")
    assert (found.ids.tolist(), found.missing) == (list(range(12)), ())
    assert facts(album) == before
    assert sources(album) == [path.replace(str(pictures), str(moved)) for path in paths]
    assert album.verify() == []
    synced = album.sync(moved)
    assert not any(map(len, synced[:4]))


def test_missing_files_are_told(album, pictures, moved):
    (moved / "cat" / "0.png").unlink()
    (moved / "dog" / "1.png").write_bytes(b"of another size")
    found = album.relocate(pictures, moved)
    assert found.missing == (str(moved / "cat" / "0.png"), str(moved / "dog" / "1.png"))
    assert len(found.ids) == 12


def test_a_dry_run_changes_nothing(album, pictures, moved):
    before = album.items(), album.generation
    found = album.relocate(pictures, moved, dry_run=True)
    assert (len(found.ids), found.missing) == (12, ())
    assert (album.items(), album.generation) == before


def test_nothing_changes_where_no_file_is_there(album, pictures, moved, tmp_path):
    before = album.items(), album.generation
    with pytest.raises(CollectionError, match="none of the 12 pictures that were in"):
        album.relocate(pictures, tmp_path / "elsewhere")
    for other in (tmp_path / "pict", tmp_path / "disk"):
        with pytest.raises(CollectionError, match="no item has a path below"):
            album.relocate(other, moved)
    assert (album.items(), album.generation) == before


def test_folders_with_a_longer_name_are_others(album, pictures, tmp_path):
    draw(tmp_path / "pictures2" / "a.png", 77)
    album.add(pictures)
    album.add(tmp_path / "pictures2")
    pictures.rename(tmp_path / "new")
    assert album.relocate(pictures, tmp_path / "new").ids.tolist() == list(range(12))
    assert album[12].source == str(tmp_path / "pictures2" / "a.png")


def test_files_of_another_time_are_read_again_by_a_sync(album, pictures, moved):
    album.relocate(pictures, moved)
    draw(moved / "cat" / "0.png", 500)
    os.utime(moved / "cat" / "1.png", ns=(1, 1))
    synced = album.sync(moved)
    assert (synced.changed.tolist(), synced.moved.tolist()) == ([0], [])


def test_copies_and_broken_files_move_too(album, pictures, tmp_path):
    shutil.copy(pictures / "cat" / "0.png", pictures / "cat" / "copy.png")
    (pictures / "cat" / "broken.png").write_bytes(b"half")
    with pytest.warns(PictureWarning):
        album.sync(pictures)
    new = tmp_path / "new"
    pictures.rename(new)
    album.relocate(pictures, new)
    with album._store.reading():
        assert same_files(album._store) == {0: [str(new / "cat" / "copy.png")]}
        assert unreadable(album._store) == {}
    with pytest.warns(PictureWarning):
        synced = album.sync(new)
    assert synced.copies == {str(new / "cat" / "copy.png"): str(new / "cat" / "0.png")}


def test_names_that_are_no_unicode(album, tmp_path):
    old, new = tmp_path / os.fsdecode(b"caf\xe9"), tmp_path / "cafe"
    try:
        draw(old / "a.png", 1)
    except OSError:
        pytest.skip("the file system takes no such names")
    album.add(old)
    old.rename(new)
    album.relocate(old, new)
    assert album[0].source == str(new / "a.png")
    new.rename(old)
    album.relocate(new, old)
    assert album[0].source == str(old / "a.png")
    assert album.verify() == []
