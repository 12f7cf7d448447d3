import shutil

import pytest

from tests.collection.conftest import draw
from zshash.collection.operations.sync_labels import former_labels, layout_labels


def labels(album):
    return [item.labels for item in album.items()]


def test_labels_move_with_a_renamed_folder(album, pictures):
    album.add(pictures)
    (pictures / "cat").rename(pictures / "tiger")
    assert album.sync(pictures).moved.tolist() == [0, 1, 2, 3]
    assert labels(album)[:5] == [("tiger",)] * 4 + [("dog",)]
    assert album.labels() == {"dog": 4, "ship": 4, "tiger": 4}


def test_labels_can_be_kept(album, pictures):
    album.add(pictures)
    (pictures / "cat").rename(pictures / "tiger")
    assert album.sync(pictures, keep_labels=True).moved.tolist() == [0, 1, 2, 3]
    assert album.labels() == {"cat": 4, "dog": 4, "ship": 4}


def test_labels_given_by_hand_stay(album, pictures):
    album.add(pictures)
    album.label([0], "sofa", how="also")
    album.label([1], "Tom")
    album.label([2], None)
    (pictures / "cat").rename(pictures / "tiger")
    album.sync(pictures)
    assert labels(album)[:4] == [("tiger", "sofa"), ("Tom",), (), ("tiger",)]


def test_one_file_moves_among_folders_that_stay(album, pictures):
    album.add(pictures)
    (pictures / "cat" / "0.png").rename(pictures / "dog" / "new.png")
    album.sync(pictures)
    assert labels(album)[:2] == [("dog",), ("cat",)]


def test_a_folder_that_says_nothing_takes_no_label_away(album, pictures):
    album.add(pictures)
    (pictures / "cat").rename(pictures / "2021-08")
    album.sync(pictures)
    assert labels(album)[0] == ("cat",)


def test_pictures_from_a_folder_that_said_nothing_get_the_new_label(album, pictures):
    for i in range(2):
        draw(pictures / "2021-08" / f"{i}.png", 200 + i)
    album.sync(pictures)
    album.label([0], "beach")
    assert labels(album)[:3] == [("beach",), (), ("cat",)]
    (pictures / "2021-08").rename(pictures / "boat")
    album.sync(pictures)
    assert labels(album)[:3] == [("boat", "beach"), ("boat",), ("cat",)]


def test_pictures_from_elsewhere_keep_their_labels(album, pictures, tmp_path):
    other = draw(tmp_path / "other" / "horse" / "a.png", 300)
    draw(tmp_path / "other" / "cow" / "b.png", 301)
    album.add(tmp_path / "other")
    kept = [item.labels for item in album.items()]
    album.add(pictures)
    other.rename(pictures / "cat" / "horse.png")
    (tmp_path / "other" / "cow" / "b.png").rename(pictures / "cat" / "cow.png")
    assert album.sync(pictures).moved.tolist() == [0, 1]
    assert labels(album)[:2] == kept == [("cow",), ("horse",)]


def test_former_labels_are_those_that_the_layout_gave(album, pictures):
    wanted = layout_labels(album._store, pictures)
    assert former_labels(album._store, pictures, list(wanted)) == wanted
    shutil.rmtree(pictures)
    assert former_labels(album._store, pictures, list(wanted)) == wanted


def test_folders_that_are_named_by_wordnet_ids(album, tmp_path):
    root = tmp_path / "net"
    for i, name in enumerate(["n02123045", "n02084071"]):
        draw(root / name / "a.png", 400 + i)
    (root / "words.txt").write_text("n02123045\ttabby\nn02084071\thound\nn01503061\tbird\n")
    album.sync(root)
    assert labels(album) == [("hound",), ("tabby",)]
    (root / "n02123045").rename(root / "n01503061")
    album.sync(root)
    assert labels(album) == [("hound",), ("bird",)]


@pytest.mark.parametrize("problem", [OSError("no room"), None])
def test_labels_stay_where_the_former_ones_can_not_be_known(album, pictures, monkeypatch, problem):
    album.add(pictures)
    module = "zshash.collection.operations.sync_labels"
    if problem is None:
        monkeypatch.setattr(f"{module}._opened", lambda *_: None)
    else:
        monkeypatch.setattr(f"{module}._made_again", lambda *_: (_ for _ in ()).throw(problem))
    (pictures / "cat").rename(pictures / "tiger")
    album.sync(pictures)
    assert labels(album)[0] == ("cat",)
