"""Directories of tags: in TIFF files, and in the notes of a camera (EXIF)."""

import struct
from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

__all__ = ["EXIF", "Announced", "orientation", "strip_tiff"]

Bytes = bytes | memoryview

WIDTH, HEIGHT, ORIENTATION, ROWS = 256, 257, 274, 278
STRIPS, TILES, TILE_WIDTH, TILE_HEIGHT, JPEG_TABLES = 273, 324, 322, 323, 347
SINGLE = {WIDTH, HEIGHT, 259, 262, 266, 277, ROWS, 284, 292, 293, 317, TILE_WIDTH, TILE_HEIGHT}
SINGLE |= {512, 513, 514, 515, 531}
FOR_PIXELS = SINGLE | {ORIENTATION, 258, STRIPS, 279, 320, TILES, 325, 338, 339, JPEG_TABLES}
FOR_PIXELS |= {517, 518, 519, 520, 521, 529, 530, 532}

EXIF = b"Exif\0\0"
NUMBERS = {1: "B", 3: "H", 4: "I", 16: "Q"}
MOST_TAGS = 65535
MOST_PLANES = 16
MOST_NUMBERS = 2**17


class Announced(NamedTuple):
    """Orientation and size that the bytes of a picture announce, before any pixel is decoded.

    Attributes
    ----------
    orientation : int
        Which side of the picture is up, 1 to 8 as in EXIF.
    pixels : int
        Area of the largest frame that a decoder will hold, where it may be larger than the
        picture; else 0.
    """

    orientation: int = 1
    pixels: int = 0


class _Tag(NamedTuple):
    """Tag of a directory; `value` holds its numbers if they fit, else their place in the file."""

    code: int
    kind: int
    n_numbers: int
    value: bytes


class _Layout(NamedTuple):
    """Formats of the numbers in a file, for `struct`."""

    offset: str
    length: str
    tag: str

    @classmethod
    def of(cls, content: Bytes) -> "_Layout":
        order = "<" if content[0] == ord("I") else ">"
        if content[2] == 43:  # files that may exceed 4 GB
            return cls(f"{order}Q", f"{order}Q", f"{order}HHQ8s")
        return cls(f"{order}I", f"{order}H", f"{order}HHI4s")

    def start(self, content: Bytes) -> int:
        """Place of the first directory."""
        return int(struct.unpack_from(self.offset, content, struct.calcsize(self.offset))[0])

    def tags(self, content: Bytes) -> Iterator[_Tag]:
        """Tags of the first directory."""
        start = self.start(content)
        (count,) = struct.unpack_from(self.length, content, start)
        start += struct.calcsize(self.length)
        for place in range(min(count, MOST_TAGS)):
            yield _Tag(*struct.unpack_from(self.tag, content, start + place * self.size))

    @property
    def size(self) -> int:
        """Bytes that a tag takes."""
        return struct.calcsize(self.tag)

    def number(self, tag: _Tag) -> int:
        """The only number of a tag, 0 if the tag has none or several."""
        form = NUMBERS.get(tag.kind)
        if form is None or tag.n_numbers != 1:
            return 0
        return int(struct.unpack_from(self.tag[0] + form, tag.value)[0])


def orientation(exif: Bytes) -> int:
    """Orientation of a picture, 1 to 8 as in EXIF; 1 if it is missing or makes no sense."""
    exif = exif[6:] if bytes(exif[:6]) == EXIF else exif
    try:
        layout = _Layout.of(exif)
        found = (layout.number(tag) for tag in layout.tags(exif) if tag.code == ORIENTATION)
        return _sensible(next(found, 1))
    except (struct.error, IndexError):
        return 1


def _sensible(number: int) -> int:
    return number if 1 <= number <= 8 else 1


def strip_tiff(content: memoryview) -> Announced:
    """Leave one directory in a file, with only the tags that the pixels need."""
    layout = _Layout.of(content)
    tags: dict[int, _Tag] = {}
    for tag in layout.tags(content):
        if tag.code in FOR_PIXELS:
            tags.setdefault(tag.code, tag)
    _check(tags)
    numbers = {code: layout.number(tag) for code, tag in tags.items()}
    n_parts = _n_parts(numbers, tiled=TILES in tags)
    for code in (STRIPS, TILES):
        if code in tags and tags[code].n_numbers > MOST_PLANES * n_parts:
            raise ValueError("cut into more pieces than it has room for")
    up = _sensible(numbers.get(ORIENTATION, 1))
    tags.pop(ORIENTATION, None)
    _write(content, layout, list(tags.values()))
    tile = numbers.get(TILE_WIDTH, 0) * numbers.get(TILE_HEIGHT, 0)
    # tiles may reach beyond the picture, but not so far that decoding them is most of the work
    return Announced(up, max(tile, n_parts * tile // 4))


def _check(tags: dict[int, _Tag]) -> None:
    if any(tag.n_numbers > 1 for code, tag in tags.items() if code in SINGLE):
        raise ValueError("a tag has too many numbers")
    if sum(tag.n_numbers for code, tag in tags.items() if code != JPEG_TABLES) > MOST_NUMBERS:
        raise ValueError(f"cut into more than {MOST_NUMBERS // 2} pieces")


def _n_parts(numbers: dict[int, int], tiled: bool) -> int:
    """Number of strips or tiles that cover the picture; more would only paint over them."""
    width, height = numbers.get(WIDTH, 0), numbers.get(HEIGHT, 0)
    part_width = numbers.get(TILE_WIDTH, 0) if tiled else width
    part_height = numbers.get(TILE_HEIGHT if tiled else ROWS, 0) or height
    if not part_width or not part_height:
        return 1
    return max(1, ceil(width / part_width) * ceil(height / part_height))


def _write(content: memoryview, layout: _Layout, tags: list[_Tag]) -> None:
    """Write the tags in place of the first directory, with no directory behind it."""
    place = layout.start(content)
    struct.pack_into(layout.length, content, place, len(tags))
    place += struct.calcsize(layout.length)
    for tag in tags:
        struct.pack_into(layout.tag, content, place, *tag)
        place += layout.size
    struct.pack_into(layout.offset, content, place, 0)
