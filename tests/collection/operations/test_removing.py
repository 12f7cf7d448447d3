"""Items are removed, and restored under the same ids."""

import shutil
import sqlite3

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.collection.conftest import draw
from zshash import LSH, Collection, CollectionError
from zshash.collection import Removed
from zshash.collection.errors import DamagedError
from zshash.collection.operations import removing
from zshash.collection.storage import change as changing
from zshash.collection.storage.change import BESIDE

TABLES = ("items", *BESIDE)


@pytest.fixture
def photos(tmp_path, hasher, X):
    """Sixty rows of features, with something of everything."""
    with Collection.create(tmp_path / "c", hasher, keep_features=True) as opened:
        labels = ["cat", ["dog", "pet"], None, "вуж"] * 15
        sources = [f"/photos/{i}.jpg" for i in range(58)] + ["/photos/caf\udce9.jpg", None]
        facts = [{"year": 2000 + i, "camera": {"model": "A"}} for i in range(60)]
        opened.add(X, labels=labels, sources=sources, metadata=facts)
        with opened._store.writing(), opened._store.changing() as change:
            change.put("thumbnails", {0: b"a JPEG would be here", 58: b"", 7: b"and here"})
            change.put("prints", {7: bytes(range(8)), 9: bytes(8)})
            change.put("same_files", {7: b'["/photos/again.jpg"]'})
        yield opened


def everything(album):
    """All that a collection holds, apart from what it keeps of removals."""
    with album._store.looking() as connection:
        rows = {table: connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
                for table in TABLES}  # fmt: skip
    state = album._store.catalogue.state()
    tallies = {table: getattr(state, table) for table in TABLES}
    return rows, tallies, album.ids.tolist(), album.index.codes.tolist()


def found(album, X):
    return [[(match.id, match.score, match.bits) for match in one] for one in album.search(X[:9])]


def test_a_restored_item_is_as_it_was(photos, X):
    before, answers = everything(photos), found(photos, X)
    removed = photos.remove([7, 58, 3, 59])
    assert removed == 4
    assert removed.ids.tolist() == [3, 7, 58, 59]
    assert f"{removed}" == "4"
    assert 7 not in photos
    assert photos.verify() == []
    assert photos.info()["removed"] == 4
    assert photos.restore(removed).tolist() == [3, 7, 58, 59]
    assert everything(photos) == before
    assert found(photos, X) == answers
    assert photos.verify(deep=True) == []
    assert photos.info()["removed"] == 0
    assert photos.add(X).ids.tolist() == []  # all contents are known again
    assert photos.thumbnail(7) == b"and here"


def test_another_process_restores_it(photos, X):
    before = everything(photos)
    with Collection.open(photos.path) as other:
        key = photos.remove([7, 8]).key
        assert [removal.key for removal in other.removals()] == [key]
        assert other.restore(key).tolist() == [7, 8]
        assert everything(photos) == everything(other) == before
        again = other.remove([8])
        assert photos.restore(again.key).tolist() == [8]
        assert found(photos, X) == found(other, X)
    with Collection.open(photos.path) as fresh:
        assert everything(fresh) == before
        assert fresh.verify() == []


def test_an_index_follows_removals_and_restorations(photos, X):
    """Also where it last looked before an item was added, removed and restored."""
    with Collection.open(photos.path) as other:
        assert len(other) == 60
        more = np.concatenate([X + 1, X + 2])
        photos.add(more)
        photos.restore(photos.remove([60, 61, 5]))
        gone = photos.remove([100, 2])
        photos.remove([101])
        photos.restore(gone)
        reads, other._store._first = [], lambda *_: reads.append(1)
        assert everything(other) == everything(photos)
        assert not reads  # it did not read all rows
        assert other.verify() == []


def test_removals_are_listed_last_first(photos):
    keys = [photos.remove(ids).key for ids in ([3], [4, 5], [6])]
    listed = photos.removals()
    assert [removal.key for removal in listed] == keys[::-1]
    assert [removal.items for removal in listed] == [1, 2, 1]
    assert listed[0].time >= listed[2].time > 1_700_000_000
    photos.restore(keys[1])
    assert [removal.key for removal in photos.removals()] == [keys[2], keys[0]]


