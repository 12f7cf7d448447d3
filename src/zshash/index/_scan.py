"""Compare queries with every code, several queries to each block of codes.

A block stays in the cache while all queries pass over it. Each query keeps the codes that are
nearer than the k-th best so far. Distances are small whole numbers, so the k-th best distance is
found by counting, and the codes found are sorted by counting.
"""

import numpy as np
from numpy.typing import NDArray

from zshash._compiled import compiled
from zshash.index._vectors import STEP, distance, lowest_bit, nearer, popcount

__all__ = ["Words", "scan_nearest", "scan_within"]

Words = NDArray[np.uint64]

QUERIES = 32  # queries that share a block
BLOCK_WORDS = 4096
SAMPLES, LEAST_STRIDE = 16384, 64  # words of codes that tell where the k-th distance may be


@compiled
def scan_nearest(words, first, last, queries, k, distances, positions):
    """Distances and positions (q, k) of the codes nearest to each query, by (distance, position).

    Codes are the columns `first` to `last` of `words` (n_words, n), at least `k` of them.
    """
    n_queries, n_bits = queries.shape[0], 64 * words.shape[0]
    size = max(min(BLOCK_WORDS // words.shape[0], last - first), STEP) // STEP * STEP
    found = np.empty((n_queries, 2 * (k + size)), dtype=np.uint32)
    apart = np.empty((n_queries, 2 * (k + size)), dtype=np.uint16)
    counts = np.zeros((n_queries, n_bits + 2), dtype=np.int64)
    # For each query: number of codes found, distance to stay below, number of codes below it, and
    # number found in the block before.
    state = np.zeros((n_queries, 4), dtype=np.int64)
    stride = max(LEAST_STRIDE, (last - first) * words.shape[0] // SAMPLES)
    sample = words[:, first:last:stride].copy()
    for row in range(n_queries):
        state[row, 1] = _guess(sample, 1 / stride, queries, row, k, counts)
    for begin in range(first, last, size):
        end = min(begin + size, last)
        for row in range(n_queries):
            _sift(words, begin, end, queries, row, k, found, apart, counts, state)
    for row in range(n_queries):
        if not _is_full(counts, row, state, k):  # the guess was too low
            state[row] = 0, n_bits + 1, 0, 0
            counts[row] = 0
            for begin in range(first, last, size):
                end = min(begin + size, last)
                _sift(words, begin, end, queries, row, k, found, apart, counts, state)
        _in_order(found, apart, row, state[row, 0], state[row, 1], k, distances, positions)


@compiled
def _guess(sample, part, queries, row, k, counts):
    """A distance that most likely k codes are below, judged by a sample, a `part` of the codes."""
    for position in range(sample.shape[1]):
        counts[row, distance(sample, position, queries, row)] += 1
    enough = k * part + 3 * np.sqrt(k * part) + 1
    limit, below = 0, 0
    while limit < counts.shape[1] - 1 and below < enough:
        below += counts[row, limit]
        limit += 1
    counts[row] = 0
    return limit


@compiled
def _sift(words, begin, end, queries, row, k, found, apart, counts, state):
    """Find codes near one query in one block, and lower its limit if there are many."""
    n, limit, below, n_before = state[row]
    is_dense = 8 * STEP * n_before > end - begin
    if n + end - begin + 2 > found.shape[1]:
        n = _forget(found, apart, row, n, limit, k - below)
    n_new = _collect(words, begin, end, queries, row, limit, found, row, n, is_dense)
    n_before = n_new - n
    for place in range(n, n_new):
        position = found[row, place]
        d = distance(words, position, queries, row)
        found[row, n] = position
        apart[row, n] = d
        if d < limit:
            n += 1
            counts[row, d] += 1
            below += 1
            while below >= k:
                limit -= 1
                below -= counts[row, limit]
    state[row] = n, limit, below, n_before


@compiled
def _collect(words, begin, end, queries, row, limit, found, target, n, is_dense):
    """Append the positions of all codes nearer than `limit`; return the new number of entries.

    Two entries behind the last one may be overwritten, too.
    """
    start = begin
    while start + STEP <= end:
        mask = nearer(words, start, queries, row, limit)
        # Where most steps find something, two writes without a branch are faster than one with it.
        if is_dense:
            count = popcount(np.uint64(mask))
            found[target, n] = start + lowest_bit(mask)
            mask &= mask - np.uint32(1)
            found[target, n + 1] = start + lowest_bit(mask)
            mask &= mask - np.uint32(1)
            n += min(count, 2)
        while mask:
            found[target, n] = start + lowest_bit(mask)
            mask &= mask - np.uint32(1)
            n += 1
        start += STEP
    while start < end:
        if distance(words, start, queries, row) < limit:
            found[target, n] = start
            n += 1
        start += 1
    return n


@compiled
def _is_full(counts, row, state, k):
    """Whether k codes were found below the limit or at it."""
    return state[row, 2] + counts[row, state[row, 1]] >= k


@compiled
def _forget(found, apart, row, n, limit, ties):
    """Drop codes beyond `limit`, and all but the first `ties` at it; return how many stay."""
    kept = 0
    for place in range(n):
        d = apart[row, place]
        if d < limit or (d == limit and ties > 0):
            ties -= d == limit
            found[row, kept] = found[row, place]
            apart[row, kept] = d
            kept += 1
    return kept


@compiled
def _in_order(found, apart, row, n, limit, k, distances, positions):
    """Sort codes, which are in the order of position, by distance, and write the first k out."""
    starts = np.zeros(limit + 2, dtype=np.int64)
    for place in range(n):
        if apart[row, place] <= limit:
            starts[apart[row, place] + 1] += 1
    for d in range(limit + 1):
        starts[d + 1] += starts[d]
    for place in range(n):
        d = apart[row, place]
        if d <= limit and starts[d] < k:
            distances[row, starts[d]] = d
            positions[row, starts[d]] = found[row, place]
            starts[d] += 1


@compiled
def scan_within(words, queries, r):
    """All codes within `r` of each query: their number (q,), distances and positions.

    Codes are ordered by (query, distance, position).
    """
    n_queries, n = queries.shape[0], words.shape[1]
    size = max(BLOCK_WORDS // words.shape[0], STEP) // STEP * STEP
    found = np.empty((1, 4 * size), dtype=np.uint32)
    keys = np.empty(4 * size, dtype=np.uint32)
    starts = np.zeros(n_queries * (r + 1) + 1, dtype=np.int64)
    total = 0
    for begin in range(0, n, size):
        for row in range(n_queries):
            if total + size > len(keys):
                keys, found = _longer(keys, found)
            end = min(begin + size, n)
            n_found = _collect(words, begin, end, queries, row, r + 1, found, 0, total, False)
            for place in range(total, n_found):
                key = row * (r + 1) + distance(words, found[0, place], queries, row)
                keys[place] = key
                starts[key + 1] += 1
            total = n_found
    return _by_key(found, keys, total, starts, n_queries, r)


@compiled
def _longer(keys, found):
    """Copies of both arrays with twice the length."""
    n = len(keys)
    more_keys, more_found = np.empty(2 * n, dtype=np.uint32), np.empty((1, 2 * n), dtype=np.uint32)
    more_keys[:n], more_found[0, :n] = keys, found[0]
    return more_keys, more_found


@compiled
def _by_key(found, keys, total, starts, n_queries, r):
    """Sort codes, which are in the order of position, by query and distance."""
    for key in range(len(starts) - 1):
        starts[key + 1] += starts[key]
    counts = np.empty(n_queries, dtype=np.int64)
    for row in range(n_queries):
        counts[row] = starts[(row + 1) * (r + 1)] - starts[row * (r + 1)]
    distances = np.empty(total, dtype=np.int32)
    positions = np.empty(total, dtype=np.int64)
    for place in range(total):
        key = keys[place]
        distances[starts[key]] = key % (r + 1)
        positions[starts[key]] = found[0, place]
        starts[key] += 1
    return counts, distances, positions
