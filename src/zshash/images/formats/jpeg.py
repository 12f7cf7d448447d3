"""Segments of JPEG files."""

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from zshash.images.formats.announced import Announced
from zshash.images.formats.tags import EXIF, Bytes, orientation

__all__ = ["jpeg_notes", "jpeg_size", "strip_jpeg"]

MOST_PARTS = 10_000
MOST_SCANS = 200
MOST_JUNK = 2**16

MARKER = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")
SCAN, END, COMMENT = 0xDA, 0xD9, 0xFE
WITH_LENGTH = {*range(0xC0, 0xD0), *range(0xDA, 0xF0), COMMENT} - {0xC8}
APPLICATION = {*range(0xE1, 0xF0), COMMENT} - {0xEE}  # 0xE0 and 0xEE tell the kind of colours
FRAMES = {0xC0, 0xC1, 0xC2}  # the ways to code pixels that decoders know


class Segment(NamedTuple):
    """Segment of a JPEG file: its marker, and the places of its content."""

    marker: int
    start: int
    end: int


def segments(content: Bytes) -> Iterator[Segment]:
    """Segments with a length, up to the end of the picture.

    Raises
    ------
    ValueError, struct.error
        If the bytes make no sense, or there are too many segments.
    """
    has_scan, place = False, 2
    for _ in range(MOST_PARTS):
        found = MARKER.search(content, place)
        if found is None:
            return
        marker = content[found.start() + 1]
        if not has_scan and (marker not in WITH_LENGTH or found.start() - place > MOST_JUNK):
            raise ValueError("no picture in it")
        place = found.end()
        if marker == END:
            return
        if marker not in WITH_LENGTH:
            continue
        (length,) = struct.unpack_from(">H", content, place)
        has_scan |= marker == SCAN
        yield Segment(marker, place + 2, place + length)
        place += max(length, 2)
    raise ValueError(f"more than {MOST_PARTS} segments")


def strip_jpeg(content: memoryview) -> Announced:
    """Blank the segments that the pixels do not need."""
    up, n_scans = 0, 0
    for marker, start, end in segments(content):
        n_scans += marker == SCAN
        if marker in APPLICATION and end > start:
            if is_notes(content, start):
                up = up or orientation(content[start:end])
            content[start] = 0  # the first letter of its name: no decoder knows the segment now
    if n_scans > MOST_SCANS:
        raise ValueError(f"painted {n_scans} times over")
    return Announced(up or 1)


def is_notes(content: Bytes, start: int) -> bool:
    """Whether a segment that starts at a place holds the notes of a camera."""
    return bytes(content[start : start + len(EXIF)]) == EXIF


def jpeg_notes(content: memoryview) -> memoryview:
    """Notes of the camera (EXIF); empty if there are none before the pixels."""
    for marker, start, end in segments(content):
        if marker == SCAN:
            break
        if marker in APPLICATION and is_notes(content, start):
            return content[start + len(EXIF) : end]
    return content[:0]


def jpeg_size(content: Bytes) -> tuple[int, int] | None:
    """Width and height; None if the pixels are coded in a way that decoders do not know."""
    for marker, start, _ in segments(content):
        if marker == SCAN:
            break
        if marker in FRAMES:
            height, width = struct.unpack_from(">HH", content, start + 1)
            return width, height
    return None
