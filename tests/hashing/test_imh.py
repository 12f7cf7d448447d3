"""Both embeddings against dense formulas, and where new samples are placed."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tests.hashing.anchor_weights import anchor_weights
from zshash.hashing.imh import (
    IMH,
    base_laplacian,
    eigenmaps,
    heat,
    neighbor_embedding,
    sample_laplacian,
)
from zshash.hashing.steps import tsne
from zshash.hashing.steps.anchor_graph import nearest_anchors, width


@pytest.fixture(scope="module")
def X():
    rng = np.random.RandomState(0)
    centers = 2 * rng.standard_normal((5, 6))
    return (centers[rng.randint(0, 5, 400)] + rng.standard_normal((400, 6))).astype(np.float32)


@pytest.fixture(scope="module")
def hasher(X):
    return IMH(16, embedding="le", n_anchors=60, normalize=False, random_state=0).fit(X)


def test_a_base_sample_gets_its_own_bits(X):
    hasher = IMH(
        16, embedding="le", n_anchors=60, n_nearest=1, normalize=False, random_state=0
    ).fit(X)
    expected = hasher.embedding_ >= 0
    np.testing.assert_array_equal(hasher.transform(hasher.anchors_), expected)


def test_a_sample_lies_nearest_to_its_base_samples(X, hasher):
    """y(x) is the weighted mean of the embeddings of the 5 nearest base samples."""
    far = np.full((1, 6), 1e4, dtype=np.float32)
    for x, y in zip(
        np.vstack([X[:20], far]), hasher.project(np.vstack([X[:20], far])), strict=True
    ):
        distances = cdist(x[None], hasher.anchors_, "sqeuclidean")[0]
        nearest = np.argsort(distances)[:5]
        weights = np.exp((distances.min() - distances[nearest]) / hasher.sigma_**2)
        E = hasher.embedding_[nearest]
        np.testing.assert_allclose(y, weights @ E / weights.sum(), atol=1e-4)
        assert (y >= E.min(axis=0) - 1e-6).all()
        assert (y <= E.max(axis=0) + 1e-6).all()


def test_laplacian_of_the_base(X):
    base = X[:50]
    distances = cdist(base, base, "sqeuclidean")
    order = np.argsort(distances, axis=1)[:, 1:21]  # without the sample itself
    linked = np.zeros((50, 50), dtype=bool)
    np.put_along_axis(linked, order, values=True, axis=1)
    sigma = np.sqrt(np.take_along_axis(distances, order[:, -1:], axis=1)).mean()
    S = np.where(linked | linked.T, np.exp(-distances / sigma**2), 0)
    expected = np.diag(S.sum(axis=1)) - S
    np.testing.assert_allclose(base_laplacian(base), expected, atol=1e-5)
    np.testing.assert_allclose(base_laplacian(100 * base), expected, atol=1e-5)


def test_laplacian_of_the_samples(X):
    Z = anchor_weights(X, X[:50], 5)
    distances, indices = nearest_anchors(X, X[:50], 5)
    weights = heat(distances, width(distances))
    W = np.zeros(Z.shape)
    np.put_along_axis(W, indices, weights, axis=1)
    expected = np.diag(W.sum(axis=0)) - Z.toarray().T @ W
    T = sample_laplacian(Z, weights.sum(axis=1))
    np.testing.assert_allclose(T, expected, atol=1e-5)
    L = base_laplacian(X[:50]) + 2 * T
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-10)
    np.testing.assert_allclose(L, L.T, atol=1e-10)
    assert np.linalg.eigvalsh(L)[0] > -1e-10


def test_the_eigenmaps_are_those_of_both_graphs(X, hasher):
    """W of the samples is not normalised here, and T counts twice."""
    distances = cdist(X, hasher.anchors_, "sqeuclidean")
    order = np.argsort(distances, axis=1)[:, :5]
    kept = np.take_along_axis(distances, order, axis=1)
    W = np.zeros(distances.shape)
    sigma = np.sqrt(kept[:, -1]).mean()
    np.put_along_axis(W, order, np.exp(-kept / sigma**2), axis=1)
    T = np.diag(W.sum(axis=0)) - (W / W.sum(axis=1, keepdims=True)).T @ W
    values, vectors = np.linalg.eigh(base_laplacian(hasher.anchors_) + 2 * T)
    assert np.diff(values[:18]).min() > 1e-3  # so every eigenvector is unique, but for its sign
    np.testing.assert_allclose(abs(vectors[:, 1:17].T @ hasher.embedding_), np.eye(16), atol=1e-3)


def test_eigenmaps_are_the_smoothest_vectors(X):
    L = base_laplacian(X[:50])
    values = np.linalg.eigvalsh(L)
    E = eigenmaps(L, 10)
    np.testing.assert_allclose(E.T @ E, np.eye(10), atol=1e-10)
    np.testing.assert_allclose(E.sum(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(np.diag(E.T @ L @ E), values[1:11], atol=1e-10)


def test_components_of_the_graph_give_no_bits(X):
    two = np.vstack([X[:30], X[:30] + 1000])
    L = base_laplacian(two)
    E = eigenmaps(L, 58)
    np.testing.assert_allclose(E[:30].sum(axis=0), 0, atol=1e-10)
    with pytest.raises(ValueError, match="60 anchors has 58 useful eigenvectors and 59 are needed"):
        eigenmaps(L, 59)


@pytest.mark.parametrize("r", [3, 24])
def test_neighbor_embedding_keeps_neighbors(r):
    """Also in more dimensions than the base has, and in fewer after the leading axes."""
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(4), 15)
    base = (10 * np.eye(4)[groups] + rng.standard_normal((60, 4))) @ rng.standard_normal((4, 30))
    E = neighbor_embedding(base.astype(np.float32), r, 5.0, np.random.RandomState(0))
    distances = cdist(E, E)
    np.fill_diagonal(distances, np.inf)
    assert (groups[distances.argmin(axis=1)] == groups).all()


@pytest.mark.parametrize(("r", "axes"), [(3, 20), (24, 24)])
def test_only_the_leading_axes_of_the_base_are_embedded(monkeypatch, r, axes):
    monkeypatch.setattr(tsne, "N_ITER", 3)  # rounding grows later
    base = 5 + np.random.RandomState(0).standard_normal((60, 30)).astype(np.float32)
    centred = base - base.mean(axis=0, dtype=float)
    leading = centred @ np.linalg.svd(centred)[2][:axes].T
    expected = tsne.embed(leading, r, 5.0, np.random.RandomState(0))
    E = neighbor_embedding(base, r, 5.0, np.random.RandomState(0))
    np.testing.assert_allclose(E, expected, atol=1e-3 * abs(expected).max())


def test_each_embedding_is_the_better_one_at_its_own_perplexity(X, monkeypatch):
    monkeypatch.setattr(tsne, "N_ITER", 200)
    few, many = (
        IMH(8, n_anchors=60, perplexity=perplexity, random_state=0).fit(X) for perplexity in (3, 15)
    )
    distances = cdist(few.anchors_, few.anchors_, "sqeuclidean")
    for perplexity, better, worse in ((3, few, many), (15, many, few)):
        P = tsne.neighborhoods(distances, perplexity)
        own, other = (tsne.divergence(P, E.embedding_.astype(float)) for E in (better, worse))
        assert own < 0.9 * other


def test_tsne_is_centred_and_needs_few_samples(X):
    with pytest.warns(UserWarning, match="using 12 anchors"):
        hasher = IMH(8, random_state=0).fit(X[:12])
    assert hasher.embedding_.shape == (12, 8)
    np.testing.assert_allclose(hasher.embedding_.mean(axis=0), 0, atol=1e-5)


def test_bad_parameters(X):
    with pytest.raises(ValueError, match="embedding must be one of 'tsne', 'le', got 'pca'"):
        IMH(8, embedding="pca").fit(X)
    with pytest.raises(ValueError, match="a base of 30 anchors is too small for n_bits=64"):
        IMH(64, n_anchors=30).fit(X)
    with pytest.raises(ValueError, match="n_anchors=30 must be more than perplexity=30"):
        IMH(8, n_anchors=30, perplexity=30).fit(X)
    with pytest.raises(ValueError, match="IMH needs 17 different samples for n_bits=16"):
        IMH(16).fit(X[:12])
