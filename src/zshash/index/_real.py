"""Rank codes by their inner product with real vectors.

Vectors are rounded to whole numbers of 40 bits, so sums are exact and do not depend on their
order. A code's weight is the sum over its set bits; it is looked up byte by byte, but only for
codes that may be among the best: counting bits gives rounded weights, which tell these codes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._compiled import compiled
from zshash.index._vectors import DIGITS, STEP, heavier, lowest_bit

__all__ = ["fall", "heaviest", "hold", "make_weights", "round_vectors"]

PRECISION = 40  # bits of a rounded entry; 1024 of them add up to less than 2**53
BLOCK_WORDS = 8192
SAMPLES, LEAST_STRIDE = 2048, 64  # codes that tell what the k-th weight may be


class Weights(NamedTuple):
    """Vectors, ready to be compared with codes.

    Attributes
    ----------
    tables : ndarray of shape (q, n_words, 8, 256), int64
        Weight that each value of each byte adds.
    flips : ndarray of shape (q, n_words), uint64
        Bits of negative entries. They are flipped: such a bit adds its weight when it is not set.
    planes : ndarray of shape (q, DIGITS, n_words), uint64
        Digits of the rounded weights, the highest first.
    units : ndarray of shape (q, 2)
        Weight that a rounded weight of 1 stands for, and the most that rounding takes from a
        sum.
    """

    tables: NDArray[np.int64]
    flips: NDArray[np.uint64]
    planes: NDArray[np.uint64]
    units: NDArray[np.int64]


def round_vectors(vectors: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Vectors (q, bits) as whole numbers, and the exponent of two of the unit of each (q,).

    >>> round_vectors(np.array([[0.5, -0.25]]))
    (array([[ 549755813888, -274877906944]]), array([-40], dtype=int32))
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    exponents: NDArray[np.int32] = np.frexp(largest)[1] - np.int32(PRECISION)
    return np.rint(np.ldexp(vectors, -exponents[:, None])).astype(np.int64), exponents


def make_weights(whole: NDArray[np.int64], n_words: int) -> Weights:
    """Weights for rounded vectors (q, bits), padded with zeros to whole words."""
    n_queries, n_bits = whole.shape
    padded = np.zeros((n_queries, 64 * n_words), dtype=np.int64)
    padded[:, :n_bits] = whole
    tables = np.zeros((n_queries, n_words, 8, 256), dtype=np.int64)
    flips = np.zeros((n_queries, n_words), dtype=np.uint64)
    planes = np.zeros((n_queries, DIGITS, n_words), dtype=np.uint64)
    units = np.empty((n_queries, 2), dtype=np.int64)
    weights = Weights(tables, flips, planes, units)
    _prepare(padded, weights)
    return weights


@compiled
def _prepare(whole, weights):
    """Fill the arrays of `Weights`."""
    most = (1 << DIGITS) - 1
    for row in range(len(whole)):
        largest = np.int64(1)
        for bit in range(whole.shape[1]):
            largest = max(largest, abs(whole[row, bit]))
        unit = -(-largest // most)
        lost = np.int64(0)
        for bit in range(whole.shape[1]):
            word, place = bit // 64, np.uint64(63 - bit % 64)
            value = whole[row, bit]
            size = abs(value)
            # Most bits of the heaviest codes count, so rounding up adds more often than rounding
            # down loses.
            digits = min((size + unit * 3 // 10) // unit, most)
            lost += max(size - digits * unit, 0)
            for digit in range(DIGITS):
                is_set = np.uint64((digits >> (DIGITS - 1 - digit)) & 1)
                weights.planes[row, digit, word] |= is_set << place
            if value < 0:
                weights.flips[row, word] |= np.uint64(1) << place
                weights.tables[row, word, bit // 8 % 8, 0] += size
        weights.units[row, 0], weights.units[row, 1] = unit, lost
        for byte in range(whole.shape[1] // 8):
            for value in range(1, 256):
                last = lowest_bit(np.uint32(value))
                rest = weights.tables[row, byte // 8, byte % 8, value & (value - 1)]
                weights.tables[row, byte // 8, byte % 8, value] = (
                    rest + whole[row, 8 * byte + 7 - last]
                )


@compiled
def heaviest(words, weights, k, sums, positions):
    """Weights and positions (q, k) of the heaviest codes, by falling weight, then by position.

    Codes are the columns of `words` (n_words, n), at least `k` of them. While it runs, each row is
    a heap with the worst code on top.
    """
    n_queries, n = sums.shape[0], words.shape[1]
    size = max(BLOCK_WORDS // words.shape[0], STEP) // STEP * STEP
    columns = np.empty(max(size, SAMPLES), dtype=np.int64)
    totals = np.empty(len(columns), dtype=np.int64)
    n_held = np.zeros(n_queries, dtype=np.int64)
    worst = np.empty(n_queries, dtype=np.int64)
    stride = max(LEAST_STRIDE, n // SAMPLES)
    sample = words[:, : stride * SAMPLES : stride].copy()
    for row in range(n_queries):
        worst[row] = _guess(sample, 1 / stride, weights.tables, row, k, columns, totals)
    for begin in range(0, n, size):
        end = min(begin + size, n)
        for row in range(n_queries):
            n_found = _sift(words, begin, end, weights, row, worst[row], columns)
            _weigh(words, columns, n_found, weights.tables, row, totals)
            hold(columns, totals, n_found, row, k, n_held, worst, sums, positions)
    for row in range(n_queries):
        if n_held[row] < k:  # the guess was too high
            n_held[row], worst[row] = 0, -1
            for begin in range(0, n, size):
                end = min(begin + size, n)
                n_found = _sift(words, begin, end, weights, row, worst[row], columns)
                _weigh(words, columns, n_found, weights.tables, row, totals)
                hold(columns, totals, n_found, row, k, n_held, worst, sums, positions)
        fall(sums, positions, row, k)


@compiled
def _guess(sample, part, tables, row, k, columns, totals):
    """A weight that most likely more than k codes exceed, judged by a sample, a `part` of them."""
    n = sample.shape[1]
    enough = int(k * part + 3 * np.sqrt(k * part)) + 2
    if enough >= n:
        return np.int64(-1)
    for place in range(n):
        columns[place] = place
    _weigh(sample, columns, n, tables, row, totals)
    return np.partition(totals[:n], n - enough)[n - enough] - 1


@compiled
def _sift(words, begin, end, weights, row, worst, columns):
    """Write the columns that may weigh more than the worst to `columns`; return their number."""
    unit, lost = weights.units[row, 0], weights.units[row, 1]
    limit = max(0, (worst - lost) // unit + 1)
    n, start = 0, begin
    while start + STEP <= end:
        mask = heavier(words, start, weights.flips, weights.planes, row, limit)
        while mask:
            columns[n] = start + lowest_bit(mask)
            mask &= mask - np.uint32(1)
            n += 1
        start += STEP
    while start < end:
        columns[n] = start
        n += 1
        start += 1
    return n


@compiled
def _weigh(words, columns, n, tables, row, totals):
    """Fill in the exact weights of the given columns."""
    for place in range(n):
        total = np.int64(0)
        for word in range(words.shape[0]):
            value = words[word, columns[place]]
            for byte in range(7, -1, -1):
                total += tables[row, word, byte, np.int64(value & np.uint64(255))]
                value >>= np.uint64(8)
        totals[place] = total


@compiled
def hold(columns, totals, n, row, k, n_held, worst, sums, positions):
    """Keep the best k codes so far; a later code must be better than the worst of them."""
    for place in range(n):
        if totals[place] <= worst[row]:
            continue
        if n_held[row] < k:
            _rise(sums, positions, row, n_held[row], totals[place], columns[place])
            n_held[row] += 1
        else:
            _sink(sums, positions, row, k, totals[place], columns[place])
        if n_held[row] == k:
            worst[row] = sums[row, 0]


@compiled
def _rise(sums, positions, row, place, total, position):
    """Add an entry to a heap of `place` entries."""
    while place > 0:
        above = (place - 1) // 2
        if sums[row, above] < total or (
            sums[row, above] == total and positions[row, above] > position
        ):
            break
        sums[row, place], positions[row, place] = sums[row, above], positions[row, above]
        place = above
    sums[row, place], positions[row, place] = total, position


@compiled
def _sink(sums, positions, row, size, total, position):
    """Replace the worst entry of a heap of `size` entries."""
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and (
            sums[row, below + 1] < sums[row, below]
            or (
                sums[row, below + 1] == sums[row, below]
                and positions[row, below + 1] > positions[row, below]
            )
        ):
            below += 1
        if sums[row, below] > total or (
            sums[row, below] == total and positions[row, below] < position
        ):
            break
        sums[row, place], positions[row, place] = sums[row, below], positions[row, below]
        place = below
    sums[row, place], positions[row, place] = total, position


@compiled
def fall(sums, positions, row, k):
    """Sort a heap, the best entry first."""
    for end in range(k - 1, 0, -1):
        total, position = sums[row, end], positions[row, end]
        sums[row, end], positions[row, end] = sums[row, 0], positions[row, 0]
        _sink(sums, positions, row, end, total, position)
