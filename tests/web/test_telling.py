"""JSON of items is made once, and anew when an item has changed."""

import json

import pytest

from zshash.collection import Item
from zshash.collection.results import Match
from zshash.web.answers import to_json
from zshash.web.telling import Telling


@pytest.fixture
def told():
    """What was told, in the order in which it was made."""
    return []


@pytest.fixture
def telling(told):
    def facts(item, is_pictured):
        told.append(item.id)
        return {"id": item.id, "labels": list(item.labels), "thumbnail": is_pictured}

    return Telling(facts, most=3)


def match(number, score=0.5, bits=3, label="naïve \ud800"):
    return Match(Item(number, b"\x0f", labels=(label,)), score, bits)


def test_it_is_what_json_would_be(telling):
    matches = [match(7), match(8, 1 / 3, None), match(9, -1e-300, 0)]
    whole = b"[%b]" % telling.matches(matches, {8})
    wanted = [
        {"score": own.score, "bits": own.bits, "id": own.id, "labels": list(own.labels)}
        | {"thumbnail": own.id == 8}
        for own in matches
    ]
    assert whole == to_json(wanted)
    assert json.loads(whole) == wanted


def test_an_item_is_told_anew_when_it_has_changed(telling, told):
    one = match(1)
    for _ in range(3):
        telling.matches([one], set())
    assert told == [1]
    telling.matches([match(1)], set())  # another object
    telling.matches([one], {1})  # by now it has a small picture
    assert told == [1, 1, 1]


def test_only_so_many_are_kept(telling, told):
    matches = [match(number) for number in range(4)]
    telling.matches(matches, set())
    telling.matches(matches[1:], set())
    assert told == [0, 1, 2, 3]
    telling.matches(matches[:1], set())
    assert told == [0, 1, 2, 3, 0]


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_json_does_not_know(telling, score):
    with pytest.raises(ValueError, match="no number"):
        telling.matches([match(1, score)], set())
