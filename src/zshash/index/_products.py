"""Rank product-quantised codes by their inner product with real vectors.

Each byte of a code stands for a part of a vector, so the inner product of a query with a code is a
sum of one entry for each byte, from tables that are made for the query. Entries are rounded to
whole numbers of 40 bits, so sums are exact and do not depend on their order. They are only added
up for codes that may be among the best: what a code loses against the best possible one, in steps
of a byte, tells these.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._compiled import compiled
from zshash.index._lookups import CODES, can_look_up, low_sums
from zshash.index._real import fall, hold, round_vectors

__all__ = ["Tables", "best_sums", "make_tables"]

BLOCK_BYTES = 1 << 16  # of codes that queries pass over in turn
SAMPLES = 2048  # codes that tell what the k-th sum may be
STEPS = 200  # that the k-th best sum may lose; a byte has room for 255
NO_LIMIT = 255
LOWEST = np.int64(np.iinfo(np.int64).min // 2)  # below every sum


class Tables(NamedTuple):
    """What each value of each byte adds for each query.

    Attributes
    ----------
    sums : ndarray of shape (q, n_bytes, 256), int64
    exponents : ndarray of shape (q,)
        Exponent of two of the unit of the sums.
    """

    sums: NDArray[np.int64]
    exponents: NDArray[np.int32]


def make_tables(vectors: NDArray[np.float64], centres: NDArray[np.float64]) -> Tables:
    """Tables for vectors (q, n_bytes · width), from the centres (n_bytes, width, 256) of parts."""
    n_bytes, _, n_values = centres.shape
    near = np.zeros((len(vectors), n_bytes, n_values))
    _multiply(vectors, centres, near)
    whole, exponents = round_vectors(near.reshape(len(vectors), -1))
    return Tables(whole.reshape(near.shape), exponents)


@compiled
def _multiply(vectors, centres, near):
    """Add the products of parts of vectors with centres; the same for a query in any company."""
    n_bytes, width, n_values = centres.shape
    for row in range(len(vectors)):
        for byte in range(n_bytes):
            for place in range(width):
                entry = vectors[row, byte * width + place]
                for value in range(n_values):
                    near[row, byte, value] += entry * centres[byte, place, value]


@compiled
def best_sums(planes, tables, k, sums, positions):
    """Sums and positions (q, k) of the best codes, by falling sum, then by position.

    Codes are the columns of `planes` (n_bytes, n), at least `k` of them; `tables` is
    (q, n_bytes, 256). While it runs, each row is a heap with the worst code on top.
    """
    n_queries, (n_bytes, n) = len(sums), planes.shape
    size = max(BLOCK_BYTES // n_bytes, CODES) // CODES * CODES
    columns = np.empty(max(size, SAMPLES), dtype=np.int64)
    totals = np.empty(len(columns), dtype=np.int64)
    n_held = np.zeros(n_queries, dtype=np.int64)
    worst = np.empty(n_queries, dtype=np.int64)
    tops = np.zeros(n_queries, dtype=np.int64)
    units = np.empty(n_queries, dtype=np.int64)
    losses = np.empty(tables.shape, dtype=np.uint8)
    for row in range(n_queries):
        worst[row] = _guess(planes, tables, row, k, columns, totals)
        tops[row] = _fill_losses(tables, row, worst[row], losses, units)
    is_left = np.ones(n_queries, dtype=np.bool_)
    while is_left.any():
        for begin in range(0, n, size):
            end = min(begin + size, n)
            for row in np.flatnonzero(is_left):
                limit = _limit(tops[row], worst[row], units[row])
                n_found = sift(planes, begin, end, losses, row, limit, columns)
                _add_up(planes, columns, n_found, tables, row, totals)
                hold(columns, totals, n_found, row, k, n_held, worst, sums, positions)
        is_left = n_held < k  # once more where the guess was too high
        n_held[is_left], worst[is_left] = 0, LOWEST
    for row in range(n_queries):
        fall(sums, positions, row, k)


@compiled
def _guess(planes, tables, row, k, columns, totals):
    """A sum that most likely more than k codes exceed, judged by some of them."""
    n = planes.shape[1]
    stride = max(1, n // SAMPLES)
    n_samples = min(SAMPLES, n // stride)
    part = n_samples / n
    enough = int(k * part + 3 * np.sqrt(k * part)) + 2
    if enough >= n_samples:
        return LOWEST
    for place in range(n_samples):
        columns[place] = place * stride
    _add_up(planes, columns, n_samples, tables, row, totals)
    return np.partition(totals[:n_samples], n_samples - enough)[n_samples - enough] - 1


@compiled
def _fill_losses(tables, row, worst, losses, units):
    """Write what each value loses, in whole units and rounded down; return the best possible sum.

    The unit is such that a sum as low as `worst` loses `STEPS` of them.
    """
    top, bottom = np.int64(0), np.int64(0)
    for byte in range(tables.shape[1]):
        top += tables[row, byte].max()
        bottom += tables[row, byte].min()
    unit = max(np.int64(1), -((max(worst, bottom) - top) // STEPS))
    for byte in range(tables.shape[1]):
        best = tables[row, byte].max()
        for value in range(256):
            losses[row, byte, value] = min((best - tables[row, byte, value]) // unit, NO_LIMIT)
    units[row] = unit
    return top


@compiled
def _limit(top, worst, unit):
    """The most that a better code than the worst one may lose, in units; −1 if none is better."""
    return min((top - worst - 1) // unit, NO_LIMIT)


@compiled
def _sift_at_once(planes, begin, end, losses, row, limit, columns):
    """Write the columns that lose at most the limit to `columns`; return their number."""
    n, start = 0, begin
    if limit < 0:
        return n
    while start + CODES <= end:
        mask = low_sums(planes, start, losses, row, limit)
        place = start
        while mask:
            if mask & np.uint64(1):
                columns[n] = place
                n += 1
            mask >>= np.uint64(1)
            place += 1
        start += CODES
    while start < end:
        columns[n] = start
        n += 1
        start += 1
    return n


@compiled
def _sift_by_loops(planes, begin, end, losses, row, limit, columns):
    """Do the same as `_sift_at_once`, on any machine."""
    lost = np.zeros(end - begin, dtype=np.uint16)
    for byte in range(len(planes)):
        own, table = planes[byte, begin:end], losses[row, byte]
        for place in range(len(own)):
            lost[place] += table[own[place]]
    n = 0
    for place in range(len(lost)):
        columns[n] = begin + place
        n += lost[place] <= limit or limit == NO_LIMIT
    return n


sift = _sift_at_once if can_look_up() else _sift_by_loops


@compiled
def _add_up(planes, columns, n, tables, row, totals):
    """Fill in the exact sums of the given columns."""
    for place in range(n):
        total = np.int64(0)
        for byte in range(len(planes)):
            total += tables[row, byte, planes[byte, columns[place]]]
        totals[place] = total
