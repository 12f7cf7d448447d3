"""Linear hash functions: bits are the signs of (x − mean) W.

Sums over rows are taken block by block, each in float32, and added up in float64.
"""

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from zshash._threads import add_up, map_blocks
from zshash.hashing.base import Hasher
from zshash.hashing.rows import BLOCK_ROWS, as_rows

WITHOUT_LIMIT = "a method without this limit such as LSH, SpectralHashing or AGH"


class LinearHasher(Hasher):
    """A method whose fit ends in ``mean_`` (d,) and ``projection_`` (d, n_bits), float32."""

    def _projector(self):
        return lambda X: (X - self.mean_) @ self.projection_

    def _keep(self, mean, projection):
        """Set the fitted state."""
        self._check_finite(projection)
        self.mean_ = np.asarray(mean, dtype=np.float32)
        self.projection_ = np.asarray(projection, dtype=np.float32, order="C")

    def _check_axes(self, n_features, cure=WITHOUT_LIMIT):
        """Refuse more bits than X has dimensions, where every bit needs an axis of its own."""
        if self.n_bits > n_features:
            raise ValueError(
                f"n_bits={self.n_bits} is more than the dimension of X (n_features={n_features}), "
                f"and {type(self).__name__} needs an axis for every bit: use n_bits of at most "
                f"{n_features}, or {cure}"
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
    return as_rows(X).mapped(centred_axes, mean, axes.astype(np.float32)).X


def centred_axes(block, mean, axes):
    """(X − mean) W of a block."""
    return (block - mean) @ axes


def top_eigenvectors(M, count, metric=None):
    """Eigenvalues, from the largest, and eigenvectors (d, count) of a symmetric matrix.

    With a `metric` N, those of Mw = λNw. Signs are fixed as in `fix_signs`.
    """
    d = len(M)
    values, vectors = linalg.eigh(M, metric, subset_by_index=(d - count, d - 1))
    return values[::-1], fix_signs(vectors[:, ::-1])


def fix_signs(vectors):
    """Turn each column so that its largest entry is positive, whatever LAPACK is at hand."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)
