"""Pairs of pictures whose shades of grey agree when one is laid over the other.

Shades are those of 32 × 32 pixels, from which prints are made, too. They are compared at half that
size, at which noise is small.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._threads import map_blocks
from zshash.images.alignment import correlations, cuts, steps
from zshash.images.pipeline import slices
from zshash.images.prints import CROPS, SIDE

__all__ = ["EDGES", "Pairs", "Rows", "Shades", "aligned", "correlated", "together"]

AT_ONCE = 512  # pairs
LEAST_CORRELATION = 0.94  # unless a picture is very small
LEAST_ROUGHLY = 0.7  # before the edges were put right
COMPARED = 16  # pixels of a side that shades are compared at
STEPS = 2  # that edges are put right by

Rows = NDArray[np.int64]
Shades = NDArray[np.uint8]
Pixels = NDArray[np.float32]

EDGES = np.array([[left, top, 1 - right, 1 - bottom] for left, top, right, bottom in CROPS])
"""Edges of what is left after each crop."""


class Pairs(NamedTuple):
    """Pairs of pictures: `part` may be what is within `edges` of `whole`.

    Attributes
    ----------
    part, whole : ndarray of shape (k,), int64
        Rows of pictures.
    edges : ndarray of shape (k, 4), float64
        Left, top, right and bottom edge, in parts of the whole.
    correlation : ndarray of shape (k,), float32
        Correlation of the shades within the edges.
    """

    part: Rows
    whole: Rows
    edges: NDArray[np.float64]
    correlation: NDArray[np.float32]

    def at(self, places: NDArray[np.intp] | NDArray[np.bool_] | range) -> "Pairs":
        """The pairs at the given places."""
        part, whole, edges, correlation = self
        return Pairs(part[places], whole[places], edges[places], correlation[places])

    def best(self, *, either_way: bool) -> "Pairs":
        """Of each part and whole, or each two pictures either way, the pair that agrees best."""
        first, second = self.part, self.whole
        if either_way:
            first, second = np.minimum(first, second), np.maximum(first, second)
        order = np.lexsort((self.part, -self.correlation, second, first))
        are_new = np.diff(first[order], prepend=-1) != 0
        are_new |= np.diff(second[order], prepend=-1) != 0
        return self.at(order[are_new])


def together(pairs: list[Pairs]) -> Pairs:
    """All pairs of several lists."""
    none = np.empty(0, dtype=np.int64)
    first = Pairs(none, none, np.empty((0, 4)), np.empty(0, dtype=np.float32))
    parts, wholes, edges, correlation = zip(first, *pairs, strict=True)
    rows = np.concatenate(parts), np.concatenate(wholes)
    return Pairs(*rows, np.concatenate(edges), np.concatenate(correlation))


def correlated(squares: Shades, part: Rows, whole: Rows, crop: Rows) -> Pairs:
    """Those pairs whose shades agree roughly, each with the crop after which they agree best.

    Parameters
    ----------
    squares : ndarray of shape (n, SIDE, SIDE), uint8
    part, whole : ndarray of shape (k,), int64
        Rows of the squares.
    crop : ndarray of shape (k,), int64
        Indices into `CROPS`; two pictures may come with several crops.
    """
    down, across = _cutting(EDGES)

    def work(places: range) -> NDArray[np.float32]:
        own = down[crop[places]] @ squares[whole[places]].astype(np.float32) @ across[crop[places]]
        return correlations(own, _averaged(squares[part[places]]))

    found = _spread(work, len(part))
    pairs = Pairs(part, whole, EDGES[crop], found).at(found >= LEAST_ROUGHLY)
    return pairs.best(either_way=False)


def aligned(squares: Shades, are_fine: NDArray[np.bool_], pairs: Pairs) -> Pairs:
    """Those pairs whose shades agree after the edges were put right.

    Very small pictures are blurred, so where one of two is not among `are_fine`, the pair stays.
    """

    def work(places: range) -> NDArray[np.float64]:
        part, whole, edges, _ = pairs.at(places)
        return _put_right(_averaged(squares[part]), squares[whole], edges)

    edges = np.concatenate([np.empty((0, 5)), *map_blocks(work, slices(len(pairs.part), AT_ONCE))])
    found = edges[:, 4].astype(np.float32)
    is_better = (found > pairs.correlation)[:, None]
    pairs = Pairs(
        pairs.part,
        pairs.whole,
        np.where(is_better, edges[:, :4], pairs.edges),
        np.maximum(found, pairs.correlation),
    )
    both_fine = are_fine[pairs.part] & are_fine[pairs.whole]
    return pairs.at(~both_fine | (pairs.correlation >= LEAST_CORRELATION))


def _put_right(wanted: Pixels, wholes: Shades, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges (k, 4) after a few steps, and in a fifth column the correlation within them."""
    own = _cut_out(wholes, edges)
    for _ in range(STEPS):
        edges = np.clip(edges + steps(wanted, own, edges), 0, 1)
        own = _cut_out(wholes, edges)
    return np.column_stack([edges, correlations(wanted, own)])


def _spread(work: Callable[[range], NDArray[np.float32]], n: int) -> NDArray[np.float32]:
    """Numbers (n,) that are computed on all cores, some at a time."""
    return np.concatenate([np.empty(0, dtype=np.float32), *map_blocks(work, slices(n, AT_ONCE))])


def _averaged(squares: Shades) -> Pixels:
    """Squares at the size that they are compared at."""
    n = SIDE // COMPARED
    parts = squares.reshape(len(squares), COMPARED, n, COMPARED, n)
    return np.asarray(parts.mean(axis=(2, 4), dtype=np.float32))


def _cutting(edges: NDArray[np.float64]) -> tuple[Pixels, Pixels]:
    """Matrices that cut out what is within edges, from the left (k, 16, 32) and the right."""
    down = cuts(edges[:, 1], edges[:, 3], SIDE, COMPARED)
    return down, cuts(edges[:, 0], edges[:, 2], SIDE, COMPARED).swapaxes(1, 2)


def _cut_out(squares: Shades, edges: NDArray[np.float64]) -> Pixels:
    down, across = _cutting(edges)
    return np.asarray(down @ squares.astype(np.float32) @ across)
