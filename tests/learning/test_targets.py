import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from zshash import MTH, SDH, ZSH
from zshash.datasets import Dataset
from zshash.learning.aliases import AliasError
from zshash.learning.meanings import meanings
from zshash.learning.targets import (
    called_by,
    label_meanings,
    label_vectors,
    make_targets,
    shared_targets,
)
from zshash.semantics import WordNet, open_source

NAMES = ("cat", "goldfish, Carassius auratus", "truck", "monarch", "tulip", "seven")
IDS = ("n02121620", "n01443537", "n04490091", "n02279972", "n12454159", "n13744916")
ALL = np.arange(6)


def data(names, synsets=()):
    labels = np.arange(len(names))
    return Dataset(np.eye(len(names), dtype=np.float32), labels, tuple(names), tuple(synsets))


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("\n".join(f"{name.split(',')[0]} {i} 1 2" for i, name in enumerate(NAMES)))
    return str(path)


def as_before(dataset, categories, sources, seen=None):
    """Vectors as they were when unknown names were errors; published figures rest on them."""
    parts = []
    for source in sources:
        called = dataset.synsets if source == "wordnet" and dataset.synsets else dataset.names
        names = [called[number] for number in categories]
        basis = names if seen is None else [called[number] for number in seen]
        parts.append(open_source(source, seen=basis, only=names).embed(names))
    return np.hstack(parts) / np.float32(np.sqrt(len(parts)))


@pytest.mark.parametrize("synsets", [(), IDS])
@pytest.mark.parametrize("with_file", [False, True])
@pytest.mark.parametrize(
    ("categories", "seen"),
    [(ALL, None), (ALL[[4, 1]], None), (ALL[1:2], ALL[:4]), (ALL, ALL[[5, 0, 3]])],
)
def test_known_names_have_the_same_vectors_to_the_last_bit(
    synsets, with_file, categories, seen, words
):
    dataset, sources = data(NAMES, synsets), ["wordnet", words] if with_file else ["wordnet"]
    found = label_vectors(dataset, categories, sources, seen)
    expected = as_before(dataset, categories, sources, seen)
    assert found.dtype == expected.dtype == np.float32
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("unknown", [("Bella", "東京"), ("7", "2021"), ("", "()")])
def test_unknown_names_get_a_coordinate_each(unknown):
    known = label_vectors(data(NAMES), ALL, ["wordnet"])
    mixed = label_vectors(data((*NAMES, *unknown)), np.arange(8), ["wordnet"])
    assert_array_equal(mixed[:6, :-2], known)
    assert not mixed[:6, -2:].any()
    assert_array_equal(mixed[6:, -2:], np.eye(2))
    assert_array_equal(label_vectors(data(unknown), ALL[:2], ["wordnet"]), np.eye(2))


def test_each_source_has_unknown_names_of_its_own(words):
    dataset = data(("cat", "Bella", "dog"))
    found = label_vectors(dataset, ALL[:3], ["wordnet", words]) * np.sqrt(2)
    assert_allclose(np.linalg.norm(found, axis=1), np.sqrt(2), rtol=1e-6)
    width = WordNet(["cat", "dog"]).dimension
    assert_array_equal(found[:, width].round(6), [0, 1, 0])  # WordNet knows all but Bella
    assert_array_equal(found[:, -2:].round(6), [[0, 0], [1, 0], [0, 1]])  # the file only the cat


def test_hidden_categories_that_nobody_knows():
    dataset = data(("cat", "Bella", "dog", "東京", "love"))
    seen = ALL[:3]
    trained = label_vectors(dataset, seen, ["wordnet"])
    hidden = label_vectors(dataset, np.array([3, 1, 4]), ["wordnet"], seen)
    assert_allclose(np.linalg.norm(hidden, axis=1), 1, rtol=1e-6)
    width = trained.shape[1]
    assert_array_equal(hidden[1, :width], trained[1])
    assert not hidden[[0, 2], :width].any()


