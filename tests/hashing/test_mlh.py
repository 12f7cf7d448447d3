from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_digits

from zshash.hashing.mlh import (
    MLH,
    UPDATES_DRAWN,
    PairDraw,
    append_one,
    augment,
    find,
    hinge,
    initialize,
    mean_length,
)
from zshash.hashing.steps.similarity import Similarity

N_BITS = 4


def loss(similar, m, rho):
    if similar:
        return max(m - rho + 1, 0) / (N_BITS - rho + 1)
    return max(rho - m + 1, 0) / (rho + 1)


def enumerate_pairs(a, b, similar, rho):
    """The largest ℓ(g, g') + g·a + g'·a' over all 4^r pairs of codes, and its g and g'."""
    signs = np.array(list(product((-1, 1), repeat=N_BITS)))
    best = max(
        (loss(similar, np.count_nonzero(g != h), rho) + g @ a + h @ b, i, j)
        for i, g in enumerate(signs)
        for j, h in enumerate(signs)
    )
    return best[0], signs[best[1]], signs[best[2]]


@pytest.fixture(name="projections")
def some_projections():
    """Projections of 24 pairs at several scales: the loss matters much, little, or not at all."""
    rng = np.random.RandomState(0)
    lengths = np.tile(np.repeat([0.05, 0.2, 1.0], 8), 2)
    return (rng.standard_normal((48, N_BITS)) * lengths[:, None]).astype(np.float32)


@pytest.mark.parametrize("rho", [1, 2, 4])
def test_inference_against_all_codes(projections, rho):
    similar = np.arange(24) % 2 == 0
    away = np.empty_like(projections)
    mean = augment(projections, *hinge(similar, N_BITS, rho, 1.0), away)
    bounds, moved = [], 0
    for i in range(24):
        a, b = projections[i], projections[24 + i]
        value, g, g2 = enumerate_pairs(a, b, similar[i], rho)
        bounds.append(value - np.abs(a).sum() - np.abs(b).sum())
        np.testing.assert_array_equal(away[i], np.sign(a) - g)
        np.testing.assert_array_equal(away[24 + i], np.sign(b) - g2)
        own = loss(similar[i], np.count_nonzero(np.sign(a) != np.sign(b)), rho)
        assert bounds[-1] >= own - 1e-6
        moved += away[i].any()
    assert mean == pytest.approx(np.mean(bounds), abs=1e-6)
    assert 0 < moved < 24


def test_away_is_the_descent_direction_of_the_bound(projections):
    offsets, slopes = hinge(np.arange(24) < 12, N_BITS, 2, 1.0)
    away, scratch = np.empty_like(projections), np.empty_like(projections)
    augment(projections, offsets, slopes, away)
    step, expected = 1e-3, np.empty_like(projections)
    for place in np.ndindex(projections.shape):
        moved = [projections.copy(), projections.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        up, down = (24 * augment(a, offsets, slopes, scratch) for a in moved)
        expected[place] = (up - down) / (2 * step)
    smooth = np.abs(-away - expected) < 0.01
    assert smooth.mean() > 0.95  # the others lie at a kink


def test_hinge_is_the_loss():
    m = np.arange(N_BITS + 1)
    for rho in (1, 2, 4):
        offsets, slopes = hinge(np.array([True, False]), N_BITS, rho, 3.0)
        lines = np.maximum(offsets[:, None] + slopes[:, None] * m, 0)
        expected = [[3 * loss(similar, k, rho) for k in m] for similar in (True, False)]
        np.testing.assert_allclose(lines, expected, atol=1e-6)


def shares_label(pairs, rows, batch_size):
    first, second = pairs.labels[pairs.groups[rows]].reshape(-1, 2, batch_size, 3).swapaxes(0, 1)
    return (first * second).sum(axis=2) > 0


def test_pairs_are_what_they_are_said_to_be():
    labels = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.float32)
    pairs = Similarity(labels, np.arange(40) % 4)
    rng = np.random.RandomState(0)
    draw = PairDraw(pairs, 10, 0.3, rng)
    rows = draw(200, rng)
    assert rows.shape == (200, 20)
    assert draw.similar.sum() == 3
    np.testing.assert_array_equal(shares_label(pairs, rows, 10), np.tile(draw.similar, (200, 1)))
    firsts, seconds = rows[:, :10].ravel(), rows[:, 10:].ravel()
    apart = np.tile(~draw.similar, 200)
    assert set(firsts[apart]) == set(range(40))  # without a label: similar to none
    assert set(firsts[~apart]) == {i for i in range(40) if i % 4 != 3}
    assert (firsts != seconds)[apart].all()


