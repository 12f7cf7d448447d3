"""Collections that were once written in earlier formats are read and changed by this zshash."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.collection.data.make_version_1 import FOLDER, features
from zshash import LSH, Collection
from zshash.collection.storage.locks import WriterLock

FOLDERS = {
    1: FOLDER,
    2: FOLDER.with_name("version_2.zshash"),
    3: FOLDER.with_name("version_3.zshash"),
}


@pytest.fixture(params=FOLDERS.values(), ids=FOLDERS)
def old(request, tmp_path):
    with Collection.open(shutil.copytree(request.param, tmp_path / "old")) as photos:
        yield photos


def test_it_says_what_was_put_in(old):
    X = features()
    assert old.ids.tolist() == [i for i in range(35) if i not in (3, 25)]
    assert old.n_bits == 16
    assert old.model.notes == {"seen": ["cat", "dog"], "labels": ["wordnet"]}
    assert old[1].labels == ("dog", "pet")
    assert old[1].metadata == {"year": 2001, "camera": {"model": "A"}}
    assert old[19].source == "/photos/caf\udce9.jpg"
    assert old[24].source == "s3://a/4"
    assert old.thumbnail(7) == b"and here"
    assert old.thumbnail(8) is None
    assert old.search(X[17], k=1)[0].bits == 0
    assert old.find("label = 'вуж' and camera.model = 'A'").tolist() == [7, 11, 15, 19]
    assert old.verify() == []


def test_it_can_be_changed(old):
    X = features()
    added = old.add(X)
    assert added.ids.tolist() == list(range(35, 51))  # codes alone tell no duplicates
    old.remove([0])
    old.remove([i for i in range(20, 30) if i != 25])
    old.reencode(LSH(n_bits=8, random_state=1).fit(X))
    old.compact()
    assert old.verify() == []
    np.testing.assert_array_equal(old.search(X[9], k=1)[0].bits, 0)


def test_a_writer_brings_it_to_the_present_format(old):
    assert old.info()["format"] == 4
    with old._store.writing(), old._store.changing() as change:
        change.put("prints", {0: b"12345678"})
        change.forget("prints", [7])
    old.close()
    with Collection.open(old.path) as again:
        assert len(again) == 33
        again.remove([0, 1])
        assert again._store.catalogue.state().prints.n == 0
        assert again.verify() == []


@pytest.mark.parametrize("version", FOLDERS)
def test_while_another_process_writes_it_is_read_as_it_is(tmp_path, version):
    folder = shutil.copytree(FOLDERS[version], tmp_path / "old")
    with WriterLock(folder).held():
        photos = Collection.open(folder)
    with photos:
        assert photos.info()["format"] == version
        assert photos.search(features()[17], k=1)[0].bits == 0
        assert photos.verify() == []
        assert photos.remove([0]) == 1  # nobody holds the lock any more
        assert photos.info()["format"] == 4
        assert photos.verify() == []


def test_a_log_without_checksums_ends_with_its_format(tmp_path):
    with Collection.open(shutil.copytree(FOLDER, tmp_path / "old")) as photos:
        log = photos._store.catalogue.connection.execute("SELECT count(*) FROM changes")
        assert log.fetchone() == (0,)


def test_nobody_follows_a_log_without_checksums(tmp_path):
    """Its snapshot is behind, and the log leads from it to a wrong index."""
    folder = shutil.copytree(FOLDER, tmp_path / "old")
    with WriterLock(folder).held(), Collection.open(folder) as photos:
        state = photos._store.catalogue.state()
        assert state.base == state.generation
        photos._store.mirror.generation -= 1
        assert not photos._store.mirror.can_follow(state)
        assert len(photos) == 33


def test_it_is_small():
    assert sum(path.stat().st_size for path in Path(FOLDER).iterdir()) < 100_000


@pytest.mark.parametrize("version", FOLDERS)
def test_what_is_removed_from_it_can_be_restored(tmp_path, version):
    with Collection.open(shutil.copytree(FOLDERS[version], tmp_path / "old")) as photos:
        assert photos.removals() == []
        removed = photos.remove([7, 19, 24])
        assert photos.restore(removed).tolist() == [7, 19, 24]
    with Collection.open(tmp_path / "old") as photos:
        test_it_says_what_was_put_in(photos)
