"""Removals on the command line that are undone, and those that can not be."""

from datetime import datetime

import pytest

from tests.cli.albums import draw, make_album, read, refused, run


@pytest.fixture(autouse=True)
def album(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_album(tmp_path)


def ids():
    return [item["id"] for item in read("list", "album")]


def removed(*arguments):
    """Key of a removal."""
    return read("remove", "album", *arguments)["undo"]


def test_remove_says_how_to_undo_it():
    first, told = run("remove", "album", 1, 4).splitlines()
    assert first == "album: 2 removed, 4 left"
    key = told.removeprefix("zshash restore album ").removesuffix(" undoes this")
    assert run("restore", "album", key) == "album: 2 items are there again, 6 in all\n"
    assert ids() == list(range(6))
    assert read("verify", "album")["problems"] == []


def test_the_last_removal_is_undone():
    before = read("list", "album")
    run("remove", "album", 0)
    run("remove", "album", "--where", "label = 'dog'")
    assert read("restore", "album", "--last") == {"restored": [3, 4, 5], "items": 5}
    assert run("restore", "album", "--last") == "album: 1 item is there again, 6 in all\n"
    assert read("list", "album") == before


def test_removals_are_listed():
    assert run("restore", "album") == "album: there is no removal that can be undone\n"
    assert read("restore", "album") == []
    keys = [removed(2), removed(0, 1)]
    assert [(one["key"], one["items"]) for one in read("restore", "album")] == [
        (keys[1], 2),
        (keys[0], 1),
    ]
    lines = [line.split("\t") for line in run("restore", "album").splitlines()]
    assert [[key, n] for key, _, n in lines] == [[keys[1], "2 items"], [keys[0], "1 item"]]
    assert all(datetime.fromisoformat(when) for _, when, _ in lines)
    assert ids() == [3, 4, 5]


def test_for_good_nothing_is_kept():
    assert run("remove", "album", 1, "--for-good") == "album: 1 removed, 5 left\n"
    facts = read("remove", "album", "--where", "id = 2", "--for-good")
    assert facts == {"removed": 1, "items": 4, "undo": None}
    assert "no removal that can be undone" in refused("restore", "album", "--last")


def test_compact_forgets_removals():
    key = removed(1)
    run("compact", "album")
    assert read("restore", "album") == []
    assert f"nothing is kept under the key '{key}'" in refused("restore", "album", key)


def test_what_can_not_be_restored_says_why(tmp_path):
    key = removed(1)
    run("add", "album", tmp_path / "photos" / "cat" / "1.png")
    assert "its picture was added again as item 6: remove that one first" in refused(
        "restore", "album", key
    )
    run("remove", "album", 6, "--for-good")
    assert read("restore", "album", key)["restored"] == [1]
    assert "restored already" in refused("restore", "album", key)


def test_ids_of_removed_items_are_not_given_again(tmp_path):
    key = removed(5)
    run("add", "album", draw(tmp_path / "new.png", 99))
    assert read("restore", "album", key)["restored"] == [5]
    assert ids() == list(range(7))


MISTAKES = [
    (("restore",), "--help tells what it takes"),
    (("restore", "nowhere", "1-1"), "zshash create makes a collection"),
    (("restore", "photos"), "zshash create makes one"),
    (("restore", "album", "--last"), "there is no removal that can be undone"),
    (("restore", "album", "1-1", "--last"), "give a KEY or --last, not both"),
    (("restore", "album", "1-1"), "nothing is kept under the key '1-1'"),
    (("restore", "album", "x"), "nothing is kept under the key 'x'"),
    (("restore", "album", "5"), "nothing is kept under the key '5'"),
    (("restore", "album", "1-" + "9" * 30), "nothing is kept under the key"),
    (("restore", "album", "' OR 1 --"), "nothing is kept under the key"),
    (("restore", "album", "-1"), "No such option"),
    (("restore", "album", ""), "it is empty"),
    (("remove", "album", "--for-good"), "say which items to remove"),
    (("remove", "album", 77, "--for-good"), "there is no item 77, so nothing was removed"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(arguments, message):
    assert message in refused(*arguments)
    assert ids() == list(range(6))
