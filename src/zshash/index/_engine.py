"""Search among codes that do not change, by whichever way takes the least work.

queries → buckets, where they are small enough → a scan for the queries that gave up
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from zshash._threads import n_threads, spread
from zshash.index._buckets import CHUNK, look, steps_within
from zshash.index._real import heaviest, make_weights, round_vectors
from zshash.index._runs import Words
from zshash.index._scan import scan_nearest, scan_within
from zshash.index._tables import Buckets, choose_pieces, make_buckets

__all__ = ["Distances", "Engine", "Positions", "slices"]

Distances = NDArray[np.int32]
Positions = NDArray[np.int64]
Rows = NDArray[np.int64]
Result = TypeVar("Result")

TOGETHER = 32  # queries that pass over a block of codes in turn
LOOKS = 512  # queries that look into buckets in turn
PATIENCE = 0.25  # work that a query may spend on buckets, as a part of a scan's work
BUILD_WORK = 200  # work of sorting one code into a table, in the unit of `_buckets`
LARGE = 1 << 22  # words from which on several threads share one scan
ALL = 1 << 60
MOST_ROOM = 1 << 20  # entries that a thread keeps between searches


class Part(NamedTuple):
    """Results for some queries: their rows, number of codes of each, distances and positions."""

    rows: Rows
    counts: NDArray[np.int64]
    distances: Distances
    positions: Positions

    def only(self, wanted: NDArray[np.bool_]) -> "Part":
        """Results for the given subset of queries."""
        if wanted.all():
            return self
        kept = np.repeat(wanted, self.counts)
        return Part(
            self.rows[wanted], self.counts[wanted], self.distances[kept], self.positions[kept]
        )


class Engine:
    """Searches in codes, by a scan, or by buckets once enough queries have come to pay for them.

    Parameters
    ----------
    words : ndarray of shape (n_words, n), uint64
    n_bits : int
    buckets : Buckets, optional
        The buckets, if they have been made before.
    """

    def __init__(self, words: Words, n_bits: int, buckets: Buckets | None = None) -> None:
        self._words, self._n_bits = words, n_bits
        self._pieces = choose_pieces(words.shape[1], n_bits)
        self._buckets = buckets
        self._building = threading.Lock()
        self._queries_so_far = 0
        self._budget = int(PATIENCE * words.size)
        self._n_steps = min(steps_within(self._pieces, self._budget), n_bits + 1)
        # Largest k and radius for which most queries were complete by buckets, and smallest for
        # which most gave up.
        self._few, self._near = 0, -1
        self._too_many, self._too_wide = ALL, n_bits + 1

    @property
    def bucket_bytes(self) -> int:
        """Bytes of the buckets, 0 if there are none."""
        return self._buckets.nbytes if self._buckets else 0

    def build(self) -> Buckets:
        """The buckets, made if need be."""
        with self._building:
            if self._buckets is None:
                self._buckets = make_buckets(self._words, self._pieces)
            return self._buckets

    def nearest(self, queries: Words, k: int) -> tuple[Distances, Positions]:
        """Distances and positions (q, k) of the nearest codes, by (distance, position)."""
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
        """Numbers of codes within `r` of each query (q,); distances and positions, in order."""
        r = min(r, self._n_bits)
        parts: list[Part] = []
        left = np.arange(len(queries))
        if r < self._too_wide and (buckets := self._worth_it(len(queries), r + 1)):
            parts, left = self._look_within(buckets, queries, r)
        rows = [left[start : start + TOGETHER] for start in range(0, len(left), TOGETHER)]
        scans = spread(lambda own: scan_within(self._words, queries[own], r), rows)
        return _joined([*parts, *(Part(own, *scan) for own, scan in zip(rows, scans, strict=True))])

    def heaviest(
        self, vectors: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.float64], Positions]:
        """Largest inner products with codes of ±1, and positions (q, k), ties by position."""
        whole, exponents = round_vectors(vectors)
        sums = np.empty((len(vectors), k), dtype=np.int64)
        positions = np.empty((len(vectors), k), dtype=np.int64)

        def search(part: slice) -> None:
            weights = make_weights(whole[part], len(self._words))
            heaviest(self._words, weights, k, sums[part], positions[part])

        if k:
            spread(search, list(slices(len(vectors), TOGETHER)))
        # Scores count up from the lowest possible one; a bit adds twice its entry's size.
        lowest = np.abs(whole).sum(axis=1)
        scores = (2 * sums - lowest[:, None]).astype(np.float64)
        return np.ldexp(scores, exponents[:, None]), positions

    def _worth_it(self, n_queries: int, n_steps: int) -> Buckets | None:
        """Buckets, or None where a scan is faster or too few queries have come to pay for them."""
        if self._n_steps < n_steps:
            return None
        if self._buckets is None:
            self._queries_so_far += n_queries
            if self._queries_so_far * len(self._words) < BUILD_WORK * len(self._pieces):
                return None
        return self._buckets or self.build()

    def _look_nearest(
        self,
        buckets: Buckets,
        queries: Words,
        k: int,
        distances: Distances,
        positions: Positions,
    ) -> Rows:
        """Fill in results found by buckets; return the rows of queries that gave up."""

        def search(part: slice) -> Rows:
            is_complete, begins, apart, places, _own.room = look(
                buckets, queries[part], k, self._n_steps, self._n_bits, self._budget, _room()
            )
            rows = np.flatnonzero(is_complete)
            first = begins[rows, None] + np.arange(k)
            distances[part][rows], positions[part][rows] = apart[first], places[first]
            return np.flatnonzero(~is_complete) + int(part.start)

        left, others, goes_well = _try_out(search, len, len(queries), is_sure=k <= self._few)
        if goes_well is True:
            self._few = max(self._few, k)
        elif goes_well is False:
            self._too_many = min(self._too_many, k)
        return np.concatenate([*left, others])

    def _look_within(self, buckets: Buckets, queries: Words, r: int) -> tuple[list[Part], Rows]:
        """Results found by buckets, and the rows of queries that gave up."""

        def search(part: slice) -> tuple[Part, Rows]:
            is_complete, begins, apart, places, _own.room = look(
                buckets, queries[part], ALL, r + 1, r, self._budget, _room()
            )
            rows = np.arange(part.start, part.stop)
            found = Part(rows, np.diff(begins), apart, places)
            return found.only(is_complete), rows[~is_complete]

        found, others, goes_well = _try_out(
            search, lambda result: len(result[1]), len(queries), is_sure=r <= self._near
        )
        if goes_well is True:
            self._near = max(self._near, r)
        elif goes_well is False:
            self._too_wide = min(self._too_wide, r)
        left = [rows for _, rows in found]
        return [part for part, _ in found], np.concatenate([*left, others])

    def _scan_nearest(self, queries: Words, k: int) -> tuple[Distances, Positions]:
        """Do the same as `nearest`, by comparing with all codes."""
        distances = np.empty((len(queries), k), dtype=np.int32)
        positions = np.empty((len(queries), k), dtype=np.int64)
        n = self._words.shape[1]

        def search(part: slice) -> None:
            scan_nearest(self._words, 0, n, queries[part], k, distances[part], positions[part])

        if self._words.size >= LARGE and len(queries) < n_threads():
            return self._scan_in_parts(queries, k)
        spread(search, list(slices(len(queries), TOGETHER)))
        return distances, positions

    def _scan_in_parts(self, queries: Words, k: int) -> tuple[Distances, Positions]:
        """Do the same as `nearest`, with the codes divided among the threads."""
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


_own = threading.local()


def _room() -> NDArray[np.int64]:
    """Array to work in, kept by this thread: allocating it each time takes as long as a search."""
    if not hasattr(_own, "room") or len(_own.room) > MOST_ROOM:
        _own.room = np.empty(CHUNK, dtype=np.int64)
    room: NDArray[np.int64] = _own.room
    return room


def slices(n: int, size: int) -> Iterator[slice]:
    """Slices of 0..n, each of at most `size`, and all of about the same size."""
    number = max(1, -(-n // size))
    for begin, end in pairwise(n * i // number for i in range(number + 1)):
        if end > begin:
            yield slice(begin, end)


def _try_out(
    search: Callable[[slice], Result], n_given_up: Callable[[Result], int], n: int, is_sure: bool
) -> tuple[list[Result], Rows, bool | None]:
    """Search for `n` queries, but if most of the first ones give up, leave out the others.

    If it `is_sure` to go well, nothing is tried out first. Returns the results in order, the rows
    of the queries left out, and whether it went well, or None for too few queries to tell.
    """
    first: list[Result] = []
    tried = 0 if is_sure else min(n, TOGETHER)
    can_tell = is_sure or 2 * tried >= TOGETHER
    if tried:
        first = [search(slice(0, tried))]
        if 2 * n_given_up(first[0]) > tried:
            return first, np.arange(tried, n), False if can_tell else None
    size = LOOKS
    if n - tried > TOGETHER:
        size = max(TOGETHER, min(LOOKS, -(-(n - tried) // n_threads())))
    rest = [slice(tried + part.start, tried + part.stop) for part in slices(n - tried, size)]
    return [*first, *spread(search, rest)], np.arange(0), True if can_tell else None


def _joined(parts: Sequence[Part]) -> tuple[Positions, Distances, Positions]:
    """Counts, distances and positions of all queries, in the order of their rows."""
    nothing = np.empty(0, dtype=np.int64)
    parts = parts or [Part(nothing, nothing, nothing.astype(np.int32), nothing)]
    rows, counts, distances, positions = (
        column[0] if len(column) == 1 else np.concatenate(column)
        for column in zip(*parts, strict=True)
    )
    if (rows[1:] > rows[:-1]).all():
        return counts, distances, positions
    order = np.argsort(np.repeat(rows, counts), kind="stable")
    return counts[np.argsort(rows)], distances[order], positions[order]
