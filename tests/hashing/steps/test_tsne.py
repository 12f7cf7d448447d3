import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.spatial.distance import cdist
from sklearn.manifold import TSNE

from zshash.hashing.steps import tsne


@pytest.fixture(scope="module")
def distances():
    X = np.random.RandomState(0).standard_normal((40, 5)) * 3
    return cdist(X, X, "sqeuclidean")


@pytest.mark.parametrize("perplexity", [3, 10])
def test_every_row_has_the_perplexity_asked_for(distances, perplexity):
    m = len(distances)
    P = tsne.neighborhoods(distances, perplexity)
    np.testing.assert_allclose(P, P.T)
    assert P.sum() == pytest.approx(1)
    np.testing.assert_array_equal(np.diag(P), 0)
    # p_j|i is a heat kernel of the row: log p falls along d with the slope b_i, for all pairs
    np.testing.assert_allclose(tsne.neighborhoods(1e6 * distances, perplexity), P, atol=1e-12)
    expected = np.zeros_like(P)
    for i in range(m):
        others = np.delete(np.arange(m), i)
        low, high = 1e-6, 1e3
        for _ in range(200):
            b = (low * high) ** 0.5
            row = np.exp(-b * (distances[i, others] - distances[i, others].min()))
            row /= row.sum()
            wide = 2 ** -(row * np.log2(np.maximum(row, 1e-300))).sum() > perplexity
            low, high = (b, high) if wide else (low, b)
        expected[i, others] = row
    np.testing.assert_allclose(P, (expected + expected.T) / (2 * m), atol=1e-9)


@pytest.mark.parametrize("r", [2, 3, 12])
def test_gradient_by_finite_differences(distances, r):
    P = tsne.neighborhoods(distances, 5)
    E = np.random.RandomState(1).standard_normal((40, r))
    numeric = approx_fprime(E.ravel(), lambda e: tsne.divergence(P, e.reshape(40, r)), 1e-7)
    np.testing.assert_allclose(tsne.gradient(P, E).ravel(), numeric, atol=1e-6)


def authors_descent(P, E, n_iter, stop_lying_iter, mom_switch_iter):
    """The loop of van der Maaten's tsne_p.m, but for its step, which is for 500 samples."""
    gains, velocity, momentum, P = np.ones(E.shape), np.zeros(E.shape), 0.5, 4 * P
    for iteration in range(1, n_iter + 1):
        kernel = 1 / (1 + cdist(E, E, "sqeuclidean"))
        np.fill_diagonal(kernel, 0)
        L = (P - kernel / kernel.sum()) * kernel
        slope = 4 * (np.diag(L.sum(axis=0)) - L) @ E
        same = np.sign(slope) == np.sign(velocity)
        gains = np.maximum(np.where(same, gains * 0.8, gains + 0.2), 0.01)
        velocity = momentum * velocity - len(E) * gains * slope
        E = E + velocity
        E = E - E.mean(axis=0)
        if iteration == mom_switch_iter:
            momentum = 0.8
        if iteration == stop_lying_iter:
            P = P / 4
    return E


@pytest.mark.parametrize("n_iter", [1, 2, 4, 8])
def test_the_descent_is_the_authors(monkeypatch, n_iter):
    """With the changes of the schedule moved ahead: rounding grows with every iteration."""
    assert (tsne.N_ITER, tsne.EXAGGERATED, tsne.LATER) == (1000, 100, 250)
    for name, value in {"N_ITER": n_iter, "EXAGGERATED": 3, "LATER": 5}.items():
        monkeypatch.setattr(tsne, name, value)
    X = np.random.RandomState(0).standard_normal((12, 4))
    P = tsne.neighborhoods(cdist(X, X, "sqeuclidean"), 3)
    start = 1e-4 * np.random.RandomState(1).standard_normal((12, 3))
    expected = authors_descent(P, start, n_iter, stop_lying_iter=3, mom_switch_iter=5)
    E = tsne.embed(X, 3, 3, np.random.RandomState(1))
    np.testing.assert_allclose(E, expected, atol=1e-4 * abs(expected).max())


def test_two_dimensions_as_good_as_scikit_learn():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((6, 10))[rng.randint(0, 6, 120)] * 4 + rng.standard_normal((120, 10))
    peer = TSNE(2, perplexity=10, method="exact", init="random", random_state=0).fit(X)
    P = tsne.neighborhoods(cdist(X, X, "sqeuclidean"), 10)
    own = min(
        tsne.divergence(P, tsne.embed(X, 2, 10, np.random.RandomState(seed)).astype(float))
        for seed in range(3)
    )
    assert own < 1.1 * peer.kl_divergence_


@pytest.mark.parametrize("r", [3, 32])
def test_neighbors_stay_together(r):
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(4), 15)
    X = 10 * np.eye(4)[groups] + rng.standard_normal((60, 4))
    E = tsne.embed(X, r, 5.0, np.random.RandomState(0))
    np.testing.assert_allclose(E.mean(axis=0), 0, atol=1e-4)
    apart = cdist(E, E)
    np.fill_diagonal(apart, np.inf)
    assert (groups[apart.argmin(axis=1)] == groups).all()


def test_equal_samples_do_no_harm():
    X = np.repeat(np.eye(3), 6, axis=0)
    assert np.isfinite(tsne.embed(X, 4, 5.0, np.random.RandomState(0))).all()
