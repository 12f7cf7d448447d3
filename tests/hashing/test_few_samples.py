"""Methods that get few samples: they find something, or say that they need more."""

import warnings

import numpy as np
import pytest

import zshash
from tests.every_method import each
from zshash import (
    AGH,
    CCAITQ,
    COSDISH,
    IMH,
    ITQ,
    KSH,
    LSH,
    MTH,
    SDH,
    ZSH,
    datasets,
    scale,
)

METHODS = [name for name in zshash.methods() if name != "MTH"]  # it has tests of its own
FASTER = {"MLH": {"max_iter": 400}, "KSH": {"max_iter": 50}}
FASTER |= {name: {"n_steps": 60} for name, method in zshash.methods().items() if method.extra}
CURE = "MTH, ITQ or LSH, which work with few samples"
DRAWS, FIRST = 5, 10
pytestmark = pytest.mark.filterwarnings("ignore:n_anchors=.* is larger than the number of samples")


@pytest.fixture(scope="module")
def digits():
    data = datasets.digits()
    return data.X.astype(np.float32), data.labels


def draw(y, n, seed):
    """Rows of a pool of n digits, about three or more of each kind, of queries and a database."""
    rng = np.random.RandomState(seed)
    kinds = rng.permutation(10)[: min(10, max(2, n // 3))]
    rows = rng.permutation(len(y))
    by_kind = [rows[y[rows] == kind] for kind in kinds]
    pool = [by_kind[i % len(kinds)][i // len(kinds)] for i in range(n)]
    others = rng.permutation(np.setdiff1d(rows, pool))
    return pool, others[:100], others[100:600]


def precision(hasher, X, y, queries, database):
    """Share of digits of the query's kind among the first ten, by bits; ties in random order."""
    asked, known = (2.0 * hasher.transform(X[rows]) - 1 for rows in (queries, database))
    near = asked @ known.T + 0.5 * np.random.RandomState(0).rand(len(queries), len(database))
    first = np.argsort(-near, axis=1)[:, :FIRST]
    return np.mean(y[database][first] == y[queries][:, None])


def fit(hasher, X, y):
    """Whether a fit gives no warning and no error."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "n_anchors=")
        try:
            hasher.fit(X, y)
        except ValueError as error:
            said = [str(error)]
        else:
            said = [str(warning.message) for warning in told]
    assert sum(CURE in words for words in said) == bool(said)
    return not said


@pytest.mark.parametrize("n_bits", [8, 64])
@pytest.mark.parametrize("n", [3, 5, 10, 15, 30, 60])
@pytest.mark.parametrize("name", each(METHODS))
def test_no_method_returns_noise_in_silence(name, n, n_bits, digits):
    X, y = digits
    found = []
    for seed in range(DRAWS):
        pool, queries, database = draw(y, n, seed)
        hasher = zshash.methods()[name].estimator(n_bits, random_state=seed, **FASTER.get(name, {}))
        if not fit(hasher, X[pool], y[pool]):
            return
        rival = LSH(n_bits, random_state=seed).fit(X[pool])
        found.append([precision(each, X, y, queries, database) for each in (hasher, rival)])
    own, random = np.mean(found, axis=0)
    assert own > 0.6 * random


@pytest.mark.parametrize("name", each(METHODS))
def test_ordinary_pools_are_learned_in_silence(name, digits):
    X, y = digits
    hasher = zshash.methods()[name].estimator(64, random_state=0, **FASTER.get(name, {}))
    assert fit(hasher, X[:200], y[:200])


@pytest.mark.parametrize("make", [ITQ, LSH, MTH])
def test_the_methods_that_are_advised_take_any_number_of_samples(make, digits):
    hasher = make(64, n_steps=5) if make is MTH else make(64)
    assert fit(hasher, digits[0][:3], [0, 0, 1])


@pytest.mark.parametrize(
    ("name", "n_bits", "needs"),
    [
        ("KSH", 64, "KSH needs 16 different samples, and there are 8: .* Use more samples, or MTH"),
        ("LFH", 64, "LFH needs 64 different samples for n_bits=64, and .* more samples or fewer"),
        ("LFH", 8, "LFH needs 16 different samples, and there are 8"),
        ("SpectralHashing", 12, "SpectralHashing needs 12 different samples for n_bits=12"),
    ],
)
def test_a_warning_tells_needs_and_cure(name, n_bits, needs, digits):
    X, y = digits
    with pytest.warns(UserWarning, match=needs):
        zshash.methods()[name].estimator(n_bits).fit(X[:8], y[:8] // 5)


@pytest.mark.parametrize(
    ("make", "parameters", "least"), [(AGH, {}, 33), (AGH, {"n_layers": 1}, 65), (IMH, {}, 65)]
)
def test_a_graph_with_too_few_nodes_is_refused(make, parameters, least, digits):
    words = f"{make.__name__} needs {least} different samples for n_bits=64, and there are 30: "
    with pytest.raises(ValueError, match=f"{words}use more samples or fewer bits, or {CURE}"):
        make(64, **parameters).fit(digits[0][:30])


def test_copies_do_not_count(digits):
    X, y = digits
    with pytest.warns(UserWarning, match="SDH needs 16 different samples, and there are 12"):
        SDH(16).fit(np.repeat(X[:12], 100, axis=0), np.repeat(y[:12], 100))
    SDH(16).fit(np.repeat(X[:40], 30, axis=0), np.repeat(y[:40], 30))


def test_samples_without_a_label_do_not_count_where_they_are_left_out(digits):
    X, y = digits
    y = np.where(np.arange(200) < 14, y[:200], -1)
    with (
        pytest.warns(UserWarning, match="186 of 200 samples have no label"),
        pytest.warns(UserWarning, match="KSH needs 16 different samples, and there are 14"),
    ):
        KSH(16).fit(X[:200], y)


def test_shards_are_counted_too(digits):
    X, y = digits
    with pytest.warns(UserWarning, match="ZSH needs 16 different samples, and there are 15"):
        scale.fit(ZSH(16, graph=None), [X[:8], X[8:15]], y[:15])


@pytest.mark.parametrize(
    ("make", "stronger"),
    [(CCAITQ, {"regularization": 0.1}), (COSDISH, {"ridge": 100.0})],
    ids=["CCAITQ", "COSDISH"],
)
def test_as_many_samples_as_features_need_a_stronger_penalty(make, stronger, digits):
    X, y = digits
    for n in (45, 90):
        make(16).fit(X[:n], y[:n])
    words = f"{make.__name__} has 64 samples of 64 features: .* Raise {next(iter(stronger))}, or"
    with pytest.warns(UserWarning, match=words):
        weak = make(16, random_state=0).fit(X[:64], y[:64])
    strong = make(16, random_state=0, **stronger).fit(X[:64], y[:64])
    queries, database = np.arange(100, 200), np.arange(200, 700)
    found = [precision(hasher, X, y, queries, database) for hasher in (weak, strong)]
    assert found[1] > 1.2 * found[0]
