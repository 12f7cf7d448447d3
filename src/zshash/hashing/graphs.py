"""Graphs over the samples whose Laplacian keeps neighbours together.

The neighbour graph links each sample to its k nearest (exact, O(n²d)); the anchor graph links
samples through the anchors they share (Liu et al. 2011), in time linear in n.
"""

import warnings
from threading import Lock

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from zshash._compiled import compiled
from zshash._threads import map_blocks, run_blocks
from zshash.hashing.anchors import add_up

TILE = 512  # samples on a side of one tile of distances: 1 MB, which stays in the cache


def nearest_neighbors(X, n_neighbors):
    """The `n_neighbors` nearest other rows of X, for each row, by exact Euclidean distance.

    Distances are symmetric, so only the tiles on and above the diagonal are computed and each
    serves its rows and its columns.

    Returns
    -------
    distances : ndarray of shape (n, k), float32
        Squared distances, ascending; equal ones by row number.
    indices : ndarray of shape (n, k), int32
    """
    X = X - X.mean(axis=0)  # distances stay, and lose less to rounding
    halves = np.einsum("ij,ij->i", X, X) / 2
    best, indices = _nobody(len(X), n_neighbors)
    tiles = [slice(start, start + TILE) for start in range(0, len(X), TILE)]
    locks = [Lock() for _ in tiles]

    def visit(pair):
        i, j = pair
        rows, columns = tiles[i], tiles[j]
        near = _closeness(X[rows], X[columns], halves[rows], halves[columns])
        if i == j:
            np.fill_diagonal(near, -np.inf)  # nobody is a neighbour of itself
        with locks[i]:
            _offer_columns(near, columns.start, best[rows], indices[rows])
        if i != j:
            with locks[j]:
                _offer_rows(near, rows.start, best[columns], indices[columns])

    # Along the diagonals, so that tiles visited at the same time share no samples.
    pairs = ((i, i + gap) for gap in range(len(tiles)) for i in range(len(tiles) - gap))
    run_blocks(visit, pairs)
    return np.maximum(-2 * best, 0), indices


def nearest_anchors(X, anchors, n_nearest):
    """The `n_nearest` anchors of each row of X: squared distances and indices, both (n, k)."""
    center = anchors.mean(axis=0)
    anchors = anchors - center
    anchor_halves = np.einsum("ij,ij->i", anchors, anchors) / 2
    best, indices = _nobody(len(X), n_nearest)

    def visit(rows):
        block = X[rows] - center
        halves = np.einsum("ij,ij->i", block, block) / 2
        near = _closeness(block, anchors, halves, anchor_halves)
        _offer_columns(near, 0, best[rows], indices[rows])

    run_blocks(visit, gen_batches(len(X), TILE))
    return np.maximum(-2 * best, 0), indices


def _nobody(n, k):
    """Closeness and indices of neighbours before any is known."""
    return np.full((n, k), -np.inf, dtype=np.float32), np.full((n, k), -1, dtype=np.int32)


def _closeness(rows, columns, row_halves, column_halves):
    """−‖x − y‖²/2 of every row x to every column y, from halves of their squared lengths."""
    near = rows @ columns.T
    near -= row_halves[:, None]
    near -= column_halves
    return near


def _offer_columns(near, first, best, indices):
    """Offer the columns of a tile, numbered from `first`, as neighbours of its rows."""
    for columns in (slice(0, 64), slice(64, None)):  # the first few raise the bar for the rest
        part = near[:, columns]
        if part.size:
            places = np.flatnonzero(part >= best[:, -1:])
            samples, others = np.divmod(places, part.shape[1])
            _insert(samples, others, first + columns.start, part, best, indices)


def _offer_rows(near, first, best, indices):
    """Offer the rows of a tile, numbered from `first`, as neighbours of its columns."""
    others, samples = np.divmod(np.flatnonzero(near >= best[:, -1]), near.shape[1])
    _insert(samples, others, first, near.T, best, indices)


