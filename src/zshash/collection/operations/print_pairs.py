"""Pairs of pictures whose prints say that one may be a copy of the other, perhaps cropped.

The prints that a picture has after likely crops are looked up among the prints of all pictures.
Most of what is found is dropped again by the correlation of the shades. Whatever the pictures,
each lookup gives a few of the nearest only, so time and memory grow with the number of pictures.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._interrupts import check
from zshash._threads import map_blocks
from zshash.images.pipeline import slices
from zshash.images.prints import CROPS, EMPTY, PRINT_BITS, SIDE, cropped_prints, cut
from zshash.index import HammingIndex

__all__ = ["NO_CROP", "Pairs", "Prints", "likely_pairs"]

AT_ONCE = 512  # pictures, each with a print for each crop
MOST_BITS = 10  # that prints of uncropped copies differ in
MOST_BITS_CROPPED = 7  # more would take three times as long to look up
MOST_BITS_ALONE = 2  # where there are no shades to compare
MOST_NEAR = 32  # that a lookup gives, and pictures with the very same print that are looked up
LEAST_CORRELATION = 0.7
NO_CROP = 0

Rows = NDArray[np.int64]


class Prints(NamedTuple):
    """Prints and shades of pictures.

    Attributes
    ----------
    ids : ndarray of shape (n,), int64
        Ids of the items, ascending.
    prints : ndarray of shape (n, 8), uint8
    squares : ndarray of shape (n, SIDE, SIDE), uint8
        Shades of grey; zeros where they are not known.
    """

    ids: NDArray[np.int64]
    prints: NDArray[np.uint8]
    squares: NDArray[np.uint8]

    @property
    def have_shades(self) -> NDArray[np.bool_]:
        """Which pictures have shades."""
        brightest: NDArray[np.uint8] = self.squares.max(axis=(1, 2), initial=0)
        return brightest > 0


class Pairs(NamedTuple):
    """Pairs of pictures, as rows: `part` may be `whole` after a crop, an index into `CROPS`."""

    part: Rows
    whole: Rows
    crop: Rows
    correlation: NDArray[np.float32]

    def at(self, places: NDArray[np.intp] | NDArray[np.bool_]) -> "Pairs":
        """The pairs at the given places."""
        part, whole, crop, correlation = self
        return Pairs(part[places], whole[places], crop[places], correlation[places])


def likely_pairs(found: Prints) -> Pairs:
    """For each ordered pair of pictures that may be copies, the crop that fits best.

    Pictures without structure have no part in it: all of them look the same.
    """
    index, rows = _index(found.prints)
    has_shades = found.have_shades
    blocks = np.arange(0, len(rows), AT_ONCE)
    pairs = [
        block
        for start in blocks.tolist()
        for block in _pairs_of(found, has_shades, index, rows[start : start + AT_ONCE])
    ]
    return _best(_together(pairs))


def _together(pairs: list[Pairs]) -> Pairs:
    none, no_number = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    pairs = [Pairs(none, none, none, no_number), *pairs]
    part, whole, crop, correlation = zip(*pairs, strict=True)
    rows = [np.concatenate(column) for column in (part, whole, crop)]
    return Pairs(rows[0], rows[1], rows[2], np.concatenate(correlation))


def _index(prints: NDArray[np.uint8]) -> tuple[HammingIndex, Rows]:
    """Index of prints by row, of each print a few only, and the rows with structure."""
    rows = np.flatnonzero((prints != np.frombuffer(EMPTY, dtype=np.uint8)).any(axis=1))
    words = prints[rows].view(np.uint64).ravel()
    order = np.argsort(words, kind="stable")
    starts = np.flatnonzero(np.diff(words[order], prepend=~words[order[:1]]))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    kept = np.sort(rows[order[rank < MOST_NEAR]])
    index = HammingIndex(PRINT_BITS)
    index.add(prints[kept], kept)
    return index, rows


def _pairs_of(
    found: Prints, has_shades: NDArray[np.bool_], index: HammingIndex, rows: Rows
) -> Iterator[Pairs]:
    """Pairs in which one of some pictures is the whole."""
    check()
    yield from _without_crop(found, has_shades, index, rows)
    rows = rows[has_shades[rows]]
    cropped = cropped_prints(found.squares[rows])
    for crop in range(NO_CROP + 1, len(CROPS)):
        whole, part, _ = _near(index, rows, cropped[:, crop], MOST_BITS_CROPPED)
        shown = has_shades[part]
        yield _correlated(found.squares, whole[shown], part[shown], crop)


def _without_crop(
    found: Prints, has_shades: NDArray[np.bool_], index: HammingIndex, rows: Rows
) -> Iterator[Pairs]:
    whole, part, bits = _near(index, rows, found.prints[rows], MOST_BITS)
    shown = has_shades[whole] & has_shades[part]
    yield _correlated(found.squares, whole[shown], part[shown], NO_CROP)
    sure = ~shown & (bits <= MOST_BITS_ALONE)
    none = np.full(sure.sum(), NO_CROP)
    yield Pairs(part[sure], whole[sure], none, np.ones(len(none), dtype=np.float32))


def _near(
    index: HammingIndex, rows: Rows, prints: NDArray[np.uint8], bits: int
) -> tuple[Rows, Rows, NDArray[np.int32]]:
    """Rows of pictures and of others with prints near theirs, the nearest few of each; bits."""
    limits, distances, others = index.radius(prints, bits)
    counts = np.diff(limits)
    own = np.repeat(rows, counts)
    rank = np.arange(len(others)) - np.repeat(limits[:-1], counts)
    kept = (rank <= MOST_NEAR) & (own != others)
    return own[kept], others[kept], distances[kept]


def _correlated(squares: NDArray[np.uint8], whole: Rows, part: Rows, crop: int) -> Pairs:
    """Those pairs whose shades agree, more or less."""
    left, top, right, bottom = CROPS[crop]
    down, across = cut(top, bottom).astype(np.float32), cut(left, right).astype(np.float32).T

    def work(places: range) -> NDArray[np.float32]:
        one = down @ squares[whole[places]].astype(np.float32) @ across
        return _correlations(one, squares[part[places]].astype(np.float32))

    correlations = np.concatenate(
        [np.empty(0, dtype=np.float32), *map_blocks(work, slices(len(whole), AT_ONCE))]
    )
    pairs = Pairs(part, whole, np.full(len(whole), crop), correlations)
    return pairs.at(correlations >= LEAST_CORRELATION)


def _correlations(ones: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    ones, others = ones.reshape(-1, SIDE * SIDE), others.reshape(-1, SIDE * SIDE)
    ones = ones - ones.mean(axis=1, keepdims=True)
    others = others - others.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(ones, axis=1) * np.linalg.norm(others, axis=1)
    found: NDArray[np.float32] = (ones * others).sum(axis=1) / np.maximum(norms, 1e-6)
    return found


def _best(pairs: Pairs) -> Pairs:
    """Of each ordered pair the crop with the highest correlation, in the order of rows."""
    order = np.lexsort((pairs.crop, -pairs.correlation, pairs.whole, pairs.part))
    pairs = pairs.at(order)
    first = np.diff(pairs.part, prepend=-1) != 0
    first |= np.diff(pairs.whole, prepend=-1) != 0
    return pairs.at(first)
