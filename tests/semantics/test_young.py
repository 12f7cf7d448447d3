"""Young animals, by their names."""

import pytest

from zshash.semantics.nouns import nouns
from zshash.semantics.senses import senses, synset_row
from zshash.semantics.young import GROWN_UP, grown_up

ANIMAL = "n00015388"
PAIRS = {
    "kitten": "cat",
    "puppy": "dog",
    "foal": "horse",
    "calf": "cattle",
    "lamb": "sheep",
    "piglet": "hog",
    "duckling": "duck",
    "cygnet": "swan",
    "gosling": "goose",
    "fawn": "deer",
    "tadpole": "frog",
    "leveret": "hare",
    "owlet": "owl",
    "eaglet": "eagle",
}


@pytest.mark.parametrize(("young", "old"), PAIRS.items())
def test_what_young_animals_become(young, old):
    """One sense of the young animal's name leads to a sense of the other name."""
    found = {grown_up(sense.synset) for sense in senses(young)} - {""}
    assert len(found) == 1
    assert found <= {sense.synset for sense in senses(old)}


def test_all_are_animals_that_wordnet_knows():
    for pair in GROWN_UP.items():
        for synset in pair:
            row = synset_row(synset)
            assert row is not None
            assert nouns().row(ANIMAL) in nouns().above(row)


def test_others_become_nothing_else():
    assert grown_up("n02121620") == grown_up("") == grown_up("kitten") == ""
