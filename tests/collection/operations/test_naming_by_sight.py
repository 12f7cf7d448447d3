"""Search by name in a collection whose network knows names, against looking at every item."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.learning.known_things import BEAGLE, NAMES, TABBY, make_world
from zshash import LSH, Collection, CollectionError
from zshash.codes import unpack
from zshash.collection import Query
from zshash.collection.operations import naming
from zshash.learning.knowledge import Membership, learn_knowledge
from zshash.learning.model import Model
from zshash.learning.readings import joined, read_name
from zshash.semantics import UnknownNames

N_BITS = 48
CATS = [NAMES.index(name) for name in ("tabby", "Egyptian cat", "Persian cat")]


@pytest.fixture(scope="module")
def world():
    return make_world()


@pytest.fixture(scope="module")
def model(world):
    """A model that learned from some tabbies and from no other label."""
    hasher = LSH(n_bits=N_BITS, random_state=0).fit(world.X)
    signs = np.where(hasher.project(world.X) >= 0, 1.0, -1.0).astype(np.float32)
    labels = (np.arange(len(world.y)) % 5 == 0) & (world.y == TABBY)
    labelled = Membership(["tabby_cat"], ["n02123045"], labels[:, None])
    knowledge = learn_knowledge(world.X, signs, world.network, labelled)
    return Model(hasher, knowledge=knowledge)


@pytest.fixture
def filled(folder, model, world):
    """All pictures, in an order of no meaning; some tabbies and three others have labels."""
    rows = np.arange(len(world.y))
    labels = [None] * len(rows)
    for row in rows[(rows % 5 == 0) & (world.y == TABBY)]:
        labels[row] = "tabby_cat"
    for row, label in ((7, "Rex"), (300, "Rex"), (450, "dog")):
        labels[row] = label
    with Collection.create(folder, model) as photos:
        photos.add(world.X, labels=labels, metadata=[{"row": int(row)} for row in rows])
        yield photos


def cosines_of(photos, values):
    """Cosine of each item's code with a query, by id."""
    signs = 2.0 * unpack(photos.index.codes, N_BITS) - 1
    own = [sum(code * values) / np.sqrt(N_BITS) / np.linalg.norm(values) for code in signs]
    return dict(zip(photos.ids.tolist(), own, strict=True))


def labelled_with(photos, *labels):
    return {number for number in photos.ids.tolist() if {*photos[number].labels} & {*labels}}


def check(photos, name, k, labels=(), where=None):
    """Items with one of the labels first, then all others, by cosine."""
    reading = read_name(photos.model.knowledge, name, ["tabby_cat", "Rex", "dog"])
    cosines = cosines_of(photos, reading.values)
    own = labelled_with(photos, *labels)
    ids = photos.ids.tolist() if where is None else photos.find(where).tolist()
    order = sorted(ids, key=lambda number: (number not in own, -round(cosines[number], 9), number))
    found = photos.search(name=name, k=k, where=where)
    n_first = sum(number in own for number in order[:k])
    assert [match.score for match in found[:n_first]] == [1.0] * n_first
    assert {match.id for match in found[:n_first]} <= own
    best = np.array([cosines[number] for number in order[:k]])
    assert_allclose([cosines[match.id] for match in found], best, atol=1e-6)
    direction = reading.things[0].direction
    likely = photos.model.knowledge.probabilities(direction, best[n_first:])
    assert_allclose([match.score for match in found[n_first:]], likely, rtol=1e-4, atol=1e-9)
    assert len({match.id for match in found}) == len(found) == min(k, len(ids))
    return found


@pytest.mark.parametrize("k", [1, 3, 10, 40, 1000])
def test_names_against_every_item(filled, k):
    check(filled, "violin", k)
    check(filled, "truck", k)
    check(filled, "cat", k, ["tabby_cat"])
    check(filled, "animal", k, ["tabby_cat", "dog"])


def test_labelled_items_come_first_however_they_look(filled, world):
    found = check(filled, "dog", 8, ["dog"])
    assert found[0].id == 450
    assert world.y[450] != BEAGLE
    assert found[0].score == 1.0 > found[1].score
    assert found.reading.labels == ("dog",)


@pytest.mark.parametrize("where", ["row < 300", "row >= 195", "label = 'tabby_cat'", "row = 3"])
def test_labels_and_a_condition(filled, where):
    for k in (2, 30, 600):
        check(filled, "cat", k, ["tabby_cat"], where)
    assert filled.search(name="cat", where="row > 10000") == []


