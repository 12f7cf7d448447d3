import numpy as np
import pytest

from zshash.datasets.mirflickr import TAGS
from zshash.studies.zsh2016.overlap import apart


@pytest.mark.parametrize(
    ("name", "synset", "tag"),
    [
        ("sky", "", "sky"),
        ("Plant-Life", "", "plant_life"),
        ("clouds", "", "cloud"),
        ("cloud", "", "clouds"),
        ("mouse", "n03793489", "mice"),  # the same name, if not the same thing
        ("scenery, indoor", "", "indoor"),  # no noun of WordNet's, but a synonym
        ("zyzzogeton", "", "zyzzogetons"),  # no word of WordNet's at all
        ("tabby", "", "animals"),
        ("vehicle", "", "car"),
        ("limousine, limo", "", "car"),
        ("station wagon", "n02814533", "car"),
        ("crane", "n02012849", "bird"),
        ("crane (n02012849)", "n99999999", "structures, crane"),
        ("tiny yellow songbird", "", "bird"),  # by its head noun
        ("oak tree", "", "plant_life"),
    ],
)
def test_overlap(name, synset, tag):
    assert apart([name], [synset] if synset else [], ["night", tag]).tolist() == []


@pytest.mark.parametrize(
    ("name", "synset", "tag"),
    [
        ("cat", "", "dog"),  # near each other, but neither is the other
        ("crane", "n03126707", "bird"),  # the machine
        ("sea cucumber", "n02321529", "sea"),  # a name inside a name
        ("railcar", "n02959942", "car"),  # a sense of car, but not the first
        ("class 7", "", "car"),
    ],
)
def test_no_overlap(name, synset, tag):
    assert apart([name], [synset] if synset else [], ["night", tag]).tolist() == [0]


def test_numbers_ascend_and_are_those_of_the_categories():
    names = ["teapot", "poodle", "umbrella", "lake", "kimono"]
    found = apart(names, [], sorted(TAGS))
    assert found.dtype == np.int64
    assert found.tolist() == [0, 2, 4]
    assert apart(names, [], []).tolist() == [0, 1, 2, 3, 4]
    assert apart([], [], ["sky"]).tolist() == []


def test_names_and_synsets_must_fit():
    with pytest.raises(ValueError, match="2 names of categories but 1 synsets"):
        apart(["cat", "dog"], ["n02121620"], ["sky"])


# Besides the animals, which are the ids below n02510000.
THINGS_TAGGED = {
    "structures": "bannister barn brass butcher-shop dam fountain obelisk scoreboard "
    "steel-arch-bridge viaduct",
    "car or transport": "beach-wagon convertible gondola limousine tractor trolleybus",
    "food": "guacamole ice-lolly mashed-potato meat-loaf potpie",
}


def test_tiny_imagenet_against_the_tags_of_mirflickr(data_folder):
    path = data_folder / "features" / "tiny100_lite0_pca256.npz"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    with np.load(path) as archive:
        names, synsets = archive["names"].tolist(), archive["wnids"].tolist()
    expected = {i for i, synset in enumerate(synsets) if synset < "n02510000"}
    assert len(expected) == 30
    tagged = " ".join(THINGS_TAGGED.values()).split()
    firsts = [name.split(",")[0].replace(" ", "-") for name in names]
    expected |= {firsts.index(name) for name in tagged}
    kept = apart(names, synsets, sorted(TAGS)).tolist()
    assert sorted(set(range(100)) - set(kept)) == sorted(expected)
