import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import zshash
from zshash import ITQ, LSH, MTH, metrics
from zshash.codes import pack
from zshash.datasets import digits, load_features, zero_shot_split
from zshash.hashing.hasher import SemanticHasher
from zshash.hashing.mth import EFFORTS, LAMBDA, first_bits
from zshash.hashing.steps.linear import whiten
from zshash.hashing.steps.rows import Rows
from zshash.hashing.steps.statistics import Statistics


@pytest.fixture(scope="module")
def data():
    return digits()


@pytest.fixture(scope="module")
def vectors():
    """A label vector of unit length for each digit."""
    E = np.random.RandomState(5).standard_normal((10, 6))
    return E / np.linalg.norm(E, axis=1, keepdims=True)


def make(**parameters):
    """Quick to fit."""
    quick = {"n_bits": 24, "n_units": 48, "n_steps": 20, "effort": "fast", "random_state": 0}
    return MTH(**(quick | parameters))


def scores(hasher, X, labels, split, k=100):
    codes = hasher.encode(X)
    same = metrics.same_label(labels[split.queries], labels[split.database])
    return metrics.evaluate(codes[split.queries], codes[split.database], same, k=k)


def hidden_categories(seed):
    """Thirty categories that differ along directions of low variance; others have a high one."""
    rng = np.random.RandomState(seed)
    labels = np.arange(3000) % 30
    telling = rng.standard_normal((30, 12))[labels] + 0.4 * rng.standard_normal((3000, 12))
    others = 6 * rng.standard_normal((3000, 20))
    turn = np.linalg.qr(rng.standard_normal((32, 32)))[0]
    return (np.hstack([telling, others]) @ turn).astype(np.float32), labels


@pytest.mark.parametrize("seed", [0, 1])
def test_unseen_categories_in_directions_that_vary_little(seed):
    X, labels = hidden_categories(seed)
    split = zero_shot_split(labels, range(20, 30), n_train=1500, n_queries=200, random_state=seed)
    found = [
        scores(method.fit(X[split.train], labels[split.train]), X, labels, split)["map"]
        for method in (
            make(n_bits=32, n_units=256, n_steps=60),
            ITQ(32, random_state=seed),
            LSH(32, random_state=seed),
        )
    ]
    assert found[0] > 1.5 * max(found[1:])


def test_unseen_digits(data):
    """Where few directions tell digits apart, more shrinkage suits them than the default."""
    maps = []
    for seed, unseen in enumerate(([4, 7], [0, 9], [2, 3])):
        split = zero_shot_split(data.labels, unseen, n_train=800, n_queries=100, random_state=seed)
        X, y = data.X[split.train], data.labels[split.train]
        own = {"n_bits": 32, "normalize": True, "random_state": seed}
        hashers = make(n_units=256, n_steps=60, shrinkage=2.0, **own), LSH(**own)
        maps.append([scores(h.fit(X, y), data.X, data.labels, split)["map"] for h in hashers])
    ours, theirs = np.transpose(maps)
    assert ours.min() > 0.55  # one picture in ten would be right by chance
    assert ours.mean() > theirs.mean() + 0.02


def test_cifar10_truck(data_folder):
    cifar = load_features(data_folder / "features" / "cifar10_lite0_pca256.npz")
    split = zero_shot_split(cifar.labels, [9], n_train=3000, n_queries=300, random_state=0)
    X, y = cifar.X[split.train], cifar.labels[split.train]
    ranking = MTH(64, effort="fast", random_state=0).fit(X, y)
    lookup = MTH(64, effort="fast", lookup=1, random_state=0).fit(X, y)
    itq = ITQ(64, normalize=True, random_state=0).fit(X)
    by_method = [scores(h, cifar.X, cifar.labels, split, 5000) for h in (ranking, lookup, itq)]
    best, found, other = by_method
    assert best["map"] > 0.55
    assert best["map"] > other["map"] + 0.05
    assert found["precision"] > 0.5
    assert max(best["precision"], other["precision"]) < 0.1


