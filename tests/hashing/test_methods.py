"""Requirements that every method must meet."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

import zshash
from tests.every_method import each
from zshash import metrics
from zshash.datasets import conventional_split, digits, load_features, zero_shot_split
from zshash.hashing.hasher import Hasher
from zshash.hashing.steps.rows import unit_rows

METHODS = zshash.methods()
SUPERVISED = [name for name, method in METHODS.items() if method.kind != "unsupervised"]
ANCHORED = [name for name, method in METHODS.items() if "n_anchors" in method.parameters]
KINDS = {"unsupervised", "pairwise", "label", "semantic"}


def make(name, n_bits=32, **parameters):
    """A method of a size that fits a few hundred digits."""
    for key, size in {"n_anchors": 150, "n_steps": 60}.items():
        if key in METHODS[name].parameters:
            parameters.setdefault(key, size)
    return METHODS[name].estimator(n_bits, normalize=True, **parameters)


@pytest.fixture(scope="module")
def data():
    return digits()


@pytest.fixture(scope="module")
def split(data):
    return zero_shot_split(data.labels, [4, 7], n_train=800, n_queries=100, random_state=0)


class Fitted(dict):
    """Fitted methods by name, made when they are first asked for."""

    def __init__(self, fit):
        super().__init__()
        self._fit = fit

    def __missing__(self, name):
        self[name] = self._fit(name)
        return self[name]


@pytest.fixture(scope="module")
def fitted(data, split):
    """Each method fitted once, when it is asked for; tests that change one make their own."""
    X, y = data.X[split.train], data.labels[split.train]
    return Fitted(lambda name: make(name, random_state=0).fit(X, y))


@pytest.mark.parametrize("name", each())
def test_unseen_digits_are_found_better_than_by_chance(name, data, split, fitted):
    codes = fitted[name].encode(data.X)
    same = metrics.same_label(data.labels[split.queries], data.labels[split.database])
    scores = metrics.evaluate(codes[split.queries], codes[split.database], same, k=100)
    chance = np.mean(data.labels[split.queries][:, None] == data.labels[split.database])
    assert scores["map"] > 2.5 * chance


def test_labels_help_where_all_categories_are_seen(data_folder):
    cifar = load_features(data_folder / "features" / "cifar10_lite0_pca256.npz")
    split = conventional_split(cifar.labels, n_train=3000, n_queries=300, random_state=0)
    same = metrics.same_label(cifar.labels[split.queries], cifar.labels[split.database])
    found = {}
    for name in ("ITQ", "COSDISH", "SDH", "KSH", "LFH", "CCAITQ", "MLH"):
        faster = {"max_iter": 50} if name == "KSH" else {}
        hasher = METHODS[name].estimator(64, normalize=True, random_state=0, **faster)
        hasher.fit(cifar.X[split.train], cifar.labels[split.train])
        codes = hasher.encode(cifar.X)
        scores = metrics.evaluate(codes[split.queries], codes[split.database], same, k=5000)
        found[name] = scores["map"]
    itq = found.pop("ITQ")
    assert min(found.values()) > itq + 0.1, found


@pytest.mark.parametrize("name", each())
def test_same_seed_same_codes_on_any_number_of_threads(name, data, split, fitted):
    X, y = data.X[split.train], data.labels[split.train]
    with threadpool_limits(1, user_api="blas"):
        again = clone(fitted[name]).fit(X, y)
    np.testing.assert_array_equal(again.encode(data.X), fitted[name].encode(data.X))


@pytest.mark.parametrize("name", each())
def test_models_come_back_whole(name, data, fitted, tmp_path):
    hasher = fitted[name]
    zshash.hashing.save(hasher, tmp_path / "model")
    again = zshash.hashing.load(tmp_path / "model")
    np.testing.assert_array_equal(again.project(data.X), hasher.project(data.X))
    for attribute, value in vars(hasher).items():
        np.testing.assert_array_equal(getattr(again, attribute), value)


@pytest.mark.parametrize("name", each())
def test_bits_are_used(name, data, fitted):
    """Both values of every bit occur, and no two rows of a wide spread share all bits."""
    bits = fitted[name].transform(data.X)
    assert bits.shape == (len(data), 32)
    assert np.mean(bits.min(axis=0) < bits.max(axis=0)) > 0.9
    assert len(np.unique(bits, axis=0)) > 50


@pytest.mark.parametrize("name", each())
def test_a_row_is_hashed_alike_in_any_company(name, data, fitted):
    alone = np.vstack([fitted[name].project(data.X[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(fitted[name].project(data.X)[:5], alone, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", each())
def test_a_frozen_function_gives_the_same(name, data, fitted):
    encode = fitted[name].frozen()
    for n in (1, 3, 1500):
        np.testing.assert_array_equal(encode(data.X[:n]), fitted[name].encode(data.X[:n]))
    few = data.X[:3].astype(np.float64)
    np.testing.assert_array_equal(encode(few.tolist()), fitted[name].encode(few))
    with pytest.raises(ValueError, match="NaN"):
        encode(np.full((1, 64), np.nan, dtype=np.float32))
    with pytest.raises(ValueError, match="63 features"):
        encode(data.X[:2, 1:])
    with pytest.raises(ValueError, match="0 sample"):
        encode(data.X[:0])


def test_rows_are_brought_to_unit_length_as_scikit_learn_does_it():
    rng = np.random.RandomState(0)
    X = (rng.randn(300, 64) * 10.0 ** rng.randint(-12, 12, (300, 1))).astype(np.float32)
    X[7] = 0
    np.testing.assert_array_equal(unit_rows(X), normalize(X))
    np.testing.assert_array_equal(unit_rows(X[7:8]), 0)


@pytest.mark.parametrize("name", each(name for name in SUPERVISED if name != "MTH"))
def test_labels_are_needed(name, data):
    message = f"{name} requires y to be passed, but the target y is None: give class labels"
    with pytest.raises(ValueError, match=message):
        make(name).fit(data.X, None)


@pytest.mark.parametrize("name", each())
def test_equal_rows_teach_nothing(name):
    with pytest.raises(ValueError, match="all rows of X are equal"):
        make(name).fit(np.ones((200, 40)), np.arange(200) % 4)


@pytest.mark.parametrize("name", each())
def test_a_constant_column_does_no_harm(name, data, split):
    X, y = data.X[split.train].copy(), data.labels[split.train]
    X[:, :5] = 3
    codes = make(name, random_state=0).fit(X, y).project(X)
    assert np.isfinite(codes).all()


@pytest.mark.parametrize("name", ANCHORED)
def test_fewer_samples_than_anchors_is_said(name, data):
    hasher = make(name, 8, n_anchors=1000, random_state=0)
    with pytest.warns(UserWarning, match="n_anchors=1000 is larger than the number of samples"):
        hasher.fit(data.X[:100], data.labels[:100])
    assert len(hasher.anchors_) <= 100


@pytest.mark.parametrize("name", each(SUPERVISED))
def test_several_labels_each(name, data, split):
    y = data.labels[split.train]
    several = np.stack([y % 2, y < 5, y > 6, y % 3 == 0], axis=1).astype(int)
    hasher = make(name, random_state=0).fit(data.X[split.train], several)
    assert len(np.unique(hasher.encode(data.X), axis=0)) > 20


@pytest.mark.parametrize("name", each(SUPERVISED))
def test_label_vectors_stand_for_classes(name, data, split):
    vectors = np.random.RandomState(0).standard_normal((10, 6))
    hasher = make(name, random_state=0).fit(data.X[split.train], vectors[data.labels[split.train]])
    assert hasher.encode(data.X[:3]).shape == (3, 4)


@pytest.mark.parametrize("name", METHODS)
def test_the_registry_is_true(name):
    method = METHODS[name]
    assert method.name == name
    assert issubclass(method.estimator, Hasher)
    assert getattr(zshash, name) is method.estimator
    assert method.kind in KINDS
    assert str(method.year) in method.citation
    assert method.parameters["n_bits"] == 64
    assert method.parameters["normalize"] is True
    assert set(method.grid) <= set(method.parameters)
    for parameter, values in method.grid.items():
        assert method.parameters[parameter] in values, "a grid holds the default"


@pytest.mark.parametrize("name", each(name for name in METHODS if METHODS[name].grid))
def test_every_value_of_a_grid_can_be_fitted(name, data):
    X, y = data.X[:400], data.labels[:400]
    for parameter, values in METHODS[name].grid.items():
        for value in values:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of more anchors than samples
                hasher = make(name, 16, random_state=0, **{parameter: value}).fit(X, y)
            assert np.isfinite(hasher.project(X[:5])).all()


@pytest.mark.parametrize("name", each(SUPERVISED))
def test_samples_without_a_label(name, data, split):
    """Methods that can not use them leave them out, and say so once."""
    X, y = data.X[split.train], data.labels[split.train].copy()
    y[::3] = -1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hasher = make(name, random_state=0).fit(X, y)
    said = [str(one.message) for one in caught if "have no label" in str(one.message)]
    n = len(X[::3])
    if hasher.learns_unlabelled:
        assert not said
        others = make(name, random_state=0).fit(X[y >= 0], y[y >= 0])
        assert (hasher.encode(X) != others.encode(X)).any()
    else:
        assert said == [
            f"{n} of {len(X)} samples have no label: {name} can not use them and learns from the "
            "others"
        ]
        others = make(name, random_state=0).fit(X[y >= 0], y[y >= 0])
        np.testing.assert_array_equal(hasher.encode(X), others.encode(X))
    np.testing.assert_array_equal(hasher.classes_, np.unique(y[y >= 0]))


@pytest.mark.parametrize("name", each(name for name in SUPERVISED if name != "MTH"))
def test_no_label_at_all(name, data):
    message = "learns from labelled samples" if name != "SSH" else "no two samples of y do|no row"
    with pytest.raises(ValueError, match=message):
        make(name).fit(data.X, np.full(len(data.X), -1))
