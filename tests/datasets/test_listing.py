import os
import random
from pathlib import Path

import pytest

from tests.datasets.locking import deny
from zshash.datasets import DataError
from zshash.datasets.listing import (
    SUFFIXES,
    VIDEOS,
    contents,
    is_picture,
    list_tree,
    pictures_below,
)


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def relative(paths, folder):
    return [path.relative_to(folder).as_posix() for path in paths]


def test_every_ending_in_any_case():
    for suffix in SUFFIXES:
        assert is_picture(f"a{suffix}")
        assert is_picture(f"a.b{suffix.upper()}")
    for name in ("a.txt", "jpg", ".jpg", ".a.jpg", "a.jpg.txt", "a.svg", "a."):
        assert not is_picture(name)


def test_contents_are_sorted_and_visible(tmp_path):
    touch(tmp_path, "b.jpg", "a.PNG", "notes.txt", ".c.jpg", "z/1.jpg", "y/1.jpg", ".git/1.jpg")
    touch(tmp_path, "__MACOSX/z/1.jpg", "folder.jpg/1.jpg")
    folders, pictures = contents(tmp_path)
    assert relative(folders, tmp_path) == ["folder.jpg", "y", "z"]
    assert relative(pictures, tmp_path) == ["a.PNG", "b.jpg"]


def test_order_is_by_the_parts_of_the_path(tmp_path):
    touch(tmp_path, "a.jpg", "a/z.jpg", "a-b/1.jpg", "a/b/c.jpg", "B.jpg")
    expected = ["B.jpg", "a/b/c.jpg", "a/z.jpg", "a-b/1.jpg", "a.jpg"]
    assert relative(pictures_below(tmp_path, tmp_path.parent), tmp_path) == expected


def test_links_are_followed_and_loops_end(tmp_path):
    touch(tmp_path, "cat/1.jpg", "elsewhere/2.jpg")
    cat = tmp_path / "cat"
    (cat / "more").symlink_to(tmp_path / "elsewhere")
    (cat / "again").symlink_to(cat)
    (cat / "up").symlink_to(tmp_path)
    (cat / "self").symlink_to(cat / "self")
    (tmp_path / "elsewhere" / "back").symlink_to(cat)
    assert relative(pictures_below(cat, tmp_path), cat) == ["1.jpg", "more/2.jpg"]


def test_many_links_to_each_other_end_soon(tmp_path):
    """Links between 20 folders make 20! paths."""
    for a in range(20):
        touch(tmp_path, f"{a}/1.jpg")
        for b in range(20):
            (tmp_path / str(a) / f"to{b}").symlink_to(tmp_path / str(b))
    assert len(pictures_below(tmp_path / "0", tmp_path)) == 20


