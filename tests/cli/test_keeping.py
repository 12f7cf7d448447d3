"""What is kept when Ctrl-C ends a command that changes an album."""

import signal

import pytest
from click.testing import CliRunner

from tests.cli.albums import draw, make_album, run
from zshash import Collection
from zshash.cli import main
from zshash.cli.keeping import telling


@pytest.fixture(autouse=True)
def album(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_album(tmp_path).parent


def interrupted(*arguments):
    """The line that says what is kept."""
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == 130, done.output
    return done.stderr.splitlines()[-1]


def press(monkeypatch, place):
    """Press Ctrl-C when a function is called; it does its work all the same."""
    module, _, name = place.rpartition(".")
    known = getattr(__import__(module, fromlist=[name]), name)

    def work(*args, **kwargs):
        signal.raise_signal(signal.SIGINT)
        return known(*args, **kwargs)

    monkeypatch.setattr(place, work)


OPERATIONS = "zshash.collection.operations"


def test_a_sync_that_has_added_some(album, monkeypatch):
    draw(album / "photos" / "cat" / "new.png", 99)
    press(monkeypatch, f"{OPERATIONS}.syncing._note_copies")
    line = interrupted("sync", "album", "photos")
    assert line == "Interrupted. album has 1 new item; the same command goes on from there."
    monkeypatch.undo()
    monkeypatch.chdir(album)
    assert "0 added, 0 changed, 0 moved, 0 removed, 7 in all" in run("sync", "album", "photos")


def test_a_sync_that_has_done_something_else(album, monkeypatch):
    (album / "photos" / "cat" / "0.png").unlink()
    press(monkeypatch, f"{OPERATIONS}.syncing._note_copies")
    line = interrupted("sync", "album", "photos")
    assert line == "Interrupted. album keeps what was done; the same command goes on from there."


def test_a_sync_that_has_done_nothing(album, monkeypatch):
    draw(album / "photos" / "cat" / "new.png", 99)
    press(monkeypatch, f"{OPERATIONS}.syncing.scope_of")
    assert interrupted("sync", "album", "photos") == "Interrupted. album is the same as before."
    with Collection.open("album") as opened:
        assert len(opened) == 6


def test_labels_are_all_changed_or_none(monkeypatch):
    with monkeypatch.context() as patch:
        press(patch, f"{OPERATIONS}.labelling.check_known")
        line = interrupted("label", "album", 0, 1, "x")
    assert line == "Interrupted. album is the same as before."
    with Collection.open("album") as opened:
        assert "x" not in opened.labels()
    press(monkeypatch, f"{OPERATIONS}.labelling.with_labels")
    line = interrupted("label", "album", 0, 1, "x")
    assert line == "Interrupted. album keeps what was done; all labels were changed."
    with Collection.open("album") as opened:
        assert opened.labels()["x"] == 2


def test_an_export(album, monkeypatch):
    press(monkeypatch, "zshash.cli.collecting.export_codes")
    assert interrupted("export", "album", "c.npz") == "Interrupted. c.npz was not written."
    assert not (album / "c.npz").exists()
    monkeypatch.undo()
    monkeypatch.chdir(album)
    run("export", "album", "c.npz")
    before = (album / "c.npz").read_bytes()
    press(monkeypatch, "zshash.cli.collecting.export_codes")
    line = interrupted("export", "album", "c.npz")
    assert line == "Interrupted. c.npz is the same as before."
    assert (album / "c.npz").read_bytes() == before


def test_a_sentence_that_can_not_be_made_is_left_out():
    def broken():
        raise ValueError("the folder is gone")

    with pytest.raises(KeyboardInterrupt) as caught, telling(broken):
        raise KeyboardInterrupt
    assert str(caught.value) == ""
