"""What a model knows of names, against scikit-learn, SciPy and plain loops."""

import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import zshash
from tests.learning.known_things import BEAGLE, IDS, NAMES, SHOWN, TABBY, learn, make_world
from zshash import LSH
from zshash.codes import unpack
from zshash.hashing.files import ModelError
from zshash.images import Categories
from zshash.learning.knowledge import Direction, Knowledge, learn_knowledge
from zshash.learning.memberships import Membership, Memberships
from zshash.learning.model import Model
from zshash.learning.name_ridge import NameRidge
from zshash.learning.readings import read_name
from zshash.semantics import WordNet

DOG, CAT, VEHICLE, SHOE = "n02084071", "n02121620", "n04524313", "n04199027"
CORGI, LORRY, KITTEN, BEACH = "n02112826", "n03690473", "n02122948", "n09217230"
COLLIE = NAMES.index("collie")
CATS = ["tabby", "Egyptian cat", "Persian cat"]
SHOES = ["running shoe", "Loafer"]


@pytest.fixture(scope="module")
def world():
    return make_world()


@pytest.fixture(scope="module")
def knowledge(world):
    return learn(world)


@pytest.fixture(scope="module")
def labelled(world):
    """All beagles are labelled dog, some collies collie, and some pictures show Bella."""
    labels = np.zeros((len(world.y), 3), dtype=bool)
    labels[world.y == BEAGLE, 0] = True
    labels[np.flatnonzero(world.y == COLLIE)[:7], 1] = True
    labels[::50, 2] = True
    return learn(world, Membership(["dog", "Lassie", "Bella"], [DOG, IDS[COLLIE], ""], labels))


def probabilities(world):
    outputs = world.X @ world.network.directions.T + world.network.biases
    return softmax(outputs.astype(np.float64), axis=1)


def unit(values):
    return values / np.linalg.norm(values)


class TestDirections:
    """How bits tell known categories apart."""

    def test_ridge_of_scikit_learn(self, world, knowledge):
        P, signs = probabilities(world), world.signs.astype(np.float64)
        ridge = Ridge(alpha=10.0, fit_intercept=False).fit(signs, P - P.mean(axis=0))
        assert_allclose(knowledge.directions, ridge.coef_, atol=1e-6)
        scores = signs @ ridge.coef_.T
        assert_allclose(knowledge.deviations, scores.std(axis=0), atol=1e-6)
        intercepts = P.mean(axis=0) - scores.mean(axis=0)
        assert_allclose(knowledge.intercepts, intercepts, atol=1e-6)

    def test_of_a_tiny_case_by_hand(self):
        signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=np.float32)
        labels = np.array([[True], [True], [False], [False]])
        found = learn_knowledge(signs, signs, labelled=Membership(["dog"], [DOG], labels))
        assert_allclose(found.directions, [[4 * 0.5 / (4 + 10), 0]], atol=1e-7)
        assert_allclose(found.intercepts, [0.5])
        assert_allclose(found.deviations, [1 / 7], rtol=1e-6)
        assert found.direction(DOG).values.tolist() == [1, 0]
        assert (found.names, found.ids, found.labels) == (("dog",), (DOG,), {"dog": 0})

    def test_nothing_is_known(self, world):
        assert learn_knowledge(world.X, world.signs) is None

    def test_the_network_knows_a_name(self, knowledge):
        for place in (0, 7, 30):
            found = knowledge.direction(IDS[place])
            assert found.categories == [place]
            assert_allclose(found.values, unit(knowledge.directions[place]), atol=1e-6)

    def test_a_name_above_others_is_the_sum_of_their_directions(self, knowledge):
        for synset, names in ((CAT, CATS), (SHOE, SHOES), (VEHICLE, NAMES[:9])):
            places = [NAMES.index(name) for name in names]
            found = knowledge.direction(synset)
            assert found.categories == places
            total = sum(knowledge.directions[place].astype(float) for place in places)
            assert_allclose(found.values, unit(total))

    def test_a_young_animal_is_searched_as_a_grown_up_one(self, knowledge):
        assert knowledge.direction(KITTEN).categories == [NAMES.index(name) for name in CATS]

    def test_a_label_is_searched_by_its_name(self, labelled):
        found = labelled.direction("", "Bella")
        assert found.categories == [labelled.names.index("Bella")]
        assert labelled.direction("", "Luna") is None
        assert labelled.direction("") is None


