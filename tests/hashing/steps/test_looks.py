"""Codes of parts of vectors: what MTH keeps with codes="pq"."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import zshash
from zshash import MTH
from zshash.codes import unpack
from zshash.datasets import digits, zero_shot_split
from zshash.evaluation import Protocol
from zshash.evaluation.protocol import Setup, run_setup
from zshash.evaluation.scorer import score_by
from zshash.hashing import load, save
from zshash.hashing.registry import recorded_parameters
from zshash.hashing.steps import pool
from zshash.hashing.steps.imagination import Novelty, category_means
from zshash.hashing.steps.rows import unit_rows
from zshash.index import ProductIndex

DATA = digits()
SPLIT = zero_shot_split(DATA.labels, [3, 8], n_train=1100, n_queries=100, random_state=0)
BITS_ALONE = "works with bits, .* use codes='bits' here, or search .* zshash.index.ProductIndex"


def make(**parameters):
    return MTH(**({"n_bits": 64, "codes": "pq", "random_state": 0} | parameters))


@pytest.fixture(scope="module")
def labelled():
    """Learned from labelled samples alone."""
    return make(averaging=0.0).fit(DATA.X[SPLIT.train], DATA.labels[SPLIT.train])


@pytest.fixture(scope="module")
def pooled():
    """Learned from the whole database, a part of which has labels."""
    labels = SPLIT.known_labels(DATA.labels)
    return make().fit(DATA.X[SPLIT.pool], labels[SPLIT.pool])


def precision(codes, hasher, queries):
    """Share of the first ten that are of the query's category."""
    index = ProductIndex(hasher.centres_)
    index.add(codes)
    _, found = index.search_real(hasher.project(DATA.X[queries]), k=10)
    return (DATA.labels[SPLIT.database][found] == DATA.labels[queries][:, None]).mean()


def test_shapes(labelled):
    X = DATA.X[:7]
    codes = labelled.encode(X)
    assert codes.shape == (7, 8)
    assert codes.dtype == np.uint8
    assert labelled.centres_.shape[:2] == (8, 256)
    assert labelled.project(X).shape == (7, labelled.n_outputs) == (7, 8 * 9)
    assert_array_equal(labelled.transform(X), unpack(codes, 64))
    assert_array_equal(labelled.frozen()(X), codes)
    assert len(labelled.codes_) == len(SPLIT.train)
    assert not labelled.is_binary
    assert MTH().is_binary


def test_vectors_of_labelled_samples(labelled):
    """Whitened features of unit length, and novelty, without the rotation."""
    own, labels = unit_rows(DATA.X[SPLIT.train]), DATA.labels[SPLIT.train]
    Z = (own - labelled.mean_) @ labelled.whitening_
    _, categories = np.unique(labels, return_inverse=True)
    novelty = Novelty(Z, categories, category_means(Z, categories))
    asked = DATA.X[SPLIT.queries]
    V = (unit_rows(asked) - labelled.mean_) @ labelled.whitening_
    expected = np.hstack([unit_rows(V), np.sqrt(0.03) * novelty(V)[:, None]])
    found = labelled.project(asked)
    assert_allclose(found @ found.T, expected @ expected.T, atol=1e-4)
    assert labelled.averaging_ == 0
    assert not len(labelled.references_)
    again = labelled.encode(DATA.X[SPLIT.train])
    assert (again == labelled.codes_).mean() > 0.999  # but for rounding


def test_vectors_of_unlabelled_samples(pooled):
    """A new sample is averaged with the nearest of the references, half as far as the teacher."""
    X = unit_rows(DATA.X[SPLIT.queries])
    Z = (X - pooled.mean_) @ pooled.whitening_
    known = Novelty.of(pooled.familiar_, *pooled.novelty_[1:])
    V = np.hstack([unit_rows(Z), pooled.novelty_[0] * known(Z)[:, None]]) @ pooled.rotation_
    references = pooled.decode(pooled.references_)
    k = pool.n_neighbors(len(references))
    order = np.argsort(-V @ references.T, axis=1)[:, :k]
    means = unit_rows(V + references[order].sum(axis=1))
    w = pooled.averaging_ / 2
    assert w > 0.3
    expected = unit_rows((1 - w) * V + w * means)
    close = np.abs(pooled.project(DATA.X[SPLIT.queries]) - expected).max(axis=1)
    assert (close < 1e-4).mean() > 0.95  # where rounding chooses no other neighbours


