"""Means over seeds, differences and correlations, with 95 % intervals."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
import scipy

__all__ = [
    "Correlation",
    "Difference",
    "correlation",
    "deviation",
    "error_of",
    "interval",
    "mean",
    "over_seeds",
    "paired",
    "rank_correlation",
    "shown",
    "signed",
    "with_error",
]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Correlation:
    """A correlation coefficient over `n` pairs, and its interval.

    `r` is NaN if one side does not vary. There is no interval (None) for fewer than four pairs and
    for a perfect correlation, for which the formula does not hold.
    """

    r: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Difference:
    """A mean difference over `n` pairs, its interval and standard error (None for one pair)."""

    mean: float
    low: float | None
    high: float | None
    n: int
    error: float | None = None


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    if not values:
        raise ValueError("a mean needs at least one value")
    return fmean(values)


def deviation(values: Sequence[float]) -> float | None:
    """The standard deviation (n - 1), None for fewer than two values."""
    return stdev(values) if len(values) > 1 else None


def error_of(values: Sequence[float]) -> float | None:
    """The standard error of the mean, None for fewer than two values.

    >>> error_of([1.0, 3.0])
    1.0
    """
    spread = deviation(values)
    return None if spread is None else spread / math.sqrt(len(values))


def shown(values: Sequence[float], digits: int = 3) -> str:
    """Mean and deviation as text.

    >>> shown([0.4, 0.5]), shown([0.45], digits=2), shown([])
    ('0.450 ± 0.071', '0.45', '–')
    """
    if not values:
        return "–"
    return with_error(f"{mean(values):.{digits}f}", deviation(values), digits)


def over_seeds(values: Sequence[float], digits: int = 3) -> str:
    """Mean and standard error as text.

    >>> over_seeds([0.25, 0.75]), over_seeds([])
    ('0.500 ± 0.250', '–')
    """
    if not values:
        return "–"
    return with_error(f"{mean(values):.{digits}f}", error_of(values), digits)


def with_error(text: str, error: float | None, digits: int) -> str:
    """A printed value followed by its deviation or standard error, if it has one.

    >>> with_error("0.45", 0.071, 2), with_error("0.45", None, 2)
    ('0.45 ± 0.07', '0.45')
    """
    return text if error is None else f"{text} ± {error:.{digits}f}"


def correlation(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Pearson's coefficient with the interval of Fisher's z.

    >>> found = correlation([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])
    >>> f"{found.r:.2f} [{found.low:.2f}, {found.high:.2f}]"
    '0.80 [-0.28, 0.99]'
    """
    return _correlation(x, y, lambda _: 1.0)


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Spearman's coefficient, ties at their mean rank, with the interval of Bonett and Wright.

    References
    ----------
    D. G. Bonett and T. A. Wright (2000). Sample size requirements for estimating Pearson, Kendall
    and Spearman correlations. Psychometrika 65, 23-28.
    """
    left, right = (scipy.stats.rankdata(values).tolist() for values in (x, y))
    return _correlation(left, right, lambda r: 1 + r**2 / 2)


def _correlation(
    x: Sequence[float], y: Sequence[float], factor: Callable[[float], float]
) -> Correlation:
    """Pearson's r; its interval is artanh r ± z √(factor / (n - 3)), mapped back by tanh."""
    if len(x) != len(y):
        raise ValueError(f"{len(x)} values can not be correlated with {len(y)}")
    if len(set(x)) < 2 or len(set(y)) < 2:
        return Correlation(math.nan, None, None, len(x))
    r, n = float(scipy.stats.pearsonr(x, y).statistic), len(x)
    if n < 4 or not abs(r) < 1 - 1e-12:
        return Correlation(r, None, None, n)
    width = math.sqrt(factor(r) / (n - 3))
    low, high = np.tanh(scipy.stats.norm.interval(CONFIDENCE, math.atanh(r), width))
    return Correlation(r, float(low), float(high), n)


def interval(value: Correlation) -> str:
    """A coefficient with its interval as text.

    >>> interval(Correlation(0.5, -0.1, 0.8, 10))
    '0.50, 95 % interval −0.10 to 0.80'
    """
    if value.low is None or value.high is None:
        return f"{value.r:.2f}"
    text = f"{value.r:.2f}, 95 % interval {value.low:.2f} to {value.high:.2f}"
    return text.replace("-", "−")


def signed(value: Difference) -> str:
    """A difference with its 95 % interval as text.

    >>> signed(Difference(0.01, -0.02, 0.04, 5))
    '+0.010 (−0.020 to +0.040)'
    """
    text = f"{value.mean:+.3f}"
    if value.low is not None and value.high is not None:
        text += f" ({value.low:+.3f} to {value.high:+.3f})"
    return text.replace("-", "−")


def paired(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Mean of a - b over paired runs, with the interval of Student's t."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} values can not be paired with {len(b)}")
    differences = np.subtract(a, b).tolist()
    n, middle, error = len(differences), mean(differences), error_of(differences)
    if error is None:
        return Difference(middle, None, None, n)
    if not error:
        return Difference(middle, middle, middle, n, error)
    low, high = scipy.stats.t.interval(CONFIDENCE, n - 1, middle, error)
    return Difference(middle, float(low), float(high), n, error)
