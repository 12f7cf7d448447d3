import os

import pytest

from zshash.datasets import DataError
from zshash.datasets.listing import SUFFIXES, contents, is_picture, pictures_below


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