def test_hidden_digits_are_found(labelled, pooled):
    codes = labelled.encode(DATA.X[SPLIT.database])
    assert precision(codes, labelled, SPLIT.queries) > 0.75
    place = np.searchsorted(SPLIT.database, SPLIT.pool)
    codes = pooled.encode(DATA.X[SPLIT.database])
    new = precision(codes, pooled, SPLIT.queries)
    codes[place] = pooled.codes_
    learned = precision(codes, pooled, SPLIT.queries)
    assert new > 0.9
    assert learned > 0.9


def test_decoded_bits_are_signs():
    hasher = MTH(16, effort="fast", n_steps=5, random_state=0).fit(DATA.X)
    assert_array_equal(hasher.decode(hasher.encode(DATA.X)) > 0, hasher.project(DATA.X) >= 0)


def test_same_seed_same_codes_on_disk_too(pooled, tmp_path):
    labels = SPLIT.known_labels(DATA.labels)
    again = clone(pooled).fit(DATA.X[SPLIT.pool], labels[SPLIT.pool])
    assert_array_equal(again.codes_, pooled.codes_)
    save(pooled, tmp_path / "model.zshash")
    loaded = load(tmp_path / "model.zshash")
    assert loaded.codes == "pq"
    assert_array_equal(loaded.encode(DATA.X), pooled.encode(DATA.X))
    assert_array_equal(loaded.codes_, pooled.codes_)


def test_without_labels_and_with_names():
    blind = make(n_bits=32).fit(DATA.X)
    assert blind.mapping_.shape == (blind.n_outputs, 0)
    assert blind.averaging_ == 1
    meanings = np.eye(10)[:, :10]
    named = make().fit(DATA.X, meanings[DATA.labels])
    found = named.decode(named.codes_) @ named.directions(meanings, meanings.mean(axis=0)).T
    assert (found.argmax(axis=1) == DATA.labels).mean() > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bits": 20}, "n_bits must be a multiple of 8, got 20"),
        ({"lookup": 0.5}, "lookup changes bits"),
        ({"semantics": 1.0}, "semantics changes bits"),
        ({"codes": "opq"}, "codes must be one of 'bits', 'pq', got 'opq'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(DATA.X, DATA.labels)


def test_too_few_samples():
    with pytest.raises(ValueError, match=r"256 centres for each byte .* there are 200: give more"):
        make().fit(DATA.X[:200], DATA.labels[:200])


def test_where_bits_are_needed(labelled, tmp_path):
    """Models, albums and scores compare bits; each says so, and what to do."""
    protocol = Protocol(unseen=[3], n_train=500, n_queries=50, k=100)
    with pytest.raises(ValueError, match=BITS_ALONE):
        zshash.fit(DATA.X, codes="pq")
    with pytest.raises(ValueError, match=BITS_ALONE):
        zshash.Model(labelled)
    save(labelled, tmp_path / "model.zshash")
    with pytest.raises(ValueError, match=BITS_ALONE):
        zshash.load(tmp_path / "model.zshash")
    for model in (labelled, tmp_path / "model.zshash"):
        with pytest.raises(ValueError, match=BITS_ALONE):
            zshash.Collection.create(tmp_path / "album", model)
        assert not (tmp_path / "album").exists()
    with pytest.raises(ValueError, match=BITS_ALONE):
        run_setup(DATA, Setup("MTH", make()), protocol.split(DATA, 0), protocol, 0)
    with pytest.raises(ValueError, match=BITS_ALONE):
        score_by("real", DATA, labelled, SPLIT, protocol)


def test_records_of_bits_name_no_codes():
    """Runs that were published before there was a choice are still those of this task."""
    assert "codes" not in recorded_parameters(MTH())
    assert recorded_parameters(make())["codes"] == "pq"
    assert recorded_parameters(MTH())["novelty"] == 0.03


@pytest.mark.torch
def test_devices_make_bits():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match=BITS_ALONE):
        zshash.scale.fit(make(), DATA.X, DATA.labels, device="cpu")
