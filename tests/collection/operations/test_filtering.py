"""Which items meet a condition: found beside the searches, remembered until items change."""

import threading
from collections import Counter

import numpy as np
import pytest

from zshash import Collection
from zshash.codes import hamming
from zshash.collection.operations import filtering
from zshash.collection.storage.remembered import Remembered

SECONDS = 60
LABELS = [["cat"], ["dog", "pet"], None, ["cat", "pet"]]


@pytest.fixture
def filled(photos, X):
    photos.add(
        X[:40],
        labels=[LABELS[i % 4] for i in range(40)],
        metadata=[{"year": 2000 + i % 7} for i in range(40)],
    )
    return photos


def meets(item):
    return "pet" in item.labels and item.metadata["year"] >= 2003


WHERE = "label = 'pet' and year >= 2003"


def check_subset(photos, codes):
    """Searches with a condition against looking at every item."""
    good = [item for item in photos.items() if meets(item)]
    own = np.array([list(item.code) for item in good], dtype=np.uint8)
    for code, found in zip(codes, photos.search(code=codes, k=1000, where=WHERE), strict=True):
        distances = hamming(code[None], own)[0]
        ids = [item.id for item in good]
        expected = sorted(zip(distances.tolist(), ids, strict=True))
        assert [(match.bits, match.id) for match in found] == expected
    assert photos.find(WHERE).tolist() == [item.id for item in good]


def test_remembered_subsets_are_right_after_adds_and_removes(filled, X, hasher):
    codes = hasher.encode(X[50:])
    check_subset(filled, codes)
    check_subset(filled, codes)
    filled.remove(filled.find(WHERE)[:2])
    check_subset(filled, codes)
    filled.add(X[40:50], labels=["pet"] * 10, metadata=[{"year": 2004}] * 10)
    check_subset(filled, codes)
    with Collection.open(filled.path) as other:
        other.remove(other.find(WHERE)[-3:])
    check_subset(filled, codes)


def test_a_condition_is_looked_up_once_until_items_change(filled, X, monkeypatch):
    found, calls = filtering._found, []
    monkeypatch.setattr(filtering, "_found", lambda *args: calls.append(args[1]) or found(*args))
    for _ in range(3):
        filled.search(X[0], where=WHERE)
        filled.search(X[0], where="year = 2000")
    assert calls == [WHERE, "year = 2000"]
    filled.add(X[40:41])
    filled.search(X[0], where=WHERE)
    assert calls == [WHERE, "year = 2000", WHERE]


def test_labels_are_counted(filled, X):
    expected = Counter()
    for item in filled.items():
        expected.update(item.labels or [""])
    labels = filled.labels()
    assert labels == expected
    assert list(labels) == ["cat", "pet", "", "dog"]
    labels["cat"] = 0  # a copy
    assert filled.labels() == expected
    filled.remove(filled.find("label = 'dog'"))
    assert "dog" not in filled.labels()
    filled.add(X[40:], labels=["zebra"] * 20)
    assert filled.labels()["zebra"] == 20
    assert filled.labels()["pet"] == 10


def test_no_labels_at_all(photos):
    assert photos.labels() == {}


def test_what_is_remembered_is_of_one_generation():
    remembered = Remembered(most=2)
    remembered.put(5, "a", 1)
    remembered.put(4, "b", 2)  # by a thread that was slow
    assert remembered.get(5, "a") == 1
    assert remembered.get(4, "b") is None
    assert remembered.get(5, "b") is None
    remembered.put(5, "b", 2)
    assert remembered.get(5, "a") == 1
    remembered.put(5, "c", 3)  # the one that was asked for longest ago goes
    assert [remembered.get(5, key) for key in "abc"] == [1, None, 3]
    remembered.put(6, "d", 4)
    assert [remembered.get(5, key) for key in "ac"] == [None, None]
    assert remembered.get(6, "d") == 4


def test_items_that_change_while_a_condition_is_looked_up(filled, X, hasher, monkeypatch):
    """In each attempt the catalogue is ahead of the index."""
    found, left = filtering._found, filled.find(WHERE).tolist()

    def remove_one_first(store, where):
        with Collection.open(filled.path) as other:
            other.remove([left.pop()])
        return found(store, where)

    total = len(left)
    monkeypatch.setattr(filtering, "_found", remove_one_first)
    page = filled.search(code=hasher.encode(X[:1]), k=1000, where=WHERE)[0]
    assert len(left) == total - 4
    assert sorted(match.id for match in page) == left
    assert page.total == len(left)


def test_a_condition_is_looked_up_beside_searches_and_changes(filled, X, monkeypatch):
    begun, go_on, found = threading.Event(), threading.Event(), []
    own = filled._store.beside

    class Slow:
        def __enter__(self):
            self.inner = own()
            value = self.inner.__enter__()
            begun.set()
            assert go_on.wait(SECONDS)
            return value

        def __exit__(self, *args):
            return self.inner.__exit__(*args)

    expected = filled.find(WHERE).tolist()
    monkeypatch.setattr(filled._store, "beside", Slow)
    thread = threading.Thread(target=lambda: found.append(filled.find(WHERE).tolist()))
    thread.start()
    try:
        assert begun.wait(SECONDS)
        assert filled.search(X[3], k=1)[0].bits == 0
        assert filled.add(X[40:45]).ids.tolist() == list(range(40, 45))
        filled.remove([expected[0]])
        assert len(filled) == 44
    finally:
        go_on.set()
        thread.join(SECONDS)
    assert found == [expected]  # as the catalogue was when it began
