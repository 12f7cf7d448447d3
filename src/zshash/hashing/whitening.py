"""Whitening: a metric in which every direction that features vary along counts alike.

z = (x − mean) T, T = s U (E + ε·mean(E) I)^(−1/2) Uᵀ, where U E Uᵀ is the covariance of the rows,
and s brings the mean squared length of z to 1.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from zshash.hashing.linear import centred_axes, fix_signs, gram, mean_row

LEAST_SHRINKAGE = float(np.finfo(np.float32).eps)  # no direction is stretched without end


@dataclass(frozen=True)
class Whitening:
    """The map of features x to z = (x − mean) T, and the directions z varies most along."""

    mean: np.ndarray  # (d,)
    T: np.ndarray  # (d, d), symmetric
    axes: np.ndarray  # (d, d), U with the largest variance first
    variances: np.ndarray  # (d,), E + ε·mean(E)

    def __call__(self, rows):
        """Z as `Rows`, float32."""
        return rows.mapped(centred_axes, self.mean, self.T.astype(np.float32))

    def milder(self, shrinkage):
        """Axes of z, as long as they would be in a metric of so much more shrinkage."""
        variances = self.variances
        return self.axes * np.sqrt(variances / (variances + shrinkage * variances.mean()))


def whiten(rows, shrinkage):
    """Learn the metric from rows; `shrinkage` is ε, with 0 for none."""
    mean = mean_row(rows)
    covariance = gram(rows, mean) / len(rows)
    if not 0 < np.trace(covariance) < np.inf:
        raise ValueError("X varies too little or too much for float32: rescale X")
    values, axes = linalg.eigh(covariance)
    values, axes = np.clip(values[::-1], 0, None), fix_signs(axes[:, ::-1])
    damped = values + max(shrinkage, LEAST_SHRINKAGE) * values.mean()
    shrunk = values / damped
    T = (axes / np.sqrt(damped * shrunk.sum())) @ axes.T
    return Whitening(mean, T, axes, damped)
