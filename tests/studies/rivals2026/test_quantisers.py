import sys
from dataclasses import replace

import faiss
import numpy as np
import pytest

from zshash import codes
from zshash._extras import MissingExtra
from zshash.datasets import digits
from zshash.hashing.steps.imagination import Novelty, category_means
from zshash.hashing.steps.linear import whiten
from zshash.hashing.steps.rows import Rows, unit_rows
from zshash.studies.rivals2026.preparations import PREPARATIONS, Preparation, Prepared
from zshash.studies.rivals2026.quantisers import (
    LSQ,
    OPQ,
    PQ,
    QUANTISERS,
    PCASigns,
    RaBitQ,
)

DATA = digits()
X, QUERIES = unit_rows(DATA.X[:1200]), unit_rows(DATA.X[1200:1220])
SMALL = {
    "PQ": PQ(4),
    "OPQ": OPQ(4, 10),
    "LSQ": LSQ(4, 2, 2),
    "RaBitQ": RaBitQ(12),
    "PCA signs": PCASigns(4),
}
FITTED = {name: quantiser.fit(X, seed=1) for name, quantiser in SMALL.items()}
BY_DISTANCE = ("PQ", "OPQ", "LSQ")


def decoded(quantiser, stored):
    """The vectors that codes stand for, by a loop over one code at a time."""
    return np.vstack([quantiser.index_.sa_decode(stored[i : i + 1]) for i in range(len(stored))])


def test_every_quantiser_is_tried():
    assert list(SMALL) == list(QUANTISERS)
    assert {name: quantiser.is_binary for name, quantiser in SMALL.items()} == {
        name: name == "PCA signs" for name in QUANTISERS
    }


@pytest.mark.parametrize("name", QUANTISERS)
def test_a_code_takes_the_bytes_that_it_says(name):
    stored = FITTED[name].encode(X)
    assert stored.dtype == np.uint8
    assert stored.shape == (len(X), SMALL[name].n_bytes)
    assert len(np.unique(stored, axis=0)) > 500


@pytest.mark.parametrize("name", QUANTISERS)
def test_the_same_seed_gives_the_same_codes(name):
    again = replace(FITTED[name]).fit(X, seed=1)
    np.testing.assert_array_equal(again.encode(X), FITTED[name].encode(X))
    other = replace(FITTED[name]).fit(X, seed=2)
    differs = bool((other.encode(X) != again.encode(X)).any())
    assert differs == (name != "PCA signs")


@pytest.mark.parametrize("name", QUANTISERS)
def test_the_number_of_threads_changes_no_code(name):
    quantiser, before = FITTED[name], faiss.omp_get_max_threads()
    try:
        faiss.omp_set_num_threads(3)
        again = replace(quantiser).fit(X, seed=1).encode(X)
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(before)
    np.testing.assert_array_equal(again, quantiser.encode(X))


@pytest.mark.parametrize("name", BY_DISTANCE)
def test_similarities_are_distances_to_decoded_vectors(name):
    quantiser, stored = FITTED[name], FITTED[name].encode(X)
    gaps = QUERIES[:, None].astype(float) - decoded(quantiser, stored)[None]
    expected = -np.square(gaps).sum(axis=2)
    np.testing.assert_allclose(quantiser.similarities(QUERIES, stored), expected, atol=1e-5)


def test_rabitq_is_near_to_the_distances_that_it_estimates():
    quantiser = FITTED["RaBitQ"]
    stored = quantiser.encode(X)
    gaps = quantiser.turned(QUERIES)[:, None] - quantiser.turned(X)[None]
    exact = -np.square(gaps).sum(axis=2)
    found = quantiser.similarities(QUERIES, stored)
    assert np.corrcoef(found.ravel(), exact.ravel())[0, 1] > 0.9
    assert abs((found - exact).mean()) < 0.02


def test_pca_signs_are_compared_by_sums():
    quantiser = FITTED["PCA signs"]
    mean = X.mean(axis=0)
    values, axes = np.linalg.eigh(np.cov(X.T))
    top = axes[:, np.argsort(-values)[:32]]
    stored = quantiser.encode(X)
    bits = codes.unpack(stored, 32)
    places = (X - mean) @ top
    same = (bits == (places >= 0)).mean(axis=0)
    assert (np.maximum(same, 1 - same) > 0.999).all()  # an axis may point either way
    expected = quantiser.project(QUERIES) @ np.where(bits, 1.0, -1.0).T
    np.testing.assert_allclose(quantiser.similarities(QUERIES, stored), expected, atol=1e-5)


@pytest.mark.parametrize("name", [*BY_DISTANCE, "RaBitQ"])
def test_neighbours_are_those_of_faiss(name):
    quantiser = FITTED[name]
    rows, queries = X, QUERIES
    if name == "RaBitQ":
        rows, queries = quantiser.turned(X), quantiser.turned(QUERIES)
    index = faiss.clone_index(quantiser.index_)
    if name == "RaBitQ":
        index.qb = 0
    index.add(rows)
    distances, found = index.search(queries, 20)
    similarities = quantiser.similarities(QUERIES, quantiser.encode(X))
    if name == "RaBitQ":  # faiss takes estimates below 0 for 0
        similarities = np.minimum(similarities, 0)
    np.testing.assert_allclose(
        np.take_along_axis(similarities, found, axis=1), -distances, atol=1e-4
    )
    np.testing.assert_allclose(np.sort(similarities)[:, ::-1][:, :20], -distances, atol=1e-4)


