"""Checks of arguments that all indexes share."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.codes import MAX_BITS, MIN_BITS
from zshash.index._runs import Ids

__all__ = [
    "INT64",
    "check_ids",
    "check_new_ids",
    "check_vectors",
    "check_width",
    "next_ids",
    "some",
]

INT64 = np.iinfo(np.int64)


def check_width(n_bits: int) -> int:
    """Length of the codes of an index, checked."""
    if not isinstance(n_bits, int | np.integer) or not MIN_BITS <= n_bits <= MAX_BITS:
        raise ValueError(
            f"n_bits must be a whole number from {MIN_BITS} to {MAX_BITS}, got {n_bits!r}"
        )
    return int(n_bits)


def check_ids(ids: ArrayLike) -> Ids:
    """Ids as an array of int64."""
    ids = np.asarray(ids)
    if ids.ndim != 1:
        raise ValueError(f"ids must be 1-D, got the shape {ids.shape}")
    if ids.size and (ids.dtype.kind not in "iu" or ids.max() > INT64.max):
        raise ValueError(f"ids must be whole numbers that fit in int64, got {ids.dtype}")
    return ids.astype(np.int64)


def check_new_ids(ids: ArrayLike, n: int) -> Ids:
    """Ids for `n` codes, all different."""
    ids = check_ids(ids)
    if len(ids) != n:
        raise ValueError(f"there are {n} codes but {len(ids)} ids; each code needs one")
    unique, counts = np.unique(ids, return_counts=True)
    if len(unique) < n:
        raise ValueError(f"ids must differ, but {some(unique[counts > 1])} came twice")
    return ids


def next_ids(first: int, n: int, last: int) -> Ids:
    """The `n` ids from `first` on, none of which may be above `last`."""
    if n and first + n - 1 > last:
        raise ValueError("the ids after the largest ever used do not fit in 64 bits; pass ids")
    return np.arange(n, dtype=np.int64) + np.int64(min(first, INT64.max))


def check_vectors(vectors: ArrayLike, n: int, what: str = "") -> NDArray[np.float64]:
    """Vectors (q, n) for `what`, by default codes of n bits, as float64, checked to be finite."""
    what = what or f"codes of {n} bits"
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[1] != n:
        raise ValueError(f"vectors for {what} must have the shape (q, {n}), got {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise ValueError("vectors must not hold NaN or infinity")
    return vectors


def some(ids: Ids) -> str:
    """Text that names a few ids, for a message.

    >>> some(np.arange(7)), some(np.array([3]))
    ('ids 0, 1, 2, 3, 4 and 2 more', 'id 3')
    """
    names = ", ".join(str(i) for i in ids[:5])
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return f"{'id' if len(ids) == 1 else 'ids'} {names}{more}"
