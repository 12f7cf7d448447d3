import time

import numpy as np
import pytest

from zshash.semantics import UnknownNames, WordNet
from zshash.semantics.nouns import Nouns, nouns


def test_nouns_are_loaded_once_and_fast():
    assert nouns() is nouns()
    seconds = []
    for _ in range(3):
        nouns.cache_clear()
        start = time.process_time()
        assert WordNet().synset("cat") == "n02121620"
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.5


def test_a_file_of_another_format_is_refused():
    with pytest.raises(RuntimeError, match="has format 99, this version reads 1"):
        Nouns({"format": np.array(99)})


@pytest.mark.parametrize(
    ("name", "synset"),
    [
        ("n02123045", "n02123045"),
        (" N02123045", "n02123045"),
        ("Tabby cat", "n02123045"),
        ("tabby_cat", "n02123045"),
        (" tabby-  cats", "n02123045"),
        ("goldfish, Carassius auratus", "n01443537"),
        ("qqqq, Carassius auratus", "n01443537"),
        ("T shirt", "n03595614"),
        ("ice-cream", "n07614500"),
        ("potter's wheel", "n03992509"),
        ("mice", "n02330245"),
        ("Geese", "n01855672"),
        ("churches", "n08082602"),
        ("boxes", "n02883344"),
        ("spider monkeys", "n02493793"),
        ("aides de camp", "n09770179"),
        ("pickup truck", "n03930630"),
        ("red garbage lorry", "n03690600"),
        ("rusty pickup trucks", "n03930630"),
        ("bottle of milk", "n02876657"),
        ("bottles of milk", "n02876657"),
        ("large bottles of fresh milk", "n02876657"),
        ("king of beasts", "n02129165"),
        ("golf club", "n08229694"),
        ("golf-club", "n03446070"),
        ("sunglasses", "n04356056"),
    ],
)
def test_look_up(name, synset):
    assert WordNet().synset(name) == synset
    assert name in WordNet()


def test_an_exact_synonym_beats_a_derived_one():
    assert WordNet().synset("shiny new lorry, truck") == WordNet().synset("truck")


def test_synonyms_agree_on_a_sense():
    source = WordNet()
    assert source.synset("monarch") == "n10628644"  # who rules
    assert source.synset("monarch, monarch butterfly, milkweed butterfly") == "n02279972"
    assert source.synset("entity, entity") == source.synset("entity")


def test_categories_of_tiny_imagenet(data_folder):
    with np.load(data_folder / "features" / "tiny100_lite0_pca256.npz") as archive:
        wnids, names = archive["wnids"].tolist(), archive["names"].tolist()
    source = WordNet()
    assert [source.synset(wnid) for wnid in wnids] == wnids
    same = [source.synset(name) == wnid for name, wnid in zip(names, wnids, strict=True)]
    assert len(same) == 100
    # the rest has no synonym to tell its sense: slug (bullet), chain (of shops), banana (plant)
    assert sum(same) >= 90


def test_unknown_names_come_together_with_near_misses():
    start = time.process_time()
    with pytest.raises(UnknownNames) as caught:
        WordNet().embed(["cat", "segwya", "n99999999", "elefant", "segwya"])
    assert time.process_time() - start < 1
    assert caught.value.names == ("segwya", "n99999999", "elefant")
    assert "segway" in caught.value.suggestions["segwya"]
    assert "elephant" in caught.value.suggestions["elefant"]
    assert str(caught.value).startswith("WordNet does not know 3 names: 'segwya' (did you mean ")
    assert "segwya" not in WordNet()
    assert 7 not in WordNet()


def test_unknown_names_of_both_sides_of_hops():
    with pytest.raises(UnknownNames) as caught:
        WordNet().hops("qqqq", "wwwwq")
    assert caught.value.names == ("qqqq", "wwwwq")
