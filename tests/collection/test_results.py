"""Results as a Python prompt shows them: short, however many items there are."""

import pickle

import numpy as np
import pytest

from zshash.collection import Added, Found, Item, Match, Synced
from zshash.collection.results import Relocated

MANY = np.arange(10_000)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (Item(7, b"\x0f" * 8, "a.jpg"), "Item(id=7, source='a.jpg', labels=(), metadata={})"),
        (Match(Item(7, b"\x0f", "a.jpg"), 0.12345), "Match(id=7, score=0.123, path='a.jpg')"),
        (
            Match(Item(7, b"\x0f", labels=("dog",)), 1.0, 3),
            "Match(id=7, score=1, bits=3, path=None, labels=('dog',))",
        ),
        (Added(MANY, MANY[:2], ("bad",)), "<Added 10,000 ids, 2 duplicates, 1 failures>"),
        (
            Synced(MANY, MANY[:1], MANY[:0], MANY[:3]),
            "<Synced 10,000 added, 1 changed, 0 moved, 3 removed, 0 failures>",
        ),
        (Relocated(MANY), "<Relocated 10,000 ids, 0 missing>"),
    ],
)
def test_short_texts(result, text):
    assert repr(result) == text


def matches(n):
    return [Match(Item(i, b"\x0f", f"{i}.jpg"), 1 - i / 100, i) for i in range(n)]


def test_found_shows_its_first_matches():
    first = "id 0 (1.00) 0.jpg, id 1 (0.99) 1.jpg, id 2 (0.98) 2.jpg"
    assert repr(Found(matches(3), total=3)) == f"<Found 3 of 3: {first}>"
    assert repr(Found(matches(20), total=1433)) == f"<Found 20 of 1,433: {first}, …>"
    assert repr(Found()) == "<Found 0 of 0>"


def test_found_is_still_a_list():
    found = Found(matches(3), total=3)
    assert found == matches(3)
    assert found[1:] == matches(3)[1:]
    assert list(found) == matches(3)


def test_matches_can_be_pickled(photos, X):
    photos.add(X)
    found = photos.search(X[0], k=3)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert (again.total, again.code, again.model) == (found.total, found.code, found.model)
    assert "Found 3 of 60" in again._repr_html_()


def test_a_collection_says_what_it_holds(photos, X):
    photos.add(X)
    text = f"<Collection {str(photos.path)!r}: "
    assert repr(photos) == f"{text}60 items, 16 bits by LSH>"
    photos.close()
    assert repr(photos) == f"{text}not open>"
