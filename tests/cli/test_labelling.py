"""Labels given, changed and taken away on the command line."""

import numpy as np
import pytest

from tests.cli.albums import make_album, read, refused, run
from tests.learning.known_things import BEAGLE, TABBY, make_world
from zshash import LSH, Collection
from zshash.learning.knowledge import learn_knowledge
from zshash.learning.model import Model


@pytest.fixture(autouse=True)
def album(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_album(tmp_path)


def labels():
    return [item["labels"] for item in read("list", "album")]


def test_the_last_word_is_the_name():
    output = run("label", "album", 3, 4, "tiger")
    assert output.splitlines()[0] == "album: 2 items are labelled tiger now"
    assert "zshash refit album learns from labels" in output
    assert labels() == [["cat"]] * 3 + [["tiger"]] * 2 + [["dog"]]


def test_a_name_that_is_a_number():
    assert "--name NAME if it is a number" in refused("label", "album", 3, 4)
    run("label", "album", 3, "--name", 4)
    run("label", "album", 5, "747 jet")
    assert labels()[3:] == [["4"], ["dog"], ["747 jet"]]


def test_labels_are_added_and_taken_away():
    run("label", "album", 0, 1, "--also", "sofa")
    run("label", "album", 2, "tiger", "--also", "big", "--also", "wild")
    assert "1 item has no label any more" in run("label", "album", 5, "--none")
    assert labels() == [["cat", "sofa"]] * 2 + [["tiger", "big", "wild"], ["dog"], ["dog"], []]


def test_one_of_several_labels_is_taken_away():
    run("label", "album", 0, "--also", "sofa", "--also", "big")
    output = run("label", "album", 0, 3, "--without", "sofa")
    assert output == "album: 1 item is not labelled sofa any more\n"
    facts = read("label", "album", "--without", "cat", "--without", "big", "--where", "id < 2")
    assert facts == {"items": 2, "changed": 2, "labels": ["cat", "big"]}
    assert labels() == [[], [], ["cat"]] + [["dog"]] * 3
    assert "0 items are not labelled" in run("label", "album", 5, "--without", "cat")


def test_a_condition_in_place_of_ids():
    facts = read("label", "album", "pet", "--where", "label = 'dog'")
    assert facts == {"items": 3, "changed": 3, "labels": ["pet"]}
    assert read("label", "album", "pet", "--where", "id >= 2")["changed"] == 1
    assert labels() == [["cat"]] * 2 + [["pet"]] * 4


def test_a_search_by_the_name_finds_what_was_labelled_first(tmp_path):
    world = make_world()
    hasher = LSH(n_bits=48, random_state=0).fit(world.X)
    signs = np.where(hasher.project(world.X) >= 0, 1.0, -1.0).astype(np.float32)
    model = Model(hasher, knowledge=learn_knowledge(world.X, signs, world.network))
    with Collection.create(tmp_path / "known", model) as known:
        known.add(world.X)
    wanted = [int(np.flatnonzero(world.y == kind)[0]) for kind in (TABBY, BEAGLE)]
    output = run("label", "known", *wanted, "house")
    assert "zshash search known --name house finds them first" in output
    (answer,) = read("search", "known", "--name", "house", "--k", 2)
    assert {match["id"] for match in answer["neighbours"]} == set(wanted)
    assert "--name 'garden gnome' finds it first" in run("label", "known", 7, "garden gnome")
    assert "finds" not in run("label", "album", 0, "house")  # its model knows no names


MISTAKES = [
    (("label", "album"), "their IDS, or --where"),
    (("label", "album", "dog"), "their IDS, or --where"),
    (("label", "album", 1, "dog", "--where", "id = 1"), "their IDS, or --where"),
    (("label", "album", 1, "--none", "--also", "x"), "or --none"),
    (("label", "album", 1, "dog", "--without", "cat"), "--without NAME"),
    (("label", "album", 1, "--also", "dog", "--without", "cat"), "--without NAME"),
    (("label", "album", 1, "--none", "--without", "cat"), "--without NAME"),
    (("label", "album", 1, "--without", " "), "it is empty"),
    (("label", "album", 77, "--without", "cat"), "no item 77, so no label was changed"),
    (("label", "album", 1, "golden", "retriever"), "'golden' is no id"),
    (("label", "album", 1, 77, "dog"), "there is no item 77, so no label was changed"),
    (("label", "album", 10**30, "dog"), "is no id"),
    (("label", "album", 1, " "), "it is empty"),
    (("label", "album", "x", "--where", "not yaer > 3"), "no label was changed"),
    (("label", "photos", 1, "dog"), "zshash create makes one"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(arguments, message):
    before = labels()
    assert message in refused(*arguments)
    assert labels() == before


def test_nothing_to_label():
    with Collection.open("album") as opened:
        generation = opened.generation
    assert "0 items are labelled" in run("label", "album", "pet", "--where", "id > 100")
    with Collection.open("album") as opened:
        assert opened.generation <= generation + 1
