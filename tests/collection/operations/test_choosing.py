from pathlib import Path

import pytest

from tests.collection.operations.copied_pictures import write, write_pictures
from tests.images.scenes import cropped, saved, scene
from zshash import CollectionError
from zshash.collection import Group, Item


@pytest.fixture
def copied(album, tmp_path):
    """An album of pictures and copies of them."""
    album.add(write_pictures(tmp_path / "photos"))
    return album


def kept(choices):
    return {Path(choice.kept.item.source).name for choice in choices}


def test_the_largest_stays(copied, tmp_path):
    choices = copied.choose_copies(copied.duplicates(), "largest")
    assert kept(choices) == {"0.png", "1.png", "3.png"}
    [small] = next(choice for choice in choices if choice.kept.path.name == "0.png").others
    assert (small.width, small.height) == (120, 90)
    assert small.bytes == (tmp_path / "photos" / "small" / "0.jpg").stat().st_size
    equal = next(choice for choice in choices if choice.kept.path.name == "3.png")
    assert (equal.others, equal.kept.copies) == ((), (str(tmp_path / "photos" / "again.png"),))
    assert equal.bytes == (tmp_path / "photos" / "again.png").stat().st_size


def test_the_oldest_stays_by_the_time_of_its_file(copied):
    choices = copied.choose_copies(copied.duplicates(), "oldest")
    assert "0.jpg" in kept(choices)  # written years before the larger one


def test_the_clock_of_the_camera_counts_before_the_time_of_the_file(album, tmp_path):
    old = scene(0).getexif()
    old[306] = "2001:02:03 04:05:06"
    write(tmp_path / "a.jpg", saved(scene(0), quality=90), mtime=1_100_000_000)
    write(tmp_path / "b.jpg", saved(scene(0), quality=60, exif=old), mtime=1_600_000_000)
    album.add([tmp_path / "a.jpg", tmp_path / "b.jpg"])
    assert kept(album.choose_copies(album.duplicates(), "oldest")) == {"b.jpg"}
    assert kept(album.choose_copies(album.duplicates(), "largest")) == {"a.jpg"}


def test_a_raw_file_comes_before_what_was_made_from_it(album, tmp_path):
    small, large = tmp_path / "a.nef", tmp_path / "b.jpg"
    write(small, saved(scene(0).resize((120, 90))), mtime=1_600_000_000)
    write(large, saved(scene(0)), mtime=1_400_000_000)
    items = tuple(
        Item(n, b"", str(path), metadata={"width": w, "height": w}, size=9, mtime_ns=n)
        for n, (path, w) in enumerate([(small, 10), (large, 20)])
    )
    for keep in ("largest", "oldest"):
        [choice] = album.choose_copies([Group("same", items, {})], keep)
        assert choice.kept.path == small


def test_a_picture_comes_before_an_enlarged_part_of_it(album, tmp_path):
    part = cropped(scene(0), 0.08, 0.08, 0.08, 0.08).resize((480, 360))
    write(tmp_path / "part.png", saved(part, "PNG"), mtime=1_300_000_000)
    write(tmp_path / "whole.png", saved(scene(0), "PNG"), mtime=1_400_000_000)
    album.add([tmp_path / "part.png", tmp_path / "whole.png"])
    for keep in ("largest", "oldest"):
        [choice] = album.choose_copies(album.duplicates(), keep)
        assert choice.kept.path.name == "whole.png"
        assert choice.others[0].is_cropped


def test_sizes_are_read_where_they_were_not_noted(copied):
    groups = [
        group._replace(items=tuple(_without_notes(item) for item in group.items))
        for group in copied.duplicates()
    ]
    choices = copied.choose_copies(groups)
    assert {(choice.kept.width, choice.kept.height) for choice in choices} == {(240, 180)}


def _without_notes(item):
    return Item(item.id, item.code, item.source, item.content, size=item.size)


def test_a_group_of_equal_files_within_another_is_not_chosen_from_twice(copied, tmp_path):
    more = write(tmp_path / "m.jpg", (tmp_path / "photos" / "small" / "0.jpg").read_bytes())
    copied.add(more)
    choices = copied.choose_copies(copied.duplicates())
    items = [own.item.id for choice in choices for own in (choice.kept, *choice.others)]
    assert len(items) == len(set(items)) == 5
    assert sum(len(own.copies) for choice in choices for own in choice.others) == 1


def test_look_alikes_are_refused(copied):
    alike = copied.duplicates("alike", r=16)
    with pytest.raises(CollectionError, match="look alike"):
        copied.choose_copies(alike)


def test_unknown_rules(copied):
    with pytest.raises(CollectionError, match="largest or oldest"):
        copied.choose_copies([], "newest")
