"""Means over seeds, differences and correlations, with 95 % intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev, variance

from scipy.stats import norm, rankdata, t

__all__ = [
    "Correlation",
    "Difference",
    "correlation",
    "deviation",
    "interval",
    "mean",
    "paired",
    "rank_correlation",
    "shown",
    "signed",
]

TAIL = 0.975  # of a two-sided interval of 95 %


@dataclass(frozen=True)
class Correlation:
    """A coefficient over `n` pairs and its interval.

    `r` is NaN where one side does not vary. There is no interval (None) for fewer than four pairs
    and for a perfect correlation, where its form breaks down.
    """

    r: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Difference:
    """A mean difference and its interval; one pair gives none."""

    mean: float
    low: float | None
    high: float | None
    n: int


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    if not values:
        raise ValueError("a mean needs at least one value")
    return fmean(values)


def deviation(values: Sequence[float]) -> float | None:
    """The standard deviation (n - 1), None for fewer than two values."""
    return stdev(values) if len(values) > 1 else None


def shown(values: Sequence[float], digits: int = 3) -> str:
    """Mean and deviation as they are printed.

    >>> shown([0.4, 0.5]), shown([0.45], digits=2), shown([])
    ('0.450 ± 0.071', '0.45', '–')
    """
    if not values:
        return "–"
    spread = deviation(values)
    return f"{mean(values):.{digits}f}" + ("" if spread is None else f" ± {spread:.{digits}f}")


def correlation(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Pearson's coefficient with the interval of Fisher's z.

    >>> found = correlation([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])
    >>> f"{found.r:.2f} [{found.low:.2f}, {found.high:.2f}]"
    '0.80 [-0.28, 0.99]'
    """
    r = _pearson(x, y)
    return _with_interval(r, len(x), 1.0)


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Spearman's coefficient, ties at their mean rank, with the interval of Bonett and Wright.

    References
    ----------
    D. G. Bonett and T. A. Wright (2000). Sample size requirements for estimating Pearson, Kendall
    and Spearman correlations. Psychometrika 65, 23-28.
    """
    r = _pearson(rankdata(x).tolist(), rankdata(y).tolist())
    return _with_interval(r, len(x), 1 + r**2 / 2)


def interval(value: Correlation) -> str:
    """A coefficient with its interval as they are printed.

    >>> interval(Correlation(0.5, -0.1, 0.8, 10))
    '0.50, 95 % interval −0.10 to 0.80'
    """
    if value.low is None or value.high is None:
        return f"{value.r:.2f}"
    text = f"{value.r:.2f}, 95 % interval {value.low:.2f} to {value.high:.2f}"
    return text.replace("-", "−")


def signed(value: Difference) -> str:
    """A difference with its 95 % interval as they are printed.

    >>> signed(Difference(0.01, -0.02, 0.04, 5))
    '+0.010 (−0.020 to +0.040)'
    """
    text = f"{value.mean:+.3f}"
    if value.low is not None and value.high is not None:
        text += f" ({value.low:+.3f} to {value.high:+.3f})"
    return text.replace("-", "−")


def paired(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Mean of a - b over runs that belong together, with the interval of Student's t."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} values can not be paired with {len(b)}")
    differences = [left - right for left, right in zip(a, b, strict=True)]
    n, middle = len(differences), mean(differences)
    if n < 2:
        return Difference(middle, None, None, n)
    return _difference(middle, math.sqrt(variance(differences) / n), n - 1, n)


def _difference(middle: float, error: float, freedom: float, n: int) -> Difference:
    half = float(t.ppf(TAIL, freedom)) * error
    return Difference(middle, middle - half, middle + half, n)


def _pearson(x: Sequence[float], y: Sequence[float]) -> float:
    if len(x) != len(y):
        raise ValueError(f"{len(x)} values can not be correlated with {len(y)}")
    if len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    left, right = _centred(x), _centred(y)
    norms = math.hypot(*left) * math.hypot(*right)
    r = math.fsum(a * b for a, b in zip(left, right, strict=True)) / norms
    return min(1.0, max(-1.0, r))


def _centred(values: Sequence[float]) -> list[float]:
    middle = mean(values)
    return [value - middle for value in values]


def _with_interval(r: float, n: int, factor: float) -> Correlation:
    """Interval of half width z √(factor / (n - 3)) around artanh r, mapped back."""
    if n < 4 or not abs(r) < 1 - 1e-12:
        return Correlation(r, None, None, n)
    half = float(norm.ppf(TAIL)) * math.sqrt(factor / (n - 3))
    middle = math.atanh(r)
    return Correlation(r, math.tanh(middle - half), math.tanh(middle + half), n)
