from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize
from sklearn.datasets import load_digits
from sklearn.linear_model import Lasso

from zshash import metrics
from zshash.hashing.smmh import SMMH
from zshash.hashing.steps.hypergraphs import hypergraph, neighbor_edges, smoother
from zshash.hashing.steps.rows import unit_rows
from zshash.hashing.steps.sparse_coding import (
    Coding,
    agreements,
    code_alone,
    fit_error,
    sparse_codes,
    update_atoms,
)
from zshash.hashing.steps.targets import as_targets, matrix_targets


def dictionary(n_atoms, d, seed=0):
    return unit_rows(np.random.RandomState(seed).standard_normal((n_atoms, d)))


@pytest.mark.parametrize("positive", [True, False])
def test_sparse_codes_of_one_view_against_scikit_learn(positive):
    rng, D = np.random.RandomState(1), dictionary(9, 5)
    X, sparsity = rng.standard_normal((6, 5)), 0.4
    C, A = X @ D.T, np.zeros((6, 9))
    code_alone(C, A, D @ D.T, sparsity / 2, positive)
    lasso = Lasso(sparsity / 10, positive=positive, fit_intercept=False, tol=1e-10, max_iter=10**6)
    expected = np.array([lasso.fit(D.T, x).coef_ for x in X])  # its loss is divided by 2 · 5
    np.testing.assert_allclose(A, expected, atol=1e-3)
    for k in range(9):  # C holds what the other atoms leave
        others = np.delete(np.arange(9), k)
        rest = X - A[:, others] @ D[others]
        np.testing.assert_allclose(C[:, k], rest @ D[k], atol=1e-3)


@pytest.mark.parametrize("positive", [True, False])
def test_an_atom_is_used_where_its_agreement_exceeds_the_threshold(positive):
    X, D = np.random.RandomState(2).standard_normal((50, 6)), dictionary(12, 6)
    C, A = X @ D.T, np.zeros((50, 12))
    code_alone(C, A, D @ D.T, 0.3, positive)
    np.testing.assert_array_equal(agreements(X, D, D @ D.T, 0.6, positive) > 0.3, A != 0)


def test_an_atom_of_length_zero_is_never_used():
    D = np.vstack([dictionary(3, 4), np.zeros(4)])
    A = np.zeros((5, 4))
    code_alone(np.ones((5, 4)) @ D.T @ np.eye(4), A, D @ D.T, 0.01, True)
    assert (A[:, 3] == 0).all()


def small_problem(positive=True, n=8):
    """Two views of n samples, with tags, in float64."""
    rng = np.random.RandomState(3)
    tags = np.vstack([np.eye(3), (rng.uniform(size=(n - 3, 3)) < 0.5)]).astype(int)
    tags[3:, 0] |= ~tags[3:].any(axis=1)
    X, Y = unit_rows(rng.standard_normal((n, 4))), unit_rows(tags.astype(float))
    members, weights = hypergraph(X, matrix_targets(tags), 2, 1.5)
    K = smoother(members.astype(np.float64), weights.astype(np.float64))
    atoms = [dictionary(5, 4), dictionary(5, 3)]
    return Coding([X, Y], atoms, (1.0, 1.7), K, 0.7, 0.2, positive)


def by_brute_force(Z, problem):
    """The objective with the Laplacian as a full matrix."""
    K = problem.K.toarray()
    laplacian = np.eye(len(K)) - K @ K.T
    fit = sum(
        weight * np.square(X - own @ D).sum()
        for own, X, D, weight in zip(
            np.split(Z, 2), problem.views, problem.atoms, problem.weights, strict=True
        )
    )
    smooth = problem.smoothness * np.trace(Z.T @ laplacian @ Z)
    return fit + smooth + problem.sparsity * np.abs(Z).sum()


def test_objective_against_the_full_laplacian():
    problem = small_problem()
    Z = np.random.RandomState(0).uniform(size=(16, 5))
    assert problem.value(Z, problem.apply(Z)) == pytest.approx(by_brute_force(Z, problem))


