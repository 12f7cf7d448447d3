"""Codes in layers: many codes that stay as they are, and beside them the few that came since.

Buckets and copies of the many codes take a while to make. So a code that is removed stays in its
place, and searches leave it out; a code that is added comes into a run of its own, and searches
look there, too. Layers never change: a change makes new ones, which share their arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.index._engine import Distances, Engine, Positions
from zshash.index._runs import Ids, Run, Words, empty_run, holds, merge

__all__ = ["Layers"]

LEAST_KEPT = 1 << 16  # codes; buckets for fewer are made again in no time
MOST_LOOSE = 1 / 8  # of the codes in the buckets: so many may have come or gone since
SPARE = 16  # codes that a search finds in place of those that were removed
NONE = np.empty(0, dtype=np.int64)

Keys = NDArray[Any]  # distances or scores
Find = Callable[[Any, int], tuple[Keys, Positions]]


@dataclass(frozen=True)
class Layers:
    """Codes under ids, in layers.

    Attributes
    ----------
    n_bits : int
    base : Run
        Codes that stay as they are.
    dead : ndarray of int64
        Positions of the codes of `base` that were removed, in ascending order.
    later : tuple of Run
        Codes that came since.
    engine : Engine
        Searches in `base`.
    """

    n_bits: int
    base: Run
    dead: Positions = field(default_factory=lambda: NONE)
    later: tuple[Run, ...] = ()

    @cached_property
    def engine(self) -> Engine:
        """The engine for the codes that stay."""
        return Engine(self.base.words, self.n_bits)

    @classmethod
    def of(cls, n_bits: int, runs: list[Run]) -> "Layers":
        """Layers of runs with different ids."""
        return cls(n_bits, empty_run(n_bits), later=tuple(runs))

    def __len__(self) -> int:
        return len(self.base.ids) - len(self.dead) + sum(len(run.ids) for run in self.later)

    @property
    def n_loose(self) -> int:
        """Number of codes that came or went since the buckets were made."""
        return len(self.dead) + sum(len(run.ids) for run in self.later)

    @property
    def nbytes(self) -> int:
        """Bytes of ids, codes and buckets."""
        runs = sum(run.ids.nbytes + run.words.nbytes for run in (self.base, *self.later))
        return runs + self.dead.nbytes + self.engine.bucket_bytes

    @property
    def _is_kept(self) -> bool:
        """Whether the buckets are worth more than what came since costs."""
        n = len(self.base.ids)
        is_large = n >= LEAST_KEPT and self.n_loose <= MOST_LOOSE * n
        return is_large and self.engine.bucket_bytes > 0

    def settled(self) -> "Layers":
        """The same codes, ready to be searched: in at most two runs, the second much smaller."""
        if not self._is_kept:
            return self if not self.n_loose else Layers(self.n_bits, self.whole)
        if len(self.later) < 2:
            return self
        return self._changed(later=(merge(list(self.later)),))

    def _changed(self, **parts: Any) -> "Layers":
        """Layers with other parts; the engine stays while its buckets are worth it."""
        changed = replace(self, **parts)
        vars(changed)["engine"] = self.engine
        return changed if changed._is_kept else replace(self, **parts)

    @cached_property
    def whole(self) -> Run:
        """All codes as one run."""
        if not self.n_loose:
            return self.base
        base = self.base
        if len(self.dead):
            alive = np.ones(len(base.ids), dtype=bool)
            alive[self.dead] = False
            base = base.take(alive)
        return merge([base, *self.later])

    @cached_property
    def ids(self) -> Ids:
        """All ids in ascending order."""
        if not self.n_loose:
            return self.base.ids
        ids = [np.delete(self.base.ids, self.dead), *(run.ids for run in self.later)]
        together: Ids = np.sort(np.concatenate(ids), kind="stable")
        together.flags.writeable = False
        return together

    def holds(self, ids: Ids) -> NDArray[np.bool_]:
        """Which of the ids there are."""
        found = holds(self.base.ids, ids)
        if len(self.dead):
            found &= ~holds(self.base.ids[self.dead], ids)
        for run in self.later:
            found |= holds(run.ids, ids)
        return found

    def added(self, run: Run) -> "Layers":
        """Layers with a further run, which is merged with those of like size."""
        runs = [*self.later, run]
        while len(runs) > 1 and len(runs[-2].ids) < 2 * len(runs[-1].ids):
            runs[-2:] = [merge(runs[-2:])]
        return self._changed(later=tuple(runs))

    def without(self, ids: Ids) -> "Layers":
        """Layers without the codes under the given ids, which are in ascending order."""
        gone = np.searchsorted(self.base.ids, ids[holds(self.base.ids, ids)])
        dead = np.union1d(self.dead, gone)
        later = tuple(run.take(~holds(ids, run.ids)) for run in self.later)
        return self._changed(dead=dead, later=tuple(run for run in later if len(run.ids)))

    def take(self, ids: Ids) -> Run:
        """Run of the codes under the given ids, in the order of the ids; all must be there."""
        words: Words = np.empty((len(self.base.words), len(ids)), dtype=np.uint64)
        for run in (self.base, *self.later):  # a later code is the one that counts
            own = holds(run.ids, ids)
            words[:, own] = run.words[:, np.searchsorted(run.ids, ids[own])]
        return Run(ids, words)

    def based_on(self, base: Run, engine: Engine) -> "Layers":
        """Layers of the same codes upon other codes that stay."""
        whole = self.whole
        there = holds(base.ids, whole.ids)
        places = np.searchsorted(base.ids, whole.ids[there])
        is_same = (base.words[:, places] == whole.words[:, there]).all(axis=0)
        there[there] = is_same
        dead = np.ones(len(base.ids), dtype=bool)
        dead[places[is_same]] = False
        later = () if there.all() else (whole.take(~there),)
        made = Layers(self.n_bits, base, np.flatnonzero(dead), later)
        vars(made)["engine"] = engine
        return made

    def nearest(self, queries: Words, k: int) -> tuple[Distances, Ids]:
        """Distances and ids (q, k) of the nearest codes, by (distance, id); `settled` ones."""
        return self._best(lambda engine: engine.nearest, queries, k, 1)

    def heaviest(self, vectors: NDArray[np.float64], k: int) -> tuple[NDArray[np.float64], Ids]:
        """Largest inner products with codes of ±1, and ids (q, k), ties by id; `settled` ones."""
        return self._best(lambda engine: engine.heaviest, vectors, k, -1)

    def within(self, queries: Words, r: int) -> tuple[Positions, Distances, Ids]:
        """Numbers of codes within `r` of each query (q,); distances and ids, in order."""
        counts, distances, positions = self.engine.within(queries, r)
        ids = self.base.ids_at(positions)
        if not self.n_loose:
            return counts, distances, ids
        rows = np.repeat(np.arange(len(queries)), counts)
        left = ~holds(self.dead, positions)
        found = [(rows[left], distances[left], ids[left])]
        for run in self.later:
            counts, distances, positions = self._engine_of(run).within(queries, r)
            rows = np.repeat(np.arange(len(queries)), counts)
            found.append((rows, distances, run.ids[positions]))
        rows, distances, ids = map(np.concatenate, zip(*found, strict=True))
        order = np.lexsort((ids, distances, rows))
        return np.bincount(rows, minlength=len(queries)), distances[order], ids[order]

    def _best(
        self, way: Callable[[Engine], Find], queries: Any, k: int, sign: int
    ) -> tuple[Keys, Ids]:
        keys, positions = self._living(way(self.engine), queries, k)
        ids = self.base.ids_at(positions)
        for run in self.later:
            more, positions = way(self._engine_of(run))(queries, min(k, len(run.ids)))
            keys = np.concatenate([keys, more], axis=1)
            ids = np.concatenate([ids, run.ids[positions]], axis=1)
        if self.later:
            order = np.lexsort((ids, sign * keys), axis=1)[:, :k]
            keys, ids = np.take_along_axis(keys, order, 1), np.take_along_axis(ids, order, 1)
        return keys, ids

    def _living(self, find: Find, queries: Any, k: int) -> tuple[Keys, Positions]:
        """The best k codes that stay, without those that were removed; fewer if there are fewer."""
        n, n_dead = len(self.base.ids), len(self.dead)
        k = min(k, n - n_dead)
        if not n_dead:
            return find(queries, k)
        best = _first(self.dead, k, *find(queries, min(k + SPARE, n)))
        short = np.flatnonzero(holds(self.dead, best[1].ravel()).reshape(best[1].shape).any(axis=1))
        if len(short):
            again = _first(self.dead, k, *find(queries[short], min(k + n_dead, n)))
            for column, other in zip(best, again, strict=True):
                column[short] = other
        return best

    def _engine_of(self, run: Run) -> Engine:
        """The engine for a later run, kept for as long as these layers."""
        engines: dict[int, Engine] = vars(self).setdefault("_engines", {})
        if id(run) not in engines:
            engines[id(run)] = Engine(run.words, self.n_bits)
        return engines[id(run)]


def _first(dead: Positions, k: int, keys: Keys, positions: Positions) -> tuple[Keys, Positions]:
    """The first k columns of each row, those of dead codes behind all others."""
    is_dead = holds(dead, positions.ravel()).reshape(positions.shape)
    if not is_dead.any():
        return keys[:, :k], positions[:, :k]
    order = np.argsort(is_dead, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(keys, order, 1), np.take_along_axis(positions, order, 1)
