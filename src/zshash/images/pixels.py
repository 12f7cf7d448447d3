"""Pixels as features: a few grey values, for digits, letters and other simple drawings.

No network and no weights. The square in the middle of a picture becomes SIDE × SIDE grey values
from 0 to 16, like the handwritten digits that come with scikit-learn: white ink on black.
"""

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.images.extractor import Extractor, digest
from zshash.images.preparation import LARGEST_SIZE, Preparation

with needs("images"):
    from PIL import Image, ImageOps, ImageStat

__all__ = ["PixelExtractor", "pixel_extractor"]

CHOICES = {"invert": ("auto", "yes", "no"), "margins": ("keep", "cut")}
STEPS = 16
FINE = 16  # each grey value is the average of this many pixels across and down
LARGEST_SIDE = LARGEST_SIZE // FINE
LUMINANCE = np.array([0.299, 0.587, 0.114], dtype=np.float32)
MIDDLE = 127.5
FAINT = 64  # of 255: lighter than this is ink
STRETCH = 4  # a picture is padded to a square of at most this many times its shorter side
VERSION = "1"  # raise it with any change of the features


def pixel_extractor(
    side: str | int,
    *,
    invert: str = "auto",
    margins: str = "keep",
    batch_size: int | None = None,
) -> "PixelExtractor":
    """Extractor of grey values, without a network.

    Parameters
    ----------
    side : str or int
        Grey values across and down.
    invert, margins
        As in `PixelExtractor`.
    batch_size : int, optional
        Pictures at a time; 64 by default.

    Raises
    ------
    ValueError
        If `side` is no whole number from 1 to 256, or an option has no such value.
    """
    text = str(side)
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_SIDE))
    if not is_number or not 1 <= int(text) <= LARGEST_SIDE:
        raise ValueError(
            f"pixels:{text}: SIDE must be a whole number from 1 to {LARGEST_SIDE}, as in pixels:8"
        )
    return PixelExtractor(int(text), invert, margins, batch_size)


class PixelExtractor(Extractor):
    """Grey values of the square in the middle of a picture, 0 (black) to 16 (white).

    Parameters
    ----------
    side : int
        Grey values across and down.
    invert : {"auto", "yes", "no"}
        Whether 0 is white and 16 black. With "auto", only pictures that are light on average are
        inverted: so a drawing in black on white is found among drawings in white on black.
    margins : {"keep", "cut"}
        Whether to cut out the smallest square around the drawing, in place of the square in the
        middle of the picture. A drawing that fills the height or width stays as it is, and a
        drawing that is no square is filled up with the colour of the paper. Not for photos.
    batch_size : int, optional

    Examples
    --------
    >>> from zshash.datasets import digits
    >>> network = PixelExtractor(8)
    >>> bool((network.extract(digits().images) == digits().X).all())
    True
    """

    batch_size = 64

    def __init__(
        self,
        side: int,
        invert: str = "auto",
        margins: str = "keep",
        batch_size: int | None = None,
    ) -> None:
        for option, value in (("invert", invert), ("margins", margins)):
            if value not in CHOICES[option]:
                raise ValueError(
                    f"{option} must be one of {', '.join(CHOICES[option])}, got {value!r}"
                )
        self.name = f"pixels:{side}"
        self.dimension = side * side
        self.side = FINE * side
        self.batch_size = batch_size or type(self).batch_size
        self._shape = (side, FINE, side, FINE)
        self._invert, self._margins = invert, margins
        self._preparation = Preparation(
            size=self.side, mean=0, scale=255 / STEPS, layout="nhwc", filter="box"
        )
        self.fingerprint = digest("pixels", VERSION, invert, margins, repr(self._preparation))

    def prepare(self, image: Image.Image) -> NDArray[np.float32]:
        """Grey values (side, side) of one RGB picture of any size."""
        if self._is_dark_on_light(image):
            image = ImageOps.invert(image)
        if self._margins == "cut":
            image = _square_around_ink(image)
        fine = self._preparation(image) @ LUMINANCE
        return np.asarray(fine.reshape(self._shape).mean(axis=(1, 3)).round(), dtype=np.float32)

    def run(self, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features (n, dimension) of n prepared pictures."""
        return batch.reshape(len(batch), self.dimension)

    def _is_dark_on_light(self, image: Image.Image) -> bool:
        if self._invert != "auto":
            return self._invert == "yes"
        return bool(ImageStat.Stat(image.convert("L")).mean[0] > MIDDLE)


def _square_around_ink(image: Image.Image) -> Image.Image:
    """Smallest square around all light pixels, with them in its middle as far as possible."""
    ink = image.convert("L").point([0] * FAINT + [255] * (256 - FAINT)).getbbox()
    left, top, right, bottom = ink or (0, 0, *image.size)
    side = min(max(right - left, bottom - top), STRETCH * min(image.size))
    x = _start(left, right, side, image.width)
    y = _start(top, bottom, side, image.height)
    square = Image.new("RGB", (side, side))
    square.paste(image, (-x, -y))
    return square


def _start(first: int, last: int, side: int, length: int) -> int:
    """First pixel of a square around the ink that lies inside the picture, or covers all of it."""
    return sorted((0, (first + last - side) // 2, length - side))[1]
