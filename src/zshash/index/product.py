"""An exact index of product-quantised codes in memory."""

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash._threads import spread
from zshash.codes import check_integer
from zshash.index._checks import check_vectors
from zshash.index._engine import slices
from zshash.index._products import best_sums, make_tables
from zshash.index._runs import Codes, Ids
from zshash.index.memory import HammingIndex

__all__ = ["ProductIndex"]

VALUES = 256  # of a byte
TOGETHER = 16  # queries that pass over a block of codes in turn


class State(NamedTuple):
    """Codes as they were when a search began."""

    ids: Ids
    planes: Codes  # (n_bytes, n): the first bytes of all codes, then the second ones


class ProductIndex:
    """Codes whose bytes stand for parts of vectors, under integer ids, searched exactly.

    A code stands for the vector that its bytes choose from the centres: the first byte chooses the
    first part, and so on. Results come ordered by falling inner product of this vector with the
    query, then by id. Several threads may share an index: a search sees the codes as they were
    when it began. `MTH` with ``codes="pq"`` makes such codes, and `faiss.IndexPQ` has the same.

    Parameters
    ----------
    centres : array of shape (n_bytes, 256, width)
        Parts that each value of each byte stands for; vectors have n_bytes · width numbers.

    Examples
    --------
    >>> centres = np.zeros((2, 256, 1))
    >>> centres[:, :4, 0] = [[0, 1, 2, 3], [0, 10, 20, 30]]
    >>> index = ProductIndex(centres)
    >>> index.add(np.array([[1, 2], [3, 0], [0, 3]], dtype=np.uint8), ids=[7, 5, 6])
    >>> index.search_real([[1.0, 1.0]], k=2)
    (array([[30., 21.]]), array([[6, 7]]))
    """

    def __init__(self, centres: ArrayLike) -> None:
        self._centres = _check_centres(centres)
        self._turned = np.ascontiguousarray(self._centres.transpose(0, 2, 1))
        self._codes = HammingIndex(8 * len(self._centres))
        self._changing = threading.RLock()
        self._state: State | None = None

    @property
    def centres(self) -> NDArray[np.float64]:
        """Parts that each value of each byte stands for (n_bytes, 256, width)."""
        return self._centres

    @property
    def ids(self) -> Ids:
        """All ids in ascending order (n,), read-only."""
        return self._codes.ids

    @property
    def codes(self) -> Codes:
        """All codes in the order of `ids` (n, n_bytes), a copy."""
        return self._codes.codes

    def __len__(self) -> int:
        return len(self._codes)

    def __contains__(self, item: object) -> bool:
        return item in self._codes

    def __repr__(self) -> str:
        n_bytes, _, width = self._centres.shape
        return f"{type(self).__name__}({n_bytes} bytes, vectors of {n_bytes * width} numbers)"

    def add(self, codes: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Add codes (n, n_bytes) under new ids (n,), by default those after the largest ever used.

        An id that is taken or given twice is refused, and then nothing is added.
        """
        self._change(lambda: self._codes.add(codes, ids))

    def remove(self, ids: ArrayLike) -> int:
        """Remove the codes under `ids` and return how many there were.

        If an id is unknown, ValueError is raised and nothing is removed.
        """
        n_before = len(self)
        self._change(lambda: self._codes.remove(ids))
        return n_before - len(self)

    def get(self, ids: ArrayLike) -> Codes:
        """Codes under the given ids, a row each."""
        return self._codes.get(ids)

    def search_real(self, vectors: ArrayLike, k: int) -> tuple[NDArray[np.float64], Ids]:
        """Find the `k` codes whose vectors have the largest inner product with each query.

        Entries of a query's tables are rounded to 40 binary digits below the largest of them; sums
        are exact.

        Parameters
        ----------
        vectors : array of shape (q, n_bytes · width)
            Real numbers.
        k : int
            Number of codes to find, at least 1; all codes if the index holds fewer.

        Returns
        -------
        scores, ids : float64 and int64 arrays of shape (q, min(k, len(index)))
            Each row ordered by falling score, then by id.
        """
        n_bytes, _, width = self._centres.shape
        vectors = check_vectors(vectors, n_bytes * width, "codes of these centres")
        now = self._current()
        k = min(check_integer("k", k, 1), len(now.ids))
        scores = np.empty((len(vectors), k))
        positions = np.empty((len(vectors), k), dtype=np.int64)

        def search(part: slice) -> None:
            tables = make_tables(vectors[part], self._turned)
            sums = np.empty(scores[part].shape, dtype=np.int64)
            best_sums(now.planes, tables.sums, k, sums, positions[part])
            scores[part] = np.ldexp(sums.astype(np.float64), tables.exponents[:, None])

        if k:
            spread(search, list(slices(len(vectors), TOGETHER)))
        return scores, now.ids[positions]

    def _change(self, change: Callable[[], object]) -> None:
        with self._changing:
            change()
            self._state = None

    def _current(self) -> State:
        """The current codes, ready to be searched."""
        with self._changing:
            if self._state is None:
                planes = np.ascontiguousarray(self._codes.codes.T)
                self._state = State(self._codes.ids, planes)
            return self._state


def _check_centres(centres: ArrayLike) -> NDArray[np.float64]:
    """Centres as float64, checked."""
    centres = np.array(centres, dtype=np.float64)
    if centres.ndim != 3 or centres.shape[1] != VALUES or 0 in centres.shape:
        raise ValueError(
            f"centres must have the shape (n_bytes, {VALUES}, width), got {centres.shape}"
        )
    if not np.isfinite(centres).all():
        raise ValueError("centres must not hold NaN or infinity")
    return centres
