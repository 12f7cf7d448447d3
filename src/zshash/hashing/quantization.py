"""The rotation that brings real vectors nearest to signs: minimise ‖B − VR‖², RᵀR = I."""

import numpy as np

from zshash._threads import all_cores
from zshash.hashing.rotations import procrustes, random_orthogonal
from zshash.hashing.rows import as_rows


def rotate_to_signs(V, n_iter, rng):
    """Alternate B = sgn(VR) and R = procrustes(VᵀB) from a random orthogonal start.

    V (n, r), float32, is an array or `Rows`. One pass over it serves an iteration; B is never held.
    The loss needs no pass of its own: ‖B − VR‖² = ‖V‖² + nr − 2 tr(RᵀVᵀB).

    Returns
    -------
    R : ndarray of shape (r, r)
    losses : list of float
        ‖B − VR‖² after each iteration; shorter than `n_iter` if the signs stopped changing.
    """
    V = as_rows(V)
    R, last, losses = random_orthogonal(V.n_features, rng), np.empty(0), []
    with all_cores():
        constant = V.total(sum_squares) + len(V) * V.n_features
        for _ in range(n_iter):
            C = product_with_signs(V, R.astype(np.float32))
            if np.array_equal(C, last):
                break
            R, last = procrustes(C), C
            losses.append(float(constant - 2 * np.vdot(R, C)))
    return R, losses


def product_with_signs(V, R):
    """VᵀB for the codes B = sgn(VR), by blocks of rows."""
    return as_rows(V).total(block_with_signs, R)


def block_with_signs(V, R):
    """VᵀB of a block."""
    B = V @ R
    np.copysign(np.float32(1), B, out=B)
    return V.T @ B


def sum_squares(V):
    """‖V‖² of a block, float64."""
    return np.square(V).sum(dtype=np.float64)