@compiled
def _insert(samples, others, first, near, best, indices):
    """Put each other sample into its place by (closeness, index); the last ones drop out."""
    for candidate in range(len(samples)):
        i, j = samples[candidate], others[candidate]
        place = best.shape[1]
        while place > 0 and (
            near[i, j] > best[i, place - 1]
            or (near[i, j] == best[i, place - 1] and first + j < indices[i, place - 1])
        ):
            place -= 1
            if place + 1 < best.shape[1]:
                best[i, place + 1] = best[i, place]
                indices[i, place + 1] = indices[i, place]
        if place < best.shape[1]:
            best[i, place] = near[i, j]
            indices[i, place] = first + j


def neighbor_laplacian(X, n_neighbors, sigma):
    """L = D − S of the graph that links i and j if either is among the other's neighbours.

    S_ij = exp(−‖xᵢ − xⱼ‖²/2σ²). ``sigma="auto"`` takes 2σ² as the mean squared distance of
    linked samples.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n), float32
    """
    n = len(X)
    n_neighbors = min(n_neighbors, n - 1)
    distances, indices = nearest_neighbors(X, n_neighbors)
    width = distances.mean(dtype=np.float64) if sigma == "auto" else 2 * sigma**2
    weights = np.exp(-distances / max(width, np.finfo(np.float32).tiny))
    if weights.mean() < 1e-6:
        warnings.warn(
            f"sigma={sigma} is far below the distances between neighbours, so the graph is empty: "
            "set normalize=True or sigma='auto'",
            UserWarning,
            stacklevel=4,
        )
    directed = _csr(weights, indices, n)
    S = directed.maximum(directed.T)
    return sparse.csr_array(sparse.diags_array(S.sum(axis=1)) - S)


def anchor_weights(X, anchors, n_nearest):
    """Row-stochastic weights Z (n, m) of each sample on its nearest anchors, sparse.

    Anchor a weighs exp(−‖x − a‖²/σ²) before the rows are normalised, σ the mean distance of the
    samples to the last anchor they keep. The nearest anchor's distance is taken off first, so
    that far samples do not divide zero by zero.
    """
    n_nearest = min(n_nearest, len(anchors))
    distances, indices = nearest_anchors(X, anchors, n_nearest)
    sigma = np.sqrt(distances[:, -1]).mean(dtype=np.float64)
    weights = np.exp((distances[:, :1] - distances) / max(sigma**2, np.finfo(np.float32).tiny))
    weights /= weights.sum(axis=1, keepdims=True)
    return _csr(weights.astype(np.float32), indices, len(anchors))


def _csr(weights, indices, n_columns):
    """A sparse matrix with as many entries in every row."""
    if indices.min() < 0:  # SciPy would write outside its arrays
        raise ValueError("some sample has too few neighbours at a finite distance: rescale X")
    n, k = weights.shape
    starts = np.arange(0, n * k + 1, k, dtype=np.int64)
    return sparse.csr_array((weights.ravel(), indices.ravel(), starts), shape=(n, n_columns))


def neighbor_gram(features, laplacian, weight):
    """Φᵀ(I + weight · L)Φ for a sparse Laplacian, in one product a block."""

    def product(part):
        Phi = features[part]
        return Phi.T @ (Phi + weight * features.mix(laplacian[part]))

    total = add_up(map_blocks(product, features.parts()))
    return (total + total.T) / 2


def anchor_gram(features, Z, weight):
    """Φᵀ(I + weight · L)Φ for the anchor graph L = I − ZΛ⁻¹Zᵀ, Λ = diag(Zᵀ1), from sums over rows.

    ΦᵀLΦ = ΦᵀΦ − CᵀΛ⁻¹C with the small matrix C = ZᵀΦ.
    """
    C = add_up(map_blocks(lambda part: Z[part].T @ features[part], features.parts()))
    mass = np.asarray(Z.sum(axis=0), dtype=np.float64)
    C /= np.sqrt(np.where(mass > 0, mass, 1))[:, None]
    return (1 + weight) * features.gram() - weight * (C.T @ C)
