"""TIFF files: one directory is left, with only the tags that the pixels need."""

import struct
from math import ceil

from zshash.images.formats.announced import Announced
from zshash.images.formats.tags import HEIGHT, ORIENTATION, WIDTH, Layout, Tag, sensible

__all__ = ["strip_tiff"]

ROWS = 278
STRIPS, TILES, TILE_WIDTH, TILE_HEIGHT, JPEG_TABLES = 273, 324, 322, 323, 347
SINGLE = {WIDTH, HEIGHT, 259, 262, 266, 277, ROWS, 284, 292, 293, 317, TILE_WIDTH, TILE_HEIGHT}
SINGLE |= {512, 513, 514, 515, 531}
FOR_PIXELS = SINGLE | {ORIENTATION, 258, STRIPS, 279, 320, TILES, 325, 338, 339, JPEG_TABLES}
FOR_PIXELS |= {517, 518, 519, 520, 521, 529, 530, 532}

MOST_PLANES = 16
MOST_NUMBERS = 2**17


def strip_tiff(content: memoryview) -> Announced:
    """Leave one directory in a file, with only the tags that the pixels need."""
    layout = Layout.of(content)
    tags: dict[int, Tag] = {}
    for tag in layout.tags(content, layout.start(content)):
        if tag.code in FOR_PIXELS:
            tags.setdefault(tag.code, tag)
    _check(tags)
    numbers = {code: layout.number(tag) for code, tag in tags.items()}
    n_parts = _n_parts(numbers, tiled=TILES in tags)
    for code in (STRIPS, TILES):
        if code in tags and tags[code].n_numbers > MOST_PLANES * n_parts:
            raise ValueError("cut into more pieces than it has room for")
    up = sensible(numbers.get(ORIENTATION, 0)) or 1
    tags.pop(ORIENTATION, None)
    _write(content, layout, list(tags.values()))
    tile = numbers.get(TILE_WIDTH, 0) * numbers.get(TILE_HEIGHT, 0)
    # tiles may reach beyond the picture, but not so far that decoding them is most of the work
    return Announced(up, max(tile, n_parts * tile // 4))


def _check(tags: dict[int, Tag]) -> None:
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


def _write(content: memoryview, layout: Layout, tags: list[Tag]) -> None:
    """Write the tags in place of the first directory, with no directory behind it."""
    place = layout.start(content)
    struct.pack_into(layout.length, content, place, len(tags))
    place += struct.calcsize(layout.length)
    for tag in tags:
        struct.pack_into(layout.tag, content, place, *tag)
        place += layout.size
    struct.pack_into(layout.offset, content, place, 0)
