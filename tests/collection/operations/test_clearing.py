"""Copies of pictures are removed and deleted, and only what is safe to delete goes."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.collection.operations.copied_pictures import write, write_pictures
from tests.images.scenes import saved, scene
from zshash.collection.operations import clearing


@pytest.fixture
def photos(tmp_path):
    """Folder of pictures and copies of them."""
    return write_pictures(tmp_path / "photos")


@pytest.fixture
def copied(album, photos):
    """An album of these."""
    album.add(photos)
    return album


def clear(album, keep="largest", **options):
    return album.remove_copies(album.choose_copies(album.duplicates(), keep), **options)


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def names(album):
    return {item.source.rpartition("photos/")[2] for item in album.items()}


def test_removing_leaves_all_files(copied, photos):
    before = files(photos)
    done = clear(copied)
    assert (len(done.removed), done.deleted, done.failures) == (2, [], [])
    assert files(photos) == before
    assert names(copied) == {*(f"{n}.png" for n in range(6)), "shot/2.jpg"}
    assert copied.verify() == []


def test_deleting_takes_files_and_items_and_equal_files(copied, photos):
    going = {"small/0.jpg", "cut/1.png", "again.png"}
    before, size = files(photos), sum((photos / path).stat().st_size for path in going)
    done = clear(copied, delete_files=True)
    assert files(photos) == before - going
    assert {path.rpartition("photos/")[2] for path in done.deleted} == going
    assert (done.bytes, done.failures) == (size, [])
    assert copied.duplicates() == []
    assert copied.verify() == []
    assert not copied.sync(photos).added.size  # nothing comes back


def test_the_other_rule_keeps_other_files(copied, photos):
    clear(copied, "oldest", delete_files=True)
    assert "small/0.jpg" in files(photos)
    assert "0.png" not in files(photos)


@pytest.mark.parametrize("harm", ["missing", "changed", "touched"])
def test_no_copy_goes_unless_the_kept_picture_is_as_it_was(copied, photos, harm):
    kept = photos / "0.png"
    if harm == "missing":
        kept.unlink()
    elif harm == "changed":
        size = kept.stat()
        content = bytearray(kept.read_bytes())
        content[-20] ^= 1  # the same size and time: only the content tells
        kept.write_bytes(content)
        os.utime(kept, ns=(size.st_atime_ns, size.st_mtime_ns))
    else:
        os.utime(kept)
    done = clear(copied, delete_files=True)
    assert (photos / "small" / "0.jpg").exists() == (harm != "touched")
    assert len(done.failures) == (harm != "touched")
    assert not (photos / "cut" / "1.png").exists()  # the other group is not held up


def test_a_copy_that_has_changed_stays(copied, photos):
    write(photos / "cut" / "1.png", saved(scene(40), "PNG"))
    done = clear(copied, delete_files=True)
    assert (photos / "cut" / "1.png").exists()
    assert any("cut/1.png: changed since" in failure for failure in done.failures)
    assert "cut/1.png" in names(copied)


def test_a_copy_that_is_gone_is_told_and_its_item_stays(copied, photos):
    (photos / "cut" / "1.png").unlink()
    done = clear(copied, delete_files=True)
    assert any("cut/1.png: No such file" in failure for failure in done.failures)
    assert "cut/1.png" in names(copied)


def test_a_file_that_can_not_be_deleted_is_told_and_its_item_stays(copied, monkeypatch):
    def refuse(path, **_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    before = names(copied)
    done = clear(copied, delete_files=True)
    assert len(done.failures) == 3
    assert all("Permission denied" in failure for failure in done.failures)
    assert (done.removed, names(copied)) == ([], before)


def test_an_equal_file_that_changed_stays_and_stays_noted(copied, photos):
    write(photos / "again.png", saved(scene(50), "PNG"))
    done = clear(copied, delete_files=True)
    assert (photos / "again.png").exists()
    assert len(done.failures) == 1
    [group] = copied.duplicates("identical")
    assert group.items[0].source.endswith("3.png")


def test_links_are_not_followed(copied, photos, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.move(photos / "cut", elsewhere)
    (photos / "cut").symlink_to(elsewhere)
    (photos / "small" / "0.jpg").rename(tmp_path / "real.jpg")
    (photos / "small" / "0.jpg").symlink_to(tmp_path / "real.jpg")
    done = clear(copied, delete_files=True)
    assert (elsewhere / "1.png").exists()
    assert (tmp_path / "real.jpg").exists()
    assert (photos / "small" / "0.jpg").is_symlink()
    assert sum("through a link" in failure for failure in done.failures) == 2


def test_another_name_of_the_kept_file_stays(copied, photos):
    (photos / "again.png").unlink()
    os.link(photos / "3.png", photos / "again.png")
    done = clear(copied, delete_files=True)
    assert (photos / "again.png").exists()
    assert any("another name" in failure for failure in done.failures)


def test_the_kept_file_may_be_a_link_to_a_copy_and_the_copy_stays(album, tmp_path):
    """The last copy of a picture is never deleted, whatever the names say."""
    real = write(tmp_path / "b" / "real.png", saved(scene(0), "PNG"))
    (tmp_path / "a.png").symlink_to(real)
    album.add([tmp_path / "a.png"])
    album.add([real])
    [group] = album.duplicates("identical")
    assert group.copies == {0: [str(real)]}
    done = clear(album, delete_files=True)
    assert real.exists()
    assert len(done.failures) == 1


@pytest.mark.parametrize(
    ("folder", "beside", "told"),
    [
        ("Mine.photoslibrary/originals", None, "Mine.photoslibrary"),
        ("edited", "1.xmp", "1.xmp"),
        ("edited", "1.jpg.XMP", "1.jpg.XMP"),
        ("edited", "1.AAE", "1.AAE"),
    ],
)
def test_files_in_the_hands_of_other_programs_stay(album, tmp_path, folder, beside, told):
    write(tmp_path / "0.png", saved(scene(0), "PNG"))
    copy = write(tmp_path / folder / "1.jpg", saved(scene(0)))
    if beside:
        (copy.parent / beside).write_text("notes")
    album.add([tmp_path / "0.png", copy])
    done = clear(album, delete_files=True)
    assert copy.exists()
    assert len(done.failures) == 1
    assert told in done.failures[0]
    assert len(album) == 2


def test_a_raw_file_is_not_deleted_for_a_picture(copied, photos):
    choices = copied.choose_copies(copied.duplicates())
    choices = [
        choice._replace(others=tuple(own._replace(is_raw=True) for own in choice.others))
        for choice in choices
    ]
    done = copied.remove_copies(choices, delete_files=True)
    assert (photos / "small" / "0.jpg").exists()
    assert sum("raw file" in failure for failure in done.failures) == 2


def test_pictures_that_came_as_bytes(album):
    album.add_files([saved(scene(0), "PNG"), saved(scene(0))])
    copies = album.path / "pictures"
    assert clear(album).failures == ["item 1: the collection has its only file"]
    assert len(list(copies.iterdir())) == len(album) == 2
    done = clear(album, delete_files=True)
    assert (done.removed, done.failures) == ([1], [])
    assert len(list(copies.iterdir())) == len(album) == 1
    assert album.verify() == []


def test_an_item_that_changed_meanwhile_stays(copied):
    choices = copied.choose_copies(copied.duplicates())
    copied.label(copied.ids, "cat")
    for delete_files in (False, True):
        done = copied.remove_copies(choices, delete_files=delete_files)
        assert (done.removed, done.deleted) == ([], [])
        assert all("changed meanwhile" in failure for failure in done.failures)


def test_items_without_files_are_left_alone(album):
    album.add(np.stack([np.asarray(scene(0)), np.asarray(scene(0).point(lambda x: 0.95 * x))]))
    assert len(album.duplicates()) == 1
    done = clear(album, delete_files=True)
    assert (done.removed, len(album), len(done.failures)) == ([], 2, 1)


def test_what_was_done_before_a_crash_stays_done(copied, photos, monkeypatch):
    delete, done = clearing._delete, []

    def crash(*arguments):
        if done:
            raise MemoryError
        done.append(delete(*arguments))

    monkeypatch.setattr(clearing, "_delete", crash)
    before = len(files(photos))
    with pytest.raises(MemoryError):
        clear(copied, delete_files=True)
    assert len(files(photos)) == before - 1
    monkeypatch.undo()
    assert clear(copied, delete_files=True).failures == []
    assert len(files(photos)) == before - 3
