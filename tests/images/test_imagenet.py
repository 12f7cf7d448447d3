from collections import Counter

import numpy as np

from zshash.images.imagenet import imagenet_categories, imagenet_ids
from zshash.semantics import WordNet

SAMPLES = {0: "n01440764", 281: "n02123045", 517: "n03126707", 999: "n15075141"}


def test_ids_in_the_order_of_outputs():
    ids = imagenet_ids()
    assert len(ids) == 1000
    assert list(ids) == sorted(set(ids))
    assert {place: ids[place] for place in SAMPLES} == SAMPLES


def test_wordnet_has_all_of_them():
    assert all(WordNet().synset(each) == each for each in imagenet_ids())


def test_names_tell_all_categories_apart():
    known = imagenet_categories(np.zeros((1000, 2)), np.arange(1000))
    assert len(set(known.names)) == 1000
    assert known.names[0] == "tench"
    assert {known.names[134], known.names[517]} == {"crane (n02012849)", "crane (n03126707)"}
    counts = Counter("(" in name for name in known.names)
    assert counts[True] == 4


def test_ids_and_names_of_the_caller():
    known = imagenet_categories(
        np.zeros((2, 5)), np.zeros(2), ids=["n02012849", "n03126707"], names=["crane", "crane"]
    )
    assert known.ids == ("n02012849", "n03126707")
    assert known.names == ("crane (n02012849)", "crane (n03126707)")