def test_novelty_finds_automobiles_that_nobody_labelled(data_folder):
    cifar = load_features(data_folder / "features" / "cifar10_lite0_pca256.npz")
    split = zero_shot_split(cifar.labels, [1], n_train=3000, n_queries=200, random_state=0)
    maps = []
    for novelty in (0, MTH().novelty):
        own = {"averaging": 0, "shrinkage": 0.021, "random_state": 0}
        hasher = MTH(32, effort="fast", novelty=novelty, **own)
        hasher.fit(cifar.X[split.train], cifar.labels[split.train])
        maps.append(scores(hasher, cifar.X, cifar.labels, split, 5000)["map"])
    assert maps[1] > maps[0] + 0.03


@pytest.mark.parametrize("parameters", [{}, {"normalize": True}, {"n_bits": 70}])
def test_the_hash_function_is_the_network_it_shows(data, parameters):
    hasher = make(**parameters).fit(data.X, data.labels)
    X = data.X.astype(np.float64)
    if hasher.normalize:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    H = np.maximum(0, X @ hasher.units_ + hasher.unit_bias_)
    U = X @ hasher.linear_ + hasher.bias_ + H @ hasher.outputs_
    np.testing.assert_allclose(hasher.project(data.X), np.tanh(U), atol=1e-3)
    assert hasher.linear_.shape == (64, hasher.n_bits)
    assert hasher.units_.shape == (64, 48)
    assert hasher.loss_.shape == (20,)
    bits = hasher.transform(data.X)
    np.testing.assert_array_equal(hasher.encode(data.X), pack(bits))
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.3


def test_a_model_comes_back_bit_for_bit(data, vectors, tmp_path):
    for number, parameters in enumerate(({}, {"n_bits": 40, "lookup": 0.5, "semantics": 0.3})):
        hasher = make(**parameters).fit(data.X[:400], vectors[data.labels[:400]])
        zshash.hashing.save(hasher, tmp_path / f"{number}.zshash")
        again = zshash.hashing.load(tmp_path / f"{number}.zshash")
        assert again.get_params() == hasher.get_params()
        np.testing.assert_array_equal(again.project(data.X), hasher.project(data.X))
        np.testing.assert_array_equal(again.encode(data.X), hasher.encode(data.X))
        np.testing.assert_array_equal(again.frozen()(data.X), hasher.encode(data.X))
        np.testing.assert_array_equal(again.directions(vectors), hasher.directions(vectors))


def test_same_seed_same_codes_on_any_number_of_threads(data, vectors):
    hasher = make(semantics=0.5, n_steps=6, n_bits=80)
    codes = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads, user_api="blas"):
            fitted = clone(hasher).fit(data.X, vectors[data.labels])
        codes.append(fitted.encode(data.X))
    np.testing.assert_array_equal(codes[0], codes[1])
    np.testing.assert_array_equal(codes[0], codes[2])
    other = clone(hasher).set_params(random_state=1).fit(data.X, vectors[data.labels])
    assert (other.encode(data.X) != codes[0]).any()


@pytest.mark.parametrize(
    ("n_bits", "lookup", "n_live"), [(64, 1, 24), (64, 0.5, 44), (64, 0, 64), (16, 1, 16)]
)
def test_look_up_sets_bits_for_all(data, n_bits, lookup, n_live):
    hasher = make(n_bits=n_bits, lookup=lookup, n_steps=3).fit(data.X, data.labels)
    bits = hasher.transform(data.X)
    assert bits.shape == (len(data.X), n_bits)
    assert (bits[:, n_live:] == 1).all()
    assert (np.ptp(bits[:, :n_live], axis=0) == 1).all()
    assert hasher.mapping_.shape == (n_bits, 10)


def test_look_up_finds_more_within_two_bits(data):
    split = zero_shot_split(data.labels, [4, 7], n_train=800, n_queries=100, random_state=0)
    found = [
        scores(
            make(n_bits=64, n_units=128, lookup=lookup, normalize=True).fit(
                data.X[split.train], data.labels[split.train]
            ),
            data.X,
            data.labels,
            split,
        )["precision"]
        for lookup in (0.0, 1.0)
    ]
    assert found[1] > found[0] + 0.2


