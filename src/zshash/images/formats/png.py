"""Chunks of PNG files."""

import re
import struct
import zlib
from collections.abc import Iterator

from zshash.images.formats.announced import Announced
from zshash.images.formats.tags import Bytes, orientation

__all__ = ["png_notes", "png_size", "strip_png"]

NEEDED = (b"IHDR", b"PLTE", b"tRNS", b"IDAT")
NOTHING = b"zSHa"  # a name that no decoder knows, so Pillow drops the chunk
GREY, RGB = 0, 2
PROFILE = re.compile(rb"Raw profile type (?:exif|APP1)\0", re.IGNORECASE)
MOST_TEXT = 2**17
MOST_CHUNKS = 10_000  # among which notes are looked for


def chunks(content: Bytes) -> Iterator[tuple[bytes, int, int]]:
    """Name of each whole chunk, and the places of its content."""
    place = 8
    while place + 12 <= len(content):
        length, name = struct.unpack_from(">I4s", content, place)
        end = place + 8 + length
        if name == b"IEND" or end + 4 > len(content):
            return
        yield name, place + 8, end
        place = end + 4


def strip_png(content: memoryview) -> Announced:
    """Rename the chunks that the pixels do not need."""
    up, depth, colour = 0, 8, RGB
    for name, start, end in chunks(content):
        body = content[start:end]
        if name == b"IHDR" and len(body) >= 10:
            depth, colour = body[8], body[9]
        elif name not in NEEDED:
            up = up or _orientation(name, body)
            content[start - 4 : start] = NOTHING
            _write_checksum(content, start, end)
        elif name == b"tRNS" and _scale_transparency(body, depth, colour):
            _write_checksum(content, start, end)
    return Announced(up or 1)


def _write_checksum(content: memoryview, start: int, end: int) -> None:
    struct.pack_into(">I", content, end, zlib.crc32(content[start - 4 : end]))


def _orientation(name: bytes, body: memoryview) -> int:
    """Orientation from 1 to 8, or 0 if the chunk is about something else."""
    notes = _notes(name, body)
    return 0 if notes is None else orientation(notes)


def _notes(name: bytes, body: Bytes) -> Bytes | None:
    """Notes of the camera (EXIF) in a chunk, None if it is about something else."""
    if name == b"eXIf":
        return body
    if name not in (b"zTXt", b"tEXt") or not (profile := PROFILE.match(body)):
        return None
    try:  # as ImageMagick writes it: a name, a length, then digits
        text = bytes(body[profile.end() : profile.end() + MOST_TEXT])
        if name == b"zTXt":
            text = zlib.decompressobj().decompress(text[1:], MOST_TEXT)
        return bytes.fromhex(b"".join(text.split()[2:]).decode("ascii"))
    except (zlib.error, ValueError):
        return b""


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


def png_notes(content: Bytes) -> Bytes:
    """Notes of the camera (EXIF); empty if there are none."""
    for _, (name, start, end) in zip(range(MOST_CHUNKS), chunks(content), strict=False):
        if name not in NEEDED and (notes := _notes(name, content[start:end])) is not None:
            return notes
    return b""


def png_size(content: Bytes) -> tuple[int, int]:
    """Width and height."""
    width, height = struct.unpack_from(">II", content, 16)
    return width, height
