"""An exact Hamming index in memory.

The codes lie in runs, each sorted by id. Adding appends a run and merges runs of like size, so
that a code is copied about log2(n) times however small the batches are. Searching first merges
all runs into one, and the engine searches in that one; but many codes that lie in buckets stay as
they are, and the few that came since are searched beside them (`_layers`).
"""

import threading
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.codes import check_codes, check_integer, unpack
from zshash.index._checks import (
    INT64,
    check_ids,
    check_new_ids,
    check_vectors,
    check_width,
    next_ids,
    some,
)
from zshash.index._engine import Distances, Engine
from zshash.index._layers import Layers
from zshash.index._runs import Codes, Ids, Run, as_codes, as_words, merge
from zshash.index._shared import share

__all__ = ["HammingIndex"]

SOME_CODES = 4096  # enough for buckets to be of use


class HammingIndex:
    """Packed codes under integer ids, searched exactly by Hamming distance.

    Neighbours come ordered by (distance, id). Codes and ids take 8 bytes an id and 8 bytes for
    every 64 bits begun. After enough queries to pay for it, codes are also sorted into buckets
    (see `prepare`). Several threads may share an index: a search sees the codes as they
    were when it began. One search uses as many threads as BLAS would, which ``OMP_NUM_THREADS``
    and threadpoolctl set.

    Parameters
    ----------
    n_bits : int
        Length of the codes, from 8 to 1024 bits.

    Examples
    --------
    >>> index = HammingIndex(n_bits=8)
    >>> index.add(np.array([[0b0000], [0b0001], [0b0111]], dtype=np.uint8), ids=[30, 20, 10])
    >>> query = np.array([[0b0011]], dtype=np.uint8)
    >>> index.search(query, k=2)
    (array([[1, 1]], dtype=int32), array([[10, 20]]))
    >>> index.radius(query, r=2)
    (array([0, 3]), array([1, 1, 2], dtype=int32), array([10, 20, 30]))
    >>> index.remove([20])
    1
    >>> 20 in index, len(index)
    (False, 2)
    """

    def __init__(self, n_bits: int) -> None:
        self._n_bits = check_width(n_bits)
        self._next_id = 0
        self._layers = Layers.of(n_bits, [])
        self._changing = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        """State for a copy: everything but the lock and the buckets."""
        runs = [self._layers.whole]
        return {"n_bits": self._n_bits, "next_id": self._next_id, "runs": runs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        HammingIndex.__init__(self, state["n_bits"])
        self._next_id = state["next_id"]
        self._set(Layers.of(self._n_bits, state["runs"]))

    @property
    def n_bits(self) -> int:
        """Length of the codes in bits."""
        return self._n_bits

    @property
    def ids(self) -> Ids:
        """All ids in ascending order (n,), read-only."""
        return self._layers.ids

    @property
    def codes(self) -> Codes:
        """All codes in the order of `ids` (n, bytes), a copy."""
        return as_codes(self._layers.whole.words, self._n_bits)

    @property
    def nbytes(self) -> int:
        """Bytes of ids, codes and buckets."""
        return self._layers.nbytes

    @property
    def is_prepared(self) -> bool:
        """Whether there are no codes, or most of them are sorted into buckets."""
        return not len(self) or self._layers.engine.bucket_bytes > 0

    @property
    def n_loose(self) -> int:
        """Number of codes that were added or removed since `prepare`."""
        return self._layers.n_loose

    def __len__(self) -> int:
        return len(self._layers)

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, int | np.integer) or not INT64.min <= item <= INT64.max:
            return False
        return bool(self._layers.holds(np.array([item], dtype=np.int64))[0])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_bits={self._n_bits})"

    def add(self, codes: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Add codes (n, bytes) under new ids (n,), by default those after the largest ever used.

        An id that is taken or given twice is refused, and then nothing is added.
        """
        codes = check_codes("codes", codes, self._n_bits)
        with self._changing:
            ids = self._new_ids(ids, len(codes))
            if len(ids) == 0:
                return
            self._set(self._layers.added(merge([Run(ids, as_words(codes))])))
            self._next_id = max(self._next_id, int(ids.max()) + 1)

    def remove(self, ids: ArrayLike) -> int:
        """Remove the codes under `ids` and return how many there were.

        If an id is unknown, ValueError is raised and nothing is removed.
        """
        unwanted = np.unique(check_ids(ids))
        with self._changing:
            unknown = unwanted[~self._layers.holds(unwanted)]
            if len(unknown):
                raise ValueError(f"the index does not hold {some(unknown)}, so nothing was removed")
            if len(unwanted):
                self._set(self._layers.without(unwanted))
        return len(unwanted)

    def get(self, ids: ArrayLike) -> Codes:
        """Codes under the given ids, a row each.

        >>> index = HammingIndex(n_bits=8)
        >>> index.add(np.array([[1], [2], [3]], dtype=np.uint8))
        >>> index.get([2, 0]).tolist()
        [[3], [1]]
        """
        return as_codes(self._taken(check_ids(ids)).words, self._n_bits)

    def subset(self, ids: ArrayLike) -> "HammingIndex":
        """Index of the codes under the given ids, with the same ids.

        >>> index = HammingIndex(n_bits=8)
        >>> index.add(np.array([[1], [2], [3]], dtype=np.uint8))
        >>> index.subset([2, 0]).ids
        array([0, 2])
        """
        part = HammingIndex(self._n_bits)
        part._set(Layers.of(self._n_bits, [self._taken(np.unique(check_ids(ids)))]))
        part._next_id = self._next_id
        return part

    def in_memory(self) -> "HammingIndex":
        """A copy, which stays as it is when this index changes; both share their arrays."""
        return copy(self)

    @staticmethod
    def compile() -> None:
        """Compile all that searches need, or load it from Numba's cache: the first search does."""
        codes = np.random.default_rng(0).integers(0, 256, (SOME_CODES, 8), dtype=np.uint8)
        index = HammingIndex(64)
        index.add(codes)
        for _ in ("by a scan", "by buckets"):
            index.search(codes[:1], 1)
            index.radius(codes[:1], 1)
            index.prepare()
        index.search(codes[:1], SOME_CODES)
        index.search_real(unpack(codes[:1], 64).astype(np.float64), 1)

    def prepare(self, shared: Path | None = None) -> None:
        """Sort the codes into buckets now, rather than when enough queries have come.

        Buckets make searches with a small radius, or for few neighbours among clustered codes, much
        faster. Buckets take
        8 bytes for every 64 bits begun and 4 more, times up to eight tables (three for a million
        codes of 64 bits). They last while few of many codes change. Other threads may search and
        change the index meanwhile.

        Parameters
        ----------
        shared : Path, optional
            Folder in which processes share the codes and their buckets. All of these processes give
            the same folder, and nobody else may write there. Codes and buckets are files then that
            each process maps into its memory. If another process has left such files for almost
            the same codes, these are used.
        """
        layers = self._layers
        if not len(layers) or (not layers.n_loose and layers.engine.bucket_bytes and not shared):
            return
        if shared is None:
            run = layers.whole
            engine = Engine(run.words, self._n_bits)
            engine.build()
        else:
            run, engine = share(shared, layers)
        while True:  # what has changed meanwhile comes into later layers
            based = self._layers
            made = based.based_on(run, engine)
            with self._changing:
                if self._layers is based:
                    self._layers = made
                    return

    def search(self, queries: ArrayLike, k: int) -> tuple[Distances, Ids]:
        """Find the `k` nearest codes of each query.

        Parameters
        ----------
        queries : uint8 array of shape (q, bytes)
            Packed codes.
        k : int
            Number of neighbours to find, at least 1; all codes if the index holds fewer.

        Returns
        -------
        distances, ids : int32 and int64 arrays of shape (q, min(k, len(index)))
            Each row ordered by (distance, id).
        """
        queries = check_codes("queries", queries, self._n_bits)
        layers = self._current()
        return layers.nearest(_rows(queries), min(check_integer("k", k, 1), len(layers)))

    def radius(self, queries: ArrayLike, r: int) -> tuple[Ids, Distances, Ids]:
        """Find all codes within distance `r` of each query, `r` included.

        Parameters
        ----------
        queries : uint8 array of shape (q, bytes)
            Packed codes.
        r : int
            The largest distance, at least 0.

        Returns
        -------
        limits : int64 array of shape (q + 1,)
            The neighbours of query i are the entries limits[i] to limits[i + 1].
        distances, ids : int32 and int64 arrays of shape (limits[-1],)
            Each query's part ordered by (distance, id).
        """
        queries = check_codes("queries", queries, self._n_bits)
        r = check_integer("r", r, 0)
        counts, distances, ids = self._current().within(_rows(queries), r)
        return np.concatenate([[0], np.cumsum(counts)]), distances, ids

    def search_real(self, vectors: ArrayLike, k: int) -> tuple[NDArray[np.float64], Ids]:
        """Find the `k` codes of the largest inner product with each vector.

        A bit of a code counts as +1 if it is set, and as −1 if not. Entries are rounded to
        40 binary digits below the largest of their vector; sums are exact.

        Parameters
        ----------
        vectors : array of shape (q, n_bits)
            Real numbers, one for each bit.
        k : int
            Number of codes to find, at least 1; all codes if the index holds fewer.

        Returns
        -------
        scores, ids : float64 and int64 arrays of shape (q, min(k, len(index)))
            Each row ordered by falling score, then by id.

        Examples
        --------
        >>> index = HammingIndex(n_bits=8)
        >>> index.add(np.array([[0b11000000], [0b10000000], [0]], dtype=np.uint8))
        >>> index.search_real([[3, -1, 0, 0, 0, 0, 0, 0]], k=2)
        (array([[4., 2.]]), array([[1, 0]]))
        """
        vectors = check_vectors(vectors, self._n_bits)
        layers = self._current()
        return layers.heaviest(vectors, min(check_integer("k", k, 1), len(layers)))

    def _taken(self, ids: Ids) -> Run:
        """Run of the codes under the given ids, in the order of the ids."""
        layers = self._layers
        unknown = ids[~layers.holds(ids)]
        if len(unknown):
            raise ValueError(f"the index does not hold {some(unknown)}")
        return layers.take(ids)

    def _searcher(self) -> Engine:
        """Engine for the current codes, without the few that came since the buckets were made."""
        return self._current().engine

    def _current(self) -> Layers:
        """The current codes, ready to be searched."""
        with self._changing:
            settled = self._layers.settled()
            if settled is not self._layers:
                self._set(settled)
            return settled

    def _set(self, layers: Layers) -> None:
        for run in (layers.base, *layers.later):
            run.ids.flags.writeable = False
        self._layers = layers

    def _new_ids(self, wanted: ArrayLike | None, n: int) -> Ids:
        """Ids for `n` new codes; ValueError if one is taken."""
        if wanted is None:
            return next_ids(self._next_id, n, int(INT64.max))
        ids = check_new_ids(wanted, n)
        taken = self._layers.holds(ids)
        if taken.any():
            raise ValueError(
                f"the index already holds {some(np.sort(ids[taken]))}; remove them first"
            )
        return ids


def _rows(queries: Codes) -> NDArray[np.uint64]:
    """Queries as words, a row each."""
    return np.ascontiguousarray(as_words(queries).T)
