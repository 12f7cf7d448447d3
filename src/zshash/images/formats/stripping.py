"""Files of pictures without the parts that the pixels do not need.

Comments, profiles, previews and notes of a camera can cost a decoder memory and time without end,
and an error in them spoils a good picture. So they are blanked before a decoder sees them. Only
the orientation of the picture is kept.
"""

import re
import struct
from collections.abc import Callable

from zshash.images.formats.announced import Announced
from zshash.images.formats.heif import brand_kind, strip_heif
from zshash.images.formats.jpeg import strip_jpeg
from zshash.images.formats.png import strip_png
from zshash.images.formats.raw import has_sensor_pixels, strip_raw
from zshash.images.formats.tiff import strip_tiff
from zshash.images.formats.webp import measure_webp

__all__ = ["KINDS", "kind_of", "strip"]

SIGNATURES = {
    "JPEG": rb"\xff\xd8\xff",
    "PNG": rb"\x89PNG\r\n\x1a\n",
    "GIF": rb"GIF8[79]a",
    "WEBP": rb"RIFF.{4}WEBP",
    "RAW": rb"II[*]\0.{4}CR|IIR[OS]|MMOR|IIU\0|FUJIFILMCCD-RAW|.{4}ftypcrx ",
    "TIFF": rb"II[*+]\0|MM\0[*]",
    "HEIF": rb".{4}ftyp",
    "BMP": rb"BM",
    "PPM": rb"P[1-6f]\s",
}
KINDS = ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "PPM", "AVIF", "HEIF", "RAW")
MOST_REMARKS = 10_000

CONTROL, COMMENT, FRAME, EXTENSION, TRAILER = 0xF9, 0xFE, b",", b"!", b";"
REMARK = re.compile(rb"#[^\r\n]*")


def kind_of(content: memoryview) -> str | None:
    """Pillow's name of the format, "HEIF", "RAW" for files of cameras, or None for other files.

    >>> kind_of(memoryview(b"GIF89a..."))
    'GIF'
    """
    matches = (kind for kind in SIGNATURES if re.match(SIGNATURES[kind], content, re.DOTALL))
    kind = next(matches, None)
    if kind == "HEIF":
        return brand_kind(content)
    return "RAW" if kind == "TIFF" and has_sensor_pixels(content) else kind


def strip(content: memoryview, kind: str) -> Announced:
    """Blank all that the pixels do not need, in place; return what the bytes announce.

    Raises
    ------
    ValueError, struct.error or IndexError
        If the bytes make no sense, or make a decoder work without end.
    """
    return STRIPPERS[kind](content) if kind in STRIPPERS else Announced()


def _strip_gif(content: memoryview) -> Announced:
    width, height, flags = struct.unpack_from("<HHB", content, 6)
    place = 13 + _palette_size(flags)
    while (mark := bytes(content[place : place + 1])) not in (TRAILER, b""):
        place += 1
        if mark == FRAME:
            left, top, wide, high = struct.unpack_from("<4H", content, place)
            return Announced(pixels=max(width, left + wide) * max(height, top + high))
        if mark == EXTENSION:
            place = _strip_extension(content, place)
    return Announced()


def _palette_size(flags: int) -> int:
    return 3 << (flags & 7) + 1 if flags & 128 else 0


def _strip_extension(content: memoryview, place: int) -> int:
    """Turn an extension into one that Pillow skips; return the place behind it."""
    empty = not content[place + 1]
    is_comment = content[place] == COMMENT
    if content[place] != CONTROL and not (is_comment and empty):
        content[place] = 0
    place = _behind_blocks(content, place + 1)
    # Pillow reads on behind an empty extension, unless it is a comment
    return _behind_blocks(content, place) if empty and not is_comment else place


def _behind_blocks(content: memoryview, place: int) -> int:
    while size := content[place]:
        place += 1 + size
    return place + 1


def _strip_ppm(content: memoryview) -> Announced:
    if content[1] in b"123":  # numbers written out, with remarks anywhere between them
        for count, found in enumerate(REMARK.finditer(content)):
            if count == MOST_REMARKS:
                raise ValueError(f"more than {MOST_REMARKS} remarks")
            content[found.start() : found.end()] = b" " * len(found[0])
    return Announced()


STRIPPERS: dict[str, Callable[[memoryview], Announced]] = {
    "JPEG": strip_jpeg,
    "PNG": strip_png,
    "GIF": _strip_gif,
    "WEBP": measure_webp,
    "TIFF": strip_tiff,
    "PPM": _strip_ppm,
    "HEIF": strip_heif,
    "AVIF": strip_heif,
    "RAW": strip_raw,
}
