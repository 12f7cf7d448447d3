"""What the bytes of a picture announce, before any pixel is decoded."""

from typing import NamedTuple

__all__ = ["Announced", "NotRead"]


class NotRead(ValueError):  # noqa: N818, nothing is wrong with the file
    """A whole picture of a kind that nothing here reads; the message says which kind."""


class Announced(NamedTuple):
    """Orientation, size and place of the pixels that the bytes of a picture announce.

    Attributes
    ----------
    orientation : int
        Which side of the picture is up, 1 to 8 as in EXIF.
    pixels : int
        Area of the largest frame that a decoder will hold, where it may be larger than the
        picture; else 0.
    preview : slice or None
        Part of the file that is a JPEG file of the picture; None if the file is the picture.
    """

    orientation: int = 1
    pixels: int = 0
    preview: slice | None = None
