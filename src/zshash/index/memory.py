"""An exact Hamming index in memory.

The codes lie in runs, each sorted by id. Adding appends a run and merges runs of like size, so
that a code is copied about log2(n) times however small the batches are. Reading first merges
all runs into one, which costs no more than the scan that follows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.codes import MAX_BITS, MIN_BITS, check_codes, check_integer, code_bytes
from zshash.index._scan import Codes, Distances, Ids, nearest, parts, within

__all__ = ["HammingIndex"]

INT64 = np.iinfo(np.int64)


class Run(NamedTuple):
    """Codes in ascending order of id. Nothing writes into a run, so it can be shared."""

    ids: Ids
    codes: Codes


class HammingIndex:
    """Packed codes under integer ids, searched exactly by Hamming distance.

    Neighbours come ordered by (distance, id). A search compares 2**20 pairs of a query and a
    code at a time: it works in about 30 MB, whatever the sizes, besides a few times what it
    returns. Several threads may search at once as long as none changes the index meanwhile.

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
        if not isinstance(n_bits, int | np.integer) or not MIN_BITS <= n_bits <= MAX_BITS:
            raise ValueError(
                f"n_bits must be a whole number from {MIN_BITS} to {MAX_BITS}, got {n_bits!r}"
            )
        self._n_bits = int(n_bits)
        self._next_id = 0
        self._runs: list[Run] = []

    @property
    def n_bits(self) -> int:
        """Length of the codes in bits."""
        return self._n_bits

    @property
    def ids(self) -> Ids:
        """All ids in ascending order (n,), read-only."""
        return self._merged().ids

    @property
    def codes(self) -> Codes:
        """All codes in the order of `ids` (n, bytes), read-only."""
        return self._merged().codes

    def __len__(self) -> int:
        return sum(len(run.ids) for run in self._runs)

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, int | np.integer) or not INT64.min <= item <= INT64.max:
            return False
        return any(_holds(run.ids, np.array([item])).any() for run in self._runs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_bits={self._n_bits})"

    def add(self, codes: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Add codes (n, bytes), under new ids (n,) or the ones after the largest ever used.

        An id that is taken or given twice is refused, and then nothing is added.
        """
        codes = check_codes("codes", codes, self._n_bits)
        ids = self._new_ids(len(codes)) if ids is None else self._check_new_ids(ids, len(codes))
        if len(ids) == 0:
            return
        order = np.argsort(ids, kind="stable")
        # Indexing copies, so the caller may change the arrays afterwards.
        runs = [*self._runs, _frozen(ids[order], codes[order])]
        while len(runs) > 1 and len(runs[-2].ids) < 2 * len(runs[-1].ids):
            runs[-2:] = [_merge(runs[-2:])]
        self._runs = runs
        self._next_id = max(self._next_id, int(ids.max()) + 1)

    def remove(self, ids: ArrayLike) -> int:
        """Remove the codes under `ids` and return how many there were.

        If an id is unknown, it is refused and nothing is removed.
        """
        unwanted = np.unique(_check_ids(ids))
        run = self._merged()
        unknown = unwanted[~_holds(run.ids, unwanted)]
        if len(unknown):
            raise ValueError(f"the index does not hold {_some(unknown)}, so nothing was removed")
        keep = np.ones(len(run.ids), dtype=bool)
        keep[np.searchsorted(run.ids, unwanted)] = False
        self._runs = [_frozen(run.ids[keep], run.codes[keep])]
        return len(unwanted)

    def search(self, queries: ArrayLike, k: int) -> tuple[Distances, Ids]:
        """Find the `k` nearest codes of each query.

        Parameters
        ----------
        queries : uint8 array of shape (q, bytes)
            Packed codes.
        k : int
            How many neighbours to find, at least 1; all of them if the index holds fewer.

        Returns
        -------
        distances, ids : int32 and int64 arrays of shape (q, min(k, len(index)))
            Each row ordered by (distance, id).
        """
        queries = check_codes("queries", queries, self._n_bits)
        run = self._merged()
        k = min(check_integer("k", k, 1), len(run.ids))
        distances = np.empty((len(queries), k), dtype=np.int32)
        ids = np.empty((len(queries), k), dtype=np.int64)
        for part in parts(len(queries), len(run.ids), k):
            distances[part], position = nearest(queries[part], run.codes, k)
            ids[part] = run.ids[position]
        return distances, ids

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
        run, r = self._merged(), check_integer("r", r, 0)
        counts = np.zeros(len(queries) + 1, dtype=np.int64)
        distances, ids = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)]
        for part in parts(len(queries), len(run.ids)):
            query, distance, position = within(queries[part], run.codes, r)
            counts[part.start + 1 : part.stop + 1] = np.bincount(
                query, minlength=part.stop - part.start
            )
            distances.append(distance)
            ids.append(run.ids[position])
        return np.cumsum(counts), np.concatenate(distances), np.concatenate(ids)

    def _merged(self) -> Run:
        """All runs as one; the index keeps it, so that the work is done once."""
        if len(self._runs) != 1:
            empty = _frozen(
                np.empty(0, dtype=np.int64), np.empty((0, code_bytes(self._n_bits)), dtype=np.uint8)
            )
            self._runs = [_merge([empty, *self._runs])]
        return self._runs[0]

    def _new_ids(self, n: int) -> Ids:
        if self._next_id + n - 1 > INT64.max:
            raise ValueError("the ids after the largest ever used do not fit in 64 bits; pass ids")
        return np.arange(n, dtype=np.int64) + self._next_id

    def _check_new_ids(self, ids: ArrayLike, n: int) -> Ids:
        ids = _check_ids(ids)
        if len(ids) != n:
            raise ValueError(f"there are {n} codes but {len(ids)} ids; each code needs one")
        unique, counts = np.unique(ids, return_counts=True)
        if len(unique) < n:
            raise ValueError(f"ids must differ, but {_some(unique[counts > 1])} came twice")
        taken = np.any([_holds(run.ids, unique) for run in self._runs], axis=0)
        if taken.any():
            raise ValueError(f"the index already holds {_some(unique[taken])}; remove them first")
        return ids


def _frozen(ids: Ids, codes: Codes) -> Run:
    ids.flags.writeable = codes.flags.writeable = False
    return Run(ids, codes)


def _merge(runs: list[Run]) -> Run:
    ids = np.concatenate([run.ids for run in runs])
    codes = np.concatenate([run.codes for run in runs])
    if (ids[1:] > ids[:-1]).all():
        return _frozen(ids, codes)
    order = np.argsort(ids, kind="stable")  # a merge of sorted runs takes linear time
    return _frozen(ids[order], codes[order])


def _holds(ascending: Ids, ids: Ids) -> NDArray[np.bool_]:
    """Which of `ids` occur in `ascending`."""
    position = np.searchsorted(ascending, ids)
    result = position < len(ascending)
    result[result] = ascending[position[result]] == ids[result]
    return result


def _some(ids: Ids) -> str:
    """Name a few ids for a message."""
    names = ", ".join(str(i) for i in ids[:5])
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return f"{'id' if len(ids) == 1 else 'ids'} {names}{more}"


def _check_ids(ids: ArrayLike) -> Ids:
    ids = np.asarray(ids)
    if ids.ndim != 1:
        raise ValueError(f"ids must be 1-D, got the shape {ids.shape}")
    if ids.size and (ids.dtype.kind not in "iu" or ids.max() > INT64.max):
        raise ValueError(f"ids must be whole numbers that fit in int64, got {ids.dtype}")
    return ids.astype(np.int64)
