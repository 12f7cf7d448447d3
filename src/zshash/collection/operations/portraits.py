"""What a collection keeps of a picture beside its code: thumbnail, perceptual hash, facts.

All of it is made while the pixels are at hand, so that a picture is decoded once.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from zshash._threads import run_blocks
from zshash.images import Limits

if TYPE_CHECKING:
    from PIL import Image

    from zshash.images.pipeline import Also

__all__ = ["Portrait", "Portraits", "Style"]

LEAST_SIDE = 128  # of the pixels that perceptual hashes are made from


class Portrait(NamedTuple):
    """What is kept of a picture.

    Attributes
    ----------
    thumbnail : bytes or None
        WebP, or None if the collection keeps none.
    print : bytes or None
        Perceptual hash of 8 bytes.
    facts : dict
        What the camera has noted, such as the year, and the size of the picture.
    """

    thumbnail: bytes | None = None
    print: bytes | None = None
    facts: dict[str, Any] = {}  # noqa: RUF012, nobody changes it


class Style(NamedTuple):
    """What the portraits of a collection have besides a perceptual hash.

    Attributes
    ----------
    side : int
        Longer side of the thumbnails in pixels, 0 for none.
    facts : bool
        Whether the facts that a camera has noted are read.
    """

    side: int
    facts: bool

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> Self:
        """Style that the settings of a collection say."""
        return cls(about["thumbnails"], about.get("exif", True))


class Portraits:
    """Portraits of pictures by their rows, made as the pictures are decoded.

    Parameters
    ----------
    sources : list of Path, or ndarray of pixels
    style : Style or None
        With None, all portraits are empty.
    limits : Limits
    decoded : int
        Side that pictures are decoded at least at, before `take` gets them; 0 stands for their own.
    """

    def __init__(
        self,
        sources: Sequence[Path] | NDArray[np.uint8],
        style: Style | None,
        limits: Limits,
        decoded: int = 0,
    ) -> None:
        self._sources, self._limits = sources, limits
        self._style = style or Style(0, False)
        self._is_coarse = 0 < 2 * decoded < self._style.side
        self._taken: dict[int, Portrait] = {}
        self.also: Also | None = None if style is None else self.take

    def take(self, row: int, image: "Image.Image") -> None:
        """Make the portrait of the picture in a row, whose upright pixels are given."""
        from zshash.images.prints import fingerprint

        facts = self._facts(row, image)
        small = self._thumbnail(row, image) if self._style.side else None
        self._taken[row] = Portrait(small, fingerprint(image), facts)

    def of(self, rows: Sequence[int]) -> list[Portrait]:
        """Portraits of the pictures in the given rows; those that nobody has decoded are made."""
        if self.also is not None:
            run_blocks(self._open, [row for row in rows if row not in self._taken])
        return [self._taken.get(row, Portrait()) for row in rows]

    def _thumbnail(self, row: int, image: "Image.Image") -> bytes:
        from zshash.images.decoding import PictureError
        from zshash.images.thumbnails import thumbnail

        side = self._style.side
        if self._is_coarse and max(image.size) < side:
            with suppress(PictureError):  # changed meanwhile, which is told elsewhere
                image = self._decoded(row, side)
        return thumbnail(image, side)

    def _decoded(self, row: int, side: int) -> "Image.Image":
        from zshash.images.decoding import decode

        return decode(self._sources[row], self._limits, max(side // 2, LEAST_SIDE))

    def _open(self, row: int) -> None:
        from zshash.images.decoding import PictureError

        try:
            self.take(row, self._decoded(row, self._style.side))
        except PictureError:
            self._taken[row] = Portrait()

    def _facts(self, row: int, image: "Image.Image") -> dict[str, Any]:
        if not self._style.facts:
            return {}
        if isinstance(self._sources, np.ndarray):
            return {"width": image.width, "height": image.height}
        from zshash.images.exif import picture_facts

        try:
            return picture_facts(self._sources[row].read_bytes())
        except OSError:  # gone by now, which is told elsewhere
            return {}
