"""The neighbour graph against scikit-learn's neighbours and dense formulas."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from zshash.hashing.steps import graphs
from zshash.hashing.steps.anchors import AnchorKernel, KernelFeatures


@pytest.fixture(scope="module")
def X():
    X = np.random.RandomState(0).standard_normal((2500, 6)).astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def plain_laplacian(X, k, width):
    squared = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    near = squared <= np.sort(squared, axis=1)[:, k - 1 : k]
    S = np.where(near | near.T, np.exp(-squared / width), 0)
    return np.diag(S.sum(axis=1)) - S


@pytest.mark.parametrize("k", [1, 5, 40])
def test_neighbours_across_tiles(X, k):
    distances, indices = graphs.nearest_neighbors(X, k)
    expected, _ = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    np.testing.assert_allclose(np.sqrt(distances), expected, atol=2e-3)
    found = np.linalg.norm(X[:, None] - X[indices], axis=2)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert (indices != np.arange(len(X))[:, None]).all()


def test_equal_samples_come_in_order():
    _, indices = graphs.nearest_neighbors(np.ones((6, 3), dtype=np.float32), 3)
    assert indices[0].tolist() == [1, 2, 3]
    assert indices[5].tolist() == [0, 1, 2]


def test_laplacian_links_either_direction(X):
    L = graphs.neighbor_laplacian(X[:400], 5, 1.0).toarray()
    np.testing.assert_allclose(L, plain_laplacian(X[:400], 5, 2.0), atol=1e-5)
    np.testing.assert_allclose(L, L.T)
    assert np.linalg.eigvalsh(L).min() > -1e-4


def test_sigma_from_the_data_does_not_depend_on_the_scale(X):
    L = graphs.neighbor_laplacian(X[:300], 5, "auto").toarray()
    other = graphs.neighbor_laplacian(1000 * X[:300], 5, "auto").toarray()
    np.testing.assert_allclose(L, other, atol=1e-3)
    assert np.diag(L).mean() > 0.5


def test_a_graph_without_weight_is_said(X):
    with pytest.warns(UserWarning, match="the graph is empty: set normalize=True or sigma='auto'"):
        graphs.neighbor_laplacian(1000 * X[:300], 5, 1.0)


def test_more_neighbours_than_samples(X):
    L = graphs.neighbor_laplacian(X[:3], 5, 1.0)
    assert L.shape == (3, 3)
    assert L.nnz == 9


def test_gram_with_neighbour_graph(X):
    features = KernelFeatures(X, AnchorKernel(X[:50], 2.0))
    Phi = features[:].astype(float)
    L = graphs.neighbor_laplacian(X, 5, 1.0)
    expected = Phi.T @ Phi + 0.3 * Phi.T @ (L @ Phi)
    np.testing.assert_allclose(graphs.neighbor_gram(features, L, 0.3), expected, rtol=1e-4)


def test_a_missing_neighbour_is_never_passed_on():
    with pytest.raises(ValueError, match="too few neighbours"):
        graphs.csr(np.ones((2, 1), np.float32), np.array([[0], [-1]], np.int32), 2)
