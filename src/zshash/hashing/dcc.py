"""Discrete cyclic coordinate descent: codes that minimise a quadratic, one bit at a time."""

import numpy as np

from zshash._compiled import compiled


@compiled
def descend(B, fixed, table, rows, projections, alpha, G, n_sweeps):
    """Lower Σᵢ bᵢ G bᵢᵀ − 2 bᵢ·hᵢ over the rows of B in {−1, 1}, in place.

    ``hᵢ = table[rows[i]] + alpha · projections[i]``; G (l, l) is symmetric and `fixed` holds
    B G on entry (and on return). Bit k goes to sgn(h_k − Σ_{j≠k} b_j G_jk); a tie keeps it.
    Rows are independent of each other. Returns the number of flips.
    """
    n, n_bits = B.shape
    flips = 0
    for i in range(n):
        for _ in range(n_sweeps):
            flipped = 0
            for k in range(n_bits):
                b = B[i, k]
                h = table[rows[i], k] + alpha * projections[i, k]
                if b * (h - fixed[i, k]) + G[k, k] < 0:
                    B[i, k] = -b
                    flipped += 1
                    for j in range(n_bits):
                        fixed[i, j] -= 2 * b * G[k, j]
            flips += flipped
            if flipped == 0:
                break
    return flips


@compiled
def sum_by_class(B, rows, n_classes):
    """Sum of the codes of each class (n_classes, l), exact."""
    sums = np.zeros((n_classes, B.shape[1]))
    for i in range(len(rows)):
        for k in range(B.shape[1]):
            sums[rows[i], k] += B[i, k]
    return sums
