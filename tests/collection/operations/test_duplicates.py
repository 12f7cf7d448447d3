import numpy as np
import pytest

from tests.collection.operations.copied_pictures import write_pictures
from zshash import CollectionError


@pytest.fixture
def copied(album, tmp_path):
    """An album of pictures and copies of them."""
    album.add(write_pictures(tmp_path / "photos"))
    return album


def names(group):
    return [item.source.rpartition("photos/")[2] for item in group.items]


def test_levels_are_told_apart(copied, tmp_path):
    found = copied.duplicates()
    assert [group.level for group in found] == ["identical", "same", "same"]
    assert names(found[0]) == ["3.png"]
    assert found[0].copies == {found[0].items[0].id: [str(tmp_path / "photos" / "again.png")]}
    assert [set(names(group)) for group in found[1:]] == [
        {"0.png", "small/0.jpg"},
        {"1.png", "cut/1.png"},
    ]
    assert found.unknown == 0
    assert copied.duplicates("identical") == found[:1]


def test_copies_of_a_picture_may_have_equal_files_too(copied, tmp_path):
    small = tmp_path / "photos" / "small" / "0.jpg"
    (tmp_path / "more.jpg").write_bytes(small.read_bytes())
    copied.add(tmp_path / "more.jpg")
    found = copied.duplicates()
    assert [group.level for group in found] == ["identical", "identical", "same", "same"]
    assert list(found[2].copies.values()) == [[str(tmp_path / "more.jpg")]]


def test_look_alikes_are_a_level_of_their_own(photos):
    photos.add_codes(np.array([[0, 0], [1, 0], [255, 255]], dtype=np.uint8))
    assert photos.duplicates() == []
    assert photos.duplicates().unknown == 3
    [group] = photos.duplicates("alike", r=1)
    assert (group.level, [item.id for item in group.items]) == ("alike", [0, 1])


@pytest.mark.parametrize("level", ["equal", "", None, 2])
def test_unknown_levels(photos, level):
    with pytest.raises(CollectionError, match="identical, same or alike"):
        photos.duplicates(level)
