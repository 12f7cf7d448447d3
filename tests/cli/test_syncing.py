"""Albums that follow their files, on the command line."""

import shutil

import pytest

from tests.cli.albums import draw, make_album, read, refused, run
from zshash import Collection


@pytest.fixture(autouse=True)
def album(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_album(tmp_path)
    return tmp_path


def state():
    with Collection.open("album") as opened:
        return opened.items(), opened.generation


def test_labels_follow_folders_and_copies_are_named(album):
    (album / "photos" / "cat").rename(album / "photos" / "tiger")
    shutil.copy("photos/dog/0.png", "photos/dog/copy.png")
    output = run("sync", "album", "photos")
    copy, original = album / "photos" / "dog" / "copy.png", album / "photos" / "dog" / "0.png"
    assert f"  {copy} is a copy of {original}" in output.splitlines()
    assert "0 added, 0 changed, 3 moved, 0 removed, 1 copy, 6 in all" in output
    assert [item["labels"] for item in read("list", "album", "--limit", 1)] == [["tiger"]]
    (album / "photos" / "tiger").rename(album / "photos" / "lion")
    facts = read("sync", "album", "photos", "--keep-labels")
    assert facts["moved"] == [0, 1, 2]
    assert facts["copies"] == {str(copy): str(original)}
    assert read("list", "album", "--limit", 1)[0]["labels"] == ["tiger"]


def test_many_copies_are_counted():
    for i in range(25):
        shutil.copy("photos/dog/0.png", f"photos/dog/copy{i:02}.png")
    lines = run("sync", "album", "photos").splitlines()
    assert sum("is a copy of" in line for line in lines) == 20
    assert lines[20] == "  and 5 more, which --json lists"


def test_a_dry_run_changes_nothing(album):
    before = state()
    (album / "photos" / "cat" / "0.png").unlink()
    draw(album / "photos" / "cat" / "new.png", 99)
    lines = run("sync", "album", "photos", "--dry-run").splitlines()
    photos = album / "photos" / "cat"
    assert sorted(lines[:2]) == [f"  add {photos / 'new.png'}", f"  remove {photos / '0.png'}"]
    assert lines[2].startswith("album: would add 1, would change 0, would move 0, would remove 1")
    assert lines[2].endswith("nothing was changed")
    facts = read("sync", "album", "photos", "--dry-run")
    assert (facts["removed"], facts["paths"]["0"]) == ([0], [str(photos / "0.png"), None])
    assert state() == before


def test_a_dry_run_of_remove():
    before = state()
    lines = run("remove", "album", "--where", "label = 'dog'", "--dry-run").splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["3", "4", "5"]
    assert lines[3] == "would remove 3 items; nothing was changed"
    assert read("remove", "album", 1, 1, "--dry-run")["would remove"] == [1]
    assert "there is no item 77" in refused("remove", "album", 77, "--dry-run")
    assert state() == before


def test_pictures_on_another_disk(album):
    (album / "photos").rename(album / "disk")
    assert "(if it has moved: zshash sync ALBUM --moved OLD NEW)" in refused(
        "sync", "album", "photos"
    )
    before = state()
    dry = run("sync", "album", "--moved", "photos", "disk", "--dry-run")
    assert "would find 6 items in disk; nothing was changed" in dry
    assert state() == before
    (album / "disk" / "cat" / "1.png").unlink()
    lines = run("sync", "album", "--moved", "photos", "disk").splitlines()
    assert lines == [
        f"  {album / 'disk' / 'cat' / '1.png'}",
        "album: 6 items in disk now, 1 not there or of another size",
    ]
    assert read("sync", "album", "disk")["removed"] == [1]
    assert "no item has a path below" in refused("sync", "album", "--moved", "photos", "disk")
    assert "is there, so no path was changed" in refused("sync", "album", "--moved", "disk", "x")


@pytest.mark.filterwarnings("default")
def test_broken_files_are_told_once(album):
    (album / "photos" / "cat" / "bad.png").write_bytes(b"half")
    assert "1 not readable" in run("sync", "album", "photos")
    once = "Warning: {}: 1 file that can not be read was told before (zshash info lists them)"
    for again in (("sync", "album", "photos"), ("add", "album", "photos")):
        output = run(*again)
        assert once.format(album / "album") in output
        assert output.count("Warning") == 1
        assert "bad.png" not in output
    facts = run("info", "album")
    assert "unreadable:        1" in facts
    assert str(album / "photos" / "cat" / "bad.png") in facts


def test_a_list_and_a_picture(album):
    draw(album / "photos" / "cat" / "new.png", 99)
    assert read("sync", "album", "photos/cat/new.png")["added"] == [6]
    (album / "list.csv").write_text("path,label\nphotos/cat/0.png,cat\nphotos/new.png,boat\n")
    draw(album / "photos" / "new.png", 98)
    assert read("sync", "album", "list.csv")["added"] == [7]
    assert read("list", "album", "--where", "id = 7")[0]["labels"] == ["boat"]


def test_mistakes():
    assert "a FOLDER, or --moved OLD NEW" in refused("sync", "album")
    assert "a FOLDER, or --moved OLD NEW" in refused("sync", "album", "photos", "--moved", "a", "b")
    assert "--keep-labels has no meaning" in refused(
        "sync", "album", "--moved", "photos", "disk", "--keep-labels"
    )
    assert "is a collection" in refused("sync", "album", "album")
