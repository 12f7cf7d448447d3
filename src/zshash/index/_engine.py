"""Search among codes that do not change, in the way that takes the least work.

queries → buckets, where they are small enough → a scan for the queries that gave up
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._threads import n_threads, spread
from zshash.index._buckets import Buckets, choose_pieces, look, make_buckets, steps_within
from zshash.index._runs import Words
from zshash.index._scan import scan_nearest, scan_within
from zshash.index._weighted import heaviest, make_weights, round_vectors

__all__ = ["Distances", "Engine", "Positions"]

Distances = NDArray[np.int32]
Positions = NDArray[np.int64]
Rows = NDArray[np.int64]

TOGETHER = 32  # queries that pass over a block of codes in turn
LOOKS = 512  # queries that look into buckets in turn
PATIENCE = 0.25  # work that a query may spend on buckets, as a part of that of a scan
BUILD_WORK = 500  # that sorting a code into a table takes, counted as in `_buckets`
LARGE = 1 << 22  # words that several threads share in one scan
ALL = 1 << 60


class Engine:
    """Words (n_words, n), and their buckets once enough queries have come to pay for them.

    Parameters
    ----------
    words : ndarray of shape (n_words, n), uint64
    n_bits : int
    """

    def __init__(self, words: Words, n_bits: int) -> None:
        self._words, self._n_bits = words, n_bits
        self._pieces = choose_pieces(words.shape[1], n_bits)
        self._buckets: Buckets | None = None
        self._building = threading.Lock()
        self._queries_so_far = 0
        # From here on most queries gave up on buckets: so many neighbours, such a radius.
        self._too_many, self._too_wide = ALL, n_bits + 1

    @property
    def bucket_bytes(self) -> int:
        """Memory of the buckets, 0 where there are none."""
        return self._buckets.nbytes if self._buckets else 0

    def build(self) -> Buckets:
        """The buckets, made if need be."""
        with self._building:
            if self._buckets is None:
                self._buckets = make_buckets(self._words, self._pieces)
            return self._buckets

    def nearest(self, queries: Words, k: int) -> tuple[Distances, Positions]:
        """Distances and positions (q, k) of the nearest, by (distance, position)."""
        distances = np.empty((len(queries), k), dtype=np.int32)
        positions = np.empty((len(queries), k), dtype=np.int64)
        left = np.arange(len(queries))
        if k and k < self._too_many and (buckets := self._worth_it(len(queries), 1)):
            left = self._look_nearest(buckets, queries, k, distances, positions)
        if k and left.size:
            found = self._scan_nearest(queries[left], k)
            distances[left], positions[left] = found
        return distances, positions

    def within(self, queries: Words, r: int) -> tuple[Positions, Distances, Positions]:
        """How many are within `r` of each query (q,), their distances and positions, in order."""
        r = min(r, self._n_bits)
        parts: list[tuple[Rows, Any, Distances, Positions]] = []
        left = np.arange(len(queries))
        if r < self._too_wide and (buckets := self._worth_it(len(queries), r + 1)):
            left = self._look_within(buckets, queries, r, parts)
        rows = [left[start : start + TOGETHER] for start in range(0, len(left), TOGETHER)]
        scans = spread(lambda own: scan_within(self._words, queries[own], r), rows)
        parts += [(own, *found) for own, found in zip(rows, scans, strict=True)]
        return _joined(len(queries), parts)

    def heaviest(
        self, vectors: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.float64], Positions]:
        """Largest inner products with codes of ±1, and positions (q, k), ties by position."""
        whole, units = round_vectors(vectors)
        sums = np.empty((len(vectors), k), dtype=np.int64)
        positions = np.empty((len(vectors), k), dtype=np.int64)

        def search(part: slice) -> None:
            weights = make_weights(whole[part], len(self._words))
            heaviest(self._words, weights, k, sums[part], positions[part])

        if k:
            spread(search, list(_slices(len(vectors), TOGETHER)))
        # Each bit counts twice as much as its entry, above a code with all bits where it hurts.
        lowest = np.abs(whole).sum(axis=1)
        return (2 * sums - lowest[:, None]) * units[:, None], positions

    def _worth_it(self, n_queries: int, n_steps: int) -> Buckets | None:
        """Buckets, where they can win and queries so far would have paid for making them."""
        if steps_within(self._pieces, self._budget) < n_steps:
            return None
        if self._buckets is None:
            self._queries_so_far += n_queries
            if self._queries_so_far * len(self._words) < BUILD_WORK * len(self._pieces):
                return None
        return self._buckets or self.build()

    @property
    def _budget(self) -> int:
        return int(PATIENCE * self._words.size)

    def _look_nearest(
        self,
        buckets: Buckets,
        queries: Words,
        k: int,
        distances: Distances,
        positions: Positions,
    ) -> Rows:
        """Fill in what buckets tell; the rows of queries that gave up."""
        n_steps = min(steps_within(self._pieces, self._budget), self._n_bits + 1)

        def search(part: slice) -> Rows:
            is_complete, begins, apart, places = look(
                buckets, queries[part], k, n_steps, self._n_bits, self._budget
            )
            rows = np.flatnonzero(is_complete)
            first = begins[rows, None] + np.arange(k)
            distances[part][rows], positions[part][rows] = apart[first], places[first]
            return _given_up(part, is_complete)

        left, gave_up = _try_out(search, len(queries))
        if gave_up:
            self._too_many = min(self._too_many, k)
        return left

    def _look_within(self, buckets: Buckets, queries: Words, r: int, parts: list[Any]) -> Rows:
        """Add what buckets tell to `parts`; the rows of queries that gave up."""

        def search(part: slice) -> Rows:
            is_complete, begins, apart, places = look(
                buckets, queries[part], ALL, r + 1, r, self._budget
            )
            counts, rows = np.diff(begins), np.arange(part.start, part.stop)
            if not is_complete.all():
                kept = np.repeat(is_complete, counts)
                apart, places = apart[kept], places[kept]
                counts, rows = counts[is_complete], rows[is_complete]
            parts.append((rows, counts, apart, places))
            return _given_up(part, is_complete)

        left, gave_up = _try_out(search, len(queries))
        if gave_up:
            self._too_wide = min(self._too_wide, r)
        return left

    def _scan_nearest(self, queries: Words, k: int) -> tuple[Distances, Positions]:
        """As `nearest`, by comparing with all codes."""
        distances = np.empty((len(queries), k), dtype=np.int32)
        positions = np.empty((len(queries), k), dtype=np.int64)
        n = self._words.shape[1]

        def search(part: slice) -> None:
            scan_nearest(self._words, 0, n, queries[part], k, distances[part], positions[part])

        if len(queries) < n_threads() and self._words.size >= LARGE:
            return self._scan_in_parts(queries, k)
        spread(search, list(_slices(len(queries), TOGETHER)))
        return distances, positions

    def _scan_in_parts(self, queries: Words, k: int) -> tuple[Distances, Positions]:
        """As `nearest`, with the codes parted among the threads."""
        n, number = self._words.shape[1], n_threads()
        ends = [n * i // number for i in range(number + 1)]

        def search(part: tuple[int, int]) -> tuple[Distances, Positions]:
            own = min(k, part[1] - part[0])
            distances = np.empty((len(queries), own), dtype=np.int32)
            positions = np.empty((len(queries), own), dtype=np.int64)
            scan_nearest(self._words, *part, queries, own, distances, positions)
            return distances, positions

        found = spread(search, list(pairwise(ends)))
        distances, positions = (np.concatenate(kind, axis=1) for kind in zip(*found, strict=True))
        # Positions ascend from part to part, so a stable sort keeps their order.
        best = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(distances, best, 1), np.take_along_axis(positions, best, 1)


def _slices(n: int, size: int) -> Iterator[slice]:
    """Slices of at most `size`, and of like size."""
    number = max(1, -(-n // size))
    for begin, end in pairwise(n * i // number for i in range(number + 1)):
        if end > begin:
            yield slice(begin, end)


def _given_up(part: slice, is_complete: NDArray[np.bool_]) -> Rows:
    """Rows of the queries of a part that are not complete."""
    return np.flatnonzero(~is_complete) + int(part.start)


def _try_out(search: Callable[[slice], Rows], n: int) -> tuple[Rows, bool]:
    """Search for `n` queries, unless most of the first ones give up.

    Returns the rows left to do, and whether most gave up.
    """
    tried = min(n, TOGETHER)
    left = [search(slice(0, tried))]
    if 2 * len(left[0]) > tried:
        return np.concatenate([*left, np.arange(tried, n)]), True
    size = max(TOGETHER, min(LOOKS, -(-(n - tried) // n_threads())))
    rest = [slice(tried + part.start, tried + part.stop) for part in _slices(n - tried, size)]
    return np.concatenate([*left, *spread(search, rest)]), False


def _joined(
    n_queries: int, parts: Sequence[tuple[Rows, Any, Distances, Positions]]
) -> tuple[Positions, Distances, Positions]:
    """Counts, distances and positions of all queries in order, from parts of some queries each."""
    counts = np.zeros(n_queries, dtype=np.int64)
    for rows, own, _, _ in parts:
        counts[rows] = own
    if not parts:
        return counts, np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    owners = np.concatenate([np.repeat(rows, own) for rows, own, _, _ in parts])
    distances = np.concatenate([part[2] for part in parts])
    positions = np.concatenate([part[3] for part in parts])
    if (owners[1:] >= owners[:-1]).all():
        return counts, distances, positions
    order = np.argsort(owners, kind="stable")
    return counts, distances[order], positions[order]
