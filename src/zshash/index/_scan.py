"""Compare queries with codes, block by block, so that memory stays bounded."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from zshash.codes import hamming

Codes = NDArray[np.uint8]
Ids = NDArray[np.int64]
Distances = NDArray[np.int32]

# Codes scanned at a time, and pairs of a query and a code compared at a time.
ROWS, PAIRS = 1 << 16, 1 << 20


def nearest(queries: Codes, codes: Codes, k: int) -> tuple[Distances, Ids]:
    """Distances and positions (q, k) of the nearest codes, by (distance, position)."""
    # One integer that sorts like the pair, so that a partition finds the nearest.
    n = max(len(codes), 1)
    keys = np.empty((len(queries), 0), dtype=np.int64)
    for start, distances in _scan(queries, codes):
        position = np.arange(start, start + distances.shape[1])
        keys = np.concatenate([keys, distances * np.int64(n) + position], axis=1)
        if keys.shape[1] > k:
            keys = np.partition(keys, k - 1, axis=1)[:, :k]
    ordered = np.sort(keys, axis=1)
    return (ordered // n).astype(np.int32), ordered % n


def within(queries: Codes, codes: Codes, r: int) -> tuple[Ids, Distances, Ids]:
    """Query, distance and position of every pair within `r`, in this order of importance."""
    found = [
        (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))
    ]
    for start, distances in _scan(queries, codes):
        query, position = np.nonzero(distances <= r)
        found.append((query, distances[query, position].astype(np.int32), position + start))
    query, distance, position = (np.concatenate(column) for column in zip(*found, strict=True))
    # Positions ascend already, and lexsort is stable.
    order = np.lexsort((distance, query))
    return query[order], distance[order], position[order]


def _scan(queries: Codes, codes: Codes) -> Iterator[tuple[int, NDArray[np.uint16]]]:
    """Distances of the queries to one block of codes after the other, with where it starts."""
    for start in range(0, len(codes), ROWS):
        yield start, hamming(queries, codes[start : start + ROWS])


def parts(n_queries: int, n_codes: int, n_results: int = 0) -> Iterator[slice]:
    """Slices of the queries, so short that no array has more than `PAIRS` entries.

    The exception is one query with more results than that.
    """
    step = max(1, PAIRS // max(min(n_codes, ROWS), n_results, 1))
    for start in range(0, n_queries, step):
        yield slice(start, min(start + step, n_queries))