@pytest.mark.parametrize("key", ["", "x", "5", "-1", "1-00000000", "9" * 50, "١-x", "1-\0", "٣"])
def test_keys_that_nothing_is_kept_under(photos, key):
    photos.remove([3])
    with pytest.raises(CollectionError, match="nothing is kept under the key"):
        photos.restore(key)
    assert len(photos) == 59


def test_nothing_is_restored_twice(photos):
    removed = photos.remove([3])
    photos.restore(removed)
    with pytest.raises(CollectionError, match="were restored already"):
        photos.restore(removed)
    assert photos.remove([]) == 0
    assert photos.remove([]).key is None
    with pytest.raises(CollectionError, match="nothing is kept"):
        photos.restore(Removed(np.array([1])))


def test_compact_forgets(photos):
    removed = photos.remove(range(30))
    photos.compact()
    assert photos.removals() == []
    assert photos.info()["removed"] == 0
    with pytest.raises(CollectionError, match="their space has been freed"):
        photos.restore(removed)
    assert photos.verify() == []


def test_without_undo_nothing_is_kept(photos):
    assert photos.remove([3], undo=False).key is None
    assert photos.removals() == []
    assert photos.verify() == []


def test_a_picture_that_was_added_again_stays_the_only_one(photos, X):
    removed = photos.remove([3, 4])
    assert photos.add(X[3:4]).ids.tolist() == [60]
    with pytest.raises(CollectionError) as raised:
        photos.restore(removed)
    assert str(raised.value).endswith(
        "item 3 can not be restored, because its picture was added again as item 60: remove that "
        "one first"
    )
    assert 4 not in photos
    assert photos.verify() == []
    photos.remove([60])
    assert photos.restore(removed).tolist() == [3, 4]
    assert photos.verify() == []


def test_the_first_removals_are_forgotten(photos, monkeypatch):
    monkeypatch.setattr(removing, "MOST_KEPT", 5)
    keys = [photos.remove(ids).key for ids in ([0, 1], [2, 3], [4, 5])]
    assert [removal.key for removal in photos.removals()] == [keys[2], keys[1]]
    assert photos.remove(range(10, 16)).key is None  # more than can be kept
    assert len(photos.removals()) == 2
    assert photos.verify() == []


def test_codes_of_another_model_are_made_again(photos, X):
    with_features = photos.remove([7, 9])
    photos.reencode(LSH(n_bits=24, random_state=5).fit(X))
    photos.restore(with_features)
    assert photos.n_bits == 24
    assert photos.verify(deep=True) == []
    assert photos.search(X[7], k=1)[0].id == 7
    assert photos.search(X[7], k=1)[0].bits == 0


def test_without_features_and_pictures_other_codes_can_not_be_made(tmp_path, hasher, X):
    with Collection.create(tmp_path / "c", hasher) as photos:
        photos.add(X)
        removed = photos.remove(range(60))
        photos.reencode(LSH(n_bits=24, random_state=5).fit(X))
        with pytest.raises(CollectionError, match="nothing was restored: item 0: it is gone"):
            photos.restore(removed)
        assert len(photos) == 0
        assert photos.verify() == []
        assert len(photos.removals()) == 1


def test_pictures_are_encoded_again_from_their_files(album, tmp_path):
    for number in range(4):
        draw(tmp_path / "drawn" / f"{number}.png", number)
    album.add(tmp_path / "drawn")
    n_features = int(album.model.hasher.n_features_in_)
    other = LSH(n_bits=32, random_state=8).fit(np.random.RandomState(0).randn(30, n_features))
    removed = album.remove([1, 2])
    album.reencode(other)
    (tmp_path / "drawn" / "1.png").rename(tmp_path / "away.png")
    if not album.info()["features"]:
        with pytest.raises(CollectionError, match="nothing was restored"):
            album.restore(removed)
    (tmp_path / "away.png").rename(tmp_path / "drawn" / "1.png")
    assert album.restore(removed).tolist() == [1, 2]
    assert album.verify(deep=True) == []