@pytest.mark.parametrize("name", QUANTISERS)
def test_equal_codes_tie(name):
    stored = np.repeat(FITTED[name].encode(X[:7]), 31, axis=0)
    found = FITTED[name].similarities(QUERIES, stored).reshape(len(QUERIES), 7, 31)
    assert (found == found[:, :, :1]).all()


@pytest.mark.parametrize("kind", [PQ, OPQ])
def test_a_dimension_that_bytes_do_not_divide_is_filled_up(kind):
    quantiser = kind(3).fit(X, seed=0)
    wide = np.pad(X, ((0, 0), (0, 2)))
    again = kind(3).fit(wide, seed=0)
    np.testing.assert_array_equal(quantiser.encode(X), again.encode(wide))
    with_zeros = np.pad(QUERIES, ((0, 0), (0, 2)))
    np.testing.assert_array_equal(
        quantiser.similarities(QUERIES, quantiser.encode(X)),
        again.similarities(with_zeros, again.encode(wide)),
    )


def test_opq_loses_less_where_one_part_varies_most():
    vectors = np.random.RandomState(0).randn(1000, 16) * np.logspace(0, -2, 16)

    def loss(quantiser):
        quantiser.fit(vectors, seed=0)
        return np.square(vectors - decoded(quantiser, quantiser.encode(vectors))).sum()

    assert loss(OPQ(4)) < 0.7 * loss(PQ(4))


@pytest.mark.parametrize("name", QUANTISERS)
def test_neighbours_share_labels(name):
    quantiser = FITTED[name]
    best = quantiser.similarities(QUERIES, quantiser.encode(X)).argmax(axis=1)
    assert (DATA.labels[:1200][best] == DATA.labels[1200:1220]).mean() > 0.8


@pytest.mark.parametrize(
    ("quantiser", "n", "message"),
    [
        (RaBitQ(8), 300, "takes 8 bytes for two numbers.*take at least 9"),
        (RaBitQ(17), 300, "needs 72 dimensions, one for each bit, and vectors have 64"),
        (PCASigns(9), 300, "needs 72 dimensions"),
        (PQ(65), 300, "divides a vector into 65 parts.*have 64 numbers"),
        (OPQ(4), 255, "learns 256 centres and has 255 vectors"),
        (LSQ(4), 255, "learns 256 centres and has 255 vectors"),
    ],
)
def test_bytes_that_can_not_be(quantiser, n, message):
    with pytest.raises(ValueError, match=message):
        quantiser.fit(X[:n], seed=0)


def test_a_rotation_needs_as_many_vectors_as_numbers():
    wide = np.hstack([X[:300]] * 5)  # 320 numbers: faiss itself would write beyond its memory
    with pytest.raises(ValueError, match="a rotation of 320 numbers from at least as many"):
        OPQ(4).fit(wide, seed=0)


@pytest.mark.parametrize("kind", QUANTISERS.values())
def test_no_bytes(kind):
    with pytest.raises(ValueError, match="n_bytes"):
        kind(0)


def test_without_faiss(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"faiss is not installed: pip install 'zshash\[dev\]'"):
        PQ(4).fit(X, seed=0)
    assert PCASigns(4).fit(X, seed=0).encode(X[:2]).shape == (2, 4)


def test_whitening_is_mild():
    found = Preparation(2.0).fit(DATA.X, DATA.labels)(DATA.X)
    raw = unit_rows(DATA.X).astype(float)
    covariance = np.cov(raw.T, bias=True)
    values, axes = np.linalg.eigh(covariance)
    T = axes @ np.diag((values + 2 * values.mean()) ** -0.5) @ axes.T
    np.testing.assert_allclose(found, unit_rows((raw - raw.mean(axis=0)) @ T), atol=1e-4)


def test_novelty_is_a_coordinate():
    labels = DATA.labels + 5  # any numbers
    vectors = Preparation(2.0, 0.03).fit(DATA.X, labels)(DATA.X)
    Z = whiten(Rows(unit_rows(DATA.X)), 2.0)(Rows(unit_rows(DATA.X))).X
    novelty = Novelty(Z, DATA.labels, category_means(Z, DATA.labels))(Z)
    assert vectors.shape == (len(DATA.X), 65)
    np.testing.assert_allclose(vectors[:, -1], np.sqrt(0.03) * novelty, atol=1e-5)
    np.testing.assert_allclose(vectors[:, :-1], unit_rows(Z), atol=1e-6)


def test_novelty_needs_one_label_each():
    several = np.eye(10, dtype=bool)[DATA.labels]
    assert Preparation(2.0).fit(DATA.X, several)(DATA.X).shape == DATA.X.shape
    with pytest.raises(ValueError, match="novelty needs one label for each sample"):
        Preparation(2.0, 0.03).fit(DATA.X, several)


def test_a_rival_is_a_preparation_and_a_quantiser():
    preparation = PREPARATIONS["whitened"]
    rival = Prepared(preparation, PQ(4)).fit(DATA.X[:1200], DATA.labels[:1200], seed=0)
    assert (rival.n_bytes, rival.is_binary) == (4, False)
    own = Preparation(2.0).fit(DATA.X[:1200], DATA.labels[:1200])
    alone = PQ(4).fit(own(DATA.X[:1200]), seed=0)
    np.testing.assert_array_equal(rival.encode(DATA.X), alone.encode(own(DATA.X)))
    np.testing.assert_array_equal(
        rival.similarities(DATA.X[:9], rival.encode(DATA.X)),
        alone.similarities(own(DATA.X[:9]), alone.encode(own(DATA.X))),
    )
    assert not hasattr(preparation, "whitening_")
