"""What a picture may cost."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What a picture may cost.

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
        """Bytes that decoding one picture never exceeds; most need 8 for each of its pixels."""
        return 20 * self.pixels + 4 * self.bytes + 64 * 2**20
