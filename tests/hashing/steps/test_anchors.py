"""Kernel features against SciPy's distances."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import config_context

from zshash.hashing.steps.anchors import (
    AnchorKernel,
    KernelFeatures,
    choose_anchors,
    mean_squared_distance,
)


@pytest.fixture
def X():
    return (np.random.RandomState(0).standard_normal((300, 7)) + 50).astype(np.float32)


def plain(X, anchors, bandwidth):
    similarities = np.exp(-cdist(X, anchors, "sqeuclidean") / bandwidth)
    return np.hstack([similarities, np.ones((len(X), 1))])


def test_features_far_from_the_origin_are_exact(X):
    kernel = AnchorKernel(X[:20], 12.5)
    assert kernel.dimension == 21
    np.testing.assert_allclose(kernel(X), plain(X, X[:20], 12.5), atol=2e-6)


def test_bandwidth_is_the_mean_of_all_pairs(X):
    expected = cdist(X, X[:20], "sqeuclidean").mean()
    assert mean_squared_distance(X, X[:20]) == pytest.approx(expected, rel=1e-5)


def test_random_anchors_are_different_samples(X):
    anchors = choose_anchors(X, 40, method="random", rng=np.random.RandomState(0))
    assert anchors.shape == (40, 7)
    assert len(np.unique(anchors, axis=0)) == 40
    assert (cdist(anchors, X).min(axis=1) == 0).all()


def test_kmeans_anchors_lie_closer_to_the_samples(X):
    rng = np.random.RandomState(0)
    near = choose_anchors(X, 20, method="kmeans", rng=rng)
    far = choose_anchors(X, 20, method="random", rng=rng)
    assert near.dtype == np.float32
    assert cdist(X, near).min(axis=1).mean() < cdist(X, far).min(axis=1).mean()


def test_too_few_samples_for_the_anchors_is_said(X):
    with pytest.warns(UserWarning, match="larger than the number of samples: using 5 anchors"):
        anchors = choose_anchors(X[:5], 9, method="random", rng=np.random.RandomState(0))
    assert anchors.shape == (5, 7)


@pytest.mark.parametrize("working_memory", [1, 1024])
def test_blocks_give_the_same_whether_held_or_not(working_memory):
    X = np.random.RandomState(0).standard_normal((5000, 4)).astype(np.float32)
    kernel = AnchorKernel(X[:100], 8.0)
    with config_context(working_memory=working_memory):
        features = KernelFeatures(X, kernel)
    assert (features._whole is None) == (working_memory == 1)
    Phi = kernel(X)
    np.testing.assert_allclose(
        np.vstack([features[part] for part in features.parts()]), Phi, rtol=1e-6
    )
    np.testing.assert_allclose(features.gram(), Phi.astype(float).T @ Phi, rtol=1e-5)
    rng = np.random.RandomState(1)
    weights = rng.uniform(size=(30, 5000)) * (rng.uniform(size=(30, 5000)) < 0.01)
    weights = sparse.csr_array(weights.astype(np.float32))
    np.testing.assert_allclose(features.mix(weights), weights @ Phi, rtol=1e-4, atol=1e-6)


def test_clusters_of_coinciding_samples_count_once():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((20, 6)).astype(np.float32)[rng.randint(0, 20, 500)] + 100
    centers = choose_anchors(X, 300, method="kmeans", rng=np.random.RandomState(0))
    distances = np.linalg.norm(centers[:, None] - np.unique(X, axis=0), axis=2)
    assert len(centers) == 20
    assert distances.min(axis=1).max() < 1e-3
