"""Neighbourhoods of a batch as distributions, and the difference between two of them.

From the similarities s_ij of row i to the other rows, p_ij ∝ exp(s_ij/τ_i) is the probability that
j is called a neighbour of i. A perplexity of k means that about k rows are likely.
"""

import numpy as np

from zshash._compiled import compiled, compiled_sums

STEPS = 12  # Newton steps at most
CLOSE = 2e-4  # difference from the wanted entropy at which the search stops
SLOWEST, FASTEST = 1e-2, 1e4  # limits of 1/τ
NARROWEST = 1e-6  # least mean distance of similarities from the largest
FARTHEST = np.log(4.0)  # largest change of log(1/τ) in a step
LOG2_E, LEAST = np.float32(np.log2(np.e)), np.float32(-100)
# 2^f for f in [0, 1], to a few millionths: a polynomial through as many points.
_POINTS = (1 + np.cos(np.pi * (np.arange(6) + 0.5) / 6)) / 2
TWO_TO = tuple(np.polyfit(_POINTS, 2**_POINTS, 5).astype(np.float32))


def compare(teacher, student, start, perplexity, guess):
    """Replace the logits `student` (r, n) of rows start, start + 1, … by q − p.

    `teacher` (r, n) holds similarities, from which p follows with the perplexity given, and q is
    the softmax of `student`; neither counts a row among its own neighbours. q − p is the gradient
    of Σ KL(p‖q) by the logits. `teacher` is overwritten.

    Returns Σ KL(p‖q) and the `guess` for the next call: the mean of w/τ, where w is the largest
    similarity of a row minus their mean. w/τ differs less from row to row than 1/τ does.
    """
    rows = np.arange(len(teacher))
    teacher[rows, start + rows] = student[rows, start + rows] = -np.inf
    tops = np.stack([teacher.max(axis=1), student.max(axis=1)])
    return _compare(teacher, student, tops, start, np.log(perplexity), guess)


@compiled
def _compare(teacher, student, tops, start, entropy, guess):
    total, guesses = 0.0, 0.0
    p = np.empty(teacher.shape[1], dtype=np.float32)
    q = np.empty(teacher.shape[1], dtype=np.float32)
    powers = np.empty(teacher.shape[1], dtype=np.int32)
    for row in range(len(teacher)):
        own, s, logits = start + row, teacher[row], student[row]
        width = max(_begin_at_top(s, tops[0, row], own), NARROWEST)
        rate, log_sum = _sharpen(s, own, entropy, guess / width, p, powers)
        guesses += rate * width
        information = rate * _inner(p, s) - log_sum  # Σ p log p
        _begin_at_top(logits, tops[1, row], own)
        exponentials(logits, np.float32(1), q, powers)
        q[own] = 0
        mass = _sum(q)
        total += information - _inner(p, logits) + np.log(mass)
        _difference(q, np.float32(1 / mass), p, logits)
    return total, guesses / len(teacher)


@compiled
def _begin_at_top(s, top, own):
    """Subtract the largest entry but `own`, in place; `own` becomes 0.

    Returns the mean distance of the other entries from the largest.
    """
    s[own] = top
    for j in range(len(s)):
        s[j] -= top
    return -_sum(s) / (len(s) - 1)


@compiled
def _sharpen(s, own, entropy, rate, p, powers):
    """Fill p with the softmax of rate · s that has this entropy.

    Newton's method, between a rate that is too slow and one that is too fast: a step that would
    leave this interval goes to its geometric middle instead.

    Returns the rate, 1/τ, and the logarithm of the sum that the softmax divides by.
    """
    slowest, fastest = SLOWEST, FASTEST
    rate = min(max(rate, SLOWEST), FASTEST)
    for _ in range(STEPS):
        exponentials(s, np.float32(rate), p, powers)
        p[own] = 0
        total, first, second = _moments(s, p)
        mean = first / total
        spread = max(second / total - mean * mean, 1e-12)
        excess = np.log(total) - rate * mean - entropy
        if abs(excess) < CLOSE:
            break
        if excess > 0:
            slowest = rate
        else:
            fastest = rate
        step = excess / (rate * rate * spread)
        rate *= np.exp(min(max(step, -FARTHEST), FARTHEST))
        if not slowest < rate < fastest:
            rate = np.sqrt(slowest * fastest)
    exponentials(s, np.float32(rate), p, powers)
    p[own] = 0
    total = _sum(p)
    scale = np.float32(1 / total)
    for j in range(len(p)):
        p[j] *= scale
    return rate, np.log(total)


@compiled_sums
def exponentials(s, rate, out, powers):
    """Fill `out` with exp(rate · s), s ≤ 0, to a few millionths; `powers` is an int32 buffer."""
    for j in range(len(s)):
        y = max(rate * s[j] * LOG2_E, LEAST)
        whole = np.floor(y)
        f = y - whole
        value = TWO_TO[0]
        value = value * f + TWO_TO[1]
        value = value * f + TWO_TO[2]
        value = value * f + TWO_TO[3]
        value = value * f + TWO_TO[4]
        value = value * f + TWO_TO[5]
        out[j] = value
        powers[j] = (np.int32(whole) + np.int32(127)) << np.int32(23)  # the bits of 2^whole
    scales = powers.view(np.float32)
    for j in range(len(s)):
        out[j] *= scales[j]


@compiled_sums
def _moments(s, p):
    """Σp, Σps and Σps²."""
    total, first, second = np.float32(0), np.float32(0), np.float32(0)
    for j in range(len(s)):
        total += p[j]
        first += p[j] * s[j]
        second += p[j] * s[j] * s[j]
    return total, first, second


@compiled_sums
def _sum(p):
    total = np.float32(0)
    for j in range(len(p)):
        total += p[j]
    return total


@compiled_sums
def _inner(p, q):
    total = np.float32(0)
    for j in range(len(p)):
        total += p[j] * q[j]
    return total


@compiled
def _difference(q, scale, p, out):
    for j in range(len(p)):
        out[j] = q[j] * scale - p[j]
