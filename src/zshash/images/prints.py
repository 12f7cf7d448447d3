"""Prints of pictures: 64 bits that survive scaling, compression and small changes of brightness.

A print is made from the shades of grey of 32 × 32 pixels. Their 40 lowest frequencies, the higher
ones weighted up, are mixed by a Hadamard matrix, and a bit is the sign of each sum. Because all
frequencies have a part in each bit, a frequency that is missing in a picture makes no bit random.
All this is one matrix product. So is the print of a cropped picture, as long as its shades are
known: `cropped_prints` finds what a picture's print would be after the most likely crops.
"""

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.linalg import hadamard

from zshash._extras import needs
from zshash.images.alignment import cuts

with needs("images"):
    from PIL import Image

__all__ = ["CROPS", "EMPTY", "PRINT_BITS", "SIDE", "cropped_prints", "fingerprint", "shades"]

PRINT_BITS = 64
SIDE = 32  # of the grey square that a print is made from
FREQUENCIES = 40
TILT = 0.75  # power of the frequency that it is weighted by: natural pictures have weak high ones
FLATTEST = 3.0  # deviation of the shades, of 255, below which a picture has no structure
EMPTY = bytes(PRINT_BITS // 8)
EDGES = ((0.0, 0.0), (0.045, 0.045), (0.095, 0.095), (0.09, 0.01), (0.01, 0.09), (0.03, 0.0))
CROPS = tuple((left, top, right, bottom) for (left, right), (top, bottom) in product(EDGES, EDGES))
"""Parts that are cut off at the left, top, right and bottom; the first crop cuts off nothing."""

Shades = NDArray[np.uint8]
Prints = NDArray[np.uint8]


def fingerprint(image: Image.Image) -> bytes:
    r"""Print of an upright picture, 8 bytes; all zero if the picture has no structure.

    Examples
    --------
    >>> slope = Image.linear_gradient("L").convert("RGB")
    >>> fingerprint(slope) == fingerprint(slope.resize((100, 70)))
    True
    >>> fingerprint(Image.new("RGB", (20, 10), "red"))
    b'\x00\x00\x00\x00\x00\x00\x00\x00'
    """
    one: bytes = cropped_prints(shades(image)[None], CROPS[:1]).tobytes()
    return one


def shades(image: Image.Image) -> Shades:
    """Shades of grey (SIDE, SIDE) of a picture, which is stretched to a square."""
    small = image.resize((SIDE, SIDE), Image.Resampling.BOX, reducing_gap=2.0)
    return np.asarray(small.convert("L"))


def cropped_prints(squares: Shades, crops: tuple[tuple[float, ...], ...] = CROPS) -> Prints:
    """Prints (n, len(crops), 8) that pictures have after each crop, from their shades.

    Parameters
    ----------
    squares : ndarray of shape (n, SIDE, SIDE), uint8
    crops : tuple of (left, top, right, bottom)
        Parts that are cut off.
    """
    rows = squares.reshape(len(squares), SIDE * SIDE).astype(np.float32)
    rows -= rows.mean(axis=1, keepdims=True)
    signs = (rows @ _weights(crops)).reshape(len(rows), len(crops), PRINT_BITS) > 0
    signs[rows.std(axis=1) < FLATTEST] = False
    return np.packbits(signs, axis=2)


@cache
def _weights(crops: tuple[tuple[float, ...], ...]) -> NDArray[np.float32]:
    """Weight of each pixel (SIDE²) in each bit of each crop (len(crops) · PRINT_BITS)."""
    waves = _waves().reshape(PRINT_BITS, SIDE, SIDE)
    left, top, right, bottom = np.array(crops).T
    down, across = cuts(top, 1 - bottom, SIDE, SIDE), cuts(left, 1 - right, SIDE, SIDE)
    parts = [one.T @ waves @ other for one, other in zip(down, across, strict=True)]
    return np.concatenate(parts).reshape(-1, SIDE * SIDE).T.astype(np.float32)


def _waves() -> NDArray[np.float64]:
    """Mixtures (PRINT_BITS, SIDE²) of the lowest frequencies, the mean left out."""
    one = dct(np.eye(SIDE), axis=0, norm="ortho")
    down, across = np.divmod(np.arange(SIDE * SIDE), SIDE)
    size = np.hypot(down, across)
    lowest = np.lexsort((down, np.maximum(down, across), size))[1 : FREQUENCIES + 1]
    waves = [np.outer(one[down[i]], one[across[i]]).ravel() * size[i] ** TILT for i in lowest]
    signs = np.random.RandomState(0).choice([-1, 1], PRINT_BITS)  # no sum is of equal signs
    mixed: NDArray[np.float64] = (hadamard(PRINT_BITS) * signs)[:, :FREQUENCIES] @ np.array(waves)
    return mixed