@pytest.mark.parametrize("alignment", [0.1, 1.0, 30])
def test_the_map_to_label_vectors_against_its_formula(data, vectors, alignment):
    hasher = make(alignment=alignment).fit(data.X, vectors[data.labels])
    B, Y = 2.0 * hasher.transform(data.X) - 1, vectors[data.labels]
    A = np.linalg.solve(B.T @ B + LAMBDA * np.eye(24), B.T @ Y)
    A = A @ np.linalg.inv(vectors.T @ vectors + alignment * np.eye(6))
    np.testing.assert_allclose(hasher.mapping_, A, atol=1e-8)
    np.testing.assert_allclose(hasher.meanings(B[:9]), B[:9] @ A, atol=1e-6)
    np.testing.assert_allclose(hasher.directions(vectors), vectors @ A.T, atol=1e-6)
    center = vectors.mean(axis=0)
    expected = (vectors - center) @ A.T
    np.testing.assert_allclose(hasher.directions(vectors, center), expected, atol=1e-6)


def test_codes_of_a_seen_digit_fit_its_name(data, vectors):
    hasher = make(n_bits=64).fit(data.X, vectors[data.labels])
    D = hasher.directions(vectors, vectors.mean(axis=0))
    fits = (2.0 * hasher.transform(data.X) - 1) @ D.T
    fits -= fits.mean(axis=0)
    assert np.mean(fits.argmax(axis=1) == data.labels) > 0.6  # a tenth by chance


def test_meanings_need_a_map():
    with pytest.raises(NotImplementedError, match="abstract"):
        SemanticHasher().meanings(np.ones((1, 8)))
    with pytest.raises(ValueError, match="not fitted"):
        MTH().directions(np.ones((1, 8)))


def test_names_bring_related_categories_nearer(data):
    """Digits 0 to 4 share one meaning and 5 to 9 another, which the pixels do not show."""
    is_large = np.arange(10) >= 5
    E = np.hstack([0.95**0.5 * np.eye(2)[is_large.astype(int)], 0.05**0.5 * np.eye(10)])
    is_other = data.labels[:300, None] != data.labels
    is_related = is_large[data.labels[:300, None]] == is_large[data.labels]
    shares = []
    for semantics in (0.0, 1.0):
        own = {"n_bits": 32, "n_steps": 100, "neighborhood": 0.3, "averaging": 0}
        hasher = make(semantics=semantics, **own)
        B = 2.0 * hasher.fit(data.X, E[data.labels]).transform(data.X) - 1
        nearest = np.argsort(-np.where(is_other, B[:300] @ B.T, -99), axis=1)[:, :100]
        shares.append(np.take_along_axis(is_related, nearest, axis=1).mean())
    assert shares[1] > shares[0] + 0.2


def test_label_vectors_tell_no_more_than_labels_where_semantics_is_0(data, vectors):
    labels = make(n_steps=5).fit(data.X, data.labels)
    in_order = vectors[np.argsort(-vectors[:, 0])]  # as vectors of classes are, for equal sums
    named = make(n_steps=5).fit(data.X, in_order[data.labels])
    np.testing.assert_array_equal(labels.project(data.X), named.project(data.X))
    np.testing.assert_array_equal(labels.classes_, np.arange(10))
    assert not hasattr(named, "classes_")
    words = make(n_steps=5).fit(data.X, np.array(list("abcdefghij"))[data.labels])
    np.testing.assert_array_equal(words.encode(data.X), labels.encode(data.X))


def test_samples_with_the_same_target_are_of_one_category(data):
    """Also where most targets occur once, and are kept one for each sample."""
    labels = np.concatenate([np.repeat(np.arange(10), 3), 10 + np.arange(30)])
    E = np.random.RandomState(0).standard_normal((40, 6))
    few = data.X[:60]
    np.testing.assert_array_equal(
        make().fit(few, labels).project(few), make().fit(few, E[labels]).project(few)
    )


