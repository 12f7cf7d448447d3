"""Multi-index hashing: find near codes by pieces of the codes that are equal, or almost equal.

A code within distance r of a query has a piece, of m disjoint ones, that differs in r // m bits at
most. So there is a table for each piece, with the codes sorted by that piece, and a query looks
into the buckets around its own pieces. Step i looks at piece i % m, at the buckets that differ in
exactly i // m bits; after step r, all codes within r have been met. A code that several steps meet
counts at the first of these steps.

After Mohammad Norouzi, Ali Punjani and David J. Fleet: *Fast Search in Hamming Space with
Multi-Index Hashing*, CVPR 2012.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._compiled import compiled
from zshash.index._vectors import STEP, distance, lowest_bit, nearer, popcount, prefetch

__all__ = ["CHUNK", "look", "steps_within"]

WINDOW = 24  # buckets that are fetched from memory at a time
AHEAD = 160  # codes of each bucket that are fetched ahead
CHUNK = 1024  # codes of a bucket that are compared before the limit is lowered
MOST_MERGES = 16  # merges of several buckets' codes; beyond that, they are sorted

# The unit of work is the time in which a scan passes one code.
PROBE_WORK, CODE_WORK, HIT_WORK = 100, 4, 60


def steps_within(pieces: NDArray[np.int64], budget: int) -> int:
    """Number of steps until looking up buckets alone, empty or not, exceeds a budget of work.

    >>> steps_within(np.array([[0, 43, 21], [0, 22, 21], [0, 0, 22]]), budget=10_000)
    6
    """
    step, work = 0, 0
    while True:
        bits, differ = int(pieces[step % len(pieces), 2]), step // len(pieces)
        work += PROBE_WORK * comb(bits, differ)
        if work > budget or differ > bits:
            return step
        step += 1


class Progress(NamedTuple):
    """Progress of each query: arrays of shape (q,), `counts` (q, limit + 1)."""

    limits: NDArray[np.int64]  # largest distance that still counts
    inside: NDArray[np.int64]  # number of codes found within it
    counts: NDArray[np.int64]  # number of codes found at each distance
    work: NDArray[np.int64]
    active: NDArray[np.bool_]


@compiled
def look(buckets, queries, k, n_steps, limit, budget, found):
    """Codes within `limit` of each query, as far as the first `n_steps` meet them.

    A query is complete when these steps find all within `limit`, or its `k` nearest. It gives up
    when its work exceeds the budget. Returns which queries are complete (q,), where each one's
    codes begin (q + 1,), distances and positions, ordered by (query, distance, position); and
    `found`, an array to work in with at least `CHUNK` entries, or a larger one if it was too small.
    """
    n_queries = len(queries)
    progress = Progress(
        np.full(n_queries, limit, dtype=np.int64),
        np.zeros(n_queries, dtype=np.int64),
        np.zeros((n_queries, limit + 1), dtype=np.int64),
        np.zeros(n_queries, dtype=np.int64),
        np.ones(n_queries, dtype=np.bool_),
    )
    columns = np.empty(CHUNK, dtype=np.int64)
    window = np.empty((3, WINDOW), dtype=np.int64)  # queries; ends of buckets
    total = 0
    for step in range(n_steps):
        row, flips = -1, np.int64(-1)
        while True:
            n_window, row, flips = _fetch(buckets, step, queries, progress, row, flips, window)
            if n_window == 0:
                break
            for place in range(n_window):
                own, begin, end = window[0, place], window[1, place], window[2, place]
                progress.work[own] += PROBE_WORK + CODE_WORK * (end - begin)
                while begin < end and progress.work[own] <= budget:
                    stop = min(begin + CHUNK, end)
                    limit = progress.limits[own]
                    n = _compare(buckets.words, begin, stop, queries, own, limit, columns)
                    if total + n >= len(found):
                        found = _longer(found)
                    if n:
                        total = _accept(
                            buckets, step, queries, own, k, columns, n, progress, found, total
                        )
                    begin = stop
        for own in range(n_queries):
            goes_on = progress.limits[own] > step and progress.work[own] <= budget
            progress.active[own] = progress.active[own] and goes_on
    is_complete = (progress.limits < n_steps) & (progress.work <= budget)
    return is_complete, *_grouped(found, total, progress), found


@compiled
def _fetch(buckets, step, queries, progress, row, flips, window):
    """The next buckets of a step, and where to go on: a query, and the bits to flip in its piece.

    Ends and codes of the buckets are prefetched before they are needed.
    """
    m = len(buckets.pieces)
    table, differ = step % m, step // m
    word, shift, bits = buckets.pieces[table]
    n_buckets, n = buckets.starts.shape[1], len(buckets.positions) // m
    flat = buckets.starts.reshape(-1)
    piece = np.int64(0)
    if 0 <= row < len(queries):
        piece = np.int64(queries[row, word] >> np.uint64(shift)) & ((1 << bits) - 1)
    n_window = 0
    while n_window < WINDOW:
        if flips < 0:
            row += 1
            while row < len(queries) and not progress.active[row]:
                row += 1
            if row >= len(queries):
                break
            piece = np.int64(queries[row, word] >> np.uint64(shift)) & ((1 << bits) - 1)
            flips = np.int64((1 << differ) - 1)
        window[0, n_window] = row
        window[1, n_window] = table * n_buckets + (piece ^ flips)
        prefetch(flat, window[1, n_window])
        n_window += 1
        if flips == 0:
            flips = np.int64(-1)
        else:  # the next larger number with as many bits
            lowest = flips & -flips
            carried = flips + lowest
            flips = carried | (((flips ^ carried) >> 2) // lowest)
            if flips >= 1 << bits:
                flips = np.int64(-1)
    for place in range(n_window):
        bucket = window[1, place]
        window[1, place] = table * n + flat[bucket]
        window[2, place] = table * n + flat[bucket + 1]
        for column in range(window[1, place], min(window[2, place], window[1, place] + AHEAD), 8):
            prefetch(buckets.words, column)
            prefetch(buckets.positions, column)
    return n_window, row, flips


@compiled
def _compare(words, begin, end, queries, row, limit, columns):
    """Write the columns within `limit` of a query to `columns`; return their number."""
    n = 0
    for start in range(begin, end, STEP):
        mask = nearer(words, start, queries, row, limit + 1)
        if end - start < STEP:
            mask &= (np.uint32(1) << np.uint32(end - start)) - np.uint32(1)
        while mask:
            columns[n] = start + lowest_bit(mask)
            mask &= mask - np.uint32(1)
            n += 1
    return n


@compiled
def _accept(buckets, step, queries, row, k, columns, n, progress, found, total):
    """Store codes that no earlier step has met, and lower the limit if k codes are nearer."""
    m = len(buckets.pieces)
    table, differ = step % m, step // m
    limit, inside = progress.limits[row], progress.inside[row]
    progress.work[row] += HIT_WORK * n
    for i in range(n):
        column = columns[i]
        apart = distance(buckets.words, column, queries, row)
        is_new = apart <= limit
        for other in range(m if differ else table):
            word = buckets.pieces[other, 0]
            differs = buckets.words[word, column] ^ queries[row, word]
            own = popcount(differs & buckets.masks[other])
            # Earlier steps looked at the pieces before this one with as many differing bits, and at
            # the pieces behind it with one less.
            is_new &= other == table or own > differ - (other > table)
        # Always written: a branch on whether a code is new would cost more.
        found[total] = (row << 43) | (apart << 32) | np.int64(buckets.positions[column])
        total += is_new
        inside += is_new
        progress.counts[row, apart] += is_new
        if inside >= k:
            while inside - progress.counts[row, limit] >= k:
                inside -= progress.counts[row, limit]
                limit -= 1
    progress.limits[row], progress.inside[row] = limit, inside
    return total


@compiled
def _longer(found):
    """Copy of an array with twice the length."""
    longer = np.empty(2 * len(found), dtype=np.int64)
    longer[: len(found)] = found
    return longer


@compiled
def _grouped(found, total, progress):
    """Where each query's codes begin, distances and positions, in order, within the limits."""
    n_queries, n_distances = progress.counts.shape
    begins = np.zeros(n_queries + 1, dtype=np.int64)
    places = np.zeros((n_queries, n_distances), dtype=np.int64)
    for row in range(n_queries):
        place = begins[row]
        for apart in range(progress.limits[row] + 1):
            places[row, apart] = place
            place += progress.counts[row, apart]
        begins[row + 1] = place
    distances = np.empty(begins[-1], dtype=np.int32)
    positions = np.empty(begins[-1], dtype=np.int64)
    for i in range(total):
        row, apart, position = found[i] >> 43, (found[i] >> 32) & 0x7FF, found[i] & 0xFFFFFFFF
        if apart <= progress.limits[row]:
            place = places[row, apart]
            distances[place] = apart
            positions[place] = position
            places[row, apart] = place + 1
    spare = np.empty(CHUNK, dtype=np.int64)
    for row in range(n_queries):
        begin = begins[row]
        for apart in range(progress.limits[row] + 1):
            _sort(positions, begin, places[row, apart], spare)
            begin = places[row, apart]
    return begins, distances, positions


@compiled
def _sort(values, begin, end, spare):
    """Sort values by merging; values from the same bucket are in order already."""
    middle, n_merged = begin + 1, 0
    while middle < end:
        if values[middle] > values[middle - 1]:
            middle += 1
            continue
        stop = middle + 1
        while stop < end and values[stop] > values[stop - 1]:
            stop += 1
        if n_merged == MOST_MERGES or stop - middle > len(spare):
            values[begin:end].sort()
            return
        last = stop - middle - 1
        for place in range(last + 1):
            spare[place] = values[middle + place]
        place, other = stop - 1, middle - 1
        while last >= 0:
            if other >= begin and values[other] > spare[last]:
                values[place] = values[other]
                other -= 1
            else:
                values[place] = spare[last]
                last -= 1
            place -= 1
        middle, n_merged = stop, n_merged + 1