def test_folders_deeper_than_recursion_goes(tmp_path):
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("1.jpg", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    try:
        assert len(pictures_below(tmp_path / "d", tmp_path)) == 1
    finally:  # pytest can not remove folders nested so deep
        (tmp_path / "keep").touch()
        deepest = tmp_path.joinpath(*["d"] * 1200)
        (deepest / "1.jpg").unlink()
        os.removedirs(deepest)


def test_a_folder_that_may_not_be_listed(tmp_path):
    with pytest.raises(DataError, match="nothing: No such file or directory"):
        contents(tmp_path / "nothing")


def test_one_walk_tells_everything(tmp_path):
    touch(
        tmp_path, "a/b/1.jpg", "a/2.jpg", "c.jpg", "a/film.MP4", "x.avi", "notes.txt", "a/d/3.svg"
    )
    listing = list_tree(tmp_path)
    assert relative(listing.pictures, tmp_path) == ["a/2.jpg", "a/b/1.jpg", "c.jpg"]
    names = [listing.folders[home].name for home in listing.homes]
    assert names == ["a", "b", tmp_path.name]
    parents = [listing.folders[folder.parent].name for folder in listing.folders[1:]]
    assert parents == [tmp_path.name, "a", "a"]
    assert listing.left_out == {".mp4": 1, ".avi": 1, ".svg": 1}
    assert listing.unreadable == {}
    assert not VIDEOS & SUFFIXES


def test_the_same_files_as_a_plain_walk(tmp_path):
    """Trees of random shapes against `os.walk`, which knows nothing of links and clutter."""
    rng = random.Random(0)
    for _ in range(60):
        folder = "/".join(rng.choices("abc", k=rng.randrange(5)))
        touch(
            tmp_path,
            f"{folder}/{rng.choice('xyz')}.{rng.choice(('jpg', 'PNG', 'txt'))}".lstrip("/"),
        )
    expected = [
        Path(folder, name).relative_to(tmp_path)
        for folder, _, names in os.walk(tmp_path)
        for name in names
        if not name.endswith("txt")
    ]
    listed = [path.relative_to(tmp_path) for path in list_tree(tmp_path).pictures]
    assert listed == sorted(expected)


def test_links(tmp_path):
    root = tmp_path / "photos"
    touch(tmp_path, "photos/cat/1.jpg", "photos/dog/2.jpg", "beside/3.jpg", "photos/away/4.jpg")
    for name, target in {
        "cat/up": root,
        "up": tmp_path,
        "self": root / "self",
        "cat/dog": root / "dog",
        "dog/cat": root / "cat",
        "gone.jpg": root / "nothing.jpg",
        "gone": root / "nothing",
        "file.jpg": tmp_path / "beside" / "3.jpg",
        "loop.jpg": root / "loop.jpg",
        "beside": tmp_path / "beside",
    }.items():
        (root / name).symlink_to(target)
    assert relative(list_tree(root).pictures, root) == [
        "away/4.jpg",
        "beside/3.jpg",
        "cat/1.jpg",
        "cat/dog/2.jpg",
        "file.jpg",
    ]


def test_what_is_no_file_is_no_picture(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    touch(tmp_path, "a.jpg/b.jpg")
    assert relative(list_tree(tmp_path).pictures, tmp_path) == ["a.jpg/b.jpg"]


def test_copies_and_bins_are_left_out(tmp_path):
    folders = ("@eaDir/1.jpg", "#recycle", "$RECYCLE.BIN", "lost+found", "a/Thumbs", "x.lrdata")
    touch(tmp_path, *(f"{name}/SYNOPHOTO_THUMB_M.jpg" for name in folders))
    touch(tmp_path, *(f"{name}/2.jpg" for name in folders), "SYNOPHOTO_THUMB_XL.jpg", "a/3.jpg")
    library = "My.photoslibrary"
    touch(tmp_path, f"{library}/originals/A/4.jpg", f"{library}/resources/derivatives/5.jpg")
    expected = [f"{library}/originals/A/4.jpg", "a/3.jpg"]
    assert relative(list_tree(tmp_path).pictures, tmp_path) == expected
    assert relative(list_tree(tmp_path / library).pictures, tmp_path) == expected[:1]


def test_folders_that_vanish_meanwhile(tmp_path, monkeypatch):
    touch(tmp_path, "a/1.jpg", "b/2.jpg", "c/3.jpg")
    scan = os.scandir

    def scandir(path):
        if str(path).endswith("a"):
            (tmp_path / "b" / "2.jpg").unlink()
            (tmp_path / "b").rmdir()
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    listing = list_tree(tmp_path)
    assert relative(listing.pictures, tmp_path) == ["a/1.jpg", "c/3.jpg"]
    assert listing.unreadable == {}


def test_folders_that_can_not_be_read(tmp_path, monkeypatch):
    touch(tmp_path, "a/1.jpg", "b/2.jpg")
    deny(monkeypatch, tmp_path / "b")
    listing = list_tree(tmp_path)
    assert relative(listing.pictures, tmp_path) == ["a/1.jpg"]
    assert listing.unreadable == {str(tmp_path / "b"): "Permission denied"}
    with pytest.raises(DataError, match="b: Permission denied"):  # whoever asks what is gone
        pictures_below(tmp_path, tmp_path.parent)
    with pytest.raises(DataError, match="b: Permission denied"):
        list_tree(tmp_path / "b")
    with pytest.raises(DataError, match="nothing: No such file or directory"):
        list_tree(tmp_path / "nothing")
