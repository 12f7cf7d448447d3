"""Whether one picture is a copy of another: scaled, compressed, a little cropped or brighter.

One picture is laid over the other, as well as possible. What then remains is looked at in parts,
8 × 8 of them. In two shots of one scene something has moved, so a part differs
although the pictures as a whole agree; in copies all parts agree.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from zshash._extras import needs
from zshash.images.alignment import Edges, Pixels, correlations, steps

with needs("images"):
    from PIL import Image

__all__ = ["Difference", "are_same", "difference"]

GRID = 64  # pixels that the longer side is compared at
FINER = 2  # the pictures have at least this many pixels for each that is compared, against noise
PARTS = 8  # in each direction
STEPS = 6
LEAST_SIDE = 0.7  # of a cut-out
SETTLED = 1e-3
GAINS = (0.8, 1.25)
OFFSETS = (-32.0, 32.0)
DARKEST, BRIGHTEST = 4.0, 251.0  # shades beyond may have been cut off
LEAST_WHOLE = 0.05  # part of the pixels between them that light is measured by
GREY = np.array([0.299, 0.587, 0.114], dtype=np.float32)

LEAST_CORRELATION = 0.98
MOST_SHADES = 12.0
MOST_COLOUR = 16.0


class Difference(NamedTuple):
    """How two pictures differ once one is laid over the other.

    Attributes
    ----------
    correlation : float
        Correlation of all shades of grey.
    shades : float
        Difference of the shades, of 255, in the part where it is largest: root of the mean square.
    colour : float
        Difference of the mean colour, brightness left aside, in the part where it is largest.
    """

    correlation: float
    shades: float
    colour: float


def are_same(found: Difference) -> bool:
    """Whether a difference is so small that both are copies of one picture.

    >>> are_same(Difference(0.99, 5.0, 3.0)), are_same(Difference(0.99, 30.0, 3.0))
    (True, False)
    """
    return (
        found.correlation >= LEAST_CORRELATION
        and found.shades <= MOST_SHADES
        and found.colour <= MOST_COLOUR
    )


def difference(
    part: Image.Image, whole: Image.Image, edges: ArrayLike = (0.0, 0.0, 1.0, 1.0)
) -> Difference:
    """Difference between a picture and the cut-out of another one that is most like it.

    Parameters
    ----------
    part, whole : Image
        Pictures in RGB; `part` is all of `whole`, or cut out of it.
    edges : sequence of four floats
        Left, top, right and bottom edge of the cut-out, roughly, in parts of `whole`.
    """
    start = np.array(edges, dtype=np.float64)
    size = _size(part, whole, start)
    found = _align(part.convert("L"), whole.convert("L"), start, size)
    one, other = _pixels(part, size), _pixels(whole, size, found)
    return _difference(one, other)


def _size(part: Image.Image, whole: Image.Image, edges: Edges) -> tuple[int, int]:
    """Width and height to compare at: fine enough for details, coarser than both pictures."""
    left, top, right, bottom = edges
    width = min(part.width, whole.width * (right - left)) / FINER
    height = min(part.height, whole.height * (bottom - top)) / FINER
    scale = min(1.0, GRID / max(width, height))
    return max(4, round(width * scale)), max(4, round(height * scale))


def _pixels(image: Image.Image, size: tuple[int, int], edges: Edges | None = None) -> Pixels:
    box = None if edges is None else tuple(edges * np.tile(image.size, 2))
    small = image.resize(size, Image.Resampling.BILINEAR, box=box)
    return np.asarray(small, dtype=np.float32)


def _align(part: Image.Image, whole: Image.Image, edges: Edges, size: tuple[int, int]) -> Edges:
    """Edges of the cut-out of `whole` that is most like `part`; both are grey."""
    wanted = _pixels(part, size)
    best, least = edges, np.inf
    for _ in range(STEPS):
        own = _pixels(whole, size, edges)
        error = float(np.square(_rest(wanted, own)).mean())
        if error < least:
            best, least = edges, error
        step = steps(wanted[None], own[None], edges[None])[0]
        edges = np.clip(edges + step, 0, 1)
        if min(edges[2:] - edges[:2]) < LEAST_SIDE or np.abs(step).max() < SETTLED:
            break
    return best


def _rest(one: Pixels, other: Pixels) -> Pixels:
    """Difference of two pictures that gain and offset do not explain.

    The darker picture is made brighter: what was cut off at white comes back in no other way.
    """
    gain, offset = _light(one, other)
    rest: Pixels
    if gain < 1:
        rest = np.clip((one - offset) / gain, 0, 255) - other
    else:
        rest = one - np.clip(gain * other + offset, 0, 255)
    return rest


def _light(one: Pixels, other: Pixels) -> tuple[float, float]:
    """Gain and offset that turn the pixels of `other` into those of `one`, within bounds."""
    is_whole = (np.minimum(one, other) > DARKEST) & (np.maximum(one, other) < BRIGHTEST)
    if is_whole.mean() > LEAST_WHOLE:
        one, other = one[is_whole], other[is_whole]
    centred = other - other.mean()
    gain = float((centred * one).sum() / (np.square(centred).sum() + 1))
    gain = float(np.clip(gain, *GAINS))
    return gain, float(np.clip(one.mean() - gain * other.mean(), *OFFSETS))


def _difference(one: Pixels, other: Pixels) -> Difference:
    """Difference between pictures (height, width, 3) of the same size."""
    rest = _rest(one, other)
    grey = rest @ GREY
    shades = np.sqrt(_by_part(np.square(grey)))
    colour = np.sqrt(np.square(_by_part(rest - grey[..., None])).mean(axis=-1))
    correlation = float(correlations((one @ GREY)[None], (other @ GREY)[None])[0])
    return Difference(correlation, float(shades.max()), float(colour.max()))


def _by_part(values: Pixels) -> Pixels:
    """Means of the parts of a picture, at least 2 × 2 pixels each."""
    for axis in (0, 1):
        n = values.shape[axis]
        starts = np.linspace(0, n, min(PARTS, n // 2) + 1).round().astype(int)
        sums: Pixels = np.add.reduceat(values, starts[:-1], axis=axis)
        others = [i for i in range(values.ndim) if i != axis]
        sums /= np.expand_dims(np.diff(starts), others)
        values = sums
    return values
