"""Width and height of pictures from the first bytes of their files."""

import re
import struct

from zshash.images.formats.jpeg import jpeg_size
from zshash.images.formats.png import png_size
from zshash.images.formats.raw import raw_size
from zshash.images.formats.tags import HEIGHT, WIDTH, Directory
from zshash.images.formats.webp import webp_size

__all__ = ["upright_size"]

OLD_BMP = 12  # length of the header in which sizes have two bytes
PPM = re.compile(rb"P[1-6f](?:\s+|#[^\r\n]*)+(\d{1,7})(?:\s+|#[^\r\n]*)+(\d{1,7})\s")
MOST_HEAD = 1000  # bytes of a PPM file that hold its size
TURNED = range(5, 9)  # orientations of pictures that lie on their side


def upright_size(content: memoryview, kind: str, orientation: int) -> tuple[int, int] | None:
    """Width and height of a picture as it is seen, None if the file does not tell them.

    Parameters
    ----------
    content : memoryview
    kind : str
        As from `kind_of`, but neither HEIF nor AVIF, which have the size among their items.
    orientation : int
        Which side is up, 1 to 8 as in EXIF.

    Raises
    ------
    ValueError, IndexError or struct.error
        If the bytes make no sense.
    """
    size = SIZES[kind](content)
    return size[::-1] if size and orientation in TURNED else size


def _gif_size(content: memoryview) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height


def _bmp_size(content: memoryview) -> tuple[int, int]:
    (n_header,) = struct.unpack_from("<I", content, 14)
    width, height = struct.unpack_from("<HH" if n_header == OLD_BMP else "<ii", content, 18)
    return width, abs(height)  # a negative height: rows from top to bottom


def _ppm_size(content: memoryview) -> tuple[int, int] | None:
    found = PPM.match(content[:MOST_HEAD])
    return (int(found[1]), int(found[2])) if found else None


def _tiff_size(content: memoryview) -> tuple[int, int]:
    first = Directory.first(content)
    return first.number(WIDTH), first.number(HEIGHT)


SIZES = {
    "JPEG": jpeg_size,
    "PNG": png_size,
    "GIF": _gif_size,
    "WEBP": webp_size,
    "TIFF": _tiff_size,
    "BMP": _bmp_size,
    "PPM": _ppm_size,
    "RAW": raw_size,
}