def test_pairs_where_all_are_alike():
    rng = np.random.RandomState(0)
    one_class = Similarity(np.eye(3, dtype=np.float32)[:1], np.zeros(6, dtype=int))
    assert PairDraw(one_class, 10, 0.3, rng).similar.all()
    unlabelled = Similarity(np.zeros((1, 3), dtype=np.float32), np.zeros(6, dtype=int))
    draw = PairDraw(unlabelled, 10, 0.3, rng)
    assert not draw.similar.any()
    assert draw(5, rng).shape == (5, 20)


def test_rare_dissimilar_pairs_are_used_again():
    groups = np.zeros(2000, dtype=int)
    groups[7] = 1
    pairs = Similarity(np.eye(3, dtype=np.float32)[:2], groups)
    rng = np.random.RandomState(1)
    draw = PairDraw(pairs, 100, 0.0, rng)
    rows = draw(1, rng)
    assert not draw.similar.any()
    assert not shares_label(pairs, rows, 100).any()


def test_start_has_median_zero():
    rng = np.random.RandomState(0)
    Z = append_one(rng.exponential(size=(101, 5)).astype(np.float32))
    W = initialize(Z, 200, rng)
    np.testing.assert_allclose(np.median(Z @ W, axis=0), 0, atol=1e-6)
    assert W[:-1].std() == pytest.approx(0.1, rel=0.1)


def test_mean_length():
    X = np.random.RandomState(0).standard_normal((3000, 4)).astype(np.float32)
    expected = np.sqrt(np.square(X - 1).sum(axis=1).mean())
    assert mean_length(X, np.ones(4, dtype=np.float32)) == pytest.approx(expected)


def test_find_ranks_by_distance():
    Z = np.array([[1, 1], [1, 1], [1, -1], [-1, -1]], dtype=np.float32)
    pairs = Similarity(np.eye(2, dtype=np.float32), np.array([0, 0, 1, 0]))
    found = find(Z, pairs, np.eye(2, dtype=np.float32), np.array([0]), np.array([1, 2, 3]))
    assert found == pytest.approx((1 + 2 / 3) / 2)  # at ranks 1 and 3


@pytest.mark.parametrize("balance", [True, False])
def test_updates_are_those_of_the_dense_formulas(balance):
    """A step falls to zero in a straight line, carries over, and draws W towards zero."""
    rng = np.random.RandomState(0)
    Z = append_one(rng.standard_normal((30, 5)).astype(np.float32))
    pairs = Similarity(np.eye(3, dtype=np.float32), np.arange(30) % 3)
    settings = {"learning_rate": 0.2, "momentum": 0.7, "weight_decay": 0.5, "batch_size": 6}
    hasher = MLH(N_BITS, balance=balance, max_iter=5, **settings)
    found, bounds = hasher._descend(Z, pairs, 2, np.random.RandomState(1))

    rng = np.random.RandomState(1)
    W = initialize(Z, N_BITS, rng).astype(float)
    draw = PairDraw(pairs, 6, 0.5, rng)
    last = np.zeros_like(W)
    rates = [0.2, 0.16, 0.12, 0.08, 0.04]
    for rows, rate, bound in zip(draw(UPDATES_DRAWN, rng), rates, bounds, strict=False):
        x, descent = Z[rows].astype(float), -0.5 * W
        values = []
        for i, similar in enumerate(draw.similar):
            a, b = x[[i, 6 + i]] @ W
            value, g, g2 = enumerate_pairs(a, b, similar, 2)
            values.append(value - abs(a).sum() - abs(b).sum())
            descent += np.outer(x[i], np.sign(a) - g) / 6 + np.outer(x[6 + i], np.sign(b) - g2) / 6
        if balance:
            descent -= np.outer(x.sum(axis=0) / 6, np.clip((x @ W).mean(axis=0), -0.5, 0.5))
        assert bound == pytest.approx(np.mean(values), abs=1e-5)
        last = 0.7 * last + rate * descent
        W += last
    np.testing.assert_allclose(found, W, atol=1e-5)


