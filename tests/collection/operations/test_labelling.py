import json
import threading

import numpy as np
import pytest

from zshash import Collection, CollectionError

LABELS = [["cat"], ["cat", "sofa"], None, ["dog"]]


@pytest.fixture
def labelled(photos, X):
    photos.add(X[:4], labels=LABELS)
    return photos


def labels_of(album):
    return [list(item.labels) for item in album.items()]


def test_labels_are_given_changed_and_taken_away(labelled):
    assert labelled.label([0, 2], "tiger") == 2
    assert labels_of(labelled) == [["tiger"], ["cat", "sofa"], ["tiger"], ["dog"]]
    assert labelled.label([1, 3], ["pet", "home"]) == 2
    assert labelled.label([3], None) == 1
    assert labels_of(labelled) == [["tiger"], ["pet", "home"], ["tiger"], []]
    assert labelled.verify() == []
    with Collection.open(labelled.path) as other:
        assert other.items() == labelled.items()


def test_a_label_is_added_beside_others_once(labelled):
    assert labelled.label([1, 2, 2], " sofa ", how="also") == 1
    assert labels_of(labelled) == [["cat"], ["cat", "sofa"], ["sofa"], ["dog"]]


def test_nothing_changes_where_an_id_is_unknown(labelled):
    before = labelled.items(), labelled.generation
    with pytest.raises(CollectionError, match="there is no item 77, so no label was changed"):
        labelled.label([0, 77], "tiger")
    with pytest.raises(ValueError, match="a label is a word"):
        labelled.label([0], ["tiger", ""])
    assert (labelled.items(), labelled.generation) == before


def test_codes_conditions_and_counts_follow(labelled, X):
    codes = labelled.index.codes.copy()
    assert labelled.find("label = 'cat'").tolist() == [0, 1]
    labelled.label(labelled.find("label = 'cat'"), "lion")
    assert labelled.find("label = 'cat'").tolist() == []
    assert labelled.labels() == {"lion": 2, "": 1, "dog": 1}
    np.testing.assert_array_equal(labelled.index.codes, codes)
    assert labelled.search(X[0], k=1)[0].labels == ("lion",)


def test_more_items_than_one_group(photos, X, monkeypatch):
    monkeypatch.setattr("zshash.collection.operations.labelling.AT_ONCE", 7)
    photos.add(X)
    assert photos.label(photos.ids, "thing") == len(X)
    assert photos.label(photos.ids, "thing") == 0
    assert photos.labels() == {"thing": len(X)}
    assert photos.verify() == []


def test_a_failure_in_the_middle_leaves_all_labels(photos, X, monkeypatch):
    module = "zshash.collection.operations.labelling"
    monkeypatch.setattr(f"{module}.AT_ONCE", 10)
    photos.add(X)
    turns = iter([0, 0, 1])
    monkeypatch.setattr(f"{module}.check", lambda: 1 // (1 - next(turns)))
    with pytest.raises(ZeroDivisionError):
        photos.label(photos.ids, "thing")
    monkeypatch.undo()
    assert photos.labels() == {"": len(X)}
    assert photos.verify() == []


def test_readers_see_all_new_labels_or_none(photos, X):
    photos.add(X)
    seen, is_done = set(), threading.Event()

    def read():
        with Collection.open(photos.path) as other:
            while not is_done.is_set():
                seen.add(json.dumps(other.labels()))

    thread = threading.Thread(target=read)
    thread.start()
    for word in "abcdefgh":
        photos.label(photos.ids, word)
    is_done.set()
    thread.join()
    assert seen <= {json.dumps({word: len(X)}) for word in ["", *"abcdefgh"]}


def test_one_of_several_labels_is_taken_away(labelled):
    labelled.label([0, 1, 2], ["pet", "tiger", "home"])
    labelled.label([2], "home")
    assert labelled.label([0, 1, 2, 2], "tiger", how="without") == 2
    assert [labelled[number].labels for number in (0, 1, 2)] == [("pet", "home")] * 2 + [("home",)]
    assert labelled.label([0], ["pet", "home", "sofa"], how="without") == 1
    assert labelled[0].labels == ()
    assert labelled.label([0], None, how="without") == 0
    assert labelled.verify() == []
    with pytest.raises(ValueError, match="how is set, also or without, not 'never'"):
        labelled.label([0], "a", how="never")
