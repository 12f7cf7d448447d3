"""Picture files to pixels, whatever they hold: never a crash, never more than a limit.

Only formats that people keep pictures in are read, no scripts (EPS) and no drawings. Of an
animation the first frame counts. The camera's remark on which side is up is followed; palettes,
transparency, sixteen bits and inks (CMYK) become plain RGB of eight bits.
"""

import stat
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs

with needs("images"):
    from PIL import Image, ImageOps, UnidentifiedImageError

__all__ = ["Limits", "PictureError", "Source", "decode"]

FORMATS = ("JPEG", "MPO", "PNG", "GIF", "WEBP", "TIFF", "BMP", "PPM", "AVIF")
TRANSPARENT = ("RGBA", "RGBa", "LA", "La", "PA")
Source = str | Path | bytes | NDArray[np.uint8]


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
    limits = limits or Limits()
    try:
        if isinstance(source, np.ndarray):
            return _plain(_from_array(source))
        if isinstance(source, bytes):
            _check_bytes(len(source), limits)
            return _decode(BytesIO(source), limits, side)
        path = Path(source)
        _check_file(path, limits)
        with path.open("rb") as file:
            return _decode(file, limits, side)
    except Exception as error:  # a decoder may raise anything on bytes that mean nothing
        name = f"{source}: " if isinstance(source, str | Path) else ""
        raise PictureError(f"{name}{_reason(error)}") from error


def _check_file(path: Path, limits: Limits) -> None:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
        raise PictureError("not a file")
    _check_bytes(status.st_size, limits)


def _check_bytes(size: int, limits: Limits) -> None:
    if size > limits.bytes:
        raise PictureError(f"{size} bytes, more than the limit of {limits.bytes}")
    if not size:
        raise PictureError("empty")


def _from_array(pixels: NDArray[np.uint8]) -> Image.Image:
    fits = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (3, 4))
    if not fits or pixels.dtype != np.uint8 or not pixels.size:
        raise PictureError(
            "pixels must be uint8 of shape (height, width) or (height, width, 3), got "
            f"{pixels.dtype} of shape {pixels.shape}"
        )
    return Image.fromarray(pixels)


def _decode(file: object, limits: Limits, side: int) -> Image.Image:
    with Image.open(file, formats=_formats()) as image:  # type: ignore[arg-type]
        width, height = image.size
        if width * height > limits.pixels:
            raise PictureError(f"{width} × {height} pixels, more than the limit of {limits.pixels}")
        if side:
            image.draft(None, (2 * side, 2 * side))
        image.load()
        return _plain(_upright(image))


@cache
def _formats() -> tuple[str, ...]:
    """Those of `FORMATS` that this build of Pillow reads."""
    Image.init()
    return tuple(name for name in FORMATS if name in Image.OPEN)


def _upright(image: Image.Image) -> Image.Image:
    """The picture as it was seen; remarks that make no sense are not followed."""
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # damaged remarks do not spoil the pixels
        return image


def _plain(image: Image.Image) -> Image.Image:
    """Eight bits of red, green and blue; what is transparent becomes white."""
    if image.mode.startswith(("I", "F")):
        return _eight_bits(image).convert("RGB")
    if image.mode in TRANSPARENT or "transparency" in image.info:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey values of eight bits; 16-bit ones have a range, of others only that found is known."""
    values = np.asarray(image)
    if image.mode.startswith("I;16"):
        return Image.fromarray((values >> 8).astype(np.uint8))
    exact = np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)
    exact -= exact.min()
    exact *= 255 / max(exact.max(), 1e-300)
    return Image.fromarray(exact.round().astype(np.uint8))


def _reason(error: Exception) -> str:
    """Why it failed, in a few words and one line."""
    if isinstance(error, PictureError):
        return str(error)
    if isinstance(error, UnidentifiedImageError):
        return "not a picture, or of a kind that is not read"
    if isinstance(error, Image.DecompressionBombError | Image.DecompressionBombWarning):
        return f"more pixels than Pillow opens ({Image.MAX_IMAGE_PIXELS})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error).split())
    return f"damaged ({text})" if text else "damaged"
