"""Linear algebra from sums over rows: means, axes, ridge regression and whitening.

Sums over rows are taken block by block, each in float32, and added up in float64.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from zshash._threads import add_up, map_blocks
from zshash.hashing.steps.rows import BLOCK_ROWS, Rows, as_rows

LEAST_SHRINKAGE = float(np.finfo(np.float32).eps)  # no direction is stretched without end
TOO_ALIKE = (
    "the features are too alike for so small a penalty: raise it (beta / alpha of ZSH, mu of SDH, "
    "ridge of COSDISH, lam of LFH, alignment of MTH), or use fewer anchors"
)


def mean_row(X):
    """Mean of the rows of X (d,), float32, summed in float64."""
    rows = as_rows(X)
    return (rows.total(sum_rows) / len(rows)).astype(np.float32)


def sum_rows(block):
    """Sum of the rows of a block (d,), float64."""
    return block.sum(axis=0, dtype=np.float64)


def gram(X, mean):
    """(X − mean)ᵀ(X − mean) (d, d), float64."""
    return as_rows(X).total(centred_product, mean)


def centred_product(block, mean):
    """(X − mean)ᵀ(X − mean) of a block."""
    centred = block - mean
    return centred.T @ centred


def cross(X, mean, T):
    """(X − mean)ᵀT (d, t), float64, for a matrix T (n, t)."""

    def product(part):
        return (X[part] - mean).T @ T[part].astype(np.float32, copy=False)

    return add_up(map_blocks(product, gen_batches(len(X), BLOCK_ROWS)))


def along(X, mean, axes):
    """(X − mean) W for axes W (d, l), by blocks of rows, float32."""
    rows = X if isinstance(X, Rows) else Rows(X)
    return rows.mapped(centred_axes, mean, axes.astype(np.float32)).X


def centred_axes(block, mean, axes):
    """(X − mean) W of a block."""
    return (block - mean) @ axes


def top_eigenvectors(M, count, metric=None):
    """Eigenvalues, from the largest, and eigenvectors (d, count) of a symmetric matrix.

    With a `metric` N, the eigenpairs of Mw = λNw. Signs are fixed as in `fix_signs`.
    """
    d = len(M)
    values, vectors = linalg.eigh(M, metric, subset_by_index=(d - count, d - 1))
    return values[::-1], fix_signs(vectors[:, ::-1])


def fix_signs(vectors):
    """Make the largest entry of each column positive, so that signs do not depend on LAPACK."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)


def add_to_diagonal(M, penalty):
    """M + μI, in place."""
    M[np.diag_indices_from(M)] += penalty
    return M


def factorize(M):
    """Cholesky factor of the matrix M of a system that is solved repeatedly; M is overwritten."""
    try:
        return linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        raise ValueError(TOO_ALIKE) from None


def solve(factor, AtT):
    """P from the Cholesky factor of a system and AᵀT."""
    return linalg.cho_solve(factor, AtT, check_finite=False)


def inner(P, Q):
    """tr(PᵀQ), for arrays of NumPy or of a device."""
    return float((P * Q).sum())


def ridge(AtA, AtT, penalty):
    """Ridge regression: the P = (AᵀA + μI)⁻¹AᵀT that minimises ‖AP − T‖² + μ‖P‖².

    Only AᵀA and AᵀT enter, so A may have any number of rows.
    """
    return solve(factorize(AtA + penalty * np.eye(len(AtA))), AtT)


@dataclass(frozen=True)
class Whitening:
    """Whitening z = (x − mean) T: all directions in which features vary get the same weight.

    T = s U (E + ε·mean(E) I)^(−1/2) Uᵀ, where U E Uᵀ is the covariance of the rows, and s brings
    the mean squared length of z to 1.
    """

    mean: np.ndarray  # (d,)
    T: np.ndarray  # (d, d), symmetric
    axes: np.ndarray  # (d, d), U with the largest variance first
    variances: np.ndarray  # (d,), E + ε·mean(E)

    def __call__(self, rows):
        """Z as `Rows`, float32."""
        return rows.mapped(centred_axes, self.mean, self.T.astype(np.float32))

    def milder(self, shrinkage):
        """Axes of z, with the lengths that a whitening with `shrinkage` more would give them."""
        variances = self.variances
        return self.axes * np.sqrt(variances / (variances + shrinkage * variances.mean()))


@dataclass(frozen=True)
class Spectrum:
    """Mean of rows, and the axes U and variances E of their covariance U E Uᵀ, largest first."""

    mean: np.ndarray  # (d,)
    axes: np.ndarray  # (d, d)
    values: np.ndarray  # (d,)

    def whitening(self, shrinkage):
        """The whitening with ε = `shrinkage`; 0 means none."""
        damped = self.values + max(shrinkage, LEAST_SHRINKAGE) * self.values.mean()
        shrunk = self.values / damped
        T = (self.axes / np.sqrt(damped * shrunk.sum())) @ self.axes.T
        return Whitening(self.mean, T, self.axes, damped)


def spectrum(rows, prior=None):
    """The spectrum of rows; a `prior` counts as rows that were seen before."""
    mean = mean_row(rows)
    covariance = gram(rows, mean) / len(rows)
    if not 0 < np.trace(covariance) < np.inf:
        raise ValueError("X varies too little or too much for float32: rescale X")
    if prior is not None:
        mean, covariance = prior.blended(mean, covariance, len(rows))
    values, axes = linalg.eigh(covariance)
    return Spectrum(mean, fix_signs(axes[:, ::-1]), np.clip(values[::-1], 0, None))


def whiten(rows, shrinkage):
    """Learn the whitening of rows; `shrinkage` is ε, and 0 means none."""
    return spectrum(rows).whitening(shrinkage)