def test_targets_that_are_all_different(data):
    Y = np.random.RandomState(0).standard_normal((300, 5))
    hasher = make(semantics=0.2).fit(data.X[:300], Y)
    assert hasher.mapping_.shape == (24, 5)
    assert np.isfinite(hasher.loss_).all()
    plain = {"n_steps": 5, "novelty": 0, "averaging": 0, "shrinkage": 0.1}
    alone = make(**plain).fit(data.X[:300], Y)
    none = make(imaginary=0, **plain).fit(data.X[:300], data.labels[:300])
    np.testing.assert_array_equal(alone.encode(data.X), none.encode(data.X))


def test_several_labels_each(data):
    Y = np.array([[digit % 2 == 0, digit < 5, digit in (2, 3, 5, 7)] for digit in range(10)])
    hasher = make().fit(data.X, Y[data.labels].astype(int))
    assert hasher.mapping_.shape == (24, 3)
    assert hasher.transform(data.X).shape == (len(data.X), 24)


@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize("n_bits", [8, 100])
def test_few_samples(data, n, n_bits):
    hasher = make(n_bits=n_bits, semantics=0.5).fit(data.X[:n], data.labels[:n])
    assert np.isfinite(hasher.project(data.X)).all()
    codes = hasher.transform(data.X[:n])
    assert len(np.unique(codes, axis=0)) > n // 2
    assert (codes[0] != codes[1]).sum() > n_bits / 4


def test_more_bits_than_features(data):
    hasher = make(n_bits=128, n_steps=5).fit(data.X[:, 20:30], data.labels)
    bits = hasher.transform(data.X[:, 20:30])
    assert (np.ptp(bits, axis=0) == 1).all()
    assert len(np.unique(bits, axis=1).T) == 128


@pytest.mark.parametrize("n_bits", [5, 12, 20])
def test_first_bits_have_a_mean_square_of_one(n_bits):
    rng = np.random.RandomState(0)
    rows = Rows((rng.standard_normal((400, 12)) * np.arange(1, 13)).astype(np.float32))
    metric = whiten(rows, 0.5)
    Z = metric(rows)
    W = first_bits(Z, metric.axes, n_bits, 20, np.random.RandomState(1))
    assert W.shape == (12, n_bits)
    assert np.square(Z.X @ W).mean() == pytest.approx(1, rel=1e-4)
    if n_bits <= 12:  # the first axes, turned
        outside = W - metric.axes[:, :n_bits] @ (metric.axes[:, :n_bits].T @ W)
        np.testing.assert_allclose(outside, 0, atol=1e-6)
        square = W.T @ W
        np.testing.assert_allclose(square, square[0, 0] * np.eye(n_bits), atol=1e-6 * square[0, 0])


def test_units_and_steps_follow_from_effort_and_samples_unless_they_are_given(data):
    few = data.X[:60], data.labels[:60]
    for effort, plan in EFFORTS.items():
        assert plan.for_samples(10_000, 1.0) == plan.for_samples(50_000, 0.0) == plan
        assert plan.for_samples(50_000, 1.0).steps == 2 * plan.steps
        small = plan.for_samples(60, 0.4)
        hasher = MTH(8, effort=effort, n_steps=1, random_state=0).fit(*few)
        assert hasher.units_.shape == (64, small.units)
        hasher = MTH(8, effort=effort, n_units=3, random_state=0).fit(*few)
        assert hasher.loss_.shape == (small.steps,)
        assert hasher.units_.shape == (64, 3)


