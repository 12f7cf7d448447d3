"""Linear hash functions: bits are the signs of (x − mean) W.

Sums over rows are taken block by block, each in float32, and added up in float64.
"""

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from zshash._threads import add_up, map_blocks
from zshash.hashing.base import BLOCK_ROWS, Hasher


class LinearHasher(Hasher):
    """A method whose fit ends in ``mean_`` (d,) and ``projection_`` (d, n_bits), float32."""

    def _projector(self):
        return lambda X: (X - self.mean_) @ self.projection_

    def _keep(self, mean, projection):
        """Set the fitted state."""
        self.mean_ = np.asarray(mean, dtype=np.float32)
        self.projection_ = np.asarray(projection, dtype=np.float32, order="C")

    def _check_axes(self, X):
        """Refuse more bits than X has dimensions, where every bit needs an axis of its own."""
        if self.n_bits > X.shape[1]:
            raise ValueError(
                f"n_bits={self.n_bits} is more than the dimension of X (n_features={X.shape[1]}), "
                f"and {type(self).__name__} needs an axis for every bit: use n_bits of at most "
                f"{X.shape[1]}, or a method without this limit such as LSH, SpectralHashing or AGH"
            )


def mean_row(X):
    """Mean of the rows of X (d,), float32, summed in float64."""
    return X.mean(axis=0, dtype=np.float64).astype(np.float32)


def gram(X, mean):
    """(X − mean)ᵀ(X − mean) (d, d), float64."""

    def product(part):
        centred = X[part] - mean
        return centred.T @ centred

    return add_up(map_blocks(product, gen_batches(len(X), BLOCK_ROWS)))


def cross(X, mean, T):
    """(X − mean)ᵀT (d, t), float64, for a matrix T (n, t)."""

    def product(part):
        return (X[part] - mean).T @ T[part].astype(np.float32, copy=False)

    return add_up(map_blocks(product, gen_batches(len(X), BLOCK_ROWS)))


def top_eigenvectors(M, count):
    """Eigenvalues, from the largest, and eigenvectors (d, count) of a symmetric matrix.

    Each vector's largest entry is positive, so that they do not depend on the LAPACK at hand.
    """
    d = len(M)
    values, vectors = linalg.eigh(M, subset_by_index=(d - count, d - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    return values, vectors * np.where(largest < 0, -1.0, 1.0)
