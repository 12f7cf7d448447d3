"""Binary quadratic problems: a balanced b in {−1, 1} that makes bᵀQb + pᵀb low, by clustering."""

import numpy as np

from zshash._compiled import compiled


@compiled
def quadratic(Q, p, b):
    """bᵀQb + pᵀb."""
    return b @ (Q @ b) + p @ b


@compiled
def balanced_column(Q, p):
    """A b in {−1, 1} with ⌊m/2⌋ ones and a low bᵀQb + pᵀb, by clustering.

    With b = 2y − 1 and c = p/2 − Q1 that is 4(yᵀQy + cᵀy) plus a constant. It grows with the
    scatter of the points where y is 1, if points i and j lie at the squared distance 2λ + 2Q_ij
    and point i at 2λ + c_i from one more point that is always chosen. λ, which only has to be
    large, cancels. Each point in turn gathers the points nearest to it.
    """
    m = len(p)
    c = p / 2
    for i in range(m):
        c[i] -= Q[i].sum()
    inside = np.empty(m, dtype=np.bool_)
    best, lowest = np.empty(m), np.inf
    for i in range(m + 1):
        near = Q[i].copy() if i < m else c.copy()
        if i < m:
            near[i] = -np.inf  # a point is nearest to itself
        mark_smallest(near, m // 2, inside)
        value = cluster_value(Q, c, inside)
        if value < lowest:
            lowest = value
            for j in range(m):
                best[j] = 1 if inside[j] else -1
    return best


@compiled
def cluster_value(Q, c, inside):
    """yᵀQy + cᵀy for y = `inside`."""
    total = c.copy()  # becomes Qy + c
    for i in range(len(c)):
        if inside[i]:
            for j in range(len(c)):
                total[j] += Q[i, j]
    value = 0.0
    for i in range(len(c)):
        if inside[i]:
            value += total[i]
    return value


@compiled
def mark_smallest(values, count, inside):
    """Mark the `count` smallest values, the first ones where some are equal."""
    last = kth_smallest(values.copy(), count - 1)
    free = count
    for j in range(len(values)):
        inside[j] = values[j] < last
        free -= inside[j]
    for j in range(len(values)):
        if free > 0 and values[j] == last:
            inside[j] = True
            free -= 1


@compiled
def kth_smallest(values, k):
    """The value that sorting would put at place k; `values` are shuffled.

    Hoare's quickselect: Numba's ``np.partition`` takes about twice as long here.
    """
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]
