"""The graph that links samples through the anchors they share (Liu et al. 2011), linear in n.

Z (n, m) holds the weights of each sample on its s nearest anchors, rows summing to 1. With
Λ = diag(Zᵀ1), the affinity A = ZΛ⁻¹Zᵀ is positive semidefinite and its rows sum to 1, so its
Laplacian is I − A. Neither is ever formed.
"""

import numpy as np
from sklearn.utils import gen_batches

from zshash._threads import map_blocks
from zshash.hashing.steps.few_samples import OTHERS
from zshash.hashing.steps.graphs import TILE, closeness, csr, no_neighbors, offer_columns

TINY = np.finfo(np.float32).tiny


class Anchors:
    """Anchors (m, d), prepared to find those nearest to samples."""

    def __init__(self, anchors):
        self._center = anchors.mean(axis=0)
        self._offsets = anchors - self._center
        self._halves = np.einsum("ij,ij->i", self._offsets, self._offsets) / 2

    def __len__(self):
        return len(self._halves)

    def nearest(self, X, n_nearest):
        """The nearest anchors of each row of X: squared distances and indices, both (n, k)."""
        X = X - self._center
        halves = np.einsum("ij,ij->i", X, X) / 2
        best, indices = no_neighbors(len(X), min(n_nearest, len(self._halves)))
        offer_columns(closeness(X, self._offsets, halves, self._halves), 0, best, indices)
        return np.maximum(-2 * best, 0), indices


def nearest_anchors(X, anchors, n_nearest):
    """The nearest anchors of all rows of X, by blocks."""
    anchors = Anchors(anchors)
    blocks = map_blocks(lambda part: anchors.nearest(X[part], n_nearest), gen_batches(len(X), TILE))
    distances, indices = map(np.concatenate, zip(*blocks, strict=True))
    return distances, indices


def width(distances):
    """σ: the mean distance of the training samples to the last anchor they keep."""
    return float(np.sqrt(distances[:, -1]).mean(dtype=np.float64))


def weigh(distances, indices, n_anchors, sigma):
    """Z (n, m), sparse: anchor a weighs exp(−‖x − a‖²/σ²) before the rows are normalised.

    The nearest anchor's distance is taken off first, so that far samples do not divide zero by
    zero.
    """
    weights = np.exp((distances[:, :1] - distances) / max(sigma**2, TINY))
    weights /= weights.sum(axis=1, keepdims=True)
    return csr(weights.astype(np.float32), indices, n_anchors)


def mass(Z):
    """The diagonal of Λ = diag(Zᵀ1), float64, with 1 for an anchor that no sample uses."""
    total = np.asarray(Z.sum(axis=0, dtype=np.float64)).ravel()
    return np.where(total > 0, total, 1)


def check_eigenvectors(found, needed, n_anchors):
    """Refuse a graph whose matrix has too few eigenvectors that tell samples apart."""
    if found < needed:
        raise ValueError(
            f"the graph of {n_anchors} anchors has {found} useful eigenvectors and {needed} are "
            "needed: use more anchors (n_anchors, at most as many as samples), more of them for a "
            f"sample (n_nearest), or fewer bits (n_bits), or {OTHERS}"
        )


def anchor_gram(samples, anchors, n_nearest, weight):
    """Φᵀ(I + weight · L)Φ for the Laplacian L = I − A, from sums over rows.

    ΦᵀLΦ = ΦᵀΦ − CᵀΛ⁻¹C with the small matrix C = ZᵀΦ, whose last column is Zᵀ1, the bias of Φ
    being 1.
    """
    anchors = Anchors(anchors)
    sigma = float(samples.total(reach, anchors, n_nearest)) / len(samples)
    sums = samples.total_of_features(weighed_products, anchors, n_nearest, sigma)
    product, C = np.split(sums, [sums.shape[1]])
    mass = np.where(C[:, -1] > 0, C[:, -1], 1)
    C /= np.sqrt(mass)[:, None]
    return (1 + weight) * product - weight * (C.T @ C)


def reach(block, anchors, n_nearest):
    """Sum of the distances of a block's samples to the last anchor they keep, float64."""
    distances, _ = anchors.nearest(block, n_nearest)
    return np.sqrt(distances[:, -1]).sum(dtype=np.float64)


def weighed_products(block, Phi, anchors, n_nearest, sigma):
    """ΦᵀΦ and below it ZᵀΦ, of a block."""
    distances, indices = anchors.nearest(block, n_nearest)
    Z = weigh(distances, indices, len(anchors), sigma)
    return np.vstack([Phi.T @ Phi, Z.T @ Phi])
