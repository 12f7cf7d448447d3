"""Pairs of pictures whose prints say that one may be a copy of the other, perhaps cropped.

The prints that a picture has after likely crops are looked up among the prints of all pictures.
Most of what is found is dropped again by the shades of grey. Whatever the pictures, each lookup
gives a few of the nearest only, so time and memory grow with the number of pictures.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._interrupts import check
from zshash.collection.operations.shade_pairs import (
    EDGES,
    Pairs,
    Rows,
    Shades,
    aligned,
    correlated,
    together,
)
from zshash.images.pipeline import slices
from zshash.images.prints import CROPS, EMPTY, PRINT_BITS, cropped_prints
from zshash.index import HammingIndex

__all__ = ["Prints", "likely_pairs"]

AT_ONCE = 512  # pictures, each with a print for each crop
MOST_BITS = 10  # that prints of uncropped copies differ in
MOST_BITS_CROPPED = 7  # more would take three times as long to look up
MOST_BITS_ALONE = 2  # where there are no shades to compare
MOST_NEAR = 32  # that a lookup gives, and pictures with the very same print that are looked up


class Prints(NamedTuple):
    """Prints and shades of pictures.

    Attributes
    ----------
    ids : ndarray of shape (n,), int64
        Ids of the items, ascending.
    prints : ndarray of shape (n, 8), uint8
    squares : ndarray of shape (n, SIDE, SIDE), uint8
        Shades of grey; zeros where they are not known.
    are_fine : ndarray of shape (n,), bool
        Whether the shades come from a picture of at least as many pixels.
    """

    ids: NDArray[np.int64]
    prints: NDArray[np.uint8]
    squares: Shades
    are_fine: NDArray[np.bool_]

    @property
    def have_shades(self) -> NDArray[np.bool_]:
        """Which pictures have shades."""
        brightest: NDArray[np.uint8] = self.squares.max(axis=(1, 2), initial=0)
        return brightest > 0


def likely_pairs(found: Prints, tick: Callable[[int], object] = lambda _: None) -> Pairs:
    """Pairs of pictures that may be copies, each once, with the edges that fit best.

    Pictures without structure have no part in it: all of them look the same. `tick` gets the number
    of pictures whenever some are done.
    """
    index, rows = _index(found.prints)
    has_shades = found.have_shades
    pairs = []
    for places in slices(len(rows), AT_ONCE):
        check()
        own = rows[places]
        roughly = _roughly(found, has_shades, index, own[has_shades[own]])
        pairs.append(aligned(found.squares, found.are_fine, roughly))
        pairs.append(_alone(found, has_shades, index, own))
        tick(len(own))
    return together(pairs).best(either_way=True)


def _index(prints: NDArray[np.uint8]) -> tuple[HammingIndex, Rows]:
    """Index of prints by row, of each print a few only, and the rows with structure."""
    rows = np.flatnonzero((prints != np.frombuffer(EMPTY, dtype=np.uint8)).any(axis=1))
    words = np.ascontiguousarray(prints[rows]).view(np.uint64).ravel()
    order = np.argsort(words, kind="stable")
    starts = np.flatnonzero(np.diff(words[order], prepend=~words[order[:1]]))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    kept = np.sort(rows[order[rank < MOST_NEAR]])
    index = HammingIndex(PRINT_BITS)
    index.add(prints[kept], kept)
    return index, rows


def _alone(found: Prints, has_shades: NDArray[np.bool_], index: HammingIndex, rows: Rows) -> Pairs:
    """Pairs of nearly equal prints in which the shades of a picture are not known."""
    place, part = _near(index, found.prints[rows], MOST_BITS_ALONE)
    whole = rows[place]
    bare = ~(has_shades[whole] & has_shades[part]) & (whole != part)
    n = int(bare.sum())
    return Pairs(part[bare], whole[bare], EDGES[np.zeros(n, int)], np.ones(n, dtype=np.float32))


def _roughly(
    found: Prints, has_shades: NDArray[np.bool_], index: HammingIndex, rows: Rows
) -> Pairs:
    """Pairs of near prints whose shades agree, more or less, after the crop that fits best."""
    cropped = cropped_prints(found.squares[rows], CROPS[1:]).reshape(-1, PRINT_BITS // 8)
    place, part = _near(index, cropped, MOST_BITS_CROPPED)
    first, others = _near(index, found.prints[rows], MOST_BITS)
    part = np.concatenate([others, part])
    row, crop = np.divmod(place, len(CROPS) - 1)
    whole = rows[np.concatenate([first, row])]
    crop = np.concatenate([np.zeros_like(first), crop + 1])
    shown = has_shades[part] & (whole != part)
    return correlated(found.squares, part[shown], whole[shown], crop[shown])


def _near(index: HammingIndex, prints: NDArray[np.uint8], bits: int) -> tuple[Rows, Rows]:
    """Places of prints, and rows of pictures with prints near them, the nearest few of each."""
    limits, _, others = index.radius(prints, bits)
    counts = np.diff(limits)
    own = np.repeat(np.arange(len(prints)), counts)
    rank = np.arange(len(others)) - np.repeat(limits[:-1], counts)
    kept = rank <= MOST_NEAR  # one of them may be the picture itself
    return own[kept], others[kept]
