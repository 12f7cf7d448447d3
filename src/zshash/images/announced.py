"""What the bytes of a picture say of it before any pixel is decoded."""

from typing import NamedTuple

__all__ = ["Announced", "Bytes"]

Bytes = bytes | memoryview


class Announced(NamedTuple):
    """What was found beside the pixels.

    Attributes
    ----------
    orientation : int
        Which side is up, 1 to 8 as EXIF counts.
    pixels : int
        Area of the largest frame that a decoder will hold, where that may be larger than the
        picture.
    """

    orientation: int = 1
    pixels: int = 0
