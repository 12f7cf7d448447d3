"""Files of cameras (RAW) and the notes of cameras (EXIF), put together tag by tag."""

import struct
from dataclasses import dataclass
from fractions import Fraction

from tests.images.picture_files import encoded, jpeg_with, smooth

SHORT, LONG, FRACTION, OPAQUE, LETTERS = 3, 4, 5, 7, 2


@dataclass(frozen=True)
class Held:
    """Bytes that stand elsewhere in the file; a tag holds their place."""

    content: bytes


@dataclass(frozen=True)
class Inner:
    """Number of another directory of the same file; a tag holds its place."""

    number: int


def tag_file(*directories, order="<", head=None, row=1, start=0):
    """A file of directories of tags.

    Parameters
    ----------
    directories : dict of int to list, bytes or str
        Under each tag, numbers, fractions, `Held` or `Inner`; bytes; or letters.
    row : int
        How many directories follow each other; the others are only found by their places.
    start : int
        Length of what stands before the file, if places do not count from its own start.
    """
    head = head or (b"II*\0" if order == "<" else b"MM\0*")
    places, place = [], 8 + start
    for tags in directories:
        places.append(place)
        place += 2 + 12 * len(tags) + 4
    entries, values = b"", b""
    for number, tags in enumerate(directories):
        entries += struct.pack(f"{order}H", len(tags))
        for tag, value in sorted(tags.items()):
            kind, count, packed, held = _packed(value, places, order, place + len(values))
            if len(packed) > 4:
                packed, values = struct.pack(f"{order}I", place + len(values)), values + packed
            entries += struct.pack(f"{order}HHI", tag, kind, count) + packed.ljust(4, b"\0")
            values += held
        behind = places[number + 1] if number + 1 < row else 0
        entries += struct.pack(f"{order}I", behind)
    return head + struct.pack(f"{order}I", places[0]) + entries + values


def _packed(value, places, order, here):
    """Kind, number of values and bytes of a tag, and bytes that stand elsewhere."""
    if isinstance(value, str):
        value = value.encode() + b"\0"
        return LETTERS, len(value), value, b""
    if isinstance(value, bytes):
        return OPAQUE, len(value), value, b""
    held = b"".join(each.content for each in value if isinstance(each, Held))
    if isinstance(value[0], Fraction):
        parts = [part for each in value for part in (each.numerator, each.denominator)]
        return FRACTION, len(value), struct.pack(f"{order}{len(parts)}I", *parts), b""
    numbers = [_number(each, places, here) for each in value]
    long = any(isinstance(each, Held | Inner) for each in value) or max(numbers) > 65535
    form = f"{order}{len(numbers)}{'I' if long else 'H'}"
    return LONG if long else SHORT, len(numbers), struct.pack(form, *numbers), held


def _number(value, places, here):
    if isinstance(value, Held):
        return here
    return places[value.number] if isinstance(value, Inner) else value


PREVIEW = encoded(smooth(40, 56), "JPEG", quality=95, comment=b"words")
SMALL = encoded(smooth(10, 14), "JPEG")
SENSOR = {256: [112], 257: [80], 258: [8], 259: [1], 262: [32803], 277: [1]}


def lossless(content):
    """Bytes that begin like a JPEG file, but whose pixels are coded without loss."""
    return content.replace(b"\xff\xc0", b"\xff\xc3")


def dng(up=6, order="<", **more):
    """A small picture in the first directory, and behind it the sensor's and a preview."""
    first = {254: [1], 256: [2], 257: [1], 258: [8] * 3, 259: [1], 262: [2], 274: [up]}
    first |= {273: [Held(bytes(6))], 277: [3], 278: [1], 279: [6], 330: [Inner(1), Inner(2)]}
    first |= {271: "A maker", 50706: b"\1\4\0\0"}
    sensor = SENSOR | {259: [7], 273: [Held(lossless(PREVIEW))], 279: [len(PREVIEW)]}
    preview = {254: [1], 256: [56], 257: [40], 259: [7], 262: [6]}
    preview |= {273: [Held(PREVIEW)], 279: [len(PREVIEW)]}
    return tag_file(first | more, sensor, preview, order=order)


def nef(up=8):
    """Two previews in directories that the first one holds, the smaller one first."""
    first = {254: [1], 262: [2], 271: "NIKON", 274: [up], 330: [Inner(1), Inner(2), Inner(3)]}
    small = {259: [6], 513: [Held(SMALL)], 514: [len(SMALL)]}
    large = {259: [6], 513: [Held(PREVIEW)], 514: [len(PREVIEW)]}
    return tag_file(first, small, large, SENSOR | {259: [34713]}, order=">")


def cr2(up=3):
    """Directories in a row; the last one holds the sensor's pixels."""
    first = {256: [112], 257: [80], 259: [6], 274: [up]}
    first |= {273: [Held(PREVIEW)], 279: [len(PREVIEW)]}
    small = {513: [Held(SMALL)], 514: [len(SMALL)]}
    sensor = {259: [6], 273: [Held(lossless(PREVIEW))], 279: [len(PREVIEW)]}
    content = tag_file(first, small, sensor, row=3, start=8)
    return content[:4] + struct.pack("<I", 16) + b"CR\2\0" + bytes(4) + content[8:]


def rw2(up=6):
    own = jpeg_with(PREVIEW, (0xE1, b"Exif\0\0" + tag_file({274: [1]})))
    return tag_file({2: [112], 3: [80], 46: own, 274: [up]}, head=b"IIU\0")


def orf(up=8, name=b"OLYMPUS\0", head=b"IIRO"):
    """The preview is in the maker's notes, and its place counts from their start."""
    n_before = len(name) + 4
    settings = struct.pack("<HHHII", 1, 8224, 13, 1, n_before + 18) + bytes(4)
    inside = n_before + 18 + 2 + 24 + 4
    settings += struct.pack("<HHHIIHHII", 2, 257, 4, 1, inside, 258, 4, 1, len(PREVIEW))
    notes = name + b"II\3\0" + settings + bytes(4) + PREVIEW
    return tag_file({274: [up], 34665: [Inner(1)]}, {37500: notes}, head=head)


def raf(up=6):
    own = jpeg_with(PREVIEW, (0xE1, b"Exif\0\0" + tag_file({272: "X100", 274: [up]})))
    head = b"FUJIFILMCCD-RAW 0201FF389501X100".ljust(84, b"\0")
    return head + struct.pack(">II", 100, len(own)) + bytes(8) + own + bytes(50)


def box(name, *parts):
    body = b"".join(parts)
    return struct.pack(">I", len(body) + 8) + name + body


def cr3(up=6):
    first = tag_file({256: [112], 257: [80], 272: "Canon EOS R", 274: [up]})
    notes = tag_file({36867: "2021:08:14 10:03:00"})
    own = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
    about = box(b"uuid", own, box(b"CMT1", first), box(b"CMT2", notes))
    preview = box(b"PRVW", bytes(4), struct.pack(">HHHHI", 1, 56, 40, 1, len(PREVIEW)), PREVIEW)
    shown = bytes.fromhex("eaf42b5e1c984b88b9fbb7dc406e4d16")
    kind = box(b"ftyp", b"crx \0\0\0\1crx isom")
    return kind + box(b"moov", about) + box(b"uuid", shown, bytes(8), preview) + box(b"mdat", b"x")


MAKERS = {"dng": dng, "nef": nef, "cr2": cr2, "rw2": rw2, "orf": orf, "raf": raf, "cr3": cr3}
