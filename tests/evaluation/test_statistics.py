import math

import numpy as np
import pytest
from scipy import stats

from zshash.evaluation.statistics import (
    correlation,
    deviation,
    mean,
    paired,
    rank_correlation,
    shown,
)


def samples(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x.tolist(), (0.6 * x + rng.normal(size=n)).tolist()


def test_mean_and_deviation():
    values, _ = samples(0, 7)
    assert mean(values) == pytest.approx(np.mean(values))
    assert deviation(values) == pytest.approx(np.std(values, ddof=1))
    assert deviation([0.3]) is None
    assert shown([0.4, 0.504]) == "0.452 ± 0.074"
    with pytest.raises(ValueError, match="at least one value"):
        mean([])


def test_pearson_agrees_with_scipy():
    x, y = samples(1, 12)
    found, expected = correlation(x, y), stats.pearsonr(x, y)
    interval = expected.confidence_interval(0.95)
    assert (found.r, found.low, found.high) == pytest.approx((expected.statistic, *interval))
    assert found.n == 12


def test_spearman_agrees_with_scipy_with_ties():
    x, y = [1, 2, 2, 3, 5, 4, 4], [0.1, 0.3, 0.2, 0.2, 0.9, 0.4, 0.8]
    assert rank_correlation(x, y).r == pytest.approx(stats.spearmanr(x, y).statistic)


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_the_interval_of_spearman_covers_the_truth_in_19_of_20_samples(rho):
    truth = 6 / math.pi * math.asin(rho / 2)  # of a bivariate normal distribution
    rng = np.random.default_rng(0)
    pairs = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=(1500, 25))
    found = [rank_correlation(*sample.T.tolist()) for sample in pairs]
    assert np.mean([c.low <= truth <= c.high for c in found]) == pytest.approx(0.95, abs=0.02)


def test_correlations_without_an_interval():
    for measure in (correlation, rank_correlation):
        assert math.isnan(measure([1, 1, 1, 1], [1, 2, 3, 4]).r)
        perfect = measure([1, 2, 3, 4, 5], [0.3, 0.1, -0.1, -0.3, -0.5])
        assert perfect.r == pytest.approx(-1)
        assert measure([1, 2, 3], [1, 3, 2]).low is None
        assert perfect.low is perfect.high is None
        with pytest.raises(ValueError, match="3 values"):
            measure([1, 2, 3], [1, 2])


def test_differences_agree_with_scipy():
    a, b = samples(3, 8)
    together = stats.ttest_rel(a, b).confidence_interval(0.95)
    found = paired(a, b)
    assert (found.low, found.high) == pytest.approx(tuple(together))
    assert (found.mean, found.n) == (pytest.approx(np.mean(a) - np.mean(b)), 8)


def test_differences_of_single_or_equal_runs():
    single = paired([0.5], [0.25])
    assert (single.mean, single.low, single.high, single.n) == (0.25, None, None, 1)
    equal = paired([0.5, 0.5], [0.25, 0.25])
    assert (equal.low, equal.high) == (0.25, 0.25)
    with pytest.raises(ValueError, match="2 values can not be paired with 1"):
        paired([1, 2], [1])
