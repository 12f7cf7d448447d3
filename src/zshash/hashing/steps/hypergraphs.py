"""The hypergraph on both views of samples: an edge joins any number of views that are alike.

Its Laplacian is L = I − V^−½ M W N⁻¹ Mᵀ V^−½, for weights W of edges, numbers N of views in
an edge, and degrees V, the weights of all edges of a view (Zhou, Huang and Schölkopf, 2006). The
first n views are features, the others targets.
"""

import numpy as np
from scipy import sparse

from zshash.hashing.steps.graphs import csr, nearest_neighbors
from zshash.hashing.steps.rows import unit_rows


def hypergraph(X, targets, n_neighbors, agreement):
    """Members M (2n, e) of the edges, and their weights (e,)."""
    n = len(X)
    edges = [neighbor_edges(X, n_neighbors), tag_edges(targets, n_neighbors)]
    own = sparse.eye_array(n, dtype=np.float32)
    members = sparse.block_array([[edges[0], None, own], [None, edges[1], own]], format="csr")
    weights = np.ones(members.shape[1], dtype=np.float32)
    weights[-n:] = agreement
    return members, weights


def neighbor_edges(X, n_neighbors):
    """An edge (column) for each row of X: the row itself and its nearest ones."""
    n = len(X)
    _, indices = nearest_neighbors(X.astype(np.float32), min(n_neighbors, n - 1))
    members = csr(np.ones(indices.shape, dtype=np.float32), indices, n)
    return (members + sparse.eye_array(n, dtype=np.float32, format="csr")).T


def tag_edges(targets, n_neighbors):
    """An edge for each tag, or each vector that samples share, or each vector's nearest ones."""
    vectors, rows = targets.vectors, targets.rows
    if np.isin(vectors, (0, 1)).all():
        return sparse.csr_array(vectors.astype(np.float32))[rows]
    if len(vectors) < len(rows):
        return sparse.csr_array(np.eye(len(vectors), dtype=np.float32))[rows]
    return neighbor_edges(unit_rows(vectors[rows]), n_neighbors)


def smoother(members, weights):
    """K = V^−½ M (W/N)^½ (2n, e): L = I − KKᵀ is the Laplacian of the hypergraph."""
    sizes, degrees = members.sum(axis=0), members @ weights
    by_edge = np.sqrt(weights / np.maximum(sizes, 1))
    by_view = 1 / np.sqrt(degrees)
    scaled = sparse.diags_array(by_view) @ members @ sparse.diags_array(by_edge)
    return sparse.csr_array(scaled, dtype=members.dtype)
