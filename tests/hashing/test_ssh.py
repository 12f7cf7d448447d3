"""Each variant against dense formulas with the whole matrix S."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from zshash.hashing.ssh import SSH, boost, labeled_rows, lengths, pair_term, unit_scale
from zshash.hashing.steps.similarity import Similarity, similarity
from zshash.hashing.steps.targets import Targets


@pytest.fixture(scope="module")
def small():
    """Samples of four groups far from the origin."""
    rng = np.random.RandomState(0)
    y = rng.randint(0, 4, 300)
    X = 3 + 1.5 * rng.standard_normal((4, 10))[y] + rng.standard_normal((300, 10))
    return X.astype(np.float32), y


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def signs(Y):
    """S of a 0/1 label matrix: 1 for pairs that share a label, −1 for others, 0 for itself."""
    S = np.where(Y @ Y.T > 0, 1.0, -1.0)
    np.fill_diagonal(S, 0)
    return S


def adjusted_covariance(X, S, eta):
    """M with every sample labelled."""
    X = X - X.mean(axis=0, dtype=float)
    return X.T @ S @ X / len(X) ** 2 + eta * X.T @ X / len(X)


def test_pair_term_is_that_of_the_whole_matrix(small):
    X, y = small
    several = np.eye(5)[y]
    several[::4, 4] = 1
    mean = X.mean(axis=0)
    for Y in (np.eye(4)[y], several):
        vectors, rows = np.unique(Y, axis=0, return_inverse=True)
        rows = rows.ravel()
        found = pair_term(X, mean, similarity(Targets(vectors, rows), "SSH"))
        expected = (X - mean).T @ signs(Y) @ (X - mean) / 300**2
        np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_orthogonal_directions_are_the_top_eigenvectors(small):
    X, y = small
    W = (
        SSH(8, variant="orthogonal", n_labeled=None, eta=0.2, normalize=False)
        .fit(X, y)
        .projection_.astype(float)
    )
    M = adjusted_covariance(X, signs(np.eye(4)[y]), 0.2)
    np.testing.assert_allclose(W.T @ W, np.eye(8), atol=1e-5)
    assert np.trace(W.T @ M @ W) == pytest.approx(np.linalg.eigvalsh(M)[-8:].sum(), rel=1e-4)


def test_nonorthogonal_directions_are_stationary_and_give_the_same_bits(small):
    X, y = small
    free, orthogonal = (
        SSH(8, variant=variant, n_labeled=None, eta=0.2, normalize=False).fit(X, y)
        for variant in ("nonorthogonal", "orthogonal")
    )
    np.testing.assert_array_equal(free.encode(X), orthogonal.encode(X))
    M = adjusted_covariance(X, signs(np.eye(4)[y]), 0.2)
    kappa = 2 * np.linalg.norm(M)
    W = free.projection_.astype(float)
    np.testing.assert_allclose((np.eye(10) + M / kappa) @ W, W @ W.T @ W, atol=1e-5)
    assert np.ptp(np.linalg.norm(W, axis=0)) > 0.1


def test_lengths_exist_for_any_matrix():
    M = -np.diag([5.0, 1.0])
    assert np.isfinite(lengths(np.linalg.eigvalsh(M), M)).all()
    np.testing.assert_array_equal(lengths(np.zeros(2), np.zeros((2, 2))), [1, 1])


@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("n", [300, 8])  # where they are few, the diagonal of S would count
def test_sequential_directions_are_those_of_the_dense_formulas(small, n, alpha):
    X, Y = small[0], np.eye(4, dtype=int)[small[1]]
    Y[n:] = 0  # no label
    hasher = SSH(8, eta=0.5, alpha=alpha, normalize=False).fit(
        X, Y
    )  # fewer than n_labeled: all labels count
    S, spread = signs(Y[:n]), X - X.mean(axis=0, dtype=float)
    centred = spread[:n].copy()
    for k in range(8):
        M = centred.T @ S @ centred / n**2 + 0.5 * spread.T @ spread / 300
        w = np.linalg.eigh(M)[1][:, -1]
        assert abs(w @ hasher.projection_[:, k]) == pytest.approx(1, abs=1e-4)
        p = centred @ w
        guess = np.outer(p, p) / np.mean(p**2)
        S = S - alpha * np.where(guess * S < 0, guess, 0)
        spread = spread - np.outer(spread @ w, w)


def test_only_wrong_pairs_are_boosted():
    rng = np.random.RandomState(0)
    S = signs(np.eye(3)[rng.randint(0, 3, 20)]).astype(np.float32)
    p = rng.standard_normal(20).astype(np.float32)
    before, guess = S.copy(), np.outer(p, p)
    boost(S, p, p, np.float32(0.5), 0)
    wrong = guess * before < 0
    assert 0 < wrong.sum() < 400
    np.testing.assert_array_equal(S[~wrong], before[~wrong])
    np.testing.assert_allclose(S[wrong], (before - 0.5 * guess)[wrong], rtol=1e-6)
    assert (np.abs(S[wrong]) > 1).all()


def test_unit_scale():
    assert np.mean(unit_scale(np.array([3, -4, 0], dtype=np.float32)) ** 2) == pytest.approx(1)
    np.testing.assert_array_equal(unit_scale(np.zeros(3, dtype=np.float32)), 0)


def test_the_scale_of_the_features_does_not_matter(digits):
    X, y = digits
    plain, scaled = (
        SSH(16, n_labeled=300, random_state=0).fit(factor * X, y).encode(factor * X)
        for factor in (1.0, 2.0**-9)
    )
    np.testing.assert_array_equal(plain, scaled)


def test_more_bits_than_dimensions(small):
    X, y = small
    hasher = SSH(64).fit(X, y)
    np.testing.assert_allclose(np.linalg.norm(hasher.projection_, axis=0), 1, atol=1e-5)
    late = hasher.transform(X)[:, 10:]  # the covariance is used up, the pairs are not
    assert len(np.unique(late, axis=1).T) > 5
    for variant in ("orthogonal", "nonorthogonal"):
        with pytest.raises(ValueError, match="n_bits=64 is more than the dimension of X"):
            SSH(64, variant=variant).fit(X, y)


@pytest.mark.parametrize("variant", ["sequential", "orthogonal"])
def test_labels_that_are_not_used_do_not_matter(small, variant):
    X, y = small
    Y = np.zeros((300, 4), dtype=int)
    Y[:100] = np.eye(4, dtype=int)[y[:100]]
    hasher = SSH(8, variant=variant, n_labeled=100, random_state=0).fit(X, Y)
    again = SSH(8, variant=variant, n_labeled=200, random_state=1).fit(X, Y)
    np.testing.assert_array_equal(hasher.projection_, again.projection_)  # the same 100 rows
    other = SSH(8, variant=variant, n_labeled=100, random_state=0).fit(X, y)
    assert not np.array_equal(hasher.projection_, other.projection_)


def test_labeled_rows():
    pairs = Similarity(np.array([[1.0], [0.0]]), np.array([0, 1, 0, 0, 1]))
    assert labeled_rows(pairs, None, None).tolist() == [0, 2, 3]
    assert labeled_rows(pairs, 3, None).tolist() == [0, 2, 3]
    drawn = {tuple(labeled_rows(pairs, 2, np.random.RandomState(seed))) for seed in range(20)}
    assert drawn == {(0, 2), (0, 3), (2, 3)}
    with pytest.raises(ValueError, match="no row of y holds a label"):
        labeled_rows(pairs[[1, 4]], 2, None)


def test_without_labels_of_weight_it_is_principal_components(small):
    X, y = small
    W = SSH(8, variant="orthogonal", eta=1e6, normalize=False).fit(X, y).projection_
    components = np.linalg.svd(X - X.mean(axis=0))[2][:8]
    np.testing.assert_allclose(np.abs(components @ W), np.eye(8), atol=1e-2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"variant": "splh"}, "variant must be one of 'sequential', 'orthogonal', 'nonorth"),
        ({"n_labeled": 1}, "n_labeled must be a whole number of at least 2, got 1"),
        ({"n_labeled": None}, 'variant="sequential" holds a matrix of all labelled pairs'),
        ({"eta": -1}, "eta must be a number of at least 0, got -1"),
        ({"alpha": float("inf")}, "alpha must be a number of at least 0, got inf"),
    ],
)
def test_bad_parameters(small, parameters, message):
    with pytest.raises(ValueError, match=message):
        SSH(8, **parameters).fit(*small)
