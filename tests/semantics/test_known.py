import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zshash.semantics import WordNet
from zshash.semantics.known import Known
from zshash.semantics.nouns import nouns
from zshash.semantics.senses import senses

LOLLY, MACHINE, BIRD, TABBY, TRUCK = (
    "n07615774",
    "n03126707",
    "n02012849",
    "n02123045",
    "n04490091",
)


def keys(known, name):
    return [sense.key for sense in known.order(senses(name))]


def test_a_lolly_is_to_be_eaten():
    assert senses("lolly")[0].key == "lolly.n.01"
    assert keys(Known([LOLLY]), "lolly") == ["lolly.n.02", "lolly.n.01"]


def test_the_more_frequent_of_two_known_senses_is_first():
    numbers = [1, 2, 3]
    both = [f"crane.n.{number:02d}" for number in (4, 5, *numbers)]
    assert keys(Known([BIRD, MACHINE]), "crane") == both
    assert keys(Known([BIRD]), "crane") == [f"crane.n.{n:02d}" for n in (5, 1, 2, 3, 4)]


def test_what_is_above_a_known_synset_is_known():
    known = Known([TABBY])
    assert known.below(WordNet().synset("cat")) == known.below(WordNet().synset("animal")) == [0]
    assert known.below(WordNet().synset("dog")) == []
    assert known.below("n99999999") == known.below("") == []


def test_empty_ids_keep_their_place():
    known = Known(["", TABBY, "n99999999", TRUCK, TABBY])
    assert known.below(TABBY) == [1, 4]
    assert known.below(WordNet().synset("physical object")) == [1, 3, 4]
    assert known.ids[3] == TRUCK
    assert repr(known) == "Known(<5 synsets>)"


@pytest.mark.parametrize("ids", [[], [""], [TRUCK]])
def test_the_order_stays_if_no_sense_is_known(ids):
    assert Known(ids).order(senses("monarch")) == senses("monarch")
    assert Known(ids).order([]) == []


@given(st.lists(st.sampled_from([LOLLY, MACHINE, BIRD, TABBY, TRUCK]), max_size=4))
def test_below_against_the_ancestors(ids):
    known, wordnet = Known(ids), WordNet()
    for synset in (*ids, "n00001930", wordnet.synset("vehicle")):
        lines = [[own, *wordnet.ancestors(own)] for own in ids]
        assert known.below(synset) == [i for i, line in enumerate(lines) if synset in line]


def test_a_thousand_categories_take_no_time():
    ids = [f"n{offset:08d}" for offset in nouns().offsets[20_000:60_000:40]]
    start = time.perf_counter()
    known = Known(ids)
    for synset in ids:
        known.below(synset)
    assert time.perf_counter() - start < 2