def predict(knowledge, synset):
    """Kernel ridge of scikit-learn from names to scaled directions, of unit length."""
    places = [place for place, id_ in enumerate(knowledge.ids) if id_]
    own = [knowledge.ids[place] for place in places]
    source = WordNet(basis=own)
    vectors, name = (source.embed(ids).astype(float) for ids in (own, [synset]))
    sigma = knowledge.deviations
    floor = 0.25 * np.median(sigma[sigma > 0])
    scaled = knowledge.directions.astype(float) / (sigma + floor)[:, None]
    ridge = KernelRidge(alpha=0.05, kernel="precomputed")
    ridge.fit(vectors @ vectors.T, scaled[places])
    return unit(ridge.predict(name @ vectors.T)[0])


class TestPredicted:
    """Directions of names that nobody knows."""

    def test_kernel_ridge_of_scikit_learn(self, knowledge):
        for synset in (LORRY, CORGI, CAT):  # names above known ones can be predicted, too
            found = knowledge.predicted(synset)
            assert found.categories == []
            assert_allclose(found.values, predict(knowledge, synset), atol=1e-5)

    def test_what_it_shares_with_labelled_things_is_taken_away(self, labelled):
        """A border collie is no collie; but it is a dog, so that nothing of dogs is taken away."""
        border_collie = "n02106166"
        values = predict(labelled, border_collie)
        collie = unit(labelled.directions[COLLIE].astype(float))
        dog = unit(labelled.directions[labelled.names.index("dog")].astype(float))
        assert collie @ values > 0.5
        assert dog @ values > 0.4
        expected = unit(values - 0.6 * (collie @ values) * collie)
        assert_allclose(labelled.predicted(border_collie).values, expected, atol=1e-5)

    def test_several_labelled_things(self, labelled):
        for synset in (LORRY, BEACH, "n02119789"):  # the last is a kit fox
            values = predict(labelled, synset)
            taken = np.zeros(48)
            for place in (COLLIE, labelled.names.index("dog")):
                direction = unit(labelled.directions[place].astype(float))
                taken += max(0.0, direction @ values) * direction
            expected = unit(values - 0.6 * taken)
            assert_allclose(labelled.predicted(synset).values, expected, atol=1e-5)

    def test_predictions_of_known_categories_from_all_others(self):
        ids, rng = IDS[:9], np.random.RandomState(0)
        values = rng.randn(9, 5)
        vectors = WordNet(basis=ids).embed(ids).astype(float)
        kernel = vectors @ vectors.T
        found = NameRidge(ids).left_out(values)
        for out in range(9):
            rest = [place for place in range(9) if place != out]
            ridge = KernelRidge(alpha=0.05, kernel="precomputed")
            ridge.fit(kernel[np.ix_(rest, rest)], values[rest])
            assert_allclose(found[out], ridge.predict(kernel[[out]][:, rest])[0], atol=1e-6)

    def test_categories_without_an_id_say_nothing_about_names(self):
        ridge = NameRidge([IDS[0], "", IDS[3]])
        assert ridge.places.tolist() == [0, 2]
        assert ridge.weights(LORRY)[1] == 0
        assert ridge.cosines("") is None
        assert NameRidge(["", ""]).weights(LORRY) is None

    def test_names_by_meaning(self, knowledge):
        vectors = WordNet(basis=IDS).embed([*IDS, LORRY]).astype(float)
        cosines = vectors[:-1] @ vectors[-1]
        found = knowledge.nearest(LORRY, 5)
        assert [place for place, _ in found] == np.argsort(-cosines)[:5].tolist()
        assert_allclose([cosine for _, cosine in found], np.sort(cosines)[::-1][:5])
        assert {NAMES[place] for place, _ in found[:3]} == {*NAMES[3:6]}  # the trucks

    def test_names_by_code(self, world, knowledge):
        """The category of a picture is among those that its code fits best."""
        right = [
            world.y[row] in [place for place, _ in knowledge.likely(world.signs[row], 3)]
            for row in range(0, len(world.y), 7)
        ]
        assert np.mean(right) > 0.9
        ((place, cosine),) = knowledge.likely(world.signs[0].astype(float), 1)
        direction = unit(knowledge.directions[place].astype(float))
        assert cosine == pytest.approx(direction @ world.signs[0] / np.sqrt(48), abs=1e-5)


