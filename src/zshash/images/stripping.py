"""Files of pictures without the parts that the pixels do not need.

Comments, profiles, previews and notes of a camera can cost a decoder memory and time without end,
and an error in them spoils a good picture. So they are blanked before a decoder sees them. Only
the orientation of the picture is kept.
"""

import re
import struct
import zlib
from collections.abc import Callable

from zshash.images.tiff import EXIF, Announced, orientation, strip_tiff

__all__ = ["KINDS", "kind_of", "strip"]

SIGNATURES = {
    "JPEG": rb"\xff\xd8\xff",
    "PNG": rb"\x89PNG\r\n\x1a\n",
    "GIF": rb"GIF8[79]a",
    "WEBP": rb"RIFF.{4}WEBP",
    "TIFF": rb"II[*+]\0|MM\0[*]",
    "BMP": rb"BM",
    "PPM": rb"P[1-6f]\s",
}
KINDS = tuple(SIGNATURES)
MOST_PARTS = 10_000
MOST_SCANS = 200
MOST_JUNK = 2**16

MARKER = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")
SCAN, END, COMMENT = 0xDA, 0xD9, 0xFE
WITH_LENGTH = {*range(0xC0, 0xD0), *range(0xDA, 0xF0), COMMENT} - {0xC8}
APPLICATION = {*range(0xE1, 0xF0), COMMENT} - {0xEE}  # 0xE0 and 0xEE tell the kind of colours

NEEDED_CHUNKS = (b"IHDR", b"PLTE", b"tRNS", b"IDAT")
NOTHING = b"zSHa"  # a name that no decoder knows, so Pillow drops the chunk
GREY, RGB = 0, 2
RAW_PROFILE = re.compile(rb"Raw profile type (?:exif|APP1)\0", re.IGNORECASE)
MOST_TEXT = 2**17

CONTROL, FRAME, EXTENSION, TRAILER = 0xF9, b",", b"!", b";"
REMARK = re.compile(rb"#[^\r\n]*")


def kind_of(content: memoryview) -> str | None:
    """Pillow's name of the format, or None if the format is not read.

    >>> kind_of(memoryview(b"GIF89a..."))
    'GIF'
    """
    for kind, signature in SIGNATURES.items():
        if re.match(signature, content, re.DOTALL):
            return kind
    return None


def strip(content: memoryview, kind: str) -> Announced:
    """Blank all that the pixels do not need, in place; return what the bytes announce.

    Raises
    ------
    ValueError, struct.error or IndexError
        If the bytes make no sense, or make a decoder work without end.
    """
    return STRIPPERS[kind](content) if kind in STRIPPERS else Announced()


def _strip_jpeg(content: memoryview) -> Announced:
    up, n_scans, place = 0, 0, 2
    for _ in range(MOST_PARTS):
        found = MARKER.search(content, place)
        if found is None:
            break
        marker = content[found.start() + 1]
        if not n_scans and (marker not in WITH_LENGTH or found.start() - place > MOST_JUNK):
            raise ValueError("no picture in it")
        place = found.end()
        if marker == END:
            break
        if marker not in WITH_LENGTH:
            continue
        (length,) = struct.unpack_from(">H", content, place)
        n_scans += marker == SCAN
        if marker in APPLICATION and length > 2:
            up = up or _jpeg_orientation(content[place + 2 : place + length])
            content[place + 2] = 0  # the first letter of its name: no decoder knows the segment now
        place += max(length, 2)
    else:
        raise ValueError(f"more than {MOST_PARTS} segments")
    if n_scans > MOST_SCANS:
        raise ValueError(f"painted {n_scans} times over")
    return Announced(up or 1)


def _jpeg_orientation(segment: memoryview) -> int:
    """Orientation from 1 to 8, or 0 if the segment is about something else."""
    return orientation(segment) if bytes(segment[:6]) == EXIF else 0


def _strip_png(content: memoryview) -> Announced:
    up, depth, colour, place = 0, 8, RGB, 8
    while place + 12 <= len(content):
        length, name = struct.unpack_from(">I4s", content, place)
        behind = place + 8 + length
        if name == b"IEND" or behind + 4 > len(content):
            break
        body = content[place + 8 : behind]
        if name == b"IHDR" and length >= 10:
            depth, colour = body[8], body[9]
        elif name not in NEEDED_CHUNKS:
            up = up or _png_orientation(name, body)
            content[place + 4 : place + 8] = NOTHING
            _write_checksum(content[place:])
        elif name == b"tRNS" and _scale_transparency(body, depth, colour):
            _write_checksum(content[place:])
        place = behind + 4
    return Announced(up or 1)


def _write_checksum(chunk: memoryview) -> None:
    (length,) = struct.unpack_from(">I", chunk)
    struct.pack_into(">I", chunk, 8 + length, zlib.crc32(chunk[4 : 8 + length]))


def _png_orientation(name: bytes, body: memoryview) -> int:
    """Orientation from 1 to 8, or 0 if the chunk is about something else."""
    if name == b"eXIf":
        return orientation(body)
    if name not in (b"zTXt", b"tEXt") or not (profile := RAW_PROFILE.match(body)):
        return 0
    try:  # as ImageMagick writes it: a name, a length, then digits
        text = bytes(body[profile.end() : profile.end() + MOST_TEXT])
        if name == b"zTXt":
            text = zlib.decompressobj().decompress(text[1:], MOST_TEXT)
        return orientation(bytes.fromhex(b"".join(text.split()[2:]).decode("ascii")))
    except (zlib.error, ValueError):
        return 1


def _scale_transparency(body: memoryview, depth: int, colour: int) -> bool:
    """Scale the transparent colour to eight bits, like Pillow's pixels; True if it changed."""
    if colour == GREY and depth in (2, 4) and len(body) >= 2:
        (value,) = struct.unpack_from(">H", body)
        struct.pack_into(">H", body, 0, min(value * 255 // (2**depth - 1), 255))
        return True
    if colour == RGB and depth == 16 and len(body) >= 6:
        values = struct.unpack_from(">3H", body)
        struct.pack_into(">3H", body, 0, *(value >> 8 for value in values))
        return True
    return False


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


def _measure_webp(content: memoryview) -> Announced:
    """Size of a WebP picture, whose decoder takes memory before it tells the size."""
    name = bytes(content[12:16])
    if name == b"VP8X":
        return Announced(pixels=(_little(content[24:27]) + 1) * (_little(content[27:30]) + 1))
    if name == b"VP8L":
        bits = _little(content[21:25])
        return Announced(pixels=((bits & 0x3FFF) + 1) * ((bits >> 14 & 0x3FFF) + 1))
    return Announced(pixels=(_little(content[26:28]) & 0x3FFF) * (_little(content[28:30]) & 0x3FFF))


def _little(number: memoryview) -> int:
    return int.from_bytes(number, "little")


def _strip_ppm(content: memoryview) -> Announced:
    if content[1] in b"123":  # numbers written out, with remarks anywhere between them
        for count, found in enumerate(REMARK.finditer(content)):
            if count == MOST_PARTS:
                raise ValueError(f"more than {MOST_PARTS} remarks")
            content[found.start() : found.end()] = b" " * len(found[0])
    return Announced()


STRIPPERS: dict[str, Callable[[memoryview], Announced]] = {
    "JPEG": _strip_jpeg,
    "PNG": _strip_png,
    "GIF": _strip_gif,
    "WEBP": _measure_webp,
    "TIFF": strip_tiff,
    "PPM": _strip_ppm,
}