@pytest.mark.parametrize(
    "parameters",
    [
        {"shrinkage": 0},
        {"imaginary": 1},
        {"novelty": 0},
        {"novelty": 1},
        {"neighborhood": 1},
        {"neighborhood": 1e-9},
    ],
)
def test_limits_of_parameters_do_no_harm(data, parameters):
    hasher = make(**parameters).fit(data.X[:300], data.labels[:300])
    assert np.isfinite(hasher.loss_).all()
    assert (np.ptp(hasher.transform(data.X), axis=0) == 1).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bits": 7}, "n_bits must be a whole number of at least 8 and of at most 1024, got 7"),
        ({"effort": "some"}, "effort must be one of 'best', 'fast', got 'some'"),
        ({"lookup": 1.1}, "lookup must be a number of at least 0 and of at most 1, got 1.1"),
        ({"semantics": -0.1}, "semantics must be a number of at least 0 and of at most 1"),
        ({"novelty": 2}, "novelty must be a number of at least 0 and of at most 1, got 2"),
        ({"imaginary": "all"}, "imaginary must be a number of at least 0 and of at most 1"),
        ({"neighborhood": 0}, "neighborhood must be a number of at most 1 and above 0, got 0"),
        ({"neighborhood": 1.5}, "neighborhood must be a number of at most 1 and above 0"),
        ({"shrinkage": -1}, "shrinkage must be a number of at least 0, got -1"),
        ({"shrinkage": float("inf")}, "shrinkage must be a number of at least 0, got inf"),
        ({"alignment": 0}, "alignment must be a number above 0, got 0"),
        ({"n_units": 0}, "n_units must be a whole number of at least 1, got 0"),
        ({"n_steps": 2.5}, "n_steps must be a whole number of at least 1, got 2.5"),
        ({"normalize": "l2"}, "normalize must be one of True, False"),
    ],
)
def test_parameters_without_meaning_are_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(data.X[:30], data.labels[:30])


def test_rows_that_vary_too_little_are_refused(data):
    with pytest.raises(ValueError, match="X varies too little or too much for float32: rescale X"):
        make().fit(data.X * 1e-30, data.labels)


def precision_of_ten(hasher, X, labels, database, queries):
    """Precision of the first ten, by bits; ties by row number."""
    signs = 2.0 * hasher.transform(X) - 1
    first = np.argsort(-signs[queries] @ signs[database].T, axis=1, kind="stable")[:, :10]
    return (labels[database][first] == labels[queries][:, None]).mean()


def test_samples_without_any_label_teach_more_than_their_features_show():
    """Averages with neighbours find clusters that single samples hide."""
    X, labels = hidden_categories(3)
    database, queries = np.arange(2700), np.arange(2700, 3000)
    own = {"n_bits": 32, "n_units": 256, "n_steps": 100, "shrinkage": 0.03}
    ours = make(**own).fit(X[database])
    assert (ours.averaging_, ours.mapping_.shape) == (1.0, (32, 0))
    plain = make(averaging=0, **own).fit(X[database])
    itq = ITQ(32, random_state=0).fit(X[database])
    found = [precision_of_ten(h, X, labels, database, queries) for h in (ours, plain, itq)]
    assert found[0] > found[1] + 0.02
    assert found[0] > 1.5 * found[2]


def test_every_way_to_say_that_nobody_labelled_a_sample(data, vectors):
    known = data.labels < 5
    words = np.array([*"abcdefghij"])[data.labels].astype(object)
    zeros = np.where(known[:, None], np.eye(10)[data.labels], 0)
    ways = [
        np.where(known, data.labels, -1),
        np.where(known, words, ""),
        np.where(known, words, None),
        zeros.astype(int),
        zeros,
    ]
    codes = [make(n_steps=5).fit(data.X, y).encode(data.X) for y in ways]
    for other in codes[1:]:
        np.testing.assert_array_equal(codes[0], other)
    nobody = [make(n_steps=5).fit(data.X, y).encode(data.X) for y in (None, np.full(1797, -1))]
    np.testing.assert_array_equal(*nobody)
    assert (codes[0] != nobody[0]).any()
    named = make(n_steps=5).fit(data.X, np.where(known[:, None], vectors[data.labels], 0))
    assert named.mapping_.shape == (24, 6)