def test_labels_under_several_conditions_are_kept_apart(filled):
    """What is remembered for one condition is not used for another one."""
    for where in ("row < 190", None, "row >= 190", "row < 190"):
        check(filled, "cat", 10, ["tabby_cat"], where)


def test_right_items_are_found(filled, world):
    found = filled.search(name="cat", k=30)
    assert np.mean(np.isin(world.y[[match.id for match in found]], CATS)) > 0.8
    assert found.reading.things[0].text == "cat (true cat)"
    assert not found.reading.nothing


@pytest.mark.parametrize("name", ["violin", "cat", {"dog": 1, "violin": 2}])
def test_pages(filled, name):
    whole = filled.search(name=name, k=100)
    assert whole.total == 600
    for offset, k in [(0, 2), (2, 3), (3, 20), (95, 5)]:
        page = filled.search(name=name, k=k, offset=offset)
        assert [match.id for match in page] == [match.id for match in whole[offset : offset + k]]
        assert_allclose(
            [match.score for match in page],
            [match.score for match in whole[offset : offset + k]],
        )
    assert filled.search(name=name, k=5, offset=600) == []


def test_names_with_weights(filled):
    knowledge = filled.model.knowledge
    for words in ({"dog": 1.0, "violin": 1.0}, {"dog": 2.0, "beach": 1.0}, {"cat": 1, "tabby": -1}):
        found = filled.search(name=words, k=20)
        values = joined(knowledge, words, ["tabby_cat", "Rex", "dog"], None).values
        best = sorted(cosines_of(filled, values).values(), reverse=True)[:20]
        assert_allclose([match.score for match in found], best, rtol=1e-5)
        assert found.reading.is_joint
        assert not found.reading.labels


def test_what_is_not_wanted(filled, world):
    found = filled.search(name="cat", without="tabby", k=20)
    weights = filled.search(name={"cat": 1, "tabby": -1}, k=20)
    assert [match.id for match in found] == [match.id for match in weights]
    assert TABBY not in world.y[[match.id for match in found]]
    assert found.reading.text == "cat, not tabby"
    both = filled.search(name=["cat", "dog"], without=["tabby", "beagle"], k=5)
    assert both.reading.text == "cat, dog, not tabby, not beagle"
    with pytest.raises(ValueError, match="not only what is not wanted"):
        filled.search(without="cat")
    for weight in (0, np.nan, np.inf):
        with pytest.raises(ValueError, match="the weight of a name is a number other than 0"):
            filled.search(name={"cat": weight})


def test_a_list_has_many_searches(filled):
    names = ["cat", "violin", "a dog on a beach"]
    found = filled.search(name=names, k=7)
    assert len(found) == 3
    for name, own in zip(names, found, strict=True):
        assert own == filled.search(name=name, k=7)
        assert own.reading.text == name


def test_a_picture_and_a_name(filled, world):
    knowledge, picture = filled.model.knowledge, world.X[0]
    values = filled.model.project(picture[None])[0].astype(np.float64)
    for options, words in (
        ({"name": "violin"}, {"violin": 1.0}),
        ({"name": {"violin": 3.0}}, {"violin": 3.0}),
        ({"without": "sports car"}, {"sports car": -1.0}),
        ({"name": ["cat", "dog"]}, {"cat": 1.0, "dog": 1.0}),
    ):
        found = filled.search(picture, k=15, **options)
        both = joined(knowledge, words, [], None, [(values, 1.0)])
        best = sorted(cosines_of(filled, both.values).values(), reverse=True)[:15]
        assert_allclose([match.score for match in found], best, rtol=1e-4)
        assert found.reading.is_joint
    assert filled.search(picture, k=3).reading is None


def test_nothing_here_looks_like_it(filled):
    knowledge = filled.model.knowledge
    for name in ("violin", "tree frog", "stethoscope", "trombone"):
        found = filled.search(name=name, k=5)
        direction = read_name(knowledge, name).things[0].direction
        best = max(cosines_of(filled, direction.values).values())
        assert found.reading.nothing == knowledge.is_nothing(direction, best)
    assert not filled.search(name="violin").reading.nothing
    assert filled.search(name="stethoscope").reading.nothing


