"""Colour profiles (ICC) in the files of pictures."""

import struct
import zlib

from zshash.images.formats.jpeg import SCAN, segments
from zshash.images.formats.png import chunks
from zshash.images.formats.tags import Directory

__all__ = ["MOST_BYTES", "profile_in"]

MOST_BYTES = 2**20  # of a profile; those of screens and cameras have some thousand
APP2, IN_JPEG = 0xE2, b"ICC_PROFILE\0"
IN_TIFF = 34675
WRONG = (ValueError, IndexError, struct.error, zlib.error)


def profile_in(content: memoryview, kind: str) -> bytes:
    """Colour profile in a JPEG, PNG or TIFF file; empty if there is none that makes sense.

    Decoders tell those of other kinds of files.
    """
    try:
        found = FINDERS[kind](content) if kind in FINDERS else b""
    except WRONG:
        return b""
    return found if len(found) <= MOST_BYTES else b""


def _in_jpeg(content: memoryview) -> bytes:
    """Profile that is cut into numbered segments."""
    parts: dict[int, bytes] = {}
    head = len(IN_JPEG)
    for marker, start, end in segments(content):
        if marker == SCAN:
            break
        if marker == APP2 and bytes(content[start : start + head]) == IN_JPEG:
            parts.setdefault(content[start + head], bytes(content[start + head + 2 : end]))
    return b"".join(parts[number] for number in sorted(parts))


def _in_png(content: memoryview) -> bytes:
    """Profile behind its name, compressed."""
    for name, start, end in chunks(content):
        if name == b"iCCP":
            packed = bytes(content[start:end]).partition(b"\0")[2]
            return zlib.decompressobj().decompress(packed[1:], MOST_BYTES + 1)
        if name == b"IDAT":
            break
    return b""


def _in_tiff(content: memoryview) -> bytes:
    return bytes(Directory.first(content).block(IN_TIFF, MOST_BYTES))


FINDERS = {"JPEG": _in_jpeg, "PNG": _in_png, "TIFF": _in_tiff}
