"""Copies of pictures on the command line: found, planned, removed, deleted."""

import numpy as np
import pytest

import zshash
from tests.cli.albums import read, refused, run
from tests.collection.operations.copied_pictures import write_pictures
from zshash import Collection
from zshash.images import PictureReader


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """Pictures and copies of them, and an album of these."""
    monkeypatch.chdir(tmp_path)
    reader = PictureReader(extractor="pixels:4", cache=False)
    X = np.random.RandomState(0).randn(30, 16).astype(np.float32)
    model = zshash.fit(X, method="LSH", n_bits=16)
    model.notes["extractor"] = reader.facts()
    folder = write_pictures(tmp_path / "photos")
    with Collection.create("album", model, reader=reader) as album:
        album.add(folder)
    return folder


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


GOING = {"small/0.jpg", "cut/1.png", "again.png"}


def test_a_list_tells_levels_and_sizes_apart(photos):
    text = run("duplicates", "album")
    assert text.index("equal files:") < text.index("one picture:")
    assert "3 groups: 1 of equal files, 2 of one picture" in text
    assert f"{photos}/small/0.jpg  small  120 × 90, " in text
    assert f"          {photos}/again.png\n" in text
    assert [line for line in text.splitlines() if line.endswith("  cropped")] == [
        line for line in text.splitlines() if "cut/1.png" in line
    ]
    assert "one picture" not in run("duplicates", "album", "--level", "identical")


def test_json(photos):
    found = read("duplicates", "album")
    assert found["unknown"] == 0
    assert [group["level"] for group in found["groups"]] == ["identical", "same", "same"]
    assert found["groups"][0]["items"][0]["copies"] == [f"{photos}/again.png"]
    small = max(found["groups"][1]["items"], key=lambda item: item["path"])
    assert (small["width"], small["height"]) == (120, 90)
    assert small["bytes"] == (photos / "small" / "0.jpg").stat().st_size


def test_groups_that_are_wanted_are_listed_with_all(photos):  # noqa: ARG001
    every = read("duplicates", "album")["groups"]
    wanted = [item["id"] for item in every[1]["items"]]
    with Collection.open("album") as album:
        album.keep_group(wanted)
    assert read("duplicates", "album")["groups"] == [every[0], every[2]]
    assert read("duplicates", "album", "--all")["groups"] == every
    assert "2 groups" in run("duplicates", "album")
    assert "3 groups" in run("duplicates", "album", "--all")
    assert len(read("duplicates", "album", "--keep", "largest")) == 2
    assert len(read("duplicates", "album", "--keep", "largest", "--all")) == 3


def test_paths(photos):
    groups = run("duplicates", "album", "--paths").strip().split("\n\n")
    assert set(groups[0].splitlines()) == {f"{photos}/3.png", f"{photos}/again.png"}
    going = run("duplicates", "album", "--keep", "largest", "--paths").split()
    assert set(going) == {f"{photos}/{path}" for path in GOING}


def test_a_plan_changes_nothing(photos):
    before = files(photos)
    text = run("duplicates", "album", "--keep", "largest")
    assert "3 kept, 3 files" in text
    assert "nothing was changed: --remove takes them out" in text
    assert text.count("keep  ") == text.count("remove  ") == 3
    plan = read("duplicates", "album", "--keep", "oldest")
    assert {len(choice["files"]) for choice in plan} == {1}
    assert files(photos) == before
    assert read("info", "album")["items"] == 9


def test_removing(photos):
    before = files(photos)
    assert "2 removed, 7 left" in run("duplicates", "album", "--keep", "largest", "--remove")
    assert files(photos) == before


def test_deleting_needs_a_yes(photos, monkeypatch):
    before = files(photos)
    command = ("duplicates", "album", "--keep", "largest", "--delete-files")
    assert "3 files would be deleted: --yes" in refused(*command)
    monkeypatch.setattr("zshash.cli.duplicates.is_person", lambda: True)
    text = run(*command, given="n\n", code=2)
    assert "Delete 3 files, " in text
    assert "nothing was changed" in text
    assert files(photos) == before
    done = read(*command, "--yes")
    assert (len(done["removed"]), len(done["deleted"]), done["failures"]) == (2, 3, [])
    assert files(photos) == before - GOING
    assert "no copies were found" in run("duplicates", "album")


def test_what_stays_is_told(photos):
    (photos / "0.png").unlink()
    command = ("duplicates", "album", "--keep", "largest", "--delete-files", "--yes")
    text = run(*command, code=1)
    assert f"not removed: {photos}/0.png: No such file or directory, so no copy" in text
    assert "2 files deleted" in text
    assert (photos / "small" / "0.jpg").exists()


@pytest.mark.usefixtures("photos")
def test_items_that_can_not_be_compared_are_counted():
    with Collection.open("album") as album:
        album.add_codes(np.zeros((2, 2), dtype=np.uint8))
    assert "; 2 items have no thumbnail to compare" in run("duplicates", "album")


MISTAKES = [
    (["--radius", 3], "belongs to --level alike"),
    (["--level", "alike", "--keep", "largest"], "may be different pictures"),
    (["--remove"], "--keep largest or --keep oldest"),
    (["--delete-files"], "--keep largest or --keep oldest"),
    (["--keep", "largest", "--yes"], "without --delete-files"),
    (["--paths", "--json"], "exclude each other"),
    (["--keep", "newest"], "largest"),
    (["--level", "equal"], "identical"),
]


@pytest.mark.usefixtures("photos")
def test_options_that_make_no_sense():
    for options, told in MISTAKES:
        assert told in refused("duplicates", "album", *options)
