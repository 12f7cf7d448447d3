"""HEIC and AVIF files that no program would write."""

import struct
from functools import cache

from PIL import Image

from tests.images.camera_files import box
from tests.images.picture_files import encoded, smooth

FAST = {"AVIF": {"speed": 10}, "HEIF": {"enc_params": {"preset": "ultrafast"}}}


def poked(content, name, place, value):
    """The same file with other bytes at a place behind the first mention of a box's name."""
    start = content.index(name) + 4 + place
    return content[:start] + value + content[start + len(value) :]


def told(content, width, height):
    """The same file, whose boxes tell another size of the picture."""
    return poked(content, b"ispe", 4, struct.pack(">II", width, height))


@cache
def large(kind):
    """A picture of one colour, of more than a million pixels."""
    return encoded(Image.new("L", (1280, 1280)), kind, **FAST[kind])


def full(name, version, *parts, flags=0):
    return box(name, bytes([version]), flags.to_bytes(3, "big"), *parts)


def item(number, kind):
    return full(b"infe", 2, struct.pack(">HH4s", number, 0, kind), b"\0")


def located(places):
    """Where items are: for each a list of (start, length)."""
    body = b"\x44\0" + struct.pack(">H", len(places))
    for number, pieces in places.items():
        body += struct.pack(">HHH", number, 0, len(pieces))
        body += b"".join(struct.pack(">II", *piece) for piece in pieces)
    return full(b"iloc", 0, body)


def described(properties, links):
    """Properties, and for each item the numbers of its properties, counted from 1."""
    body = struct.pack(">I", len(links))
    for number, indices in links.items():
        body += struct.pack(">HB", number, len(indices)) + bytes(indices)
    return box(b"iprp", box(b"ipco", *properties), full(b"ipma", 0, body))


def grid(rows, columns, size, references, tile=(64, 64)):
    """A HEIC file of tiles, which are all the same item with no bytes worth decoding."""
    data = struct.pack(">BBBBHH", 0, 0, rows - 1, columns - 1, *size)
    one = encoded(smooth(64, 64), "HEIF")
    start = one.index(b"hvcC") - 4
    settings = one[start : start + int.from_bytes(one[start : start + 4], "big")]
    properties = [
        full(b"ispe", 0, struct.pack(">II", *size)),
        full(b"ispe", 0, struct.pack(">II", *tile)),
        settings,
    ]
    parts = struct.pack(f">HH{len(references)}H", 1, len(references), *references)
    entries = full(b"iinf", 0, struct.pack(">H", 2), item(1, b"grid"), item(2, b"hvc1"))
    kind = box(b"ftyp", b"heic\0\0\0\0mif1heic")
    start = len(kind) + 8
    meta = full(
        b"meta",
        0,
        full(b"pitm", 0, b"\0\1"),
        entries,
        located({1: [(start, 8)], 2: [(start + 8, 64)]}),
        described(properties, {1: [1], 2: [2, 3]}),
        full(b"iref", 0, box(b"dimg", parts)),
    )
    return kind + box(b"mdat", data, bytes(64)) + meta


def bombs():
    """Small files that ask for much memory or time: name, content and expected result."""
    heif, avif = encoded(smooth(40, 56), "HEIF"), encoded(smooth(40, 56), "AVIF")
    for kind in ("HEIF", "AVIF"):
        yield f"{kind} larger than told", told(large(kind), 40, 40), "1638400 pixels"
    for kind, whole in (("HEIF", heif), ("AVIF", avif)):
        yield f"{kind} told to be large", told(whole, 30_000, 30_000), "900000000 pixels"
        yield f"{kind} parts", whole + box(b"free") * 1_000_000, "RGB 56 40"
        yield f"{kind} twice", whole + whole, "two parts named ftyp"
    yield "tiles", grid(30, 30, (500, 500), [2] * 900), "3686400 pixels"
    yield "more tiles", grid(256, 256, (500, 500), [2] * 9000), "more than 1000 tiles"
    yield "canvas", grid(2, 2, (60_000, 60_000), [2] * 4), "3600000000 pixels"
