"""What a picture may cost."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What a picture may cost.

    Attributes
    ----------
    pixels : int
        Width times height. Decoding holds up to 12 bytes for each.
    bytes : int
        Size of the file.
    """

    pixels: int = 80_000_000
    bytes: int = 256 * 2**20
