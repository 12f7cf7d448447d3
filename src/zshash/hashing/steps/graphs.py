"""The graph that links each sample to its k nearest ones, exact, in O(n²d)."""

from threading import Lock

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from zshash._compiled import compiled
from zshash._threads import add_up, map_blocks, run_blocks
from zshash._warnings import warn_user

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
    best, indices = no_neighbors(len(X), n_neighbors)
    tiles = list(gen_batches(len(X), TILE))
    locks = [Lock() for _ in tiles]

    def visit(pair):
        i, j = pair
        rows, columns = tiles[i], tiles[j]
        near = closeness(X[rows], X[columns], halves[rows], halves[columns])
        if i == j:
            np.fill_diagonal(near, -np.inf)  # no sample is its own neighbour
        with locks[i]:
            offer_columns(near, columns.start, best[rows], indices[rows])
        if i != j:
            with locks[j]:
                _offer_rows(near, rows.start, best[columns], indices[columns])

    # Along the diagonals, so that tiles visited at the same time share no samples.
    pairs = ((i, i + gap) for gap in range(len(tiles)) for i in range(len(tiles) - gap))
    run_blocks(visit, pairs)
    return np.maximum(-2 * best, 0), indices


def no_neighbors(n, k):
    """Closeness and indices of neighbours before any is known."""
    return np.full((n, k), -np.inf, dtype=np.float32), np.full((n, k), -1, dtype=np.int32)


def closeness(rows, columns, row_halves, column_halves):
    """−‖x − y‖²/2 of every row x to every column y, from halves of their squared lengths."""
    near = rows @ columns.T
    near -= row_halves[:, None]
    near -= column_halves
    return near


def offer_columns(near, first, best, indices):
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
    """Insert each candidate in its place by (closeness, index); the last ones drop out."""
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
        warn_user(
            f"sigma={sigma} is far below the distances between neighbours, so the graph is empty: "
            "set normalize=True or sigma='auto'"
        )
    directed = csr(weights, indices, n)
    S = directed.maximum(directed.T)
    return sparse.csr_array(sparse.diags_array(S.sum(axis=1)) - S)


def csr(weights, indices, n_columns):
    """Sparse matrix with the same number of entries in every row."""
    if indices.min() < 0:  # SciPy would write outside its arrays
        raise ValueError("some sample has too few neighbours at a finite distance: rescale X")
    n, k = weights.shape
    starts = np.arange(0, n * k + 1, k, dtype=np.int64)
    return sparse.csr_array((weights.ravel(), indices.ravel(), starts), shape=(n, n_columns))


def neighbor_gram(features, laplacian, weight):
    """Φᵀ(I + weight · L)Φ for a sparse Laplacian, with one product for each block."""

    def product(part):
        Phi = features[part]
        return Phi.T @ (Phi + weight * features.mix(laplacian[part]))

    total = add_up(map_blocks(product, features.parts()))
    return (total + total.T) / 2
