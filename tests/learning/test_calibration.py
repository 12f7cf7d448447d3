"""Curves and prominence, against SciPy, scikit-learn and plain sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from zshash.learning.calibration import calibrate, fit_curve, n_best, prominence


def platt(is_right):
    right, wrong = int(is_right.sum()), int((~is_right).sum())
    return np.where(is_right, (right + 1) / (right + 2), 1 / (wrong + 2))


@pytest.fixture
def noisy():
    rng = np.random.RandomState(0)
    x = rng.uniform(-1, 1, 400)
    return x, rng.rand(400) < expit(-2 + 6 * x)


def best_curve(x, is_right, usual=None):
    """The curve with the lowest loss, by an optimiser that knows no derivatives."""
    targets = platt(is_right)

    def loss(beta):
        z = beta[0] + beta[1] * x
        likelihood = np.sum(targets * z - np.logaddexp(0, z))
        if usual is None:
            return -likelihood
        shift = (beta[0] - usual[0]) / 2, (beta[1] - usual[1]) / (usual[1] / 2)
        return -likelihood + 0.5 * (shift[0] ** 2 + shift[1] ** 2)

    return minimize(
        loss, usual or (0, 0), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-11}
    ).x


def test_logistic_regression_of_scikit_learn(noisy):
    x, is_right = noisy
    targets = platt(is_right)
    regression = LogisticRegression(C=1e6, tol=1e-10, max_iter=1000)
    regression.fit(
        np.concatenate([x, x])[:, None],
        np.repeat([1, 0], len(x)),
        sample_weight=np.concatenate([targets, 1 - targets]),
    )
    expected = regression.intercept_[0], regression.coef_[0, 0]
    assert_allclose(fit_curve(x, is_right), expected, rtol=1e-3)
    assert_allclose(fit_curve(x, is_right), best_curve(x, is_right), rtol=1e-4)


@pytest.mark.parametrize("n", [3, 40, 400])
def test_a_curve_near_another_one(noisy, n):
    x, is_right = noisy[0][:n], noisy[1][:n]
    usual = (-4.0, 9.0)
    found = fit_curve(x, is_right, np.array(usual))
    assert_allclose(found, best_curve(x, is_right, usual), rtol=1e-4)


def test_the_true_curve_is_found():
    rng = np.random.RandomState(1)
    x = rng.uniform(-1, 1, 50_000)
    assert_allclose(fit_curve(x, rng.rand(50_000) < expit(-2 + 6 * x)), (-2, 6), atol=0.2)


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.booleans())
def test_curves_are_finite(flags, has_usual):
    x = np.linspace(-1, 1, len(flags))
    usual = np.array([-3.0, 6.0]) if has_usual else None
    assert np.isfinite(fit_curve(x, np.array(flags), usual)).all()


def test_prominence_by_a_loop():
    cosines = np.random.RandomState(0).randn(301, 4)
    for query, found in enumerate(prominence(cosines)):
        own = sorted(cosines[:, query])
        best = own[-6:]  # 301 // 50
        mean = sum(own) / 301
        deviation = np.sqrt(sum((value - mean) ** 2 for value in own) / 301)
        assert found == pytest.approx((sum(best) / 6 - mean) / deviation)
    assert prominence(np.ones((10, 1))) == 0


@pytest.mark.parametrize(("n", "best"), [(1, 1), (3, 3), (149, 3), (200, 4), (999, 19), (5000, 20)])
def test_how_many_items_are_the_best(n, best):
    assert n_best(n) == best


def scene(c, n_absent=0):
    """Codes of 30 pictures for each of c categories, and directions that find them."""
    rng = np.random.RandomState(0)
    directions = rng.randn(c + n_absent, 24)
    shown = np.repeat(np.arange(c), 30)
    signs = np.where(directions[shown] + 0.8 * rng.randn(len(shown), 24) >= 0, 1.0, -1.0)
    is_absent = np.arange(c + n_absent) >= c
    return signs, shown, signs @ directions.T, is_absent, directions


def test_calibration_of_many_categories():
    signs, shown, scores, is_absent, directions = scene(22, n_absent=21)
    places = np.arange(20)
    predicted = directions[:20] + 0.5
    found = calibrate(signs, shown, scores, is_absent, directions, predicted, places)

    def cosines(own):
        return signs @ own.T / (np.linalg.norm(own, axis=1) * np.sqrt(24))

    is_right = (shown[:, None] == places).ravel()
    for curve, own in zip(found.curves, (predicted, directions[:20]), strict=True):
        assert_allclose(curve, fit_curve(cosines(own).ravel(), is_right), rtol=1e-5)
    usual = np.quantile(prominence(cosines(predicted)), np.linspace(0, 1, 33))
    assert_allclose(found.usual, usual, rtol=1e-5)
    assert_allclose(found.chance, [np.quantile(scores[:, 22:].max(axis=0), 0.99)], rtol=1e-5)


def test_too_few_categories():
    signs, shown, scores, is_absent, directions = scene(19, n_absent=19)
    found = calibrate(signs, shown, scores, is_absent, directions, directions, np.arange(38))
    assert not found.curves.any()
    assert not found.usual.any()
    assert found.chance == -1