class TestProbabilities:
    """What scores are worth."""

    @pytest.mark.parametrize("synset", [IDS[TABBY], SHOE, LORRY, CORGI])
    def test_they_rise_from_0_to_1(self, knowledge, synset):
        found = knowledge.probabilities(knowledge.direction(synset), np.linspace(-1, 1, 50))
        assert (np.diff(found) > 0).all()
        assert found.min() >= 0
        assert found.max() <= 1

    def test_they_are_calibrated(self):
        """Of other pictures that get a probability around p, about p show the thing."""
        knowledge, fresh = learn(make_world(each=100, noise=1.0)), make_world(seed=5, noise=1.0)
        likely, right = [], []
        for place in range(len(SHOWN)):
            direction = knowledge.direction(IDS[place])
            cosines = fresh.signs @ direction.values / np.sqrt(48)
            likely.append(knowledge.probabilities(direction, cosines))
            right.append(fresh.y == place)
        likely, right = np.concatenate(likely), np.concatenate(right)
        for low in (0.0, 0.2, 0.4, 0.6, 0.8):
            own = (likely >= low) & (likely < low + 0.2)
            assert own.sum() > 50
            assert right[own].mean() == pytest.approx(likely[own].mean(), abs=0.1)

    def test_too_few_categories_to_tell(self):
        signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=np.float32)
        labels = np.array([[True], [True], [False], [False]])
        found = learn_knowledge(signs, signs, labelled=Membership(["dog"], [DOG], labels))
        assert np.isnan(found.probabilities(found.direction(DOG), np.array([0.2, 0.4]))).all()
        assert np.isnan(found.rank(found.predicted(CORGI)))
        assert not found.is_nothing(found.direction(DOG), 0.9)

    def test_what_stands_out_is_not_nothing_where_scores_are_not_checked(self, knowledge):
        unchecked = replace(knowledge, curves=np.zeros_like(knowledge.curves))
        said = []
        for synset in (DOG, CAT, VEHICLE, *IDS):
            direction, least = unchecked.direction(synset), -1.0  # a best item that fits badly
            stands_out = unchecked.prominence(direction) >= 3
            said.append(unchecked.is_nothing(direction, least))
            assert said[-1] == (not stands_out and knowledge.is_nothing(direction, least))
        assert len(set(said)) == 2

    def test_the_sample(self, world, knowledge):
        assert_array_equal(2.0 * unpack(knowledge.sample, 48) - 1, world.signs)
        assert_array_equal(knowledge.shown, probabilities(world).argmax(axis=1))
        assert np.mean(knowledge.shown == world.y) > 0.9

    def test_spread_of_scores(self, world, knowledge):
        values = np.random.RandomState(0).randn(48)
        assert knowledge.spread(values) == pytest.approx((world.signs @ values).std())
        assert knowledge.spread(np.zeros(48)) == 1

    def test_prominence_by_hand(self, world, knowledge):
        direction = knowledge.predicted(LORRY)
        cosines = np.sort(world.signs @ direction.values / np.sqrt(48))
        assert len(cosines) == 600  # the best 600 // 50 = 12
        expected = (cosines[-12:].mean() - cosines.mean()) / cosines.std()
        assert knowledge.prominence(direction) == pytest.approx(expected)

    def test_rank_among_known_categories(self, knowledge):
        usual = knowledge.usual
        assert (np.diff(usual) >= 0).all()
        assert 0 <= knowledge.rank(knowledge.predicted(LORRY)) <= 1
        rank = knowledge.rank(knowledge.predicted(LORRY))
        prominence = knowledge.prominence(knowledge.predicted(LORRY))
        assert abs(rank - np.mean(usual < prominence)) < 1 / 16