@pytest.fixture(name="digits", scope="module")
def some_digits():
    return load_digits(return_X_y=True)


def test_training_lowers_the_bound(digits):
    bounds = MLH(16, max_iter=600, random_state=0).fit(*digits).objective_
    assert len(bounds) == 600
    assert bounds[-100:].mean() < 0.6 * bounds[:20].mean()


def test_codes_do_not_depend_on_place_and_scale_of_features(digits):
    X, y = digits
    bits = [
        MLH(16, max_iter=200, normalize=False, random_state=0).fit(features, y).transform(features)
        for features in (X, 1000 * X + 500)
    ]
    assert (bits[0] == bits[1]).mean() > 0.97


def test_balance_brings_bits_near_half(digits):
    X, y = digits
    shares = [
        MLH(16, max_iter=600, balance=balance, random_state=0).fit(X, y).transform(X).mean(axis=0)
        for balance in (True, False)
    ]
    assert abs(shares[0] - 0.5).mean() < 0.7 * abs(shares[1] - 0.5).mean()


def test_rho(digits):
    X, y = digits
    assert MLH(32, max_iter=1, random_state=0).fit(X, y).rho_ == 11
    assert MLH(32, rho=5, max_iter=1, random_state=0).fit(X, y).rho_ == 5
    tried = []

    class Probe(MLH):
        def _descend(self, Z, pairs, rho, rng):
            tried.append((rho, len(Z)))
            return super()._descend(Z, pairs, rho, rng)

    hasher = Probe(32, rho="validate", max_iter=50, random_state=0).fit(X, y)
    assert tried == [(11, 1437), (9, 1437), (13, 1437), (hasher.rho_, 1797)]


@pytest.mark.filterwarnings("ignore:MLH needs 16 different samples")
def test_validation_needs_a_few_samples():
    hasher = MLH(32, rho="validate", max_iter=1, random_state=0)
    assert hasher.fit(np.eye(3), [0, 0, 1]).rho_ == 11


def test_validation_takes_the_rho_that_finds_best(digits, monkeypatch):
    scores = iter([0.3, 0.5, 0.4])
    monkeypatch.setattr("zshash.hashing.mlh.find", lambda *_: next(scores))
    assert MLH(32, rho="validate", max_iter=1, random_state=0).fit(*digits).rho_ == 9


def test_bad_parameters():
    X, y = np.eye(5), [0, 0, 1, 1, 2]
    with pytest.raises(ValueError, match="rho must be a whole number of at least 1 and of at most"):
        MLH(8, rho=9).fit(X, y)
    with pytest.raises(ValueError, match="similar_share must be a number"):
        MLH(8, similar_share=1.1).fit(X, y)
    with pytest.raises(ValueError, match="momentum must be a number of at least 0 and of at most"):
        MLH(8, momentum=1).fit(X, y)
    with pytest.raises(ValueError, match="learning_rate must be a number above 0, got 0"):
        MLH(8, learning_rate=0).fit(X, y)
    with pytest.raises(ValueError, match="balance must be one of True, False, got 1"):
        MLH(8, balance=1).fit(X, y)
