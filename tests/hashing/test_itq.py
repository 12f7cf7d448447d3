import numpy as np
import pytest
from scipy import linalg
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from zshash import codes
from zshash.hashing import itq
from zshash.hashing.itq import CCAITQ, ITQ
from zshash.hashing.steps.targets import as_targets


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def loss(V, R):
    return np.square(np.where(V @ R >= 0, 1, -1) - V @ R).sum()


def test_the_hash_function_is_a_rotation_of_the_principal_axes(digits):
    X, _ = digits
    hasher = ITQ(16, normalize=False, random_state=0).fit(X)
    P = hasher.projection_.astype(float)
    np.testing.assert_allclose(P.T @ P, np.eye(16), atol=1e-5)
    axes = PCA(16, svd_solver="full").fit(X).components_.T
    np.testing.assert_allclose(P @ P.T, axes @ axes.T, atol=1e-3)
    np.testing.assert_allclose(hasher.mean_, X.mean(axis=0), rtol=1e-5)


def test_the_loss_falls_to_that_of_the_codes(digits):
    X, _ = digits
    hasher = ITQ(16, random_state=0).fit(X)
    assert (np.diff(hasher.objective_) <= 1e-6 * hasher.objective_[0]).all()
    V = hasher.project(X).astype(float)
    assert loss(V, np.eye(16)) == pytest.approx(hasher.objective_[-1], rel=1e-2)
    axes = PCA(16, svd_solver="full").fit_transform(X)
    assert hasher.objective_[-1] < loss(axes, np.eye(16))


def test_two_dimensions_against_all_angles(monkeypatch):
    monkeypatch.setattr(codes, "MIN_BITS", 2)
    X = np.random.RandomState(0).standard_normal((300, 2)) * [3, 1]
    V = PCA(2, svd_solver="full").fit_transform(X)
    angles = np.linspace(0, np.pi / 2, 500)
    turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
    best = min(loss(V, R) for R in turns)
    found = min(
        ITQ(2, normalize=False, random_state=seed).fit(X).objective_[-1] for seed in range(5)
    )
    assert found == pytest.approx(best, rel=1e-3)


def test_canonical_correlations_against_a_dense_solution(digits):
    X, y = digits
    hasher = CCAITQ(16, normalize=False, random_state=0).fit(X, y)
    Xc, Yc = X - X.mean(axis=0), np.eye(10)[y] - np.eye(10)[y].mean(axis=0)
    bases = [linalg.orth(M, rcond=1e-9) for M in (Xc, Yc)]
    expected = linalg.svdvals(bases[0].T @ bases[1])
    np.testing.assert_allclose(hasher.correlations_[:9], expected[:9], atol=2e-3)
    np.testing.assert_allclose(hasher.correlations_[9:], 0, atol=1e-3)  # ten labels, nine axes


def test_canonical_axes_solve_their_equation():
    rng = np.random.RandomState(0)
    X, Y = rng.standard_normal((50, 6)), rng.standard_normal((50, 4))
    gammas, axes = itq.canonical_axes(X.T @ X, X.T @ Y, Y.T @ Y, 5, 0.1)
    Sx, Sy = (S + 0.1 * np.trace(S) / len(S) * np.eye(len(S)) for S in (X.T @ X, Y.T @ Y))
    M = X.T @ Y @ np.linalg.inv(Sy) @ Y.T @ X
    np.testing.assert_allclose(M @ axes, Sx @ axes * gammas**2, atol=1e-8)
    np.testing.assert_allclose(axes.T @ Sx @ axes, np.diag(gammas**2), atol=1e-8)


def test_the_labels_axes_are_those_of_discriminant_analysis(digits):
    X, y = digits
    hasher = CCAITQ(16, regularization=1e-6, normalize=False, random_state=0).fit(X, y)
    axes = LinearDiscriminantAnalysis(solver="svd").fit(X, y).scalings_
    spans = [linalg.orth(M, rcond=1e-2) for M in (axes, hasher.projection_.astype(float))]
    assert spans[0].shape[1] == spans[1].shape[1] == 9
    assert np.degrees(linalg.subspace_angles(*spans)).max() < 5


def test_the_scale_of_the_features_does_not_matter(digits):
    X, y = digits
    first, scaled = (CCAITQ(16, random_state=0).fit(c * X, y).transform(c * X) for c in (1, 1024))
    assert np.mean(first == scaled) > 0.999


def test_centred_targets():
    y = np.array([0, 1, 1, 2, 1])
    targets, _ = as_targets(y, 5, method="CCAITQ")
    Y = np.eye(3)[y]
    np.testing.assert_allclose(itq.centred_targets(targets), Y - Y.mean(axis=0), atol=1e-7)


@pytest.mark.parametrize("method", [ITQ, CCAITQ])
def test_more_bits_than_dimensions(method, digits):
    X, y = digits
    message = (
        r"n_bits=128 is more than the dimension of X \(n_features=64\).*use n_bits of at most 64, "
        "or a method without this limit"
    )
    with pytest.raises(ValueError, match=message):
        method(128).fit(X, y)
