"""Pictures of any shape turned into the square of numbers that a network takes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs

with needs("images"):
    from PIL import Image

__all__ = ["IMAGENET_MEAN", "IMAGENET_SCALE", "Preparation"]

IMAGENET_MEAN = (123.675, 116.28, 103.53)
IMAGENET_SCALE = (58.395, 57.12, 57.375)
FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
CHOICES = {
    "layout": ("nchw", "nhwc"),
    "color": ("rgb", "bgr"),
    "resize": ("crop", "stretch"),
    "filter": tuple(FILTERS),
}
LARGEST_SIZE = 4096
THIN = 100
LONG = 2**20

Channels = float | tuple[float, ...]


@dataclass(frozen=True)
class Preparation:
    """Size, colours and scale of the pictures that a network takes.

    Parameters
    ----------
    size : int
        Width and height in pixels.
    mean, scale : float or three floats
        A pixel's value x (0 to 255) becomes (x − mean) / scale. Three numbers are in the order
        of `color`.
    layout : {"nchw", "nhwc"}
        Whether a pixel's colours come first or last.
    color : {"rgb", "bgr"}
        The order of the colours.
    resize : {"crop", "stretch"}
        Take the square in the middle, or press the whole picture into a square.
    filter : str
        One of Pillow's: "bicubic", "bilinear", "lanczos", "hamming", "box", "nearest".
    crop_fraction : float
        The part of the side that is kept, from the middle.

    Examples
    --------
    >>> prepare = Preparation(size=4, mean=127, scale=128)
    >>> white = prepare(Image.new("RGB", (30, 20), "white"))
    >>> white.shape, white.dtype, float(white.max())
    ((3, 4, 4), dtype('float32'), 1.0)
    """

    size: int = 224
    mean: Channels = IMAGENET_MEAN
    scale: Channels = IMAGENET_SCALE
    layout: str = "nchw"
    color: str = "rgb"
    resize: str = "crop"
    filter: str = "bicubic"
    crop_fraction: float = 1.0

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"{name} must be one of {', '.join(choices)}, got {getattr(self, name)!r}"
                )
        settle = object.__setattr__  # as the class is frozen; equal settings become equal values
        settle(self, "size", _check_size(self.size))
        settle(self, "mean", _check_channels("mean", self.mean))
        settle(self, "scale", _check_channels("scale", self.scale))
        settle(self, "crop_fraction", _check_fraction(self.crop_fraction))
        if not np.all(self.scale):
            raise ValueError(f"scale divides the pixels and must not be 0, got {self.scale}")

    def __call__(self, image: Image.Image) -> NDArray[np.float32]:
        """The numbers of one RGB picture, (3, size, size) or (size, size, 3)."""
        pixels = np.asarray(self._resize(image))
        if self.color == "bgr":
            pixels = pixels[:, :, ::-1]
        if self.layout == "nchw":
            pixels = pixels.transpose(2, 0, 1)
        prepared = pixels.astype(np.float32, order="C")
        prepared -= self._aligned(self.mean)
        prepared /= self._aligned(self.scale)
        return prepared

    def _resize(self, image: Image.Image) -> Image.Image:
        """Crop and scale in one step, so that pixels next to the crop count, too."""
        if self.resize == "crop" and max(image.size) > THIN * min(image.size):
            image = _middle(image)
        elif max(image.size) > LONG:  # Pillow's averages of very long blocks come out too dark
            image = image.reduce((-(-image.width // LONG), -(-image.height // LONG)))
        width, height = image.size
        shorter = min(image.size)
        kept = image.size if self.resize == "stretch" else (shorter, shorter)
        across, down = (length * self.crop_fraction for length in kept)
        box = (
            (width - across) / 2,
            (height - down) / 2,
            (width + across) / 2,
            (height + down) / 2,
        )
        # the gap makes Pillow average blocks of pixels first where it shrinks more than fourfold;
        # without it the filter's weights alone may take hundreds of megabytes
        target = (self.size, self.size)
        return image.resize(target, FILTERS[self.filter], box=box, reducing_gap=2.0)

    def _aligned(self, channels: Channels) -> NDArray[np.float32]:
        """One number or three, in the shape that matches the colours of the layout."""
        shape = (-1, 1, 1) if self.layout == "nchw" else (1, 1, -1)
        return np.array(channels, dtype=np.float32).reshape(shape)


def _middle(image: Image.Image) -> Image.Image:
    """The middle square in whole pixels: Pillow's own box is too coarse far from the origin."""
    side = min(image.size)
    left, top = ((length - side) // 2 for length in image.size)
    return image.crop((left, top, left + side, top + side))


def _check_size(size: Any) -> int:
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    if not whole or not 0 < size <= LARGEST_SIZE:
        raise ValueError(f"size must be a whole number from 1 to {LARGEST_SIZE}, got {size!r}")
    return int(size)


def _check_channels(name: str, channels: Any) -> Channels:
    if _is_number(channels):
        return float(channels)
    try:
        numbers = tuple(channels)
    except TypeError:
        numbers = ()
    if len(numbers) != 3 or not all(map(_is_number, numbers)):
        raise ValueError(f"{name} must be one number or three, got {channels!r}")
    return tuple(map(float, numbers))


def _check_fraction(fraction: Any) -> float:
    if not _is_number(fraction) or not 0.1 <= fraction <= 1:
        raise ValueError(f"crop_fraction must be a number from 0.1 to 1, got {fraction!r}")
    return float(fraction)


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and math.isfinite(value)
