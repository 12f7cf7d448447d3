"""Ways in which a copy of a picture differs from it."""

import io
import random
from collections.abc import Callable
from typing import Any

from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

__all__ = ["CHANGES", "MOVED", "Change"]

Change = Callable[[Image.Image, random.Random], tuple[bytes, str]]
"""Function from a picture to the bytes and the ending of its copy."""


def saved(image: Image.Image, kind: str = "JPEG", **options: Any) -> tuple[bytes, str]:
    """Bytes and ending of a picture's file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue(), kind.lower()


def scaled(share: float) -> Change:
    """A copy of another size."""

    def change(image: Image.Image, _: random.Random) -> tuple[bytes, str]:
        size = (max(8, round(image.width * share)), max(8, round(image.height * share)))
        return saved(image.resize(size, Image.Resampling.LANCZOS), quality=90)

    return change


def compressed(kind: str, **options: Any) -> Change:
    """A copy saved again, perhaps as another kind of file."""
    return lambda image, _: saved(image, kind, **options)


def turned(image: Image.Image, rng: random.Random) -> tuple[bytes, str]:
    """A copy whose pixels lie on a side, with the note (EXIF) that says so."""
    how, note = rng.choice([(Image.Transpose.ROTATE_90, 6), (Image.Transpose.ROTATE_270, 8)])
    exif = Image.Exif()
    exif[274] = note
    return saved(image.transpose(how), quality=90, exif=exif)


def cropped(most: float) -> Change:
    """A copy without a random part, up to `most`, of each side."""

    def change(image: Image.Image, rng: random.Random) -> tuple[bytes, str]:
        left, top, right, bottom = (rng.uniform(most / 4, most) for _ in range(4))
        wide, high = image.size
        box = (left * wide, top * high, (1 - right) * wide, (1 - bottom) * high)
        return saved(image.crop(box), quality=90)

    return change


def lit(by: float, contrast: bool = False) -> Change:
    """A copy that is brighter, darker, or of another contrast."""
    enhance = ImageEnhance.Contrast if contrast else ImageEnhance.Brightness
    return lambda image, _: saved(enhance(image).enhance(by), quality=90)


def moved(image: Image.Image, rng: random.Random) -> tuple[bytes, str]:
    """Not a copy but another shot: what is in a part of the picture has moved a little."""
    wide, high = image.size
    x, y = rng.uniform(0.3, 0.7) * wide, rng.uniform(0.3, 0.7) * high
    right, down = rng.uniform(0.1, 0.2) * wide, rng.uniform(0.1, 0.2) * high
    by = [round(rng.choice((-1, 1)) * rng.uniform(0.04, 0.1) * side) for side in (wide, high)]
    mask = Image.new("L", image.size)
    ImageDraw.Draw(mask).ellipse((x - right, y - down, x + right, y + down), fill=255)
    soft = mask.filter(ImageFilter.GaussianBlur(0.02 * max(wide, high)))
    later = image.copy()
    later.paste(image, (by[0], by[1]))
    return saved(Image.composite(later, image, soft), quality=90)


MOVED = "something has moved"
CHANGES: dict[str, Change] = {
    "scaled to 1/4": scaled(0.25),
    "scaled to 1/2": scaled(0.5),
    "scaled to 2": scaled(2),
    "JPEG, quality 60": compressed("JPEG", quality=60),
    "JPEG, quality 30": compressed("JPEG", quality=30),
    "PNG": compressed("PNG"),
    "WebP, quality 60": compressed("WEBP", quality=60),
    "AVIF, quality 60": compressed("AVIF", quality=60),
    "turned by EXIF": turned,
    "cropped by up to 2 % a side": cropped(0.02),
    "cropped by up to 5 % a side": cropped(0.05),
    "cropped by up to 10 % a side": cropped(0.1),
    "10 % brighter": lit(1.1),
    "10 % darker": lit(0.9),
    "10 % more contrast": lit(1.1, contrast=True),
    MOVED: moved,
}
