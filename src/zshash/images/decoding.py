"""Picture files to pixels, whatever they hold: never a crash, never more than a limit.

Only formats that people keep pictures in are read, no scripts (EPS) and no drawings. Of an
animation the first frame counts. The camera's remark on which side is up is followed; palettes,
transparency, sixteen bits and inks (CMYK) become plain RGB of eight bits. Colour profiles are not
followed.
"""

import os
import stat
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.images.limits import Limits
from zshash.images.stripping import KINDS, kind_of, strip
from zshash.images.tiff import orientation

with needs("images"):
    from PIL import Image

__all__ = ["Limits", "PictureError", "Source", "decode"]

Source = str | Path | bytes | NDArray[np.uint8]
Box = tuple[int, int, int, int]

TRANSPARENT = ("RGBA", "RGBa", "LA", "La", "PA")
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
BITS_PER_SAMPLE, PHOTOMETRIC, WHITE_IS_ZERO = 258, 262, 0
BLOCK = 1024
LONGEST = 2**20
MOST_LETTERS = 200


class PictureError(ValueError):
    """A picture that can not be used; the message gives its path and the reason."""


def decode(source: Source, limits: Limits | None = None, side: int = 0) -> Image.Image:
    """Pixels of a picture, as an RGB image of eight bits.

    Parameters
    ----------
    source : path, bytes of a file, or ndarray of shape (height, width[, 3 or 4]), uint8
    limits : Limits, optional
    side : int
        The least width and height that the caller has use for. A JPEG file that is much larger is
        decoded at a half, a quarter or an eighth of its size, never at less than twice `side`.

    Raises
    ------
    PictureError
        If it is not a picture, is damaged, or exceeds the limits.

    Examples
    --------
    >>> decode(np.zeros((2, 3), dtype=np.uint8)).size
    (3, 2)
    """
    if not isinstance(source, str | os.PathLike | bytes | np.ndarray):
        raise TypeError(f"expected a path, bytes or an array, got {type(source).__name__}")
    limits = limits or Limits()
    try:
        if isinstance(source, np.ndarray):
            return _plain(_from_array(source, limits))
        if isinstance(source, bytes):
            _check_bytes(len(source), limits)
            return _decode(BytesIO(source), limits, side)
        return _decode(BytesIO(_read(Path(source), limits)), limits, side)
    except Exception as error:  # a decoder may raise anything on bytes that mean nothing
        name = "" if isinstance(source, bytes | np.ndarray) else f"{source}: "
        raise PictureError(f"{name}{_reason(error)}") from error


def _read(path: Path, limits: Limits) -> bytes:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
        raise PictureError("not a file")
    _check_bytes(status.st_size, limits)
    with path.open("rb") as file:
        return file.read(status.st_size)


def _check_bytes(size: int, limits: Limits) -> None:
    if size > limits.bytes:
        raise PictureError(f"{size} bytes, more than the limit of {limits.bytes}")
    if not size:
        raise PictureError("empty")


def _from_array(pixels: NDArray[np.uint8], limits: Limits) -> Image.Image:
    fits = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (3, 4))
    if not fits or pixels.dtype != np.uint8 or not pixels.size:
        raise PictureError(
            "pixels must be uint8 of shape (height, width) or (height, width, 3 or 4), got "
            f"{pixels.dtype} of shape {pixels.shape}"
        )
    _check_size(pixels.shape[1], pixels.shape[0], limits)
    return Image.fromarray(pixels)


def _check_size(width: int, height: int, limits: Limits) -> None:
    if max(width, height) > LONGEST:  # Pillow keeps a pointer for each row
        raise PictureError(f"{width} × {height} pixels, a side of more than {LONGEST}")
    _check_pixels(width * height, limits, f"{width} × {height}")


def _check_pixels(pixels: int, limits: Limits, product: str = "") -> None:
    most = min(limits.pixels, Image.MAX_IMAGE_PIXELS or limits.pixels)
    if pixels > most:
        whose = " (PIL.Image.MAX_IMAGE_PIXELS)" if most < limits.pixels else ""
        raise PictureError(f"{product or pixels} pixels, more than the limit of {most}{whose}")


def _decode(file: BytesIO, limits: Limits, side: int) -> Image.Image:
    with file.getbuffer() as content:
        kind = kind_of(content)
        if kind is None or kind not in _kinds():
            raise PictureError(f"not a picture of a kind that is read ({', '.join(_kinds())})")
        found = strip(content, kind)
    _check_pixels(found.pixels, limits)
    plain, exif = _load(file, kind, limits, side)
    up = orientation(exif) if exif else found.orientation
    return plain.transpose(UPRIGHT[up]) if up in UPRIGHT else plain


def _load(file: BytesIO, kind: str, limits: Limits, side: int) -> tuple[Image.Image, bytes]:
    """Pixels, not yet upright, and the camera's remarks where they were left in."""
    factory, _ = Image.OPEN[kind]  # by way of `Image.open` it would warn of large pictures
    with factory(file, "") as image:
        _check_size(*image.size, limits)
        if side:
            image.draft(None, (2 * side, 2 * side))
        image.load()
        return _plain(image), image.info.get("exif") or b""


@cache
def _kinds() -> tuple[str, ...]:
    """Those formats that this build of Pillow reads."""
    Image.init()
    return tuple(name for name in KINDS if name in Image.OPEN)


def _plain(image: Image.Image) -> Image.Image:
    """A new image, of eight bits of red, green and blue; what is transparent becomes white."""
    if image.mode.startswith(("I", "F")):
        return _eight_bits(image).convert("RGB")
    if image.mode in TRANSPARENT or "transparency" in image.info:
        return _over_white(image)
    plain = image.copy() if image.mode == "RGB" else image.convert("RGB")
    frame: Box = getattr(image, "dispose_extent", None) or (0, 0, *image.size)
    if frame == (0, 0, *image.size):
        return plain
    white = Image.new("RGB", image.size, "white")  # a GIF's first frame may leave some uncovered
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
    """Values of black and white: known of 12 and 16 bits, of others the lowest and highest."""
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


def _reason(error: Exception) -> str:
    """Why it failed, in a few words and one line."""
    if isinstance(error, PictureError):
        return str(error)
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    is_said_well = isinstance(error, OSError | SyntaxError | ValueError)
    text = " ".join(str(error).split())[:MOST_LETTERS]
    return f"damaged ({text})" if text and is_said_well else "damaged"
