"""Fits to shards against fits to the same rows in memory."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from tests.scale.comparing import assert_near_fit, assert_same_fit, cut
from zshash import ITQ, KSH, LSH, MLH, SDH, SSH, ZSH, scale
from zshash.scale.samples import ShardedSamples
from zshash.scale.shards import open_shards

METHODS = {
    "ZSH anchor": ZSH(37, n_anchors=150, graph="anchor", random_state=0),
    "ZSH anchor unit": ZSH(9, n_anchors=90, graph="anchor", normalize=True, random_state=1),
    "ZSH none": ZSH(9, n_anchors=150, graph=None, random_state=2),
    "ZSH none unit": ZSH(37, n_anchors=90, graph=None, normalize=True, random_state=3),
    "ZSH centres": ZSH(16, n_anchors=40, anchors="kmeans", graph="anchor", random_state=0),
    "ZSH cayley": ZSH(16, n_anchors=60, graph=None, rotation="cayley", random_state=0),
    "ZSH no gamma": ZSH(16, n_anchors=60, graph="knn", gamma=0, random_state=0),
    "SDH": SDH(37, n_anchors=100, random_state=0),
    "SDH unit": SDH(9, n_anchors=100, normalize=True, random_state=0),
    "LSH": LSH(37, random_state=0),
    "LSH unit": LSH(9, normalize=True, random_state=0),
    "LSH off": LSH(37, center=False, random_state=0),
    "SSH": SSH(37, n_labeled=300, random_state=0),
    "SSH orthogonal": SSH(9, variant="orthogonal", n_labeled=200, normalize=True, random_state=0),
    "SSH nonorthogonal": SSH(9, variant="nonorthogonal", n_labeled=200, random_state=0),
    "ITQ": ITQ(37, random_state=0),
    "ITQ unit": ITQ(9, normalize=True, random_state=0),
}
SHARDS = {
    "a few": [400, 1, 700, 399],
    "of one row": [1, 1, 1, 1497],
    "a block and less": [1024, 476],
    "a block and more": [1025, 475],
    "many": [100] * 15,
}


@pytest.fixture(scope="module")
def in_memory(digits):
    X, y, _ = digits
    return {name: clone(hasher).fit(X, y) for name, hasher in METHODS.items()}


@pytest.mark.parametrize("sizes", SHARDS.values(), ids=SHARDS)
@pytest.mark.parametrize("name", [name for name in METHODS if "ITQ" not in name])
def test_shards_give_what_rows_in_memory_give(name, sizes, digits, in_memory):
    X, y, others = digits
    fitted = scale.fit(clone(METHODS[name]), cut(X, sizes), y)
    assert_near_fit(in_memory[name], fitted, others)
    if hasattr(fitted, "codes_"):
        assert np.mean(fitted.codes_ == in_memory[name].codes_) >= 0.999


@pytest.mark.parametrize("name", ["ITQ", "ITQ unit"])
@pytest.mark.parametrize("sizes", SHARDS.values(), ids=SHARDS)
def test_rotations_from_shards_are_as_good(name, sizes, digits, in_memory):
    """Each round turns the axes by the signs of the last: one sign lost to rounding grows."""
    X, _, _ = digits
    fitted, known = scale.fit(clone(METHODS[name]), cut(X, sizes)), in_memory[name]
    np.testing.assert_allclose(fitted.mean_, known.mean_, rtol=1e-6)
    assert fitted.objective_[0] == pytest.approx(known.objective_[0], rel=1e-5)
    assert fitted.objective_[-1] == pytest.approx(known.objective_[-1], rel=1e-2)
    assert (np.diff(fitted.objective_) <= 1e-6 * fitted.objective_[0]).all()


@pytest.mark.parametrize("name", METHODS)
def test_one_shard_gives_the_very_same(name, clusters):
    X, y, _ = clusters
    hasher = METHODS[name]
    assert_same_fit(clone(hasher).fit(X, y), scale.fit(clone(hasher), X, y))


@pytest.mark.parametrize("name", METHODS)
def test_the_same_shards_give_the_same_whatever_the_threads(name, clusters):
    X, y, _ = clusters
    shards = cut(X, [1500, 7, 1, 2492])
    first = scale.fit(clone(METHODS[name]), shards, y)
    for number in (1, 2):
        with threadpool_limits(number):
            assert_same_fit(first, scale.fit(clone(METHODS[name]), shards, y))


def test_another_seed_gives_other_codes(digits):
    X, y, others = digits
    shards = cut(X, [700, 800])
    one, other = (
        scale.fit(clone(METHODS["ZSH anchor"]).set_params(random_state=seed), shards, y)
        for seed in (0, 1)
    )
    assert np.mean(one.transform(others) != other.transform(others)) > 0.1


def test_a_random_state_goes_on_as_after_a_fit_in_memory(digits):
    X, y, _ = digits
    one, other = np.random.RandomState(5), np.random.RandomState(5)
    hasher = clone(METHODS["ZSH none"])
    hasher.set_params(random_state=one).fit(X, y)
    scale.fit(hasher.set_params(random_state=other), cut(X, [700, 800]), y)
    assert one.randint(2**31) == other.randint(2**31)


def test_centres_come_from_rows_drawn_where_there_are_many(clusters, monkeypatch):
    X, y, others = clusters
    monkeypatch.setattr("zshash.hashing.steps.anchors.ROWS_PER_CENTER", 20)
    taken = []
    take = ShardedSamples.take
    monkeypatch.setattr(
        ShardedSamples, "take", lambda self, numbers: taken.append(numbers) or take(self, numbers)
    )
    hasher = clone(METHODS["ZSH centres"])
    fitted = scale.fit(hasher, cut(X, [1, 1500, 2499]), y)
    drawn = max(taken, key=len)
    assert len(np.unique(drawn)) == len(drawn) == 20 * 40
    assert drawn.max() > 3900 > 100 > drawn.min()
    assert fitted.anchors_.shape == (40, 37)
    assert len(np.unique(fitted.encode(others), axis=0)) > 12


def words(y):
    return np.array(["zero", "one", "two", "three", "four", "five", "six", "7", "8", "nine"])[y]


def several(y):
    """A matrix of 0/1 with one label or two for each row."""
    matrix = np.eye(10, dtype=np.int64)[y]
    matrix[::3, 0] = 1
    return matrix


TARGETS = {
    "numbers": lambda y: y,
    "words": words,
    "bytes": lambda y: words(y).astype("S"),
    "whole floats": lambda y: y.astype(float),
    "a column": lambda y: y[:, None],
    "a column of words": lambda y: words(y)[:, None],
    "a column of signs": lambda y: (y[:, None] > 4).astype(int),
    "a matrix of 0/1": several,
    "vectors": lambda y: np.random.RandomState(0).standard_normal((10, 6))[y],
    "vectors of their own": lambda y: np.random.RandomState(0).standard_normal((len(y), 6)),
}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("form", ["whole", "parts", "lists", "file", "files"])
def test_every_kind_of_targets(kind, form, digits, tmp_path):
    X, y, others = digits
    sizes = [600, 1, 899]
    Y = TARGETS[kind](y)
    targets = Y if form in ("whole", "file") else cut(Y, sizes)
    if form == "lists":
        targets = [part.tolist() for part in targets]
    if form == "file":
        targets = saved(tmp_path / "y.npy", Y)
    if form == "files":
        targets = [saved(tmp_path / f"{n}.npy", part) for n, part in enumerate(targets)]
    hasher = ZSH(9, n_anchors=60, graph="anchor", random_state=0, max_iter=4)
    known = clone(hasher).fit(X, Y)
    fitted = scale.fit(clone(hasher), cut(X, sizes), targets)
    assert_near_fit(known, fitted, others)
    if hasattr(known, "classes_"):
        assert np.array_equal(known.classes_, fitted.classes_)


def saved(path, array):
    np.save(path, array)
    return path


@pytest.mark.parametrize("method", [ZSH(9, n_anchors=60, graph=None), SDH(9, n_anchors=60), SSH(9)])
def test_numbers_of_vectors(method, digits):
    X, y, others = digits
    vectors = np.random.RandomState(0).standard_normal((12, 6))  # two of them are nobody's
    known = clone(method).set_params(random_state=0).fit(X, vectors[y])
    hasher = clone(method).set_params(random_state=0)
    parts = cut(X, [1, 999, 500])
    for targets in (y, y.astype(np.uint8), cut(y, [1, 999, 500])):
        fitted = scale.fit(clone(hasher), parts, targets, vectors=vectors)
        assert_near_fit(known, fitted, others)
        assert not hasattr(fitted, "classes_")
    assert_same_fit(fitted, scale.fit(hasher, parts, y, vectors=vectors.tolist()))


@pytest.mark.parametrize("extra", [{"vectors": np.eye(10)}, {}])
def test_classes_of_an_earlier_fit_are_forgotten(extra, digits):
    X, y, _ = digits
    hasher = scale.fit(ZSH(9, n_anchors=20, graph=None, random_state=0), X, words(y))
    assert sorted(hasher.classes_) == sorted(set(words(y)))
    scale.fit(hasher, X, y if extra else several(y), **extra)
    assert not hasattr(hasher, "classes_")


def test_chosen_rows_of_shards(digits, tmp_path):
    X, y, _ = digits
    shards = [
        shard.looked_at() for shard in open_shards([X[:900], saved(tmp_path / "x.npy", X[900:])])
    ]
    odd = [shard.select(np.arange(1, shard.shape[0], 2)) for shard in shards]
    known = scale.fit(clone(METHODS["ZSH anchor"]), [X[1:900:2], X[901::2]], y[1::2])
    assert_same_fit(known, scale.fit(clone(METHODS["ZSH anchor"]), odd, y[1::2]))
    assert np.array_equal(scale.encode(known, odd), known.encode(X[1::2]))


def test_a_second_fit_is_as_the_first(digits, clusters):
    hasher = clone(METHODS["ZSH anchor"])
    scale.fit(hasher, cut(clusters[0], [1000, 3000]), clusters[1])
    X, y, _ = digits
    shards = cut(X, [1000, 500])
    assert scale.fit(hasher, shards, y) is hasher
    assert hasher.n_features_in_ == 64
    assert_same_fit(hasher, scale.fit(clone(hasher), shards, y))


def test_a_bar_where_it_is_asked_for(digits, capsys, monkeypatch):
    X, y, _ = digits
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    hasher = LSH(9, random_state=0)
    scale.fit(hasher, cut(X, [1000, 500]), y)
    assert "shards" not in capsys.readouterr().err
    scale.fit(hasher, cut(X, [1000, 500]), y, progress=True)
    assert "shards" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hasher", "words"),
    [
        (ZSH(), 'graph="knn" compares all samples .* set graph="anchor"'),
        (SDH(loss="hinge"), 'loss="hinge" needs all codes in memory: set loss="l2"'),
        (KSH(), "KSH needs all rows in memory: .* one of ZSH, SDH, SSH, ITQ, LSH, which"),
        (MLH(), "MLH needs all rows in memory"),
        (SSH(n_labeled=None, variant="orthogonal"), "n_labeled=None .* give a number"),
        (ITQ(65), "n_bits=65 is more than the dimension of X"),
        (LSH(7), "n_bits must be a whole number of at least 8"),
        (ZSH(graph="anchor", alpha=-1), "alpha must be a number above 0"),
    ],
)
def test_what_can_not_be_learned_from_shards(hasher, words, digits):
    with pytest.raises(ValueError, match=words):
        scale.fit(hasher, digits[0], digits[1])


def quick():
    return ZSH(9, n_anchors=20, graph="anchor", max_iter=2, random_state=0)


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        (lambda y: y[:-1], r"the shards have 1500 rows in all, and targets have the shape \(1499,"),
        (lambda y: [y], "there are 2 shards, and targets for 1"),
        (lambda y: [y[:500], y[500:900], y[900:]], "there are 2 shards, and targets for 3"),
        (lambda y: [y[:500], y[500:]], r"shard 0: it has 900 rows, and its targets .* \(500,\)"),
        (lambda y: [y[:900], y[901:]], r"shard 1: it has 600 rows, and its targets .* \(599,\)"),
        (lambda y: [several(y[:900]), y[900:]], r"shard 1: .*\(600,\), .* first shard \(900, 10\)"),
        (lambda y: [y[:900], several(y[900:])], r"shard 1: .*\(600, 10\), .* shard \(900,\)"),
        (
            lambda y: [several(y[:900]), several(y[900:])[:, :1]],
            r"shard 1: .* \(600, 1\), .* \(900, 10\): give all shards the same kind",
        ),
        (lambda y: several(y) * 2, "whole numbers other than 0 and 1"),
        (lambda y: words(several(y)), "a matrix of words"),
        (lambda y: np.where(several(y), np.nan, 1), "y contains NaN"),
        (lambda y: y + 0.5, "not a class label"),
        (lambda y: np.zeros((len(y), 2, 2)), "targets have the shape"),
        (lambda y: "nowhere.npy", "nowhere.npy: no .npy file of targets"),  # noqa: ARG005
    ],
)
def test_targets_that_do_not_fit(targets, words, digits):
    X, y, _ = digits
    with pytest.raises(ValueError, match=words):
        scale.fit(quick(), cut(X, [900, 600]), targets(y))


@pytest.mark.parametrize(
    ("targets", "vectors"),
    [
        (lambda y: y, np.eye(9)),
        (lambda y: y - 1, np.eye(10)),
        (lambda y: y.astype(float), np.eye(10)),
        (words, np.eye(10)),
        (several, np.eye(10)),
        (lambda y: [y[:900], y[900:] + 1], np.eye(10)),
    ],
)
def test_numbers_of_no_vector(targets, vectors, digits):
    X, y, _ = digits
    with pytest.raises(ValueError, match=f"from 0 to {len(vectors) - 1}"):
        scale.fit(quick(), cut(X, [900, 600]), targets(y), vectors=vectors)


@pytest.mark.parametrize("vectors", [np.full((10, 2), np.nan), np.zeros(10)])
def test_vectors_that_are_none(vectors, digits):
    with pytest.raises(ValueError, match="vectors must be finite numbers"):
        scale.fit(quick(), digits[0], digits[1], vectors=vectors)


def test_float_vectors_without_labels_are_not_for_pairs(digits):
    X, y, _ = digits
    with pytest.raises(ValueError, match="class labels: give these"):
        scale.fit(SSH(9), cut(X, [900, 600]), several(y))


@pytest.mark.parametrize("hasher", [LSH(9), quick()])
def test_one_row_is_not_enough(hasher, digits):
    with pytest.raises(ValueError, match="one row in the shards: a fit needs two"):
        scale.fit(hasher, digits[0][:1], vectors=np.eye(2), targets=[1])


@pytest.mark.parametrize("normalize", [False, True])
def test_rows_that_are_all_equal(normalize, digits):
    X = np.repeat(digits[0][:1], 40, axis=0)
    X[5:9] *= 2 if normalize else 1
    hasher = LSH(9, normalize=normalize)
    with pytest.raises(ValueError, match="all rows of X are equal"):
        scale.fit(hasher, cut(X, [1, 38, 1]))
    X[20, 5] += 1  # with the same row at both ends
    assert scale.fit(hasher, cut(X, [1, 38, 1])).n_features_in_ == 64


def test_one_class_is_warned_of(digits):
    X, _, _ = digits
    with pytest.warns(UserWarning, match="the same label: ZSH sees only 1 class") as caught:
        scale.fit(quick(), cut(X, [900, 600]), np.zeros(1500, dtype=int))
    assert caught[0].filename == __file__


def test_too_many_anchors_are_warned_of(digits):
    X, y, _ = digits
    with pytest.warns(UserWarning, match="n_anchors=20 is larger") as caught:
        hasher = scale.fit(quick(), cut(X[:18], [5, 13]), y[:18])
    assert len(hasher.anchors_) == 18
    assert caught[0].filename == __file__


def test_a_hasher_must_be_fitted_to_encode(digits):
    with pytest.raises(NotFittedError):
        scale.encode(LSH(9), digits[0])


@pytest.mark.parametrize("hasher", [ZSH, "ZSH", None])
def test_what_is_no_hasher(hasher, digits):
    with pytest.raises(
        TypeError, match=r"must be an object such as ZSH\(n_bits=64\), got '?(ZSH|No)"
    ):
        scale.fit(hasher, digits[0], digits[1])


@pytest.mark.parametrize("vectors", [[["a"]], [[1], [1, 2]]])
def test_vectors_that_are_no_numbers(vectors, digits):
    with pytest.raises(ValueError, match=r"vectors must be numbers \(c, p\)"):
        scale.fit(METHODS["ZSH none"], digits[0], digits[1], vectors=vectors)


@pytest.mark.parametrize("client", [3, "tcp://127.0.0.1:8786"])
def test_what_is_no_client(client, digits):
    with pytest.raises(TypeError, match=r"must be a distributed.Client, got .*: Client\(ADDRESS\)"):
        scale.fit(clone(METHODS["LSH"]), digits[0], client=client)
