"""Which pictures show what, against a loop over pictures, labels and categories."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from tests.learning.known_things import BEAGLE, IDS, NAMES, TABBY, make_world
from zshash.images import Categories
from zshash.learning.memberships import Membership, Memberships

DOG, CANINE, CAT = "n02084071", "n02083346", "n02121620"
LABELS = ["dog", "tabby_cat", "canine", "Bella"]
MEANT = [DOG, IDS[TABBY], CANINE, ""]
DOGS, WOLVES = {"beagle", "basset", "collie"}, {"timber wolf", "white wolf"}
AGREE = {"dog": DOGS, "tabby_cat": {"tabby"}, "canine": DOGS | WOLVES}  # by hand


@pytest.fixture(scope="module")
def world():
    return make_world()


@pytest.fixture(scope="module")
def labelled(world):
    return Membership(LABELS, MEANT, np.random.RandomState(0).rand(len(world.y), 4) < 0.3)


def by_loop(world, labelled):
    outputs = world.X @ world.network.directions.T + world.network.biases
    opinions = softmax(outputs, axis=1)
    names = [*NAMES, "dog", "canine", "Bella"]
    found = np.zeros((len(world.X), len(names)))
    for row, opinion in enumerate(opinions):
        own = [name for name, has in zip(LABELS, labelled.labels[row], strict=True) if has]
        told = [AGREE[name] for name in own if name != "Bella"]
        for place, likely in enumerate(opinion):
            agrees = not told or any(NAMES[place] in names for names in told)
            found[row, place] = likely if agrees else 0.1 * likely
        for name in own:
            found[row, TABBY if name == "tabby_cat" else names.index(name)] = 1.0
    return found


def test_against_a_loop(world, labelled):
    own = Memberships(world.network, labelled)
    assert own.names == (*NAMES, "dog", "canine", "Bella")
    assert own.ids == (*IDS, DOG, CANINE, "")
    n = len(NAMES)
    assert own.labels == {"dog": n, "tabby_cat": TABBY, "canine": n + 1, "Bella": n + 2}
    counts = np.zeros(n + 3, dtype=int)
    counts[[n, TABBY, n + 1, n + 2]] = labelled.labels.sum(axis=0)
    assert_array_equal(own.counts, counts)
    assert_allclose(own.of(world.X, slice(None)), by_loop(world, labelled), atol=1e-7)
    rows = np.array([3, 0, 77])
    assert_allclose(own.of(world.X, rows), by_loop(world, labelled)[rows], atol=1e-7)


def test_a_label_is_certain_and_contradictions_are_doubted(world):
    labels = np.zeros((len(world.y), 1), dtype=bool)
    row = int(np.flatnonzero(world.y == TABBY)[0])
    labels[row] = True
    alone = Memberships(world.network, None).of(world.X, slice(None))
    for name, synset, share in [("dog", DOG, 0.1), ("cat", CAT, 1.0), ("Bella", "", 1.0)]:
        found = Memberships(world.network, Membership([name], [synset], labels))
        part = found.of(world.X, slice(None))
        assert part[row, -1] == 1
        assert part[row, TABBY] == pytest.approx(share * alone[row, TABBY])
        assert_allclose(np.delete(part, row, axis=0)[:, :-1], np.delete(alone, row, axis=0))


def test_what_a_label_is_a_kind_of_is_no_contradiction(world):
    """A bloodhound is no beagle, but a network that says dog is right."""
    names = tuple("dog" if name == "collie" else name for name in NAMES)
    ids = tuple(DOG if name == "collie" else id_ for name, id_ in zip(NAMES, IDS, strict=True))
    network = Categories(ids, names, world.network.directions, world.network.biases)
    labelled = Membership(["hound"], ["n02088466"], np.ones((1, 1), dtype=bool))
    (part,) = Memberships(network, labelled).of(world.X[:1], slice(None))
    (alone,) = Memberships(network, None).of(world.X[:1], slice(None))
    dog = names.index("dog")
    assert part[dog] == alone[dog]
    assert part[BEAGLE] == pytest.approx(0.1 * alone[BEAGLE])


def test_two_labels_with_one_meaning_are_one_category():
    labels = np.array([[True, False], [False, True], [True, True], [False, False]])
    own = Memberships(None, Membership(["dog", "doggy"], [DOG, DOG], labels))
    assert (own.names, own.ids, own.labels) == (("dog",), (DOG,), {"dog": 0, "doggy": 0})
    assert own.counts.tolist() == [4]
    assert own.of(np.zeros((4, 2), np.float32), slice(None))[:, 0].tolist() == [1, 1, 1, 0]


def test_labels_that_nobody_knows_are_categories_of_their_own():
    labels = np.eye(2, dtype=bool)
    own = Memberships(None, Membership(["Rex", "Bella"], ["", ""], labels))
    assert own.names == ("Rex", "Bella")
    assert_array_equal(own.of(np.zeros((2, 3), np.float32), slice(None)), np.eye(2))


def test_blocks_are_the_whole(world, labelled, monkeypatch):
    own = Memberships(world.network, labelled)
    whole = own.of(world.X, slice(None))
    most = len(own.names) * 110
    monkeypatch.setattr("zshash.learning.memberships.NUMBERS_AT_ONCE", most)
    blocks = list(own.blocks(world.X))
    assert len(blocks) == 6
    # products of another number of rows may differ in the last bit of float32
    assert_allclose(np.concatenate([part for _, part in blocks]), whole, atol=1e-6)
    assert_array_equal(
        np.concatenate([np.arange(len(world.X))[rows] for rows, _ in blocks]),
        np.arange(len(world.X)),
    )
