"""Groups of items whose codes are alike: pictures that may be of one thing, or copies."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from zshash._interrupts import check
from zshash.index import HammingIndex

__all__ = ["groups"]

QUERIES_AT_ONCE = 4096


def groups(index: HammingIndex, r: int) -> list[list[int]]:
    """Groups of items, each within `r` bits of the first one, which has the lowest id.

    In the order of ids, each item that is in no group yet leads a new one, and takes all items
    near it that are in no group either. So a group never becomes a chain whose ends have nothing
    in common.
    """
    firsts, inverse = _same_codes(index.codes)
    distinct = HammingIndex(index.n_bits)
    distinct.add(index.codes[firsts], np.arange(len(firsts)))
    joined = _led(distinct, r) if r else np.arange(len(firsts))
    leader = firsts[joined[inverse]]  # place of the leader of each item's group
    order = np.argsort(leader, kind="stable")
    starts = np.flatnonzero(np.diff(leader[order], prepend=-1))
    parts = np.split(index.ids[order], starts[1:])
    return [part.tolist() for part in parts if len(part) > 1]


def _same_codes(codes: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the first of each distinct code, ascending; the number of each code's own."""
    if not len(codes):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    whole = np.ascontiguousarray(codes).view(f"V{codes.shape[1]}").ravel()
    _, firsts, inverse = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return firsts[order].astype(np.int64), rank[inverse]


def _led(distinct: HammingIndex, r: int) -> NDArray[np.int64]:
    """For each distinct code, the number of the code that leads its group."""
    leader = np.full(len(distinct), -1, dtype=np.int64)
    for number, near in _neighbours(distinct, r):
        if leader[number] < 0:
            free = near[leader[near] < 0]
            leader[free] = number
    alone = leader < 0
    leader[alone] = np.flatnonzero(alone)
    return leader


def _neighbours(distinct: HammingIndex, r: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Numbers of codes that have others within `r` bits, in order, and of all near ones."""
    codes = distinct.codes
    for start in range(0, len(codes), QUERIES_AT_ONCE):
        check()
        limits, _, near = distinct.radius(codes[start : start + QUERIES_AT_ONCE], r)
        for place in np.flatnonzero(np.diff(limits) > 1).tolist():
            yield start + place, near[limits[place] : limits[place + 1]]
