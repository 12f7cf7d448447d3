"""Files of cameras with pixels as the sensor saw them (RAW), read by the preview in them.

Nearly all of them are directories of tags, like TIFF files, and have JPEG files of the whole
picture in several sizes somewhere. The largest one is taken.
"""

import struct
from collections.abc import Iterable, Iterator

from zshash.images.formats.announced import Announced, NotRead
from zshash.images.formats.boxes import Box, boxes
from zshash.images.formats.jpeg import jpeg_notes, jpeg_size, strip_jpeg
from zshash.images.formats.tags import HEIGHT, WIDTH, Directory, Layout

__all__ = ["has_sensor_pixels", "raw_notes", "raw_size", "strip_raw"]

COMPRESSION, PHOTOMETRIC, STRIPS, STRIP_BYTES, INNER = 259, 262, 273, 279, 330
PREVIEW, PREVIEW_BYTES, NOTES, MAKER_NOTES, DNG = 513, 514, 34665, 37500, 50706
SENSOR = (32803, 34892)  # one colour at each pixel, or all of them before any correction
JPEG, JPEG_MARK = (6, 7), b"\xff\xd8\xff"
MOST_DIRECTORIES = 16

FUJI, FUJI_PREVIEW = b"FUJIFILM", 84
PANASONIC_PREVIEW = 46
OLYMPUS = {b"OLYMPUS\0": 8, b"OM SYSTEM\0\0\0": 12}  # the place of the byte order behind it
OLYMPUS_SETTINGS, OLYMPUS_PREVIEW, OLYMPUS_PREVIEW_BYTES = 8224, 257, 258
CANON = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
CANON_PREVIEW = bytes.fromhex("eaf42b5e1c984b88b9fbb7dc406e4d16")
CANON_NOTES = (b"CMT1", b"CMT2", b"CMT4")

Size = tuple[int, int]
Span = tuple[int, int]  # the first byte, and the number of bytes


def has_sensor_pixels(content: memoryview) -> bool:
    """Whether a file that looks like TIFF is the file of a camera."""
    return any(
        DNG in each.tags or each.number(PHOTOMETRIC) in SENSOR for each in _directories(content)
    )


def strip_raw(content: memoryview) -> Announced:
    """Find the largest preview, and blank what its pixels do not need."""
    up, preview = raw_notes(content)[0].orientation, _largest(content)
    own = strip_jpeg(content[preview])
    return own._replace(orientation=up or own.orientation, preview=preview)


def raw_size(content: memoryview) -> Size:
    """Width and height of the picture, not turned."""
    told = [(each.number(WIDTH), each.number(HEIGHT)) for each in _directories(_main(content))]
    shown = [_jpeg_size(content[span]) for span in _spans(content)]
    return max([*shown, *told], key=_area)


def raw_notes(content: memoryview) -> tuple[Directory, ...]:
    """The first directory; some files have directories of notes and of the place beside it."""
    if not _is_canon(content):
        return (Directory.first(_main(content)),)
    parts = _canon_notes(content)
    return tuple(Directory.first(parts.get(name, content[:0])) for name in CANON_NOTES)


def _main(content: memoryview) -> memoryview:
    """Bytes with the directories that tell of the picture."""
    if _is_fuji(content):
        return jpeg_notes(content[_largest(content)])
    return _canon_notes(content).get(CANON_NOTES[0], content[:0]) if _is_canon(content) else content


def _is_fuji(content: memoryview) -> bool:
    return bytes(content[: len(FUJI)]) == FUJI


def _is_canon(content: memoryview) -> bool:
    """Whether a file is a row of boxes, as Canon's newer files are."""
    return bytes(content[4:8]) == b"ftyp"


def _directories(content: memoryview) -> Iterator[Directory]:
    """Directories in a row, and those whose places they hold."""
    first = Directory.first(content)
    yield first
    waiting, seen = [*first.numbers(INNER), first.behind], {0}
    while waiting and len(seen) < MOST_DIRECTORIES:
        place = waiting.pop(0)
        if place in seen:
            continue
        seen.add(place)
        each = Directory.at(content, first.layout, place)
        yield each
        waiting += [*each.numbers(INNER), each.behind]


def _largest(content: memoryview) -> slice:
    """Part of the file that is the largest JPEG file in it."""
    spans = _spans(content)
    areas = [_area(_jpeg_size(content[span])) for span in spans]
    if not any(areas):
        raise NotRead("the file of a camera (RAW) without a preview that can be read")
    return spans[areas.index(max(areas))]


def _spans(content: memoryview) -> list[slice]:
    return [slice(start, start + length) for start, length in _previews(content) if start]


def _area(size: Size) -> int:
    return size[0] * size[1]


def _jpeg_size(content: memoryview) -> Size:
    """Width and height of a JPEG file; 0 if the bytes are something else."""
    if bytes(content[:3]) != JPEG_MARK:
        return 0, 0
    try:
        return jpeg_size(content) or (0, 0)
    except (ValueError, struct.error):
        return 0, 0


def _previews(content: memoryview) -> Iterator[Span]:
    if _is_fuji(content):
        yield struct.unpack_from(">II", content, FUJI_PREVIEW)
    elif _is_canon(content):
        yield from _canon_previews(content)
    else:
        for each in _directories(content):
            yield from _previews_in(each)
        yield _olympus_preview(content)


def _previews_in(directory: Directory) -> Iterator[Span]:
    yield directory.number(PREVIEW), directory.number(PREVIEW_BYTES)
    if directory.number(COMPRESSION) in JPEG and len(directory.numbers(STRIPS)) == 1:
        yield directory.number(STRIPS), directory.number(STRIP_BYTES)
    if PANASONIC_PREVIEW in directory.tags:
        length = directory.tags[PANASONIC_PREVIEW].n_numbers
        yield directory.place(PANASONIC_PREVIEW), length


def _olympus_preview(content: memoryview) -> Span:
    """The preview that the maker's own notes tell of, in places that count from these notes."""
    base = Directory.first(content).inner(NOTES).place(MAKER_NOTES)
    own = content[base:]
    for name, place in OLYMPUS.items():
        if base and bytes(own[: len(name)]) == name:
            inside = Directory.at(own, Layout.of(own[place:]), place + 4).inner(OLYMPUS_SETTINGS)
            return base + inside.number(OLYMPUS_PREVIEW), inside.number(OLYMPUS_PREVIEW_BYTES)
    return 0, 0


def _canon_notes(content: memoryview) -> dict[bytes, memoryview]:
    for box in boxes(content):
        if box.name == b"moov":
            inside = _canon_part(content, boxes(content, box.start, box.end), CANON, 16)
            return {each.name: content[each.start : each.end] for each in inside}
    return {}


def _canon_previews(content: memoryview) -> Iterator[Span]:
    for box in _canon_part(content, boxes(content), CANON_PREVIEW, 24):
        start = bytes(content[box.start : box.start + 32]).find(JPEG_MARK)
        if start >= 0:
            yield box.start + start, box.end - box.start - start


def _canon_part(
    content: memoryview, found: Iterable[Box], identity: bytes, n_header: int
) -> list[Box]:
    """Boxes in the box with an identity of Canon's, behind its header."""
    for box in found:
        if box.name == b"uuid" and bytes(content[box.start : box.start + 16]) == identity:
            return list(boxes(content, box.start + n_header, box.end))
    return []
