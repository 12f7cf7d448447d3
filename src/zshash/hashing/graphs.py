"""Graphs over the samples whose Laplacian keeps neighbours together.

The neighbour graph links each sample to its k nearest (exact, O(n²d)); the anchor graph links
samples through the anchors they share (Liu et al. 2011), in time linear in n.
"""

import warnings

import numpy as np
from numba import njit, prange
from scipy import sparse

TILE = 1024  # samples on a side of one tile of distances: 4 MB
STRIP = 64  # distances compared at once before any of them is looked at alone


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
    squares = np.einsum("ij,ij->i", X, X)
    distances, indices = _no_neighbors(len(X), n_neighbors)
    tiles = [slice(start, start + TILE) for start in range(0, len(X), TILE)]
    for i, rows in enumerate(tiles):
        for columns in tiles[i:]:
            products = X[rows] @ X[columns].T
            if columns is rows:
                np.fill_diagonal(products, -np.inf)  # nobody is a neighbour of itself
            else:
                _offer_rows_to_columns(
                    products,
                    squares[rows],
                    squares[columns],
                    rows.start,
                    distances[columns],
                    indices[columns],
                )
            _offer_columns_to_rows(
                products,
                squares[rows],
                squares[columns],
                columns.start,
                distances[rows],
                indices[rows],
            )
    return np.maximum(distances, 0), indices


def nearest_anchors(X, anchors, n_nearest):
    """The `n_nearest` anchors of each row of X: squared distances and indices, both (n, k)."""
    center = anchors.mean(axis=0)
    anchors = anchors - center
    anchor_squares = np.einsum("ij,ij->i", anchors, anchors)
    distances, indices = _no_neighbors(len(X), n_nearest)
    for start in range(0, len(X), TILE):
        rows = slice(start, start + TILE)
        block = X[rows] - center
        squares = np.einsum("ij,ij->i", block, block)
        _offer_columns_to_rows(
            block @ anchors.T, squares, anchor_squares, 0, distances[rows], indices[rows]
        )
    return np.maximum(distances, 0), indices


def _no_neighbors(n, k):
    return np.full((n, k), np.inf, dtype=np.float32), np.full((n, k), -1, dtype=np.int32)


@njit(cache=True, parallel=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def _offer_columns_to_rows(products, row_squares, column_squares, first, distances, indices):
    """Offer the columns of a tile, numbered from `first`, as neighbours of its rows."""
    height, width = products.shape
    for i in prange(height):
        for start in range(0, width, STRIP):
            stop = min(start + STRIP, width)
            nearest = np.float32(np.inf)
            for j in range(start, stop):
                nearest = min(nearest, column_squares[j] - 2 * products[i, j])
            if row_squares[i] + nearest >= distances[i, -1]:
                continue
            for j in range(start, stop):
                distance = row_squares[i] + (column_squares[j] - 2 * products[i, j])
                if distance < distances[i, -1]:
                    _insert(distances[i], indices[i], distance, first + j)


@njit(cache=True, parallel=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def _offer_rows_to_columns(products, row_squares, column_squares, first, distances, indices):
    """Offer the rows of a tile, numbered from `first`, as neighbours of its columns."""
    height, width = products.shape
    for strip in prange((width + STRIP - 1) // STRIP):
        start = strip * STRIP
        stop = min(start + STRIP, width)
        for i in range(height):
            closer = 0
            for j in range(start, stop):
                distance = row_squares[i] + (column_squares[j] - 2 * products[i, j])
                closer += distance < distances[j, -1]
            if closer == 0:
                continue
            for j in range(start, stop):
                distance = row_squares[i] + (column_squares[j] - 2 * products[i, j])
                if distance < distances[j, -1]:
                    _insert(distances[j], indices[j], distance, first + i)


@njit(cache=True)
def _insert(distances, indices, distance, index):
    """Put a neighbour into its sorted place; the farthest one drops out."""
    place = len(distances) - 1
    while place > 0 and distances[place - 1] > distance:
        distances[place] = distances[place - 1]
        indices[place] = indices[place - 1]
        place -= 1
    distances[place] = distance
    indices[place] = index


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
            stacklevel=3,
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
    n, k = weights.shape
    starts = np.arange(0, n * k + 1, k, dtype=np.int64)
    return sparse.csr_array((weights.ravel(), indices.ravel(), starts), shape=(n, n_columns))


def neighbor_gram(features, laplacian, weight):
    """Φᵀ(I + weight · L)Φ for a sparse Laplacian, in one product a block."""
    total = np.zeros((features.dimension, features.dimension))
    for part in features.parts():
        Phi = features[part]
        total += Phi.T @ (Phi + weight * features.mix(laplacian[part]))
    return (total + total.T) / 2


def anchor_gram(features, Z, weight):
    """Φᵀ(I + weight · L)Φ for the anchor graph L = I − ZΛ⁻¹Zᵀ, Λ = diag(Zᵀ1), from sums over rows.

    ΦᵀLΦ = ΦᵀΦ − CᵀΛ⁻¹C with the small matrix C = ZᵀΦ.
    """
    C = np.zeros((Z.shape[1], features.dimension))
    for part in features.parts():
        C += Z[part].T @ features[part]
    mass = np.asarray(Z.sum(axis=0), dtype=np.float64)
    C /= np.sqrt(np.where(mass > 0, mass, 1))[:, None]
    return (1 + weight) * features.gram() - weight * (C.T @ C)
