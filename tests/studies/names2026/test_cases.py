"""What a rule gets: features, groups of hidden categories, vectors, and parameters."""

import numpy as np
import pytest

from zshash.datasets import Dataset
from zshash.learning.targets import label_vectors
from zshash.semantics import UnknownNames, WordNet
from zshash.studies.names2026.attributes import attribute_vectors, has_attributes, read_animals
from zshash.studies.names2026.baselines import ESZSL
from zshash.studies.names2026.cases import Case, deal
from zshash.studies.names2026.choosing import choose, folds, pseudo_map, without_new_coordinates
from zshash.studies.names2026.features import prepared
from zshash.studies.names2026.vectors import known_to, name_vectors, says_yes

ANIMALS = ("gazelle", "domestic cat", "truck", "seal")


@pytest.fixture(scope="module")
def attributes(tmp_path_factory):
    """Four animals; the first senses of *seal* and *tiger* are no animals."""
    path = tmp_path_factory.mktemp("words") / "animals.npz"
    names = ["antelope", "siamese cat", "persian cat", "seal", "tiger"]
    values = [[10, 0, 2], [0, 30, -1], [0, 10, 4], [5, 5, 5], [1, 2, 3]]
    np.savez(path, names=names, attributes=np.array(values, dtype=np.float32))
    return str(path)


@pytest.fixture
def named():
    return Dataset(np.zeros((4, 1), np.float32), np.arange(4), ANIMALS)


def test_prepared_features_are_centred_on_the_labelled_ones():
    rng = np.random.RandomState(0)
    X, rows = rng.rand(50, 8) * 9, np.arange(0, 50, 2)
    own = X / np.linalg.norm(X, axis=1, keepdims=True)
    own = own - own[rows].mean(axis=0)
    whole = own / np.linalg.norm(own, axis=1, keepdims=True)
    np.testing.assert_allclose(prepared(X, rows), whole, atol=1e-5)
    _, _, components = np.linalg.svd(own[rows], full_matrices=False)
    reduced = own @ components[:3].T
    reduced /= np.linalg.norm(reduced, axis=1, keepdims=True)
    found = prepared(X, rows, n_components=3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found @ found.T, reduced @ reduced.T, atol=1e-4)


def test_hidden_pictures_do_not_change_the_features_of_others():
    rng = np.random.RandomState(0)
    X, rows = rng.rand(30, 6), np.arange(20)
    other = X.copy()
    other[20:] = rng.rand(10, 6)
    np.testing.assert_array_equal(prepared(X, rows, 4)[:20], prepared(other, rows, 4)[:20])


def test_every_category_is_hidden_once_in_each_split():
    data = Dataset(np.zeros((70, 1)), np.repeat(np.arange(7), 10), tuple("abcdefg"))
    known = np.array([0, 1, 2, 4, 6])
    for seed in (0, 1):
        dealt = list(deal(data, known, 2, 12, seed))
        assert np.sort(np.concatenate([hidden for *_, hidden in dealt])).tolist() == known.tolist()
        for labelled, seen, hidden in dealt:
            assert len(labelled) == 12
            assert set(seen) | set(hidden) == set(known)
            assert set(data.labels[labelled]) <= set(seen)
    first, again, other = (
        [part[2].tolist() for part in deal(data, known, 5, None, s)] for s in (0, 0, 1)
    )
    assert first == again != other


def test_the_vectors_of_a_case_are_those_of_a_fit(named):
    case = Case(named, np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([3]), ("wordnet",))
    seen, hidden = case.vectors()
    np.testing.assert_array_equal(seen, label_vectors(named, case.seen, ["wordnet"]))
    np.testing.assert_array_equal(hidden, label_vectors(named, case.hidden, ["wordnet"], case.seen))
    assert case.y.tolist() == [0, 1, 2]


def test_a_name_in_a_table_of_attributes_is_a_mammal(attributes):
    animals = read_animals(attributes)
    assert [WordNet().name(synset) for synset in animals.synsets] == [
        *("antelope", "Siamese cat", "Persian cat", "seal", "tiger"),
    ]
    assert animals.attributes[1].tolist() == [0, 30, 3.5]  # nobody gave the last: the mean


