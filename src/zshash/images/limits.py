"""Limits on the size of a picture, which need no library of pictures."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Limits on the size of a picture.

    Attributes
    ----------
    pixels : int
        Width times height. No picture may exceed ``PIL.Image.MAX_IMAGE_PIXELS`` either.
    bytes : int
        Size of the file.
    """

    pixels: int = 80_000_000
    bytes: int = 256 * 2**20

    @property
    def memory(self) -> int:
        """Most bytes that decoding one picture takes; most pictures take 8 for each pixel."""
        return 20 * self.pixels + 4 * self.bytes + 64 * 2**20
