"""What scores of names are worth, checked with the categories that are known.

A sample of pictures says which known category each of them shows: the likeliest one, or its label.

- A logistic curve from the cosine of an item to the probability that it shows the thing (Platt
  1999) is fitted for all known categories together; a single name moves it as far as the sample
  shows pictures of this thing.
- Ridge predicts each known category from all others in closed form, as if nobody knew it. A second
  curve is fitted to these predictions, for names that nobody knows.
- The *prominence* of a name says how far its best items stand out from all others:
  (mean cosine of the best items − mean of all) / deviation of all. Its rank among the known
  categories, each predicted from all others, is a forecast of how well a predicted name is found.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["Calibration", "calibrate", "fit_curve", "n_best", "prominence"]

ABSENT = 0.1  # largest probability of a category that no picture shows
FEWEST = 20  # categories that a calibration needs
QUANTILES = 33

Matrix = NDArray[np.float64]


class Calibration(NamedTuple):
    """Numbers that say what scores are worth.

    Attributes
    ----------
    curves : ndarray of shape (2, 2), float32
        Intercept and slope of the logistic curves from the cosine of an item to the probability:
        for predicted directions, and for known ones; zeros if unknown.
    usual : ndarray of shape (33,), float32
        Quantiles of the prominence of known categories, each predicted from all others; zeros if
        unknown.
    chance : ndarray of shape (1,), float32
        Score of the best item for 99 of 100 known categories that no picture shows; −1 if there
        are too few of these.
    """

    curves: NDArray[np.float32]
    usual: NDArray[np.float32]
    chance: NDArray[np.float32]


def calibrate(
    signs: Matrix,
    shown: NDArray[np.int64],
    scores: Matrix,
    is_absent: NDArray[np.bool_],
    directions: Matrix,
    predicted: Matrix,
    places: NDArray[np.int64],
) -> Calibration:
    """Check scores with known categories.

    Parameters
    ----------
    signs : ndarray of shape (n, n_bits)
        Codes of −1 and 1 of a sample of pictures.
    shown : ndarray of shape (n,)
        Index of the category that each picture shows.
    scores : ndarray of shape (n, c)
        How likely the pictures show each category, as far as the codes tell it.
    is_absent : ndarray of shape (c,)
        Whether no picture shows a category.
    directions : ndarray of shape (c, n_bits)
        Directions of the categories.
    predicted : ndarray of shape (p, n_bits)
        Directions of the categories `places`, each predicted from all others.
    places : ndarray of int
    """
    curves, usual = np.zeros((2, 2)), np.zeros(QUANTILES)
    counts = np.bincount(shown, minlength=len(is_absent))[places]
    is_shown = counts >= max(2, n_best(len(signs)) // 2)
    chosen = np.flatnonzero(is_shown & predicted.any(axis=1))
    if len(chosen) >= FEWEST:
        is_right = (shown[:, None] == places[chosen]).ravel()
        cosines = _cosines(signs, predicted[chosen])
        known = _cosines(signs, directions[places[chosen]])
        curves = np.array([fit_curve(own.ravel(), is_right) for own in (cosines, known)])
        usual = np.quantile(prominence(cosines), np.linspace(0, 1, QUANTILES))
    chance = -1.0
    if is_absent.sum() >= FEWEST:
        chance = float(np.quantile(scores[:, is_absent].max(axis=0), 0.99))
    numbers = (np.array(own, dtype=np.float32) for own in (curves, usual, [chance]))
    return Calibration(*numbers)


def _cosines(signs: Matrix, directions: Matrix) -> Matrix:
    """Cosines (n, q) of codes of −1 and 1 with directions (q, n_bits)."""
    lengths = np.linalg.norm(directions, axis=1, keepdims=True) * np.sqrt(signs.shape[1])
    return np.asarray(signs @ (directions / np.maximum(lengths, np.finfo(float).tiny)).T)


def n_best(n: int) -> int:
    """How many of `n` items count as the best ones.

    >>> n_best(2), n_best(223), n_best(10_000)
    (2, 4, 20)
    """
    return min(n, max(3, min(20, n // 50)))


def prominence(cosines: Matrix) -> Matrix:
    """How far the best of the cosines (n, q) of each query stand out, (q,).

    >>> prominence(np.array([[0.9, 0.1], [0.1, 0.2], [0.0, 0.3], [0.0, 0.2]])).round(2)
    array([0.22, 0.47])
    """
    n = len(cosines)
    best = np.partition(cosines, n - n_best(n), axis=0)[n - n_best(n) :].mean(axis=0)
    deviations = np.maximum(cosines.std(axis=0), np.finfo(float).tiny)
    return np.asarray((best - cosines.mean(axis=0)) / deviations)


def fit_curve(
    x: Matrix, is_right: NDArray[np.bool_], usual: NDArray[np.floating] | None = None
) -> tuple[float, float]:
    """Intercept and slope of the logistic curve from x to the probability of being right.

    Targets are those of Platt (1999), which keep the curve finite where x tells all apart. The
    curve stays near `usual`, intercept and slope of another one, as far as x does not say more.

    >>> x = np.linspace(-1.0, 1.0, 40)
    >>> a, b = fit_curve(x, x > 0.5)
    >>> (expit(a + b * np.array([-1.0, 0.5, 1.0]))).round(2)
    array([0.  , 0.47, 0.93])
    >>> a, b = fit_curve(x, np.zeros(40, dtype=bool), np.array([-3.0, 6.0]))
    >>> (expit(a + b * np.array([-1.0, 0.5, 1.0]))).round(2)
    array([0.01, 0.04, 0.08])
    """
    n_right = int(is_right.sum())
    yes, no = (n_right + 1) / (n_right + 2), 1 / (len(x) - n_right + 2)
    targets = np.where(is_right, yes, no)
    columns = np.stack([np.ones_like(x), x])
    beta, center, weights = np.array([np.log(targets.mean()), 0.0]), np.zeros(2), np.full(2, 1e-6)
    if usual is not None:  # half of the slope, and 2 for the intercept, is a usual deviation
        beta = center = np.asarray(usual, dtype=np.float64)
        weights = 1 / np.maximum(np.array([2.0, center[1] / 2]), 1e-3) ** 2
    for _ in range(50):  # Newton
        fitted = expit(beta @ columns)
        slope = columns @ (targets - fitted) - weights * (beta - center)
        curvature = (columns * (fitted * (1 - fitted) + 1e-12)) @ columns.T + np.diag(weights)
        step = np.linalg.solve(curvature, slope)
        beta = beta + np.clip(step, -5, 5)
        if np.abs(step).max() < 1e-8:
            break
    return float(beta[0]), float(beta[1])