def test_sparse_codes_of_both_views_against_a_general_solver():
    problem = small_problem()
    Z, values = np.zeros((16, 5)), []
    for _ in range(40):
        Z, value = sparse_codes(Z, problem)
        values.append(value)
    assert (np.diff(values) <= 1e-12).all()
    found = optimize.minimize(
        lambda flat: by_brute_force(flat.reshape(16, 5), problem),
        np.full(80, 0.1),
        method="L-BFGS-B",
        bounds=[(0, None)] * 80,
        options={"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14},
    )
    assert values[-1] == pytest.approx(found.fun, rel=1e-5)
    np.testing.assert_allclose(Z, found.x.reshape(16, 5), atol=1e-2)


def test_codes_with_signs_fit_no_worse():
    values = []
    for positive in (True, False):
        problem, Z = small_problem(positive), np.zeros((16, 5))
        for _ in range(20):
            Z, value = sparse_codes(Z, problem)
        values.append(value)
        assert value == pytest.approx(by_brute_force(Z, problem))
        assert (Z < 0).any() != positive
    assert values[1] < values[0]


def test_more_agreement_brings_the_views_of_a_sample_together():
    apart = []
    for agreement in (0.1, 100.0):
        problem = small_problem()
        targets, _ = as_targets([0, 1] * 4, 8, method="SMMH")
        K = smoother(*hypergraph(problem.views[0], targets, 2, agreement))
        problem = replace(problem, K=K, smoothness=10.0)
        A, B = np.split(sparse_codes(np.zeros((16, 5)), problem)[0], 2)
        apart.append(np.square(A - B).sum() / np.square(A + B).sum())
    assert apart[1] < apart[0] / 2


def test_laplacian_against_its_definition():
    rng = np.random.RandomState(0)
    X, tags = (
        rng.standard_normal((6, 3)),
        np.array([[1, 0], [1, 1], [0, 1], [0, 1], [1, 0], [1, 0]]),
    )
    members, weights = hypergraph(X, matrix_targets(tags), 2, 4.0)
    dense = np.zeros((12, 6 + 2 + 6))
    squares = np.square(X[:, None] - X).sum(axis=2)
    for i in range(6):
        dense[np.argsort(squares[i])[:3], i] = 1  # itself and two neighbours
        dense[[i, 6 + i], 8 + i] = 1
    dense[6:, 6:8] = tags
    np.testing.assert_array_equal(members.toarray(), dense)
    np.testing.assert_array_equal(weights, [1] * 8 + [4] * 6)
    degrees, K = dense @ weights, smoother(members, weights).toarray()
    expected = np.zeros((12, 12))
    for e, weight in enumerate(weights):
        own = dense[:, e] / np.sqrt(degrees)
        expected += weight * np.outer(own, own) / dense[:, e].sum()
    np.testing.assert_allclose(K @ K.T, expected, rtol=1e-5, atol=1e-7)
    assert np.linalg.eigvalsh(np.eye(12) - expected).min() > -1e-6


def test_edges_of_targets_that_are_no_tags():
    X = np.random.RandomState(0).standard_normal((6, 3))
    shared = matrix_targets(np.repeat([[0.5, 1.0], [2.0, 0.3]], 3, axis=0))
    members, _ = hypergraph(X, shared, 2, 1.0)
    np.testing.assert_array_equal(members.toarray()[6:, 6:8].sum(axis=0), [3, 3])
    members, _ = hypergraph(X, matrix_targets(X), 2, 1.0)
    own = neighbor_edges(unit_rows(X), 2).toarray()
    np.testing.assert_array_equal(members.toarray()[6:, 6:12], own)


def test_dictionary_step_against_a_general_solver():
    rng = np.random.RandomState(0)
    A, X, D = rng.uniform(size=(30, 3)), 3 * rng.standard_normal((30, 2)), dictionary(3, 2)
    G, T, falls = A.T @ A, A.T @ X, []
    for _ in range(100):
        falls.append(update_atoms(D, A, X))
    assert min(falls) >= -1e-9
    assert (np.linalg.norm(D, axis=1) <= 1 + 1e-9).all()
    found = optimize.minimize(
        lambda flat: np.square(X - A @ flat.reshape(3, 2)).sum(),
        np.zeros(6),
        constraints=[
            {"type": "ineq", "fun": lambda flat, k=k: 1 - np.square(flat[2 * k : 2 * k + 2]).sum()}
            for k in range(3)
        ],
    )
    error = np.square(X - A @ D).sum()
    assert error == pytest.approx(found.fun, rel=1e-5)
    assert error == pytest.approx(fit_error(D, G, T) + np.square(X).sum())


def test_an_atom_that_no_sample_uses_stays():
    A, D = np.random.RandomState(0).uniform(size=(5, 3)), dictionary(3, 2)
    A[:, 1] = 0
    before = D.copy()
    update_atoms(D, A, np.ones((5, 2)))
    np.testing.assert_array_equal(D[1], before[1])
    assert (D[0] != before[0]).any()


@pytest.fixture(name="digits", scope="module")
def some_digits():
    X, y = load_digits(return_X_y=True)
    return X, y


@pytest.fixture(name="tagged", scope="module")
def digits_with_tags(digits):
    """Digits, and what they are: even, small, prime, drawn with a closed loop."""
    X, y = digits
    tags = np.stack([y % 2 == 0, y < 5, np.isin(y, (2, 3, 5, 7)), np.isin(y, (0, 6, 8, 9))], axis=1)
    return X, np.hstack([tags, ~tags]).astype(int)


def test_the_objective_never_rises(digits):
    X, y = digits
    for positive in (True, False):
        hasher = SMMH(16, positive=positive, max_iter=8, random_state=0).fit(X[:400], y[:400])
        assert (np.diff(hasher.objective_) <= 1e-5 * hasher.objective_[0]).all()
        assert len(hasher.objective_) == hasher.n_iter_ > 1


def shared_share(codes_of_queries, tags_of_queries, codes, tags, k=50):
    """Mean share of tags that the first k have in common with the query."""
    bits = [np.unpackbits(packed, axis=1).astype(int) for packed in (codes_of_queries, codes)]
    apart = (bits[0][:, None] != bits[1]).sum(axis=2)
    nearest = np.argsort(apart, axis=1, kind="stable")[:, :k]
    return (tags[nearest] == tags_of_queries[:, None]).mean()


def test_tags_help_pictures_that_have_none(tagged):
    """Only pictures are searched. What was learned are their true tags, or tags at random."""
    X, tags = tagged
    train, queries, rest = slice(0, 900), slice(900, 1100), slice(1100, None)
    shuffled = np.random.RandomState(0).permutation(tags[train])
    found = []
    for own in (tags[train], shuffled):
        shares = []
        for seed in range(3):
            codes = SMMH(32, random_state=seed).fit(X[train], own).encode(X)
            shares.append(shared_share(codes[queries], tags[queries], codes[rest], tags[rest]))
        found.append(np.mean(shares))
    assert found[0] > found[1] + 0.015, found


def test_pictures_are_found_by_their_tags(digits, tagged):
    X, tags = tagged
    hasher = SMMH(32, random_state=0).fit(X[:900], tags[:900])
    combinations = np.unique(tags, axis=0)
    share = shared_share(
        hasher.encode_tags(combinations), combinations, hasher.encode(X[900:]), tags[900:]
    )
    chance = (tags[900:] == combinations[:, None]).mean()
    assert share > chance + 0.1
    by_label = SMMH(32, random_state=0).fit(X[:900], digits[1][:900])
    codes, y = by_label.encode(X[900:]), digits[1][900:]
    same = metrics.same_label(np.arange(10), y)
    assert metrics.evaluate(by_label.encode_tags(np.arange(10)), codes, same, k=50)["map"] > 0.5


def test_support_sets_few_bits_and_the_median_half_of_them(digits):
    X, y = digits
    few, half = (
        SMMH(32, threshold=threshold, random_state=0).fit(X, y).transform(X).mean(axis=0)
        for threshold in ("support", "median")
    )
    assert 0 < few.mean() < 0.3
    np.testing.assert_allclose(half, 0.5, atol=0.01)


def test_vectors_of_names_and_their_order(digits):
    X, y = digits
    vectors = np.random.RandomState(0).standard_normal((10, 6))
    hasher = SMMH(16, max_iter=3, random_state=0).fit(X[:300], vectors[y[:300]])
    codes = hasher.encode_tags(vectors)
    np.testing.assert_array_equal(
        hasher.encode_tags(vectors[[3, 3, 3, 3, 1]]), codes[[3, 3, 3, 3, 1]]
    )
    np.testing.assert_array_equal(hasher.encode_tags(5 * vectors), codes)


def test_bad_input(digits):
    X, y = digits
    with pytest.raises(ValueError, match="threshold must be one of"):
        SMMH(8, threshold="mean").fit(X, y)
    with pytest.raises(ValueError, match="sparsity must be a number above 0, got 0"):
        SMMH(8, sparsity=0).fit(X, y)
    with pytest.raises(ValueError, match="SMMH requires y to be passed"):
        SMMH(8).fit(X)
    with pytest.raises(ValueError, match="SMMH learns from labelled samples, and 0 of"):
        SMMH(8).fit(X, np.zeros((len(X), 5), dtype=int))
    hasher = SMMH(8, max_iter=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="the label 11 was not among those of the fit"):
        hasher.encode_tags([3, 11])
    with pytest.raises(
        ValueError, match=r"y has shape \(2, 3\), and the fit had rows of 10 numbers"
    ):
        hasher.encode_tags(np.eye(3)[:2])
