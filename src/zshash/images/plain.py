"""Images of any mode turned into plain RGB of eight bits, in little memory."""

from collections.abc import Iterator

import numpy as np

from zshash._extras import needs

with needs("images"):
    from PIL import Image

__all__ = ["plain_rgb"]

Box = tuple[int, int, int, int]

TRANSPARENT = ("RGBA", "RGBa", "LA", "La", "PA")
BITS_PER_SAMPLE, PHOTOMETRIC, WHITE_IS_ZERO = 258, 262, 0
BLOCK = 1024


def plain_rgb(image: Image.Image) -> Image.Image:
    """New RGB image of eight bits; transparent parts become white."""
    if image.mode.startswith(("I", "F")):
        return _eight_bits(image).convert("RGB")
    if image.mode in TRANSPARENT or "transparency" in image.info:
        return _over_white(image)
    plain = image.copy() if image.mode == "RGB" else image.convert("RGB")
    frame: Box = getattr(image, "dispose_extent", None) or (0, 0, *image.size)
    if frame == (0, 0, *image.size):
        return plain
    white = Image.new("RGB", image.size, "white")  # a GIF's first frame may leave parts uncovered
    white.paste(plain.crop(frame), frame)
    return white


def _over_white(image: Image.Image) -> Image.Image:
    if image.mode not in ("RGBA", "LA"):
        image = image.convert("LA" if image.mode == "La" else "RGBA")
    white = Image.new("RGB", image.size, "white")
    white.paste(image, (0, 0), image)
    return white


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey values of eight bits."""
    low, high = _range(image)
    scale = 255 / (high - low) if high > low else 0.0
    tags = getattr(image, "tag_v2", {})
    grey = Image.new("L", image.size)
    for box in _blocks(*image.size):
        values = np.asarray(image.crop(box)).astype(np.float64)
        with np.errstate(all="ignore"):
            scaled = np.nan_to_num((values - low) * scale, nan=0.0).clip(0, 255)
        if tags.get(PHOTOMETRIC) == WHITE_IS_ZERO:
            scaled = 255 - scaled
        scaled[values == image.info.get("transparency", np.nan)] = 255
        grey.paste(Image.fromarray(scaled.round().astype(np.uint8)), box)
    return grey


def _range(image: Image.Image) -> tuple[float, float]:
    """Values of black and white: fixed for 12 and 16 bits, else the lowest and highest value."""
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PPM"):
        bits = getattr(image, "tag_v2", {}).get(BITS_PER_SAMPLE)
        return 0, 4095 if bits == (12,) else 65535
    low, high = np.inf, -np.inf
    for box in _blocks(*image.size):
        values = np.asarray(image.crop(box)).astype(np.float64)
        finite = values[np.isfinite(values)]
        low, high = min(low, finite.min(initial=np.inf)), max(high, finite.max(initial=-np.inf))
    return (low, high) if low < high else (0, 0)


def _blocks(width: int, height: int) -> Iterator[Box]:
    """Boxes that cover an image, each small enough to compute with in double precision."""
    for top in range(0, height, BLOCK):
        for left in range(0, width, BLOCK):
            yield left, top, min(left + BLOCK, width), min(top + BLOCK, height)