def test_nothing_is_said_of_labelled_items_and_of_none(filled):
    filled.add_codes(np.zeros((1, 6), np.uint8), labels=["stethoscope"])
    found = filled.search(name="stethoscope", k=3)
    assert not found.reading.nothing
    assert found[0].id == 600
    assert not filled.search(name="violin", where="row < 0").reading.nothing


def test_changes_of_the_items_are_seen(filled):
    for where in (None, "row < 590"):
        check(filled, "cat", 10, ["tabby_cat"], where)
    first = filled.search(name="cat", k=1)[0].id
    filled.remove([first])
    for where in (None, "row < 590"):
        found = check(filled, "cat", 10, ["tabby_cat"], where)
        assert first not in [match.id for match in found]
    code = filled.index.get([599])
    (new,) = filled.add_codes(code, labels=["tabby_cat"], metadata=[{"row": 5}]).ids
    for where in (None, "row < 590"):
        found = check(filled, "cat", 10, ["tabby_cat"], where)
        assert new in [match.id for match in found[:5]]
    filled.add_codes(filled.index.get([3]), labels=["Persian cat"])
    assert filled.search(name="cat").reading.labels == ("tabby_cat", "Persian cat")


def test_another_process_changes_the_labels(filled):
    check(filled, "cat", 5, ["tabby_cat"])
    with Collection.open(filled.path) as other:
        other.remove(sorted(labelled_with(other, "tabby_cat")))
    found = check(filled, "cat", 5)
    assert found.reading.labels == ()
    assert found[0].score < 1


def test_a_label_that_the_model_has_never_seen(filled):
    found = filled.search(name="Rex", k=5)
    assert {match.id for match in found[:2]} == {7, 300}
    assert [match.score for match in found[:2]] == [1.0, 1.0]
    assert found.reading.things[0].name.lower() == "rex"
    filled.add_codes(filled.index.get([11, 5]), labels=["東京", "東京"])
    found = filled.search(name="東京", k=2)
    assert [match.id for match in found] == [600, 601]


def test_more_labels_than_a_query_of_the_database_takes(filled, monkeypatch):
    monkeypatch.setattr(naming, "LABELS_AT_ONCE", 1)
    filled.add_codes(filled.index.get([0, 1]), labels=["Persian cat", "Siamese cat"])
    found = filled.search(name="cat", k=6)
    assert {label for match in found for label in match.labels} == {
        "tabby_cat", "Persian cat", "Siamese cat"}  # fmt: skip
    assert [match.score for match in found] == [1.0] * 6


def test_what_names_and_codes_mean(filled, world):
    assert filled.knows_names
    assert filled.explain_name("violin").forecast.verdict == "close"
    assert filled.explain_name("tabby").seen
    near = filled.explain_code(item=int(np.flatnonzero(world.y == TABBY)[3]), n=4)
    assert len(near) == 4
    assert "tabby" in [own.name for own in near]


def test_mistakes(filled):
    with pytest.raises(UnknownNames, match="did you mean 'truck'"):
        filled.search(name="trukc")
    with pytest.raises(CollectionError, match=r"photos\.zshash: the name is empty"):
        filled.search(name=" ")
    with pytest.raises(CollectionError, match="cancel out"):
        filled.search(name={"cat": 1, "cats": -1})
    with pytest.raises(TypeError, match="exactly one of query, name, item"):
        filled.search(item=3, without="cat")
    for wrong in ({"radius": 3}, {"distance": "bits"}):
        with pytest.raises(ValueError, match="a name is searched for by"):
            Query(words={"cat": 1.0, "dog": 1.0}, **wrong)


def test_several_names_need_a_network_that_knows_them(photos, X):
    photos.add(X)
    sentence = "several names together, or a picture and a name, need a model that was learned"
    for search in (
        {"name": {"cat": 1, "dog": 2}},
        {"name": "cat", "without": "dog"},
        {"query": X[0], "name": "cat"},
        {"query": X[0], "without": "cat"},
    ):
        with pytest.raises(CollectionError, match=sentence) as error:
            photos.search(**search)
        assert "\n" not in str(error.value)


def test_an_empty_collection(folder, model):
    with Collection.create(folder, model) as photos:
        assert photos.search(name="cat") == []
        assert photos.search(name={"cat": 1, "dog": -1}) == []


def test_a_collection_that_is_opened_again(filled):
    expected = filled.search(name="cat", k=20)
    with Collection.open(filled.path) as again:
        found = again.search(name="cat", k=20)
        assert [match.id for match in found] == [match.id for match in expected]
        assert found.reading.told() == expected.reading.told()
