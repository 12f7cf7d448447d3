"""The anchor graph against dense formulas."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tests.hashing.anchor_weights import anchor_weights
from zshash.hashing.steps import anchor_graph
from zshash.hashing.steps.anchors import AnchorKernel
from zshash.hashing.steps.samples import Samples


@pytest.fixture(scope="module")
def X():
    X = np.random.RandomState(0).standard_normal((2500, 6)).astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def test_nearest_anchors(X):
    distances, indices = anchor_graph.nearest_anchors(X, X[:70] + 0.1, 4)
    expected = np.sort(cdist(X, X[:70] + 0.1, "sqeuclidean"), axis=1)[:, :4]
    np.testing.assert_allclose(distances, expected, atol=1e-5)
    assert indices.max() < 70


def test_anchor_weights_are_shares_of_the_nearest(X):
    Z = anchor_weights(X, X[:60], 3)
    assert (np.diff(Z.indptr) == 3).all()
    np.testing.assert_allclose(Z.sum(axis=1), 1, rtol=1e-5)
    assert Z[[0], [0]] == Z[[0]].max()  # sample 0 is anchor 0


def test_gram_with_anchor_graph(X):
    samples = Samples(X, targets=None)
    samples.use(AnchorKernel(X[:50], 2.0))
    Phi = samples.features[:].astype(float)
    Z = anchor_weights(X, X[:50], 3)
    dense = Z.toarray().astype(float)
    A = dense / dense.sum(axis=0) @ dense.T
    np.testing.assert_allclose(A.sum(axis=1), 1, rtol=1e-5)
    expected = Phi.T @ Phi + 0.3 * Phi.T @ (Phi - A @ Phi)
    np.testing.assert_allclose(
        anchor_graph.anchor_gram(samples, X[:50], 3, 0.3), expected, rtol=1e-4
    )


def test_far_samples_still_get_weights(X):
    far = np.vstack([X[:50], np.full((1, 6), 1e4, dtype=np.float32)])
    Z = anchor_weights(far, X[:20], 3)
    np.testing.assert_allclose(Z.sum(axis=1), 1, rtol=1e-5)
    assert np.isfinite(Z.data).all()
