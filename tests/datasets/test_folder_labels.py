"""Labels of folders, for trees that are written as lists of paths."""

import numpy as np
import pytest

from zshash.datasets.folder_labels import label_tree
from zshash.datasets.listing import list_tree


@pytest.fixture
def labels(tmp_path):
    """The labels of the pictures in a tree with these files."""

    def labels(*names, every=False):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        listing = list_tree(tmp_path)
        found = label_tree(listing, every)
        own = (path.relative_to(tmp_path).as_posix() for path in listing.pictures)
        return dict(zip(own, np.array(found.labels)[listing.homes].tolist(), strict=True))

    return labels


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("cats/1.jpg", "cats"),
        ("2021/cats/1.jpg", "cats"),
        ("cats/2021/1.jpg", "cats"),
        ("2021/08/1.jpg", ""),
        ("2021/08/14/1.jpg", ""),
        ("DCIM/100CANON/1.jpg", ""),
        ("DCIM/100/1.jpg", ""),
        ("Photos/2021/1.jpg", ""),
        ("Photos/7/1.jpg", "7"),
        ("n02084071/deep/1.jpg", "n02084071"),
        ("2021/n02084071/deep/1.jpg", "n02084071"),
        ("My.photoslibrary/originals/A/1.jpg", ""),
        ("2021/My.photoslibrary/originals/A/1.jpg", ""),
        (" /1.jpg", ""),
        ("1.jpg", ""),
    ],
)
def test_one_picture(labels, name, label):
    assert labels(name) == {name: label}


class TestWrappers:
    """Folders that hold all pictures."""

    def test_they_are_no_categories(self, labels):
        assert labels("all/of it/cat/1.jpg", "all/of it/dog/2.jpg", "all/of it/3.jpg") == {
            "all/of it/cat/1.jpg": "cat",
            "all/of it/dog/2.jpg": "dog",
            "all/of it/3.jpg": "",
        }

    def test_not_beside_a_loose_picture(self, labels):
        assert labels("animals/cat/1.jpg", "2.jpg") == {
            "animals/cat/1.jpg": "animals",
            "2.jpg": "",
        }

    def test_not_beside_another_folder(self, labels):
        assert labels("animals/cat/1.jpg", "things/cup/2.jpg") == {
            "animals/cat/1.jpg": "animals",
            "things/cup/2.jpg": "things",
        }

    def test_beside_a_folder_without_pictures(self, labels):
        found = labels("animals/cat/1.jpg", "animals/dog/2.jpg", "notes/readme.txt")
        assert list(found.values()) == ["cat", "dog"]

    def test_around_splits(self, labels):
        found = labels("set/train/cat/1.jpg", "set/val/dog/2.jpg", "set/val/3.jpg")
        assert list(found.values()) == ["cat", "", "dog"]

    def test_around_splits_without_labels(self, labels):
        assert set(labels("set/train/1.jpg", "set/test/2.jpg").values()) == {""}

    def test_around_numbers(self, labels):
        found = labels(*(f"digits/{digit}/1.png" for digit in range(10)))
        assert list(found.values()) == list(map(str, range(10)))

    def test_months_are_no_numbers_of_categories(self, labels):
        assert set(labels("2021/01/1.jpg", "2021/02/2.jpg").values()) == {""}

    def test_every_folder(self, labels):
        found = labels("photos/2021/cat/1.jpg", "photos/DCIM/2.jpg", every=True)
        assert list(found.values()) == ["2021", "DCIM"]


def test_every_folder_is_the_first_one(labels):
    found = labels("2021/cat/1.jpg", "DCIM/2.jpg", "My.photoslibrary/originals/A/3.jpg", every=True)
    assert list(found.values()) == ["2021", "DCIM", "My.photoslibrary"]


def test_numbers_are_labels_at_the_first_level_only(labels):
    found = labels("0/1.jpg", "1/5/2.jpg", "10/cat/3.jpg")
    assert list(found.values()) == ["0", "1", "10"]
    assert labels("cats/x.jpg")["0/1.jpg"] == ""


def test_names_that_are_no_text(tmp_path):
    (tmp_path / "caf\udce9").mkdir()
    (tmp_path / "caf\udce9" / "1.jpg").touch()
    listing = list_tree(tmp_path)
    assert label_tree(listing).labels[1] == "caf\ufffd"
    assert listing.pictures[0].exists()