def test_meaning_is_read_from_labelled_samples_alone(data, vectors):
    known = data.labels < 5
    hasher = make().fit(data.X, np.where(known[:, None], vectors[data.labels], 0))
    B, Y = 2.0 * hasher.transform(data.X[known]) - 1, vectors[data.labels[known]]
    A = np.linalg.solve(B.T @ B + LAMBDA * np.eye(24), B.T @ Y)
    A = A @ np.linalg.inv(vectors[:5].T @ vectors[:5] + np.eye(6))
    np.testing.assert_allclose(hasher.mapping_, A, atol=1e-8)


@pytest.mark.parametrize("labels", ["none", "half", "all"])
@pytest.mark.parametrize(("n", "d"), [(30, 16), (60, 200), (200, 30), (400, 100)])
def test_small_pools_do_not_collapse(data, labels, n, d):
    """Precision of seen categories against ITQ on the same samples, mean of three draws."""
    scores = []
    for seed in range(3):
        rng = np.random.RandomState(seed)
        rows = rng.permutation(1797)
        database, queries = rows[:n], rows[n : n + 200]
        X = data.X @ rng.standard_normal((64, d)).astype(np.float32)
        X[:, ::7] = 1  # columns that tell nothing
        y = {
            "none": None,
            "half": np.where(rng.rand(n) < 0.5, data.labels[database], -1),
            "all": data.labels[database],
        }[labels]
        n_bits = min(64, d)
        ours = MTH(n_bits, effort="fast", random_state=0).fit(X[database], y)
        itq = ITQ(n_bits, random_state=0).fit(X[database])
        scores.append([precision_of_ten(h, X, data.labels, database, queries) for h in (ours, itq)])
    ours, theirs = np.mean(scores, axis=0)
    assert ours > 0.95 * theirs


def test_equal_pictures_do_no_harm(data):
    twice = np.repeat(data.X[:100], 3, axis=0)
    hasher = make().fit(twice)
    assert np.isfinite(hasher.loss_).all()
    assert len(np.unique(hasher.encode(data.X[:100]), axis=0)) > 60


def test_statistics_of_a_network_make_up_for_few_samples(data_folder):
    with np.load(data_folder / "features" / "tiny100_lite0_1280.npz") as file:
        X, labels = file["X"].astype(np.float32), file["y"]
    is_ours = labels < 12
    prior = Statistics.of(X[~is_ours])  # of other categories
    X, labels = X[is_ours], labels[is_ours]
    place = np.arange(len(X)) % 100
    database, queries = np.flatnonzero(place < 20), np.flatnonzero(place >= 70)
    hashers = [MTH(64, effort="fast", prior=own, random_state=0) for own in (prior, None)]
    with_prior, without = (
        precision_of_ten(h.fit(X[database]), X, labels, database, queries) for h in hashers
    )
    floats = X / np.linalg.norm(X, axis=1, keepdims=True)
    first = np.argsort(-floats[queries] @ floats[database].T, axis=1)[:, :10]
    cosine = (labels[database][first] == labels[queries][:, None]).mean()
    assert with_prior > 1.05 * cosine
    assert with_prior > without


def test_priors_that_can_not_be_used(data, tmp_path):
    known = Statistics.of(np.random.RandomState(0).rand(200, 5))
    with pytest.raises(ValueError, match="statistics of 5 features, and X has 64"):
        make(prior=known).fit(data.X)
    with pytest.raises(ValueError, match="set normalize=True"):
        make(prior=known, normalize=False).fit(data.X)
    with pytest.raises(ValueError, match="neither a file of statistics nor a network"):
        make(prior=str(tmp_path / "none")).fit(data.X)


def test_a_prior_in_a_file(data, tmp_path):
    Statistics.of(data.X).save(tmp_path / "s")
    hasher = make(prior=str(tmp_path / "s")).fit(data.X[:50])
    zshash.hashing.save(hasher, tmp_path / "model")
    (tmp_path / "s").unlink()  # the model has taken what it needs
    again = zshash.hashing.load(tmp_path / "model")
    np.testing.assert_array_equal(again.encode(data.X), hasher.encode(data.X))
