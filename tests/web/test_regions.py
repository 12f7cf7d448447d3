import numpy as np
import pytest

from tests.web.browser.knowing import DRAWN
from zshash.codes import unpack
from zshash.web.recognising import Recogniser
from zshash.web.regions import find_regions, told

ISLANDS = np.float32([[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]])


@pytest.fixture
def islands():
    """Places of 60 items on three islands, and the island of each."""
    of = np.arange(60) % 3
    spread = np.random.RandomState(0).randn(60, 2).astype(np.float32) / 100
    return ISLANDS[of] + spread, of


@pytest.fixture(scope="module")
def known(pets):
    """Bits of all items of a collection whose network knows names, and what each shows."""
    bits = unpack(pets.index.get(pets.ids), pets.model.n_bits)
    kinds = np.repeat(np.arange(len(DRAWN)), len(bits) // len(DRAWN))
    return bits, kinds, Recogniser(pets.model.knowledge, bits)


def test_regions_have_the_label_of_most_of_their_items(islands):
    places, of = islands
    labels = [["cat", "dog", None][island] for island in of]
    labels[0] = "fox"
    regions = find_regions(places, labels, np.zeros((60, 8), np.uint8))
    large = [region for region in regions if region.level == 0]
    assert {region.name for region in large} == {"cat", "dog"}
    for region in regions:
        island = ["cat", "dog"].index(region.name)
        assert np.abs(region.place - ISLANDS[island]).max() < 0.1
        assert region.word is None
    assert sum(region.items for region in large) <= 40


def test_a_part_with_the_name_of_the_whole_is_left_out(islands):
    places, _ = islands
    regions = find_regions(places, ["cat"] * 60, np.zeros((60, 8), np.uint8))
    assert {region.level for region in regions} == {0}


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_few_items_are_no_mistake(n):
    places = np.random.RandomState(0).rand(n, 2).astype(np.float32)
    regions = find_regions(places, ["cat"] * n, np.zeros((n, 8), np.uint8))
    assert len(regions) == int(n == 5)
    assert told(regions) == [region | {} for region in told(regions)]


def test_words_for_groups_are_what_the_network_recognises(known):
    bits, kinds, recogniser = known
    words = [recogniser.word(bits[kinds == kind]) for kind in range(len(DRAWN))]
    found = {None if word is None else recogniser.words[word] for word in words}
    assert (
        len({"garbage truck", "ocean liner", "sports car", "tabby", "truck", "ship"} & found) >= 3
    )
    assert recogniser.word(bits) is None, "the whole collection is nothing special"


def test_words_for_items(known):
    bits, kinds, recogniser = known
    words = [recogniser.words.index(name) for name in ("ocean liner", "tabby")]
    chosen = recogniser.choose(bits, words)
    ships, cats = (list(DRAWN).index(name) for name in ("ship", "cat"))
    assert (chosen[kinds == ships] == 0).mean() > 0.7
    assert (chosen[kinds == cats] == 1).mean() > 0.7
    assert (recogniser.choose(bits, []) == -1).all()


def test_a_label_of_nearly_all_items_names_no_region(known):
    bits, kinds, recogniser = known
    places = (kinds[:, None] // [1, 2] % [2, 3]).astype(np.float32)
    places += np.random.RandomState(0).randn(*places.shape).astype(np.float32) / 100
    found = find_regions(places, ["drawing"] * len(kinds), bits, recogniser)
    assert len({region.name for region in found}) >= 3
    assert all(region.word is not None for region in found)
    few = ["drawing" if kind else None for kind in kinds > 2]
    names = {region.name for region in find_regions(places, few, bits, recogniser)}
    assert "drawing" in names, "half of the items have this label, so it says something"


def test_regions_without_labels_have_words(known):
    bits, kinds, recogniser = known
    some = np.isin(kinds, [2, 3])
    places = np.where(kinds[some, None] == 2, ISLANDS[0], ISLANDS[1])
    places = places + np.random.RandomState(0).randn(*places.shape) / 100
    regions = find_regions(places, [None] * int(some.sum()), bits[some], recogniser)
    assert regions
    assert all(region.word is not None for region in regions)
    assert told(regions)[0]["recognised"] is True