class TestNothing:
    """Whether anything shows what a name means."""

    def best(self, world, direction):
        return float((world.signs @ direction.values).max() / np.sqrt(48))

    def test_known_things(self, world, knowledge):
        verdicts = []
        for place, synset in enumerate(IDS):
            direction = knowledge.direction(synset)
            if direction.categories == [place]:
                verdicts.append(knowledge.is_nothing(direction, self.best(world, direction)))
        assert not any(verdicts[: len(SHOWN)])
        assert np.mean(verdicts[len(SHOWN) :]) > 0.9

    @pytest.mark.parametrize("synset", [IDS[TABBY], SHOE, VEHICLE])
    def test_the_rule_by_hand(self, knowledge, synset):
        """Less likely than not, and no better than things that are not there."""
        knowledge = replace(knowledge, chance=np.array([0.15], dtype=np.float32))
        direction = knowledge.direction(synset)
        places = direction.categories
        for best in np.linspace(-0.3, 0.7, 101):
            code = best * np.sqrt(48) * direction.values  # its product with b, if b has this cosine
            score = sum(
                knowledge.intercepts[place] + knowledge.directions[place] @ code for place in places
            )
            likely = knowledge.probabilities(direction, np.array([best]))[0]
            expected = likely < 0.5 and score < knowledge.chance[0] * np.sqrt(len(places))
            assert knowledge.is_nothing(direction, best) == expected
        assert knowledge.is_nothing(direction, -0.3)
        assert not knowledge.is_nothing(direction, 0.7)

    def test_a_predicted_name_that_does_not_stand_out(self, knowledge):
        direction = knowledge.predicted(BEACH)
        assert not knowledge.is_nothing(direction, 0.0)
        usual = knowledge.usual + knowledge.prominence(direction)
        assert replace(knowledge, usual=usual).is_nothing(direction, 0.0)


def same(one, two):
    for name in ("directions", "deviations", "intercepts", "sample", "shown", "curves", "usual",
                 "chance", "decoder", "counts"):  # fmt: skip
        assert_array_equal(getattr(one, name), getattr(two, name))
    assert (one.names, one.ids, one.network) == (two.names, two.ids, two.network)
    assert dict(one.labels) == dict(two.labels)


class TestFiles:
    """Knowledge in the file of a model."""

    @pytest.fixture
    def model(self, world, labelled):
        hasher = LSH(n_bits=48, random_state=0).fit(world.X)
        return Model(hasher, knowledge=labelled)

    def test_a_round_trip(self, model, tmp_path):
        model.save(tmp_path / "model")
        again = zshash.load(tmp_path / "model")
        same(again.knowledge, model.knowledge)
        assert again.checksum == model.checksum
        for name in ("vehicle", "lorry", "Bella", "dog"):
            one, two = (read_name(own.knowledge, name, ["Bella"]) for own in (model, again))
            assert_allclose(one.values, two.values, atol=1e-12)
            assert one.told() == two.told()
            likely = (
                own.knowledge.probabilities(read.things[0].direction, np.linspace(-1, 1, 9))
                for own, read in ((model, one), (again, two))
            )
            assert_allclose(*likely, rtol=1e-9)

    def test_a_file_without_knowledge(self, model, tmp_path):
        Model(model.hasher).save(tmp_path / "model")
        again = zshash.load(tmp_path / "model")
        assert again.knowledge is None
        assert_array_equal(again.encode(np.eye(32)), model.encode(np.eye(32)))

    @pytest.mark.parametrize("key", ["names", "ids", "network"])
    def test_facts_that_are_missing(self, labelled, key):
        arrays, facts = labelled.to_parts()
        facts.pop(key)
        with pytest.raises(ValueError, match=rf"of names is not complete \('{key}'\)"):
            Knowledge.from_parts(arrays, facts)

    @pytest.mark.parametrize("key", ["counts", "directions", "sample", "usual", "decoder"])
    def test_arrays_that_are_missing_or_too_short(self, labelled, key):
        arrays, facts = labelled.to_parts()
        with pytest.raises(ValueError, match="does not fit together"):
            Knowledge.from_parts(arrays | {key: arrays[key][:-1]}, facts)
        with pytest.raises(ValueError, match="does not fit together"):
            Knowledge.from_parts(arrays | {key: arrays[key][..., None]}, facts)
        arrays.pop(key)
        with pytest.raises(ValueError, match=f"is not complete .*{key}"):
            Knowledge.from_parts(arrays, facts)

    def test_other_damage(self, labelled):
        arrays, facts = labelled.to_parts()
        for wrong in (
            {"labels": {"dog": 1000}},
            {"labels": {"dog": -1}},
            {"ids": facts["ids"][1:]},
        ):
            with pytest.raises(ValueError, match="does not fit together"):
                Knowledge.from_parts(arrays, facts | wrong)
        for wrong in ({"labels": {"dog": "x"}}, {"labels": 5}, {"names": 7}):
            with pytest.raises(ValueError, match="is not complete"):
                Knowledge.from_parts(arrays, facts | wrong)
        for number in (np.nan, np.inf):
            directions = arrays["directions"].copy()
            directions[3, 3] = number
            with pytest.raises(ValueError, match="holds NaN or infinity: fit it again"):
                Knowledge.from_parts(arrays | {"directions": directions}, facts)
        with pytest.raises(ValueError, match="does not fit together"):
            Knowledge.from_parts(arrays | {"counts": arrays["counts"].astype(float)}, facts)

    def test_damage_in_a_file_is_told_with_its_path(self, model, labelled, tmp_path):
        wrong = replace(labelled, names=labelled.names[:-1])
        Model(model.hasher, knowledge=wrong).save(tmp_path / "model")
        with pytest.raises(ModelError, match=r"model: what it knows of names does not fit"):
            zshash.load(tmp_path / "model")


