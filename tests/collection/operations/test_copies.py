"""Pictures that come as bytes, and the copies of them."""

import io
import shutil

import numpy as np
import pytest
from PIL import Image

from tests.collection.conftest import draw
from zshash import LSH, Collection
from zshash.collection.operations import copies as kept
from zshash.collection.operations import removing
from zshash.collection.storage.files import bytes_used
from zshash.hashing import save


@pytest.fixture
def files(tmp_path):
    """The bytes of five pictures."""
    return [draw(tmp_path / "drawn" / f"{i}.png", i).read_bytes() for i in range(5)]


def copies(album):
    folder = album.path / "pictures"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def contents(album):
    return sorted(item.content.hex() for item in album.items())


def test_copies_are_kept_and_go_with_their_items(album, files):
    added = album.add_files(files, labels=["a", None, ["b", "c"], "d", "e"],
                            metadata=[{"n": i} for i in range(5)])  # fmt: skip
    assert added.ids.tolist() == [0, 1, 2, 3, 4]
    assert copies(album) == contents(album)
    for number, file in enumerate(files):
        assert album.picture(number).read_bytes() == file
        assert album[number].metadata == {"n": number, "width": 20, "height": 16}
        assert album.thumbnail(number) is not None
        assert album.search(file, k=1)[0].bits == 0
    assert album[2].labels == ("b", "c")
    album.remove([1, 3])
    assert len(copies(album)) == 5  # they can be restored
    album.compact()
    assert copies(album) == contents(album)
    assert len(copies(album)) == 3
    assert album.verify() == []


def test_what_is_there_already_is_not_kept_twice(album, files, tmp_path):
    path = tmp_path / "drawn" / "0.png"
    album.add(str(path))
    again = album.add_files([files[0], files[1], files[1]])
    assert (again.ids.tolist(), again.duplicates.tolist()) == ([1], [0, 1])
    assert copies(album) == [album[1].content.hex()]
    assert album.picture(0) == path
    once_more = album.add_files([files[1]])
    assert (once_more.ids.tolist(), once_more.duplicates.tolist()) == ([], [1])
    assert album.picture(1).read_bytes() == files[1]
    album.remove([0])
    assert path.exists()


def test_what_can_not_be_read_is_told_by_its_place(album, files):
    added = album.add_files([b"no picture", files[0], files[1][:60], b""])
    assert added.ids.tolist() == [0]
    assert [failure.partition(":")[0] for failure in added.failures] == [
        "file 0", "file 2", "file 3"
    ]  # fmt: skip
    assert not [failure for failure in added.failures if str(album.path) in failure]
    assert copies(album) == contents(album)
    assert album.add_files([]).ids.tolist() == []


@pytest.mark.parametrize("files", [b"bytes", ["text"], [b"x", None]])
def test_what_are_no_files(album, files):
    with pytest.raises(TypeError, match="each as bytes"):
        album.add_files(files)
    assert copies(album) == []


def test_labels_that_are_none_leave_no_copy(album, files):
    with pytest.raises(ValueError, match="and NUL can not be stored"):
        album.add_files(files[:1], labels=["a\0b"])
    assert copies(album) == []


def test_a_failure_leaves_no_copy(album, files, monkeypatch):
    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(kept, "add_pictures", fail)
        with pytest.raises(MemoryError):
            album.add_files(files)
    assert copies(album) == []
    assert album.add_files(files).ids.tolist() == [0, 1, 2, 3, 4]


def test_what_an_interruption_leaves_is_deleted_by_compact(album, files, monkeypatch):
    class Killed(BaseException):
        pass

    def die(*_):
        raise Killed

    album.add_files(files[:2])
    with monkeypatch.context() as patch:
        patch.setattr(kept, "add_pictures", die)
        patch.setattr(kept, "_sweep", lambda *_: None)
        with pytest.raises(Killed):
            album.add_files(files[2:4])
    (album.path / "pictures" / ".half-written").write_bytes(b"x")
    assert len(copies(album)) == 5
    assert album.compact()["files deleted"] >= 3
    assert copies(album) == contents(album)
    with monkeypatch.context() as patch:
        patch.setattr(removing, "delete", lambda _: 0)  # killed between catalogue and copy
        album.remove([0], undo=False)
    assert len(copies(album)) == 2
    album.compact()
    assert copies(album) == contents(album) == [album[1].content.hex()]


def test_a_copy_that_an_interruption_has_left_is_used(album, files):
    folder = album.path / "pictures"
    folder.mkdir()
    album.add_files(files[:1])
    left = album.picture(0)
    content = left.read_bytes()
    album.remove([0])
    left.write_bytes(content)
    assert album.add_files(files[:1]).ids.tolist() == [1]
    assert album.picture(1).read_bytes() == files[0]


def test_a_collection_that_is_moved_keeps_its_copies(album, files, reader, tmp_path):
    album.add_files(files)
    album.close()
    moved = tmp_path / "elsewhere"
    shutil.move(album.path, moved)
    with Collection.open(moved, reader=reader) as photos:
        photos.compact()
        assert copies(photos) == contents(photos)
        assert photos.picture(3).read_bytes() == files[3]
        assert photos.add_files(files[3:4]).duplicates.tolist() == [3]
        assert photos.picture(3).read_bytes() == files[3]
        photos.remove([4], undo=False)
        assert copies(photos) == contents(photos)
        assert len(copies(photos)) == 4
        other = LSH(n_bits=24, random_state=1).fit(np.random.RandomState(0).randn(60, 12))
        save(other, tmp_path / "model", notes=photos.model.notes)
        assert photos.reencode(tmp_path / "model") == 4
        assert photos.search(files[2], k=1)[0].bits == 0


def test_only_copies_are_ever_deleted(photos):
    """Users may give any text as a source."""
    inside = photos.path / "pictures"
    inside.mkdir()
    sources = [inside / ".." / "catalogue.sqlite", inside / "..", photos.path / "catalogue.sqlite"]
    photos.add_codes(np.zeros((3, 2), np.uint8), sources=sources, contents=[b"a", b"..", b"c"])
    photos.remove([0, 1, 2])
    photos.compact()
    assert (photos.path / "catalogue.sqlite").exists()
    assert photos.verify() == []


def test_where_a_picture_is(album, photos, tmp_path):
    path = draw(tmp_path / "one.png", 1)
    (number,) = album.add(str(path)).ids
    assert album.picture(number) == path
    photos.add_codes(np.zeros((1, 2), np.uint8))
    assert photos.picture(0) is None


def test_files_that_go_while_sizes_are_taken(album, files, monkeypatch):
    album.add_files(files)
    whole = bytes_used(album.path)
    gone = album.picture(0)
    size = gone.stat().st_size
    own = type(gone).rglob

    def delete_one(self, pattern):
        for path in list(own(self, pattern)):
            if path == gone:
                path.unlink()
            yield path

    monkeypatch.setattr(type(gone), "rglob", delete_one)
    assert album.info()["bytes"] == whole - size


def test_small_pictures_hold_no_remarks(album):
    file = io.BytesIO()
    exif = Image.Exif()
    exif[0x010F] = "Maker"
    picture = Image.new("RGB", (300, 200), (9, 99, 200))
    picture.save(file, "JPEG", exif=exif, comment=b"a remark", xmp=b"<x>secret</x>")
    album.add_files([file.getvalue()])
    for word in (b"Maker", b"remark", b"secret"):
        assert word in file.getvalue()
        assert word not in album.thumbnail(0)