def test_one_category():
    cat = label_vectors(data(["cat"]), ALL[:1], ["wordnet"])
    assert_array_equal(cat, WordNet(["cat"]).embed(["cat"]))
    assert_array_equal(label_vectors(data(["Bella"]), ALL[:1], ["wordnet"]), [[1]])


def test_ids_among_names():
    dataset = data(("crane", "dog"), ("n02012849", ""))
    assert called_by(dataset, "wordnet") == ("n02012849", "dog")
    assert called_by(dataset, "words.txt") == ("crane", "dog")
    expected = WordNet(["n02012849", "dog"]).embed(["n02012849", "dog"])
    assert_array_equal(label_vectors(dataset, ALL[:2], ["wordnet"]), expected)


def test_aliases_are_looked_up_in_every_source(words):
    dataset = data(("Rex", "truck", "Bella"))
    meant = meanings(dataset.names, aliases={"Rex": "cat", "Bella": "n01443537"})
    found = label_vectors(dataset, ALL[:3], ["wordnet", words], meant=meant)
    expected = label_vectors(data(("cat", "truck", "goldfish")), ALL[:3], ["wordnet", words])
    assert_array_equal(found, expected)


@pytest.mark.parametrize("matrix", [False, True])
def test_targets_of_shards_and_tables_agree(matrix):
    labels = np.array([0, 1, 2, 1])
    if matrix:
        labels = np.eye(3, dtype=bool)[labels]
        labels[3, 0] = True
    dataset = Dataset(np.eye(4, dtype=np.float32), labels, ("cat", "Bella", "7"))
    meant = meanings(dataset.names, aliases={"7": "truck"})
    expected = make_targets(ZSH(), dataset, slice(None), ALL[:3], ["wordnet"], meant)
    places, vectors = shared_targets(ZSH(), dataset, ALL[:3], ["wordnet"], meant)
    assert_allclose(vectors[places], expected, atol=1e-6)
    assert_allclose(np.linalg.norm(expected, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("names", [("Bella", "東京", "qqqq"), ("0", "1", "2")])
def test_methods_learn_unknown_names_as_one_hot_labels(names):
    rng = np.random.RandomState(0)
    labels = np.arange(90) % 3
    X = (np.eye(3)[labels] @ rng.randn(3, 8) + 0.3 * rng.randn(90, 8)).astype(np.float32)
    dataset = Dataset(X, labels, names)
    targets = make_targets(SDH(), dataset, slice(None), ALL[:3], ["wordnet"])
    assert_array_equal(targets, np.eye(3)[labels])
    for method in (SDH(16, n_anchors=20, random_state=0), MTH(16, effort="fast", random_state=0)):
        one, two = method.fit(X, targets).encode(X), method.fit(X, labels).encode(X)
        assert np.mean(one != two) < 0.02


class TestMeanings:
    """What labels mean in files of word vectors."""

    @staticmethod
    def texts(names, sources, aliases=None):
        dataset = data(names)
        found = label_meanings(dataset, np.arange(len(names)), sources, aliases)
        return [own.text for own in found]

    def test_wordnet(self):
        assert self.texts(["tulip", "Bella"], ["wordnet"]) == ["tulip", ""]
        assert self.texts(["tulip", "Bella"], []) == ["tulip", ""]
        assert self.texts(["tulip", "Bella"], ["onehot"]) == ["tulip", ""]

    def test_a_file_alone_decides(self, tmp_path):
        path = tmp_path / "words.txt"
        path.write_text("Bella 1 0\nHund 0 1\n")
        assert self.texts(["tulip", "Bella"], [str(path)]) == ["", "Bella"]
        assert self.texts(["tulip", "Rex"], [str(path)], {"Rex": "Hund"}) == ["", "Hund"]
        with pytest.raises(AliasError, match="no source knows 'cat', the alias of 'Rex'"):
            self.texts(["Rex"], [str(path)], {"Rex": "cat"})
        assert self.texts(["tulip", "Bella", "東京"], ["wordnet", str(path)])[1:] == ["Bella", ""]

    def test_no_labels(self):
        nothing = Dataset(np.eye(2, dtype=np.float32))
        assert label_meanings(nothing, ALL[:0], ["wordnet"]) == []