def test_a_network_that_reads_texts(world):
    """The decoder is ridge regression from codes to features."""
    found = learn_knowledge(world.X, world.signs, reads_texts=True)
    signs, X = world.signs.astype(float), world.X - world.X.mean(axis=0)
    expected = Ridge(alpha=10.0, fit_intercept=False).fit(signs, X).coef_.T
    assert_allclose(found.decoder, expected, atol=1e-4)
    assert (len(found), found.network) == (0, "")


def test_what_is_stored_of_the_network(world, knowledge, labelled):
    assert knowledge.network == labelled.network == world.network.fingerprint
    assert knowledge.names == NAMES
    assert labelled.names == (*NAMES, "dog", "Bella")
    assert labelled.labels == {"dog": len(NAMES), "Lassie": COLLIE, "Bella": len(NAMES) + 1}
    assert [*labelled.counts[-2:], labelled.counts[COLLIE]] == [20, 12, 7]
    assert not knowledge.counts.any()


def test_many_categories_take_a_smaller_sample(monkeypatch, world):
    monkeypatch.setattr("zshash.learning.knowledge.MOST_NUMBERS", len(IDS) * 100)
    assert len(learn(world).sample) == 100


def test_a_direction_is_of_unit_length(knowledge):
    for synset in (IDS[0], VEHICLE, LORRY, KITTEN):
        assert np.linalg.norm(knowledge.direction(synset).values) == pytest.approx(1)


def test_categories_that_cancel_out(knowledge):
    silent = replace(knowledge, directions=np.zeros_like(knowledge.directions))
    assert silent.among([0, 1]) is None
    assert silent.direction(LORRY) is None
    nothing = Direction(np.zeros(48), [])
    assert np.isfinite(expit(knowledge.prominence(nothing)))


def test_ten_thousand_labels_do_not_take_long():
    n = 10_000
    labels = np.eye(n, dtype=bool)
    X = np.random.RandomState(0).randn(n, 4).astype(np.float32)
    network = Categories(IDS, NAMES, np.ones((len(IDS), 4)), np.zeros(len(IDS)))
    start = time.perf_counter()
    memberships = Memberships(network, Membership([f"{i}" for i in range(n)], [""] * n, labels))
    part = memberships.of(X, slice(0, 50))
    assert time.perf_counter() - start < 2
    assert part.shape == (50, n + len(IDS))
    assert_array_equal(part[:, len(IDS) :], labels[:50])
