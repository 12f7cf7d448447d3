"""Chunks of WebP files."""

from zshash.images.formats.announced import Announced

__all__ = ["measure_webp", "webp_notes", "webp_size"]

MOST_CHUNKS = 1000  # among which notes are looked for


def measure_webp(content: memoryview) -> Announced:
    """Size of a WebP picture, whose decoder takes memory before it tells the size."""
    width, height = webp_size(content)
    return Announced(pixels=width * height)


def webp_size(content: memoryview) -> tuple[int, int]:
    """Width and height."""
    name = bytes(content[12:16])
    if name == b"VP8X":
        return _little(content[24:27]) + 1, _little(content[27:30]) + 1
    if name == b"VP8L":
        bits = _little(content[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return _little(content[26:28]) & 0x3FFF, _little(content[28:30]) & 0x3FFF


def webp_notes(content: memoryview) -> memoryview:
    """Notes of the camera (EXIF); empty if there are none."""
    place = 12
    for _ in range(MOST_CHUNKS):
        name, length = bytes(content[place : place + 4]), _little(content[place + 4 : place + 8])
        if len(name) < 4 or name == b"EXIF":
            return content[place + 8 : place + 8 + length]
        place += 8 + length + length % 2
    return content[:0]


def _little(number: memoryview) -> int:
    return int.from_bytes(number, "little")
