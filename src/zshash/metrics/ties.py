"""Expected scores over the random orders within ties, in closed form.

The kernels behind `zshash.metrics`: compiled, one query per row, trusting their arguments. A
*group* is the set of items at one distance: `tied` of them, `hits` of which are relevant,
after `before` nearer items with `hits_before` relevant ones. `inside` is how many of the
group's places lie within the ranks that are scored.

They call each other, so they share this file: Numba's cache notices a change only in the file
of the function that it loads.
"""

import numpy as np
from numpy.typing import NDArray

from zshash._compiled import compiled

# Outcomes this much rarer than the likeliest one can not move a score between 0 and 1.
NEGLIGIBLE = 1e-20
# From here on three terms of the harmonic numbers' series are exact to the last digit.
SERIES_START = 64


@compiled
def series(n: int) -> float:
    """H(n) - log(n + 1/2) - Euler's constant, for n of at least `SERIES_START`."""
    x = 1.0 / (n + 0.5) ** 2
    return x * (1 / 24 - x * (7 / 960 - x * 31 / 8064))


@compiled
def reciprocals(n: int, terms: int) -> float:
    """1/(n+1) + ... + 1/(n+terms), without subtracting two large harmonic numbers."""
    result, end = 0.0, n + terms
    while n < end and n < SERIES_START:
        n += 1
        result += 1.0 / n
    if n < end:
        result += np.log1p((end - n) / (n + 0.5)) + (series(end) - series(n))
    return result


@compiled
def precision_weights(before: int, hits_before: int, inside: int) -> tuple[float, float]:
    """Weights (a, b) that give the expected sum of the precisions at a group's relevant places.

    With x relevant items in random order among the `inside` places, place j = 1, 2, ... is
    relevant with probability x / inside, and then hits_before + 1 + (j - 1)(x - 1)/(inside - 1)
    of the before + j items up to it are expected to be. Summed over j: a x + b x (x - 1).
    """
    inverse = reciprocals(before, inside)
    alone = (hits_before + 1.0) * inverse / inside
    if inside == 1:
        return alone, 0.0
    return alone, (inside - (before + 1.0) * inverse) / (inside * (inside - 1.0))


@compiled
def pairs(x: float) -> float:
    """Ordered pairs of x items."""
    return x * (x - 1.0)


@compiled
def ratio(x: int, hits_before: int, score: float, alone: float, both: float) -> float:
    """Average precision when the group adds `x` relevant items; 0 where nothing is relevant."""
    return (score + alone * x + both * pairs(x)) / max(hits_before + x, 1)


@compiled
def cut_ratio(
    before: int, hits_before: int, tied: int, hits: int, inside: int, score: float
) -> float:
    """Give the expected average precision when the last rank cuts a group.

    `score` is the sum of the precisions before it. The number x of relevant items inside is
    hypergeometric. Its weights run outwards from the likeliest x by the ratio of neighbouring
    probabilities, so nothing overflows and the far tails, which hold nothing, are not visited.
    """
    alone, both = precision_weights(before, hits_before, inside)
    spare = float(tied - hits - inside)
    low, high = max(0, inside - (tied - hits)), min(hits, inside)
    mode = int((inside + 1.0) * (hits + 1.0) / (tied + 2.0))
    mode = min(max(mode, low), high)
    value, norm = ratio(mode, hits_before, score, alone, both), 1.0
    weight = 1.0
    for x in range(mode + 1, high + 1):
        weight *= (hits - x + 1.0) * (inside - x + 1.0) / (x * (spare + x))
        if weight < NEGLIGIBLE:
            break
        value += weight * ratio(x, hits_before, score, alone, both)
        norm += weight
    weight = 1.0
    for x in range(mode - 1, low - 1, -1):
        weight *= (x + 1.0) * (spare + x + 1.0) / (float(hits - x) * (inside - x))
        if weight < NEGLIGIBLE:
            break
        value += weight * ratio(x, hits_before, score, alone, both)
        norm += weight
    return value / norm


@compiled
def precision_sum(before: int, hits_before: int, tied: int, hits: int, inside: int) -> float:
    """Sum the expected precisions at the relevant places inside, of a group cut or whole."""
    alone, both = precision_weights(before, hits_before, inside)
    result = alone * inside * hits / tied
    if inside > 1:
        result += both * pairs(inside) * pairs(hits) / pairs(tied)
    return result


@compiled
def query_precision(
    relevant: NDArray[np.int64], total: NDArray[np.int64], k: int, retrieved: bool
) -> float:
    """Give one query's expected average precision over the top `k` of its histogram."""
    before, hits_before, score = 0, 0, 0.0
    for d in range(len(total)):
        tied, hits = total[d], relevant[d]
        inside = min(tied, k - before)
        if inside > 0 and hits > 0:
            if retrieved and inside < tied:
                return cut_ratio(before, hits_before, tied, hits, inside, score)
            score += precision_sum(before, hits_before, tied, hits, inside)
            hits_before += hits
        before += inside
    possible = hits_before if retrieved else min(k, relevant.sum())
    return score / max(possible, 1)


@compiled
def average_precision(
    relevant: NDArray[np.int64], total: NDArray[np.int64], k: int, retrieved: bool
) -> NDArray[np.float64]:
    """Give every query's expected average precision (q,)."""
    result = np.empty(len(total))
    for q in range(len(total)):
        result[q] = query_precision(relevant[q], total[q], k, retrieved)
    return result


@compiled
def mean_precision(
    relevant: NDArray[np.int64], total: NDArray[np.int64], k: int
) -> NDArray[np.float64]:
    """Mean over the ranks 1..k of the expected precision at that rank, of every query (q,)."""
    result = np.empty(len(total))
    for q in range(len(total)):
        before, hits_before, score = 0, 0, 0.0
        for d in range(total.shape[1]):
            inside = min(total[q, d], k - before)
            if inside > 0:
                rate = relevant[q, d] / total[q, d]
                # The place j has the expected precision (hits_before + j rate) / (before + j).
                score += rate * inside
                score += (hits_before - before * rate) * reciprocals(before, inside)
            before += inside
            hits_before += relevant[q, d]
        result[q] = score / before
    return result
