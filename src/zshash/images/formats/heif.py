"""HEIC and AVIF files: only the picture itself is left, with its parts and its transparency."""

import struct
from collections.abc import Iterator

from zshash.images.formats.announced import Announced, NotRead
from zshash.images.formats.boxes import Box, boxes, only
from zshash.images.formats.coded import av1_pixels, hevc_pixels
from zshash.images.formats.items import Items, read_items

__all__ = ["brand_kind", "heif_about", "strip_heif"]

AVIF = {b"avif", b"avis"}
HEIC = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"}
STILL = {b"avis": b"avif", b"msf1": b"mif1", b"hevc": b"heic", b"hevx": b"heix"}
CONTAINERS = {b"mif1", b"msf1"}
KEPT = (b"ftyp", b"meta", b"mdat")
NOTHING, FREE = b"zSHa", b"free"  # names of items and boxes that decoders pass over
ALPHA = (b"urn:mpeg:hevc:2015:auxid:1\0", b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")
MOST_BRANDS = 64
MOST_TILES = 1000
PADDING = 8  # an eighth of the picture, around it to fill up blocks and tiles


def brand_kind(content: memoryview) -> str | None:
    """Kind of a file from the names of formats in its first box; None if it is no picture."""
    brands = [bytes(content[place : place + 4]) for place in _brands(content)]
    for brand in brands:  # the first one is what the file wants to be
        if brand in AVIF:
            return "AVIF"
        if brand in HEIC:
            return "HEIF"
    return "HEIF" if CONTAINERS.intersection(brands) else None


def _brands(content: memoryview) -> list[int]:
    """Places of the names of formats in the first box."""
    end = min(int.from_bytes(content[:4], "big"), len(content), 16 + 4 * MOST_BRANDS)
    return [8, *range(16, end - 3, 4)]


def strip_heif(content: memoryview) -> Announced:
    """Make decoders see nothing but the one picture of a file; return its size.

    Of a sequence the still picture stays, which is its first frame. Rotation is left to the
    decoder.
    """
    row = _row(content)
    items = _items(content, row)
    needed = list(_needed(content, items))
    pixels = max(_area(content, items, number) for number in needed)
    for place in _brands(content):
        brand = bytes(content[place : place + 4])
        content[place : place + 4] = STILL.get(brand, brand)
    for box in row:
        if box.name not in KEPT:
            content[box.header + 4 : box.header + 8] = FREE
    if row[-1].end + 8 <= len(content):
        struct.pack_into(">I4s", content, row[-1].end, len(content) - row[-1].end, FREE)
    kept = {part for number in needed for part in (number, *_tiles(items, number))}
    for number in items.labels.keys() - kept:
        content[items.labels[number] : items.labels[number] + 4] = NOTHING
    return Announced(pixels=pixels)


def _row(content: memoryview) -> list[Box]:
    """Boxes of a file, up to what is no box any more: some programs put something behind it."""
    row: list[Box] = []
    try:
        for box in boxes(content):
            row.append(box)
    except ValueError:
        if not {b"meta", b"mdat"}.issubset(box.name for box in row):
            raise
    return row


def _items(content: memoryview, row: list[Box]) -> Items:
    found = only(row, b"ftyp", b"meta")
    items = read_items(content, found[b"meta"]) if b"meta" in found else Items()
    if items.primary not in items.kinds:
        raise NotRead("no still picture in it")
    return items


def _needed(content: memoryview, items: Items) -> Iterator[int]:
    """Numbers of the picture, and of the item that tells how transparent it is."""
    yield items.primary
    for kind, number, ends in items.links:
        if kind == b"auxl" and items.primary in ends and _is_alpha(content, items, number):
            yield number
            return


def _is_alpha(content: memoryview, items: Items, number: int) -> bool:
    about = items.property(number, b"auxC")
    if about is None or number not in items.kinds:
        return False
    return bytes(content[about.start + 4 : about.end][:64]).startswith(ALPHA)


def _tiles(items: Items, number: int) -> list[int]:
    """Numbers of the items that a picture is put together from, left to right and down."""
    if items.kinds[number] != b"grid":
        return []
    links = [ends for kind, start, ends in items.links if (kind, start) == (b"dimg", number)]
    if len(links) != 1 or len(links[0]) > MOST_TILES:
        raise ValueError(f"put together in no way, or from more than {MOST_TILES} tiles")
    return links[0]


def _area(content: memoryview, items: Items, number: int) -> int:
    """Pixels that a decoder holds and works on for an item, as many as told if they are padded."""
    told, tiles = _told_area(content, items, number), _tiles(items, number)
    areas = {part: _coded_area(content, items, part) for part in {*tiles} or {number}}
    if tiles:
        told = max(told, _grid_area(items.read(content, number)))
    work = sum(areas[part] for part in tiles or [number])
    return told if work <= told + told // PADDING else work


def _grid_area(grid: memoryview) -> int:
    n_bytes = 4 if grid[1] & 1 else 2
    width, height = (int.from_bytes(grid[i : i + n_bytes], "big") for i in (4, 4 + n_bytes))
    return width * height


def _coded_area(content: memoryview, items: Items, number: int) -> int:
    kind, settings = items.kinds.get(number), items.property(number, b"hvcC")
    if kind == b"hvc1" and settings is not None:
        body = content[settings.start : settings.end]
        area = hevc_pixels(body, items.read(content, number))
    elif kind == b"av01":
        area = av1_pixels(items.read(content, number))
    else:
        name = (kind or b"nothing").decode("ascii", "replace")
        raise NotRead(f"coded in a way that is not read: {name}")
    return area


def _told_area(content: memoryview, items: Items, number: int) -> int:
    width, height = _told_size(content, items, number)
    return width * height


def _told_size(content: memoryview, items: Items, number: int) -> tuple[int, int]:
    """Width and height of an item as the file tells them, not turned; 0 if it does not."""
    told = items.property(number, b"ispe")
    if told is None:
        return 0, 0
    return _number(content, told.start + 4), _number(content, told.start + 8)


def _number(content: memoryview, place: int) -> int:
    return int.from_bytes(content[place : place + 4], "big")


def heif_about(content: memoryview) -> tuple[memoryview, tuple[int, int]]:
    """Notes of the camera (EXIF), empty if there are none; upright width and height."""
    items = _items(content, _row(content))
    return _notes(content, items), _upright_size(content, items)


def _upright_size(content: memoryview, items: Items) -> tuple[int, int]:
    width, height = _told_size(content, items, items.primary)
    for box in items.properties.get(items.primary, ()):
        if box.name == b"clap":  # the part that is shown: fractions of two numbers each
            shown = [_number(content, box.start + 4 * i) for i in range(4)]
            width, height = shown[0] // max(shown[1], 1), shown[2] // max(shown[3], 1)
        elif box.name == b"irot" and content[box.start] & 1:
            width, height = height, width
    return width, height


def _notes(content: memoryview, items: Items) -> memoryview:
    noted = [number for number, kind in items.kinds.items() if kind == b"Exif"]
    own = {start for kind, start, ends in items.links if kind == b"cdsc" and items.primary in ends}
    for number in sorted(noted, key=lambda number: number not in own):
        notes = items.read(content, number)
        return notes[4 + _number(notes, 0) :]
    return content[:0]
