"""Exact neighbours, ordered by (distance, id), from a server that promises neither.

A server returns some thousand rows at most, and chance decides which of several rows at the same
distance it returns. So the group of rows at the distance where an answer is cut off is asked for by
itself. If the group is still too large, it is split at the median of the returned ids, again and
again: at least half of an answer's rows lie on each side, so every request brings new rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from zshash.index._checks import INT64
from zshash.index._milvus_table import Hits, Rows, Table, both, span
from zshash.index._runs import Codes, Ids

__all__ = ["NOTHING", "all_rows", "nearest", "ordered", "within"]

SPARE = 64  # rows beyond k, because most queries have several rows at the last distance
FEW = 1024  # rows that suffice for most groups: servers are slow if more are asked for

NOTHING = Hits(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))


@dataclass
class _Row:
    """The neighbours of one query, as far as they are known.

    Attributes
    ----------
    missing : int
        Number of neighbours still to be found.
    start : int
        All neighbours nearer than this distance are known.
    """

    missing: int
    start: int = 0
    parts: list[Hits] = field(default_factory=list)

    def take(self, hits: Hits, *, is_all: bool) -> None:
        """Keep the certain rows of an answer from `start` on: all before its last distance."""
        if is_all:
            self._keep(hits)
            self.missing = 0
            return
        self.start = int(hits.distances.max())
        sure = hits.distances < self.start
        self._keep(Hits(hits.distances[sure], hits.ids[sure]))

    def take_group(self, parts: Iterator[Hits]) -> None:
        """Keep rows at the distance `start`, ids ascending from part to part, as far as needed."""
        for part in parts:
            self._keep(part)
            if self.missing <= 0:
                break
        self.start += 1

    def _keep(self, hits: Hits) -> None:
        self.parts.append(hits)
        self.missing -= len(hits.ids)


def nearest(table: Table, queries: Codes, k: int, n_bits: int, condition: str = "") -> list[Hits]:
    """The `k` nearest rows of each query, ordered; fewer if the table has fewer."""
    rows = [_Row(k) for _ in queries]
    limit = min(k + SPARE, table.limit)
    for row, hits in zip(rows, table.nearest(queries, limit, condition), strict=True):
        row.take(hits, is_all=len(hits.ids) < limit)
    while any(row.missing > 0 for row in rows):
        for distance, places in _by_start(rows):
            groups = _all(table, queries[places], distance, distance + 1, condition)
            for place, parts in zip(places, groups, strict=True):
                rows[place].take_group(parts)
        for start, places in _by_start(rows):
            far = queries[places] if start <= n_bits else queries[:0]
            answers = table.between(far, start, n_bits + 1, table.limit, condition)
            for place in places:
                hits = next(answers, NOTHING)
                rows[place].take(hits, is_all=len(hits.ids) < table.limit)
    return [ordered(row.parts, k) for row in rows]


def _by_start(rows: Sequence[_Row]) -> list[tuple[int, list[int]]]:
    """Places of incomplete rows, by the distance from which on neighbours are missing."""
    groups: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        if row.missing > 0:
            groups.setdefault(row.start, []).append(place)
    return list(groups.items())


def within(table: Table, queries: Codes, r: int, condition: str = "") -> list[Hits]:
    """All rows within a radius of each query, ordered."""
    return [ordered(list(parts)) for parts in _all(table, queries, 0, r + 1, condition)]


def _all(
    table: Table, queries: Codes, low: int, high: int, condition: str
) -> Iterator[Iterator[Hits]]:
    """For each query all rows between two distances, ids ascending from part to part."""
    few = min(FEW, table.limit)
    answers = table.between(queries, low, high, few, condition)
    for query, hits in zip(queries, answers, strict=True):
        yield iter([hits]) if len(hits.ids) < few else _parts(table, query, low, high, condition)


def _parts(table: Table, query: Codes, low: int, high: int, condition: str) -> Iterator[Hits]:
    """All rows between two distances for one query that has many of them."""
    waiting = [(int(INT64.min), int(INT64.max))]
    while waiting:
        first, last = waiting.pop()
        own = both(span(first, last), condition)
        (found,) = table.between(query[None], low, high, table.limit, own)
        if len(found.ids) < table.limit:
            yield found
            continue
        middle = _middle(found.ids)
        waiting += [(middle + 1, last), (first, middle)]


def _middle(ids: Ids) -> int:
    """Median of several ids: at least half of them are not above it, and others are."""
    place = (len(ids) - 1) // 2
    return int(np.partition(ids, place)[place])


def ordered(parts: Sequence[Hits], k: int | None = None) -> Hits:
    """Several answers to one query joined, by (distance, id); with `k`, only the first ones."""
    distances = np.concatenate([part.distances for part in (NOTHING, *parts)])
    ids = np.concatenate([part.ids for part in (NOTHING, *parts)])
    order = np.lexsort((ids, distances))[:k]
    return Hits(distances[order], ids[order])


def all_rows(table: Table, condition: str = "", *, codes: bool) -> Iterator[Rows]:
    """All rows in ascending order of their ids, some thousand at a time."""
    first, last = int(INT64.min), int(INT64.max)
    while True:
        found = table.rows(both(span(first, last), condition), codes=codes)
        done = last
        if len(found.ids) >= table.limit:
            done = int(found.ids.max())
            if table.count(both(span(first, done), condition)) > len(found.ids):
                last = _middle(found.ids)  # rows are missing between these ids
                continue
        order = np.argsort(found.ids)
        yield Rows(found.ids[order], found.codes[order] if codes else found.codes)
        if done == INT64.max:
            return
        first, last = done + 1, int(INT64.max)
