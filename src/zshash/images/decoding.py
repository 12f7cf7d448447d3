"""Picture files decoded to pixels, without crashes and within limits, whatever the files hold.

Only formats that people keep pictures in are read, no scripts (EPS) and no drawings. Of an
animation the first frame counts, of the file of a camera (RAW) the largest preview in it. Pictures
are turned upright as the camera noted; palettes, transparency, sixteen bits and inks (CMYK) become
plain RGB of eight bits. A colour profile is not applied, but it stays with the pixels, as
``info["icc_profile"]``.
"""

import os
import stat
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.images.formats.announced import NotRead
from zshash.images.formats.profiles import profile_in
from zshash.images.formats.stripping import KINDS, kind_of, strip
from zshash.images.formats.tags import orientation
from zshash.images.limits import Limits
from zshash.images.plain import plain_rgb

with needs("images"):
    from PIL import Image, features

__all__ = ["Limits", "PictureError", "Source", "decode"]

Source = str | Path | bytes | NDArray[np.uint8]
Factory = Callable[[BytesIO, str], Image.Image]

UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
FEATURES = {"AVIF": "avif", "WEBP": "webp"}  # what not every build of Pillow has
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
        The least width and height that the caller needs. A JPEG file that is much larger is
        decoded at a half, a quarter or an eighth of its size, never at less than twice `side`.

    Raises
    ------
    PictureError
        If the source is not a picture, is damaged, or exceeds the limits.

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
            return plain_rgb(_from_array(source, limits))
        if isinstance(source, bytes):
            _check_bytes(len(source), limits)
            return _decode(BytesIO(source), limits, side)
        return _decode(BytesIO(_read(Path(source), limits)), limits, side)
    except Exception as error:  # a decoder may raise any error on meaningless bytes
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
        if kind is None:
            raise PictureError(f"not a picture of a kind that is read ({', '.join(KINDS)})")
        factory = _factory("JPEG" if kind == "RAW" else kind)
        profile = profile_in(content, kind)
        found = strip(content, kind)
        if found.preview is not None:
            file = BytesIO(content[found.preview])
    _check_pixels(found.pixels, limits)
    plain, notes = _load(factory, file, limits, side)
    up = orientation(notes["exif"]) if notes.get("exif") else found.orientation
    upright = plain.transpose(UPRIGHT[up]) if up in UPRIGHT else plain
    upright.info["icc_profile"] = profile or notes.get("icc_profile") or b""
    return upright


def _load(
    factory: Factory, file: BytesIO, limits: Limits, side: int
) -> tuple[Image.Image, dict[Any, Any]]:
    """Pixels, not yet upright, and the notes that were left in: EXIF, a colour profile."""
    with factory(file, "") as image:
        _check_size(*image.size, limits)
        if side:
            image.draft(None, (2 * side, 2 * side))
        image.load()
        return plain_rgb(image), image.info


@cache
def _factory(kind: str) -> Factory:
    """Reader of a format; `Image.open` would warn of large pictures."""
    if kind == "HEIF":
        try:
            from pillow_heif import HeifImageFile
        except ImportError as error:
            raise PictureError("HEIC needs pillow-heif: pip install 'zshash[heic]'") from error
        return HeifImageFile
    Image.init()
    if kind not in Image.OPEN or not features.check(FEATURES.get(kind, "pil")):
        raise PictureError(f"{kind} needs a build of Pillow that reads it: pip install -U pillow")
    return Image.OPEN[kind][0]


def _reason(error: Exception) -> str:
    """Reason of an error, in a few words and one line."""
    if isinstance(error, PictureError | NotRead):
        return str(error)
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    is_said_well = isinstance(error, OSError | SyntaxError | ValueError)
    text = " ".join(str(error).split())[:MOST_LETTERS]
    return f"damaged ({text})" if text and is_said_well else "damaged"