def copies(album):
    folder = album.path / "pictures"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_copies_stay_as_long_as_they_can_be_needed(album, tmp_path):
    files = [draw(tmp_path / f"{i}.png", i).read_bytes() for i in range(3)]
    album.add_files(files)
    before = copies(album)
    removed = album.remove([0, 1])
    assert copies(album) == before
    album.restore(removed)
    assert album.picture(0).read_bytes() == files[0]
    assert album.verify() == []
    album.remove([0])
    assert album.add_files(files[:1]).ids.tolist() == [3]  # again, with the copy that is there
    album.remove([3], undo=False)  # the first removal needs the copy
    assert copies(album) == before
    album.remove([1], undo=False)
    assert len(copies(album)) == 2
    album.compact()
    assert copies(album) == [album[2].content.hex()]


def test_copies_go_with_the_last_removal_that_needs_them(album, tmp_path, monkeypatch):
    files = [draw(tmp_path / f"{i}.png", i).read_bytes() for i in range(3)]
    album.add_files(files)
    monkeypatch.setattr(removing, "MOST_KEPT", 1)
    album.remove([0])
    assert len(copies(album)) == 3
    album.add_files(files[:1])
    album.remove([3])  # forgets the first, whose copy it needs itself
    assert len(copies(album)) == 3
    album.remove([1])
    assert len(copies(album)) == 2
    assert album.verify() == []


class Crash(BaseException):
    pass


STEPS = ["put_kept", "delete_rows", "log_changes", "put_rows", "put_blobs", "drop_kept"]


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_leaves_all_or_nothing(photos, monkeypatch, step):
    def crash(*_):
        raise Crash

    before = everything(photos)
    with monkeypatch.context() as patch:
        patch.setattr(changing, step, crash)
        try:
            removed = photos.remove([3, 7])
            photos.restore(removed)
            raise AssertionError("no step failed")
        except Crash:
            pass
    with Collection.open(photos.path) as again:
        assert again.verify() == []
        for removal in again.removals():
            assert again.restore(removal.key).tolist() == [3, 7]
        assert everything(again) == before
        assert again.verify() == []
    assert everything(photos) == before


def test_damage_to_what_is_kept_is_told(photos):
    removed = photos.remove([3, 4])
    other = photos.remove([5])
    with sqlite3.connect(photos.path / "catalogue.sqlite") as connection:
        connection.execute("UPDATE removed SET value = zeroblob(9) WHERE id = 4")
    connection.close()
    assert photos.verify() == [
        "removed item 4 is damaged: it can not be restored, and compact forgets it"
    ]
    with pytest.raises(DamagedError, match="the removed item 4 is damaged, so nothing was"):
        photos.restore(removed)
    assert photos.restore(other).tolist() == [5]
    photos.compact()
    assert photos.verify() == []


@pytest.fixture(scope="module")
def whole(tmp_path_factory, X):
    folder = tmp_path_factory.mktemp("whole") / "c"
    with Collection.create(folder, LSH(n_bits=16, random_state=0).fit(X), keep_features=True) as c:
        c.add(X[:12], labels=[str(i) for i in range(12)])
    return folder


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_order_of_removals_and_restorations_is_the_identity(whole, tmp_path_factory, data):
    folder = shutil.copytree(whole, tmp_path_factory.mktemp("any") / "c")
    with Collection.open(folder) as one, Collection.open(folder) as two:
        before, kept = everything(one), []
        for _ in range(data.draw(st.integers(1, 8))):
            album = data.draw(st.sampled_from([one, two]))
            there = album.ids.tolist()
            if kept and (not there or data.draw(st.booleans())):
                album.restore(kept.pop(data.draw(st.integers(0, len(kept) - 1))))
            else:
                ids = data.draw(st.lists(st.sampled_from(there), min_size=1, unique=True))
                kept.append(album.remove(ids))
            assert one.ids.tolist() == two.ids.tolist()
        while kept:
            data.draw(st.sampled_from([one, two])).restore(kept.pop())
        assert everything(one) == everything(two) == before
        assert one.verify() == []
