"""The rotation that brings real vectors nearest to signs: minimise ‖B − VR‖², RᵀR = I."""

import numpy as np
from sklearn.utils import gen_batches

from zshash._threads import add_up, all_cores, map_blocks
from zshash.hashing.base import BLOCK_ROWS
from zshash.hashing.rotations import procrustes, random_orthogonal


def rotate_to_signs(V, n_iter, rng):
    """Alternate B = sgn(VR) and R = procrustes(VᵀB) from a random orthogonal start.

    One pass over V (n, r), float32, serves an iteration; B is never held. The loss needs no pass
    of its own: ‖B − VR‖² = ‖V‖² + nr − 2 tr(RᵀVᵀB).

    Returns
    -------
    R : ndarray of shape (r, r)
    losses : list of float
        ‖B − VR‖² after each iteration; shorter than `n_iter` if the signs stopped changing.
    """
    constant = np.square(V).sum(dtype=np.float64) + V.size
    R, last, losses = random_orthogonal(V.shape[1], rng), np.empty(0), []
    with all_cores():
        for _ in range(n_iter):
            C = product_with_signs(V, R.astype(np.float32))
            if np.array_equal(C, last):
                break
            R, last = procrustes(C), C
            losses.append(float(constant - 2 * np.vdot(R, C)))
    return R, losses


def product_with_signs(V, R):
    """VᵀB for the codes B = sgn(VR), by blocks of rows."""

    def product(part):
        B = V[part] @ R
        np.copysign(np.float32(1), B, out=B)
        return V[part].T @ B

    return add_up(map_blocks(product, gen_batches(len(V), BLOCK_ROWS)))
