"""A folder that is replaced by another one while it is open."""

import io
import os
import shutil
import sys
from contextlib import suppress

import pytest
from PIL import Image

from zshash import LSH, Collection, CollectionError
from zshash.collection.operations import copies, maintenance, reencoding, removing
from zshash.collection.storage import store as stores

REPLACED = "was replaced by another collection: open it again"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="open files can not be replaced")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def rebuilt(tmp_path, X):
    """Another collection, which is to take the place of the first one."""
    with Collection.create(tmp_path / "new.zshash", LSH(n_bits=16, random_state=5).fit(X)) as made:
        made.add(X[30:], labels=["dog"] * 30)
    return made.path


@pytest.fixture
def swap(folder, rebuilt, tmp_path):
    def move():
        folder.rename(tmp_path / "old.zshash")
        rebuilt.rename(folder)
        return folder

    return move


def test_readers_are_told(photos, X, swap):
    photos.add(X, labels=["cat"] * 60)
    photos.find("label = 'cat'")
    with Collection.open(photos.path) as fresh:
        swap()
        for album in (photos, fresh):
            for read in (
                lambda album=album: album.search(X[0], k=3),
                lambda album=album: album.search(X[0], k=3, where="label = 'dog'"),
                lambda album=album: album.find("label = 'cat'"),
                lambda album=album: album.labels(),
                lambda album=album: album.items([3]),
                lambda album=album: len(album),
                lambda album=album: album.duplicates(),
                lambda album=album: album.thumbnail(3),
                lambda album=album: album.view(),
            ):
                with pytest.raises(CollectionError, match=REPLACED):
                    read()


def test_writers_leave_the_new_folder_alone(photos, X, swap):
    photos.add(X)  # no snapshot yet: closing would write one
    before = contents(swap())
    for write in (
        lambda: photos.add(X),
        lambda: photos.remove([3]),
        lambda: photos.reencode(LSH(n_bits=16, random_state=7).fit(X)),
        photos.compact,
        photos.close,
    ):
        if write == photos.close:
            photos.close()
        else:
            with pytest.raises(CollectionError, match=REPLACED):
                write()
    after = contents(photos.path)
    lock = after.pop("writer.lock"), before.pop("writer.lock")
    assert all(text.isdigit() for text in lock)
    assert after == before
    with Collection.open(photos.path) as album:
        assert len(album) == 30
        assert album.verify() == []


def test_the_log_of_the_new_folder(photos, X, swap):
    """SQLite deletes the log of a file that it closes by the path of the log."""
    photos.add(X)
    with Collection.open(swap()) as album:
        album.remove([0])
        assert (album.path / "catalogue.sqlite-wal").stat().st_size
        photos.close()
        assert (album.path / "catalogue.sqlite-wal").stat().st_size
        with Collection.open(album.path) as other:
            assert len(other) == 29
            assert other.verify() == []


@pytest.mark.parametrize("moment", ["in a transaction", "after it"])
def test_while_somebody_writes(photos, X, swap, tmp_path, monkeypatch, moment):
    photos.add(X[:20])
    own = stores.Store._take_over

    def late(self, change):
        swap()
        return own(self, change)

    if moment == "after it":
        monkeypatch.setattr(stores.Store, "_take_over", late)
    store, before = photos._store, contents(tmp_path / "new.zshash")

    def write():
        with store.writing(), store.changing() as change:
            change.remove([1])
            if moment == "in a transaction":
                swap()

    with pytest.raises(CollectionError, match=REPLACED):
        write()
    assert contents(photos.path) == before
    photos.close()
    assert contents(photos.path) == before
    with Collection.open(tmp_path / "old.zshash") as album:
        assert len(album) == (20 if moment == "in a transaction" else 19)
        assert album.verify() == []


def test_connections_are_to_one_file(photos, X, swap, monkeypatch):
    """A connection that is opened after the change is not used beside an older one."""
    photos.add(X, labels=["cat"] * 60)
    own = stores.Catalogue

    def late(folder, like=None):
        swap()
        return own(folder, like)

    monkeypatch.setattr(stores, "Catalogue", late)
    with pytest.raises(CollectionError, match=REPLACED):
        photos.find("label = 'dog'")


def test_a_model_of_another_folder_is_no_damage(folder, hasher, X, swap, monkeypatch):
    own = stores.Store._load

    def late(self, state):
        swap()
        return own(self, state)

    with Collection.create(folder, hasher, keep_features=True) as photos:
        photos.add(X)
        with Collection.open(folder) as reader:
            photos.reencode(LSH(n_bits=16, random_state=7).fit(X))
            monkeypatch.setattr(stores.Store, "_load", late)
            with pytest.raises(CollectionError, match=REPLACED):
                reader.search(X[0])


def test_a_folder_that_is_gone(photos, X, tmp_path):
    photos.add(X)
    photos.path.rename(tmp_path / "old.zshash")
    with pytest.raises(CollectionError, match="no longer there"):
        photos.search(X[0])
    (tmp_path / "old.zshash").rename(photos.path)
    assert photos.search(X[0], k=1)[0].id == 0


def test_a_lock_that_is_taken_away(photos, X):
    """Without its file, another process could take the lock, too."""
    store, lock = photos._store, photos.path / "writer.lock"
    photos.add(X[:10])

    def remove():
        with store.writing():
            lock.unlink()
            with store.changing() as change:
                change.remove([1])

    def replace():
        with store.writing(), store.changing() as change:
            change.remove([1])
            shutil.copy(lock, photos.path / "copy")
            (photos.path / "copy").replace(lock)

    for write in (remove, replace):
        with pytest.raises(CollectionError, match=r"writer\.lock was removed or replaced"):
            write()
    assert len(photos) == 10
    assert photos.remove([1]) == 1
    assert photos.verify() == []


@pytest.mark.skipif(sys.platform != "linux", reason="folders have no path of their own")
@pytest.mark.parametrize(
    ("place", "name", "write"),
    [
        (stores, "note_generation", lambda album, X: album.add(X[:3] + 1)),
        (stores, "write_snapshot", lambda album, _: album.compact()),
        (stores, "delete", lambda album, _: album.compact()),
        (reencoding, "delete", lambda album, X: album.reencode(LSH(16, random_state=7).fit(X))),
        (maintenance, "delete", lambda album, _: album.compact()),
        (copies, "write_whole", lambda album, _: album.add_files([png()])),
        (copies, "delete", lambda album, _: album.add_files([b"no picture", png()])),
        (removing, "delete", lambda album, _: album.remove([0])),
    ],
)
def test_files_of_the_new_folder_are_never_written(
    tmp_path, X, reader, swap, monkeypatch, place, name, write
):
    """It takes the place of the other one at the last moment before a file is written."""
    album = Collection.create(
        tmp_path / "photos.zshash", LSH(16, random_state=5).fit(X), reader=reader
    )
    album.add_files([png((9, 9, 9))])
    album.add(X[:30])
    own, before = getattr(place, name), []

    def called(*args, **kwargs):
        if not before:
            before.append(contents(swap()))
        return own(*args, **kwargs)

    monkeypatch.setattr(place, name, called)
    with suppress(CollectionError):
        write(album, X)
    with suppress(CollectionError):
        album.close()
    assert contents(tmp_path / "photos.zshash") == before[0]
    for folder in ("photos.zshash", "old.zshash"):
        with Collection.open(tmp_path / folder, reader=reader) as again:
            assert again.verify() == []


def png(colour=(1, 2, 3)):
    file = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(file, "PNG")
    return file.getvalue()