def test_categories_are_described_by_animals_above_and_below_them(attributes):
    gazelle, cat = attribute_vectors(attributes, ["n02423022", "domestic cat"])
    np.testing.assert_allclose(gazelle, np.array([10, 0, 2]) / np.sqrt(104), rtol=1e-6)
    mean = np.array([0, 20, 3.75])
    np.testing.assert_allclose(cat, mean / np.linalg.norm(mean), rtol=1e-6)
    with pytest.raises(UnknownNames, match=r"animals\.npz does not know 'truck'"):
        attribute_vectors(attributes, ["gazelle", "truck"])


def test_which_file_has_attributes(attributes, tmp_path):
    np.savez(tmp_path / "words.npz", words=["cat"], vectors=[[1.0]])
    assert has_attributes(attributes)
    assert not has_attributes(str(tmp_path / "words.npz"))
    assert not has_attributes("wordnet")
    assert not has_attributes(str(tmp_path / "absent.npz"))


def test_categories_that_sources_know(named, attributes):
    assert known_to(named, []).tolist() == [0, 1, 2, 3]
    assert known_to(named, ["wordnet"]).tolist() == [0, 1, 2, 3]
    seal_is_wax = known_to(named, ["wordnet", attributes])
    assert seal_is_wax.tolist() == [0, 1]


def test_sources_side_by_side(named, attributes):
    both, seen = np.array([0, 1]), np.array([0, 1])
    found = name_vectors(named, both, ["wordnet", attributes], seen)
    words, own = (name_vectors(named, both, [source], seen) for source in ("wordnet", attributes))
    np.testing.assert_allclose(found, np.hstack([words, own]) / np.sqrt(2), rtol=1e-6)
    yes = says_yes(named, ["wordnet", attributes], seen)
    assert yes.tolist() == [True] * words.shape[1] + [False] * 3


def test_held_out_names_have_the_vectors_of_unseen_names():
    names = ("cat", "dog", "truck", "apple", "horse")
    data = Dataset(np.zeros((5, 1)), np.arange(5), names)
    kept, held = np.array([0, 2, 3]), np.array([1, 4])
    whole = label_vectors(data, np.arange(5), ["wordnet"])
    seen, unseen = without_new_coordinates(whole, kept, held)
    coordinates = seen.any(axis=0)
    expected = label_vectors(data, kept, ["wordnet"])
    np.testing.assert_allclose(seen[:, coordinates], expected, atol=1e-6)
    np.testing.assert_allclose(
        unseen[:, coordinates], label_vectors(data, held, ["wordnet"], kept), atol=1e-6
    )
    assert not unseen[:, ~coordinates].any()


@pytest.mark.parametrize(("n", "size"), [(3, 1), (4, 1), (9, 3), (30, 3), (90, 9)])
def test_folds_hold_out_different_categories(n, size):
    first, second = folds(n, np.random.RandomState(0))
    assert len(first) == len(second) == size
    assert not set(first) & set(second)


def test_the_best_parameters_of_pseudo_unseen_names_are_chosen(world):
    values = {"gamma": (0.1, 1.0, 1e6), "lam": (0.1, 1e5)}
    data = world.X, world.y, world.vectors
    chosen = choose(ESZSL, values, *data, k=50, seed=4)
    scores = {}
    for gamma in values["gamma"]:
        for lam in values["lam"]:
            scores[gamma, lam] = np.mean([
                pseudo_map(ESZSL(gamma, lam), *data, held, 50)
                for held in folds(16, np.random.RandomState(4))
            ])  # fmt: skip
    assert len({round(score, 6) for score in scores.values()}) > 1
    assert scores[chosen["gamma"], chosen["lam"]] == max(scores.values())


def test_nothing_is_chosen_where_nothing_can_be_held_out(world):
    rows = world.y < 2
    data = world.X[rows], world.y[rows], world.vectors[:2]
    assert choose(ESZSL, ESZSL.grid, *data, k=50, seed=0) == {}
    assert choose(ESZSL, {"gamma": [3.0]}, *data, k=50, seed=0) == {"gamma": 3.0}


def test_held_out_categories_are_not_learned_from(world):
    class Spy(ESZSL):
        def fit(self, X, y, vectors):
            self.seen = len(X), set(y), len(vectors)
            return super().fit(X, y, vectors)

        def scores(self, X, names):
            assert len(X) == len(world.X)
            assert len(names) == 2
            return super().scores(X, names)

    spy, held = Spy(), np.array([3, 7])
    pseudo_map(spy, world.X, world.y, world.vectors, held, 50)
    assert spy.seen == (14 * 20, set(range(14)), 14)
