"""Prints of pictures: 64 bits that survive scaling, compression and small changes of brightness.

A print holds the signs of the lowest frequencies of a picture's shades of grey. Each of them is a
sum over 32 × 32 pixels, so one matrix product gives the prints of many pictures.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from zshash._extras import needs

with needs("images"):
    from PIL import Image

__all__ = ["PRINT_BITS", "fingerprint"]

PRINT_BITS = 64
SIDE = 32  # of the grey square that a print is made from
FLATTEST = 2.0  # deviation of shades (0 to 255) below which a picture has no structure
LEAST = 3.0  # weight of a wave that is not mere noise of rounding
EMPTY = bytes(PRINT_BITS // 8)


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
    small = image.resize((SIDE, SIDE), Image.Resampling.BOX, reducing_gap=2.0)
    shades = np.asarray(small.convert("L"), dtype=np.float32)
    if shades.std() < FLATTEST:
        return EMPTY
    return np.packbits(WAVES @ shades.ravel() > LEAST).tobytes()


def _waves() -> NDArray[np.float32]:
    """Waves (PRINT_BITS, SIDE²) of the lowest frequencies, in the order of their frequencies."""
    one = dct(np.eye(SIDE), axis=0, norm="ortho")
    rows, columns = np.divmod(np.arange(SIDE * SIDE), SIDE)
    lowest = np.lexsort((rows, np.maximum(rows, columns), rows + columns))[1 : PRINT_BITS + 1]
    waves = [np.outer(one[rows[place]], one[columns[place]]).ravel() for place in lowest]
    return np.array(waves, dtype=np.float32)


WAVES = _waves()
