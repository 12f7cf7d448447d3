import errno
import os
import warnings

import pytest

from tests.collection.conftest import draw
from zshash import Collection
from zshash.collection.operations.unreadable import ToldBefore, Unreadable, unreadable
from zshash.images import Limits, PictureReader, PictureWarning


@pytest.fixture
def store(album):
    return album._store


def failed(store, path, reason="not a picture"):
    """Let a call find a file unreadable, and return whether it was told before."""
    with store.writing():
        memory = Unreadable(store)
        is_told = memory.is_told(str(path))
        memory.remember([] if is_told else [f"{path}: {reason}"])
    return is_told


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken: half.png"
    path.write_bytes(b"half a picture")
    return path


def test_a_file_is_told_once_and_again_when_it_changes(store, broken):
    assert not failed(store, broken)
    assert failed(store, broken)
    broken.write_bytes(b"another half of a picture")
    assert not failed(store, broken)
    assert failed(store, broken)
    os.utime(broken, ns=(5, 5))
    assert not failed(store, broken)


def test_permissions_count(store, broken):
    assert not failed(store, broken, "Permission denied")
    broken.chmod(0o600)
    assert not failed(store, broken)


def test_it_lasts_and_is_read_from_any_folder(album, broken, monkeypatch):
    monkeypatch.chdir(broken.parent)
    assert not failed(album._store, broken.name)
    with Collection.open(album.path) as other:
        assert failed(other._store, broken)
        with other._store.reading():
            assert unreadable(other._store) == {str(broken): f"{broken}: not a picture"}


def test_other_limits_and_versions_are_new_attempts(album, broken, monkeypatch):
    assert not failed(album._store, broken)
    reader = PictureReader(limits=Limits(pixels=10**9))
    with Collection.open(album.path, reader=reader) as other:
        assert not failed(other._store, broken)
    assert not failed(album._store, broken)
    monkeypatch.setattr("zshash.collection.operations.unreadable.VERSION", "99.0")
    assert not failed(album._store, broken)


def test_where_a_failure_is_an_error_all_files_are_tried(album, broken):
    assert not failed(album._store, broken)
    with Collection.open(album.path, reader=PictureReader(on_error="fail")) as other:
        assert not failed(other._store, broken)


@pytest.mark.parametrize("reason", [os.strerror(errno.EIO), "pip install 'zshash[heic]' reads it"])
def test_reasons_that_may_pass_are_not_remembered(store, broken, reason):
    assert not failed(store, broken, reason)
    assert not failed(store, broken)


def test_a_link_that_leads_nowhere(store, tmp_path):
    link = tmp_path / "link.png"
    link.symlink_to(tmp_path / "nothing.png")
    assert not failed(store, link)
    assert failed(store, link)
    draw(tmp_path / "nothing.png", 1)
    assert not failed(store, link)


def test_files_that_were_read_or_are_gone_are_forgotten(store, broken, tmp_path):
    gone = tmp_path / "gone.png"
    gone.write_bytes(b"x")
    failed(store, broken)
    failed(store, gone)
    with store.writing():
        memory = Unreadable(store)
        broken.write_bytes(b"changed")
        assert memory.untold([str(broken), "new.png"]) == [0, 1]
        memory.remember([])
        assert list(unreadable(store)) == [str(gone)]
        Unreadable(store).remember([], lambda path: path == str(gone))
        assert unreadable(store) == {}


def test_messages_name_the_longest_known_path_or_none(store, tmp_path):
    odd = str(tmp_path / "a: b.png")
    with store.writing():
        memory = Unreadable(store)
        assert memory.untold([odd]) == [0]
        memory.remember([f"{odd}: broken: really", "another file: broken", "nothing at all"])
        assert unreadable(store) == {odd: f"{odd}: broken: really"}


def test_a_file_that_was_written_while_it_was_read(store, broken):
    with store.writing():
        memory = Unreadable(store)
        assert not memory.is_told(str(broken))
        broken.write_bytes(b"whole by now")
        memory.remember([f"{broken}: half"])
    assert not failed(store, broken)


def test_add_and_info(album, pictures):
    (pictures / "cat" / "0.png").write_bytes(b"half")
    with pytest.warns(PictureWarning) as told:
        assert len(album.add(pictures).ids) == 11
    assert [str(one.message) for one in told][1:] == [
        "1 of 12 pictures could not be used and are left out"
    ]
    facts = album.info()
    assert facts["unreadable"] == 1
    assert [line.split(": ")[0] for line in facts["unreadable files"]] == [
        str(pictures / "cat" / "0.png")
    ]
    for again in (album.add, album.sync):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            again(pictures)
        assert [str(one.message).partition(": ")[2] for one in told] == [
            "1 file that can not be read was told before"
        ]
        assert told[0].category is ToldBefore
        assert told[0].filename == __file__
    draw(pictures / "cat" / "0.png", 100)
    assert len(album.add(pictures).ids) == 1
    assert "unreadable files" not in album.info()
    assert album.verify() == []
