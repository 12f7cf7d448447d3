"""How names are read as queries: senses, labels, phrases, sums and forecasts."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.learning.known_things import BEAGLE, NAMES, TABBY, learn, make_world
from zshash.learning.knowledge import Membership
from zshash.learning.names import NamesError
from zshash.learning.readings import explain, join, joined, likely_names, read_name
from zshash.semantics import UnknownNames
from zshash.semantics.senses import senses

BIRD, TRUCK, CAT = "n02012849", "n04490091", "n02121620"
CATS = ["tabby", "Egyptian cat", "Persian cat"]
LABELS = ["tabby_cat", "n02084071", "Rex", "Bella"]


@pytest.fixture(scope="module")
def world():
    return make_world()


@pytest.fixture(scope="module")
def knowledge(world):
    return learn(world)


@pytest.fixture(scope="module")
def small():
    return learn(make_world(n_bits=16, each=4))


@pytest.fixture(scope="module")
def labelled(world):
    """Tabbies, dogs by their id, a dog called Rex and a cat called Bella."""
    labels = np.zeros((len(world.y), 4), dtype=bool)
    labels[world.y == TABBY, 0] = True
    labels[world.y == BEAGLE, 1] = True
    labels[np.flatnonzero(world.y == BEAGLE)[:9], 2] = True
    labels[np.flatnonzero(world.y == TABBY)[:5], 3] = True
    ids = ["n02123045", "n02084071", "", ""]
    return learn(world, Membership(LABELS, ids, labels))


def thing(knowledge, text, labels=()):
    (found,) = read_name(knowledge, text, labels).things
    return found


def known(knowledge, found):
    return [knowledge.names[place] for place in found.direction.categories]


class TestSenses:
    """Which sense of a name is taken."""

    def test_one_that_the_network_knows_and_the_others_beside_it(self, knowledge):
        found = thing(knowledge, "crane")
        assert found.sense.key == "crane.n.04"
        assert [other.key for other in found.others[:1]] == ["crane.n.05"]
        assert {found.sense, *found.others} == set(senses("crane"))
        assert thing(knowledge, "cat").sense.synset == CAT

    @pytest.mark.parametrize("text", ["crane (bird)", "crane.n.05", BIRD, "Crane (Bird)"])
    def test_an_exact_one(self, knowledge, text):
        found = thing(knowledge, text)
        assert (found.sense.synset, found.others) == (BIRD, ())
        assert found.text == "crane (wading bird)"
        assert known(knowledge, found) == [f"crane ({BIRD})"]

    def test_a_lorry_is_a_truck(self, knowledge):
        """And not first of all a wagon, as WordNet has it."""
        assert senses("lorry")[0].text == "lorry (wagon)"
        found = thing(knowledge, "lorry")
        assert found.text == "lorry (truck)"
        assert [other.text for other in found.others] == ["lorry (wagon)"]
        assert found.direction.categories == []
        assert known(knowledge, thing(knowledge, "truck"))[-3:] == [*NAMES[3:6]]

    def test_plurals(self, knowledge):
        """Shoes are a noun of their own, and no network knows it."""
        assert senses("shoes")[0].name == "shoes"
        shoes = thing(knowledge, "shoes")
        assert shoes.sense == thing(knowledge, "shoe").sense
        assert known(knowledge, shoes) == ["running shoe", "Loafer"]
        assert known(knowledge, thing(knowledge, "Tabby cats")) == ["tabby"]

    def test_a_kitten_is_searched_as_a_cat(self, knowledge):
        kitten, cat = (read_name(knowledge, name) for name in ("kitten", "cat"))
        assert_allclose(kitten.values, cat.values)
        assert known(knowledge, kitten.things[0]) == CATS

    @pytest.mark.parametrize("text", ["CAT", " cat ", "cats", "the cat", "a photo of a cat"])
    def test_any_spelling(self, knowledge, text):
        assert_allclose(read_name(knowledge, text).values, read_name(knowledge, "cat").values)


class TestPhrases:
    """Several things in one text."""

    def test_two_things(self, knowledge):
        found = read_name(knowledge, "a photo of a dog on a beach")
        assert [own.name for own in found.things] == ["dog", "beach"]
        assert found.left_out == ()
        assert not found.is_plain
        dog, beach = (read_name(knowledge, name).values for name in ("dog", "beach"))
        assert_allclose(found.values, join(knowledge, [(dog, 1.0), (beach, 1.0)]))

    def test_words_that_are_not_understood(self, knowledge):
        found = read_name(knowledge, "a fuzzy xyzzy dog")
        assert [own.name for own in found.things] == ["dog"]
        assert found.left_out == ("fuzzy", "xyzzy")
        assert found.is_plain
        assert_allclose(found.values, read_name(knowledge, "dog").values)

    def test_several_things_put_no_label_first(self, labelled):
        found = read_name(labelled, "a dog and a cat", LABELS)
        assert [own.labels for own in found.things] == [("n02084071",), ("tabby_cat",)]
        assert found.labels == ()


class TestLabels:
    """Labels of items that are searched."""

    def test_labels_below_a_name(self, labelled):
        assert read_name(labelled, "cat", LABELS).labels == ("tabby_cat",)
        assert read_name(labelled, "animal", LABELS).labels == ("tabby_cat", "n02084071")
        assert read_name(labelled, "dog", LABELS).labels == ("n02084071",)
        assert read_name(labelled, "lorry", LABELS).labels == ()
        assert read_name(labelled, "tabby cat", LABELS).labels == ("tabby_cat",)

    def test_only_labels_of_items(self, labelled):
        assert read_name(labelled, "cat").labels == ()

    def test_a_label_that_nobody_knows_is_searched_by_its_own_direction(self, world, labelled):
        for text in ("Bella", "bella", " BELLA"):
            found = thing(labelled, text, LABELS)
            assert (found.sense, found.labels) == (None, ("Bella",))
            assert known(labelled, found) == ["Bella"]
        scores = world.signs @ found.direction.values
        assert world.y[scores.argmax()] == TABBY

    def test_a_label_goes_before_a_noun(self, labelled):
        """Rex is also a king, but here it is the name of a dog that nobody knows."""
        found = thing(labelled, "Rex", LABELS)
        assert (found.text, found.sense, found.labels) == ("Rex", None, ("Rex",))
        assert known(labelled, found) == ["Rex"]
        assert [other.name for other in found.others] == ["rex"]
        assert thing(labelled, "Rex").sense is not None

    def test_the_sense_of_a_label_is_taken(self, knowledge):
        found = thing(knowledge, "crane", ["crane (bird)"])
        assert (found.sense.key, found.labels) == ("crane.n.05", ("crane (bird)",))

    def test_a_label_that_the_model_has_never_seen(self, knowledge):
        """Its items are found by their label; there is no direction for others."""
        for label in ("Luna", "東京"):
            found = read_name(knowledge, label, [label, "dog"])
            assert found.labels == (label,)
            assert_array_equal(found.values, np.zeros(48))
        both = joined(knowledge, {"Luna": 1.0, "cat": 1.0}, ["Luna"], None)
        assert_allclose(both.values, read_name(knowledge, "cat").values)

    def test_two_spellings_of_a_label(self, knowledge):
        found = read_name(knowledge, "tabby cat", ["tabby_cat", "Tabby Cat", "dog"])
        assert found.labels == ("tabby_cat", "Tabby Cat")

    def test_labels_in_a_phrase(self, labelled):
        found = read_name(labelled, "Bella on a beach", LABELS)
        assert [own.name for own in found.things] == ["bella", "beach"]
        assert found.things[0].labels == ("Bella",)


class TestMistakes:
    """Names that can not be searched for."""

    @pytest.mark.parametrize("text", ["", "  ", "!?", "_"])
    def test_an_empty_name(self, knowledge, text):
        with pytest.raises((NamesError, UnknownNames)):
            read_name(knowledge, text)

    def test_no_letter_at_all(self, knowledge):
        with pytest.raises(NamesError, match="the name is empty: write what the pictures show"):
            read_name(knowledge, " ")

    def test_a_very_long_name(self, knowledge):
        with pytest.raises(NamesError, match="a name of 2000 letters is too long: write at most"):
            read_name(knowledge, "x" * 2000)
        long = "a dog and " * 100
        assert [own.name for own in read_name(knowledge, long).things] == ["dog"]

    def test_near_misses(self, knowledge):
        with pytest.raises(UnknownNames, match="did you mean 'truck'") as error:
            read_name(knowledge, "trukc")
        assert error.value.suggestions["trukc"][0] == "truck"
        with pytest.raises(UnknownNames) as error:
            read_name(knowledge, "Schnurz", ["Schnurzi"])
        assert error.value.suggestions["Schnurz"][0] == "schnurzi"

    @pytest.mark.parametrize("text", ["東京", "собака", "🐈", "xyzzyx"])
    def test_other_scripts(self, knowledge, text):
        with pytest.raises(UnknownNames) as error:
            read_name(knowledge, text)
        assert error.value.names == (text,)

    def test_a_name_in_another_script_may_be_a_label(self, knowledge):
        assert read_name(knowledge, "собака", ["собака"]).labels == ("собака",)

    def test_nothing_in_common_with_what_is_known(self, knowledge):
        unknown = replace(knowledge, ids=("",) * len(knowledge), names=("",) * len(knowledge))
        with pytest.raises(NamesError, match="'cat' has nothing in common with the things"):
            read_name(unknown, "cat")

    @given(st.text(max_size=40))
    def test_any_text_gives_a_reading_or_a_sentence(self, small, text):
        try:
            found = read_name(small, text)
        except (NamesError, UnknownNames):
            return
        assert np.linalg.norm(found.values) == pytest.approx(1)
        json.dumps(found.told())


class TestJoining:
    """Several names with weights, and pictures beside them."""

    def brute(self, world, parts):
        """Weighted sum of the directions, each divided by the deviation of its scores."""
        total = np.zeros(48)
        for values, weight in parts:
            total += weight * values / np.std([code @ values for code in world.signs])
        return total / np.linalg.norm(total)

    def test_weights(self, world, knowledge):
        dog, beach = (read_name(knowledge, name).values for name in ("dog", "beach"))
        for weights in ((1, 1), (2, 1), (1, -1), (0.5, 3)):
            found = joined(knowledge, dict(zip(("dog", "beach"), weights, strict=True)), [], None)
            expected = self.brute(world, zip((dog, beach), weights, strict=True))
            assert_allclose(found.values, expected, atol=1e-9)
            assert found.is_joint
            assert not found.labels

    def test_what_is_not_wanted(self, world, knowledge):
        found = joined(knowledge, {"dog": 1.0, "beagle": -1.0}, [], None)
        assert found.text == "dog, not beagle"
        assert [own.name for own in found.things] == ["dog", "beagle"]
        best = np.argsort(-world.signs @ found.values)[:10]
        assert BEAGLE not in world.y[best]

    def test_one_name_is_read_as_it_is(self, labelled):
        found = joined(labelled, {"cat": 3.0}, LABELS, None)
        assert found.is_plain
        assert found.labels == ("tabby_cat",)
        assert_allclose(found.values, read_name(labelled, "cat").values)

    def test_a_picture_and_a_name(self, world, knowledge):
        picture = np.random.RandomState(0).randn(48)
        dog = read_name(knowledge, "dog").values
        found = joined(knowledge, {"dog": 1.0}, [], None, [(picture, 1.0)])
        assert_allclose(found.values, self.brute(world, [(picture, 1), (dog, 1)]), atol=1e-9)
        assert found.is_joint
        without = joined(knowledge, {"dog": -1.0}, [], None, [(picture, 1.0)])
        assert_allclose(without.values, self.brute(world, [(picture, 1), (dog, -1)]), atol=1e-9)
        assert without.text == "not dog"

    def test_parts_that_cancel_out(self, knowledge):
        with pytest.raises(NamesError, match="cancel out: leave one of them out"):
            joined(knowledge, {"cat": 1.0, "cats": -1.0}, [], None)

    @pytest.mark.parametrize("size", [1e-300, 1e-6, 1e6, 1e300])
    def test_only_the_ratio_of_weights_counts(self, knowledge, size):
        usual = joined(knowledge, {"dog": 1.0, "beach": -0.5}, [], None)
        scaled = joined(knowledge, {"dog": size, "beach": -0.5 * size}, [], None)
        assert_allclose(scaled.values, usual.values)

    def test_words_that_are_left_out(self, knowledge):
        found = joined(knowledge, {"fuzzy dog": 1.0, "xyzzy beach": 1.0}, [], None)
        assert found.left_out == ("fuzzy", "xyzzy")

    def test_a_network_that_reads_texts_itself(self, knowledge):
        values = np.random.RandomState(1).randn(48)
        found = read_name(knowledge, "a sunny day", ["a sunny day"], lambda _: values)
        assert_allclose(found.values, values / np.linalg.norm(values))
        assert (found.things[0].sense, found.labels) == (None, ("a sunny day",))


class TestForecasts:
    """What is said about a name before it is searched for."""

    def forecast(self, knowledge, text, labels=()):
        return explain(knowledge, read_name(knowledge, text, labels)).forecast

    def test_a_labelled_thing(self, labelled):
        found = explain(labelled, read_name(labelled, "Bella", LABELS))
        assert (found.name, found.seen, found.forecast.verdict) == ("Bella", True, "seen")
        assert found.forecast.text == "The model learned from 5 labelled pictures of Bella."
        assert self.forecast(labelled, "tabby").text.startswith("The model learned from 20 label")

    def test_one_labelled_picture(self, world):
        labels = np.zeros((len(world.y), 1), dtype=bool)
        labels[3] = True
        own = learn(world, Membership(["Bella"], [""], labels))
        text = self.forecast(own, "Bella", ["Bella"]).text
        assert text == "The model learned from 1 labelled picture of Bella."

    def test_what_the_network_knows(self, knowledge):
        found = self.forecast(knowledge, "violin")
        assert (found.verdict, found.text) == (
            "close",
            "The network was trained to recognise it: if violin is here, it is found.",
        )
        assert "to recognise 3 kinds of it: if cat" in self.forecast(knowledge, "cat").text
        assert np.isnan(found.rank)
        assert found.similarity == pytest.approx(1, abs=1e-6)

    @pytest.mark.parametrize(
        ("rank", "verdict", "text"),
        [
            (0.9, "close", "stand out clearly from all others, so they should be right."),
            (0.5, "usual", "stand out as usual, so some of them should be right."),
            (0.1, "far", "hardly stand out from all others, so expect little."),
        ],
    )
    def test_a_predicted_name(self, knowledge, rank, verdict, text):
        reading = read_name(knowledge, "lorry")
        own = knowledge.prominence(reading.things[0].direction)
        usual = own - rank + np.linspace(0, 1, 33)
        found = explain(replace(knowledge, usual=usual), reading).forecast
        assert found.verdict == verdict
        assert found.rank == pytest.approx(rank)
        assert found.text.startswith("The network does not know lorry (truck); nearest in meaning")
        assert found.text.endswith(text)

    def test_nobody_can_say(self, knowledge):
        unsure = replace(knowledge, usual=np.zeros(33, dtype=np.float32))
        found = self.forecast(unsure, "lorry")
        assert (found.verdict, np.isnan(found.rank)) == ("unknown", True)
        assert found.text.endswith("Nobody can say how well it is found.")

    def test_nearest_names(self, labelled):
        near = explain(labelled, read_name(labelled, "crane (bird)")).nearest
        assert near[0].name == "crane (wading bird)"  # not as the network writes it, with an id
        assert len(near) == 10
        assert [own.cosine for own in near] == sorted((own.cosine for own in near), reverse=True)
        near = explain(labelled, read_name(labelled, "kitten")).nearest
        assert {own.name for own in near if own.seen} <= {"tabby", "dog (domestic animal)"}

    def test_names_of_a_code(self, world, labelled):
        row = int(np.flatnonzero(world.y == TABBY)[10])
        found = likely_names(labelled, world.signs[row].astype(float), 4)
        assert "tabby" in [own.name for own in found[:3]]
        assert {own.name: own.seen for own in found}["tabby"]
        assert [own.cosine for own in found] == sorted((own.cosine for own in found), reverse=True)


def test_a_reading_is_ready_for_json(labelled):
    told = json.loads(json.dumps(read_name(labelled, "a fuzzy cat", LABELS).told()))
    assert told["text"] == "a fuzzy cat"
    assert (told["left_out"], told["labels"], told["nothing"]) == (["fuzzy"], ["tabby_cat"], False)
    (cat,) = told["things"]
    assert (cat["name"], cat["sense"], cat["key"]) == ("cat", "cat (true cat)", "cat.n.01")
    assert (cat["synset"], cat["known"]) == (CAT, True)
    assert cat["others"][0].keys() == {"sense", "key"}
    (rex,) = read_name(labelled, "Rex", LABELS).told()["things"]
    assert (rex["sense"], rex["synset"], rex["key"]) == ("Rex", None, None)


class TestNegation:
    def test_what_a_phrase_does_not_want_is_left_out(self, knowledge):
        read = read_name(knowledge, "goldfish, not teapot")
        assert [thing.name for thing in read.things] == ["goldfish"]
        assert read.left_out == ("not teapot",)

    def test_nothing_that_is_wanted(self, knowledge):
        with pytest.raises(NamesError, match="say what to search for"):
            read_name(knowledge, "no goldfish")
