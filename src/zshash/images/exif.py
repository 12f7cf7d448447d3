"""What cameras write into pictures: when, where, and with which camera a picture was taken.

The facts are read from the bytes of a file without a library of pictures, without trust, and in
well under a millisecond. What makes no sense is left out.
"""

import re
import struct
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from zshash.images.formats.heif import heif_about
from zshash.images.formats.jpeg import jpeg_notes
from zshash.images.formats.png import png_notes
from zshash.images.formats.raw import raw_notes
from zshash.images.formats.sizes import upright_size
from zshash.images.formats.stripping import kind_of
from zshash.images.formats.tags import Bytes, Directory
from zshash.images.formats.webp import webp_notes

__all__ = ["PLACE", "picture_facts"]

Read = TypeVar("Read")
Directories = tuple[Directory, Directory, Directory]
Size = tuple[int, int]

PLACE = ("latitude", "longitude", "altitude")
"""Names of the facts that tell where a picture was taken."""

MAKER, CAMERA, CHANGED, NOTES, WHERE = 271, 272, 306, 34665, 34853
TAKEN, SCANNED = 36867, 36868
SOUTH_OR_NORTH, LATITUDE, WEST_OR_EAST, LONGITUDE, BELOW_SEA, ALTITUDE = range(1, 7)
SIGNS = {b"N": 1, b"E": 1, b"S": -1, b"W": -1}
DATE = re.compile(rb"\s*(\d{4})[:/-](\d\d)[:/-](\d\d)(?:[ T]+(\d\d):(\d\d)(?::(\d\d))?)?")
YEARS = range(1826, 2100)  # the oldest photo that is kept was taken in 1826
HIGHEST = 20_000  # metres
MOST_LETTERS = 200
WRONG = (ValueError, IndexError, struct.error, OverflowError)

NOTES_OF: dict[str, Callable[[memoryview], Bytes]] = {
    "JPEG": jpeg_notes,
    "PNG": png_notes,
    "WEBP": webp_notes,
    "TIFF": memoryview,
}

NOTHING: Directories = (Directory.first(b""),) * 3


def picture_facts(content: Bytes, size: Size | None = None) -> dict[str, Any]:
    r"""Facts about a picture from its file; facts that are not known are missing.

    Parameters
    ----------
    content : bytes or memoryview
        The whole file, as the camera or another program wrote it.
    size : (int, int), optional
        Upright width and height, if they are known already; else they are read from the file.

    Returns
    -------
    dict
        Some of ``taken`` (such as "2021-08-14T10:03:00", in the time of the camera's clock),
        ``year``, ``month``, ``camera``, ``maker``, ``latitude``, ``longitude`` (degrees),
        ``altitude`` (metres), ``width``, ``height`` (pixels of the upright picture).

    Examples
    --------
    >>> picture_facts(b"P5 640 480 255\n")
    {'width': 640, 'height': 480}
    """
    view = memoryview(content)
    unknown: tuple[Directories, Size | None] = (NOTHING, None)
    (main, notes, where), told = _safely(lambda: _read(view), unknown)
    size = size or told
    texts = {"camera": _text(main.text(CAMERA)), "maker": _text(main.text(MAKER))}
    facts = _time(main, notes) | {name: text for name, text in texts.items() if text}
    facts |= _place(where)
    if size and min(size) > 0:
        facts |= {"width": size[0], "height": size[1]}
    return facts


def _safely(read: Callable[[], Read], default: Read) -> Read:
    try:
        return read()
    except WRONG:
        return default


def _read(content: memoryview) -> tuple[Directories, Size | None]:
    """The directories of a file, and the upright size of its picture."""
    kind = kind_of(content)
    if kind is None:
        return NOTHING, None
    if kind in ("HEIF", "AVIF"):
        notes, size = heif_about(content)
        return _linked(Directory.first(notes)), size
    found = _safely(lambda: _directories(content, kind), NOTHING)
    return found, _safely(lambda: upright_size(content, kind, found[0].orientation), None)


def _directories(content: memoryview, kind: str) -> Directories:
    """The first directory, the directory of notes, and the directory of the place."""
    if kind != "RAW":
        return _linked(Directory.first(NOTES_OF[kind](content) if kind in NOTES_OF else b""))
    found = raw_notes(content)
    return (found[0], found[1], found[2]) if len(found) == 3 else _linked(found[0])


def _linked(main: Directory) -> Directories:
    return main, main.inner(NOTES), main.inner(WHERE)


def _time(main: Directory, notes: Directory) -> dict[str, Any]:
    """When a picture was taken, else when it was scanned, else when the file was changed."""
    texts = (notes.text(TAKEN), notes.text(SCANNED), main.text(CHANGED))
    for found in filter(None, map(DATE.match, texts)):
        try:
            taken = datetime(*(int(part or 0) for part in found.groups()))  # type: ignore[arg-type]
        except ValueError:
            continue
        if taken.year in YEARS:
            return {"taken": taken.isoformat(), "year": taken.year, "month": taken.month}
    return {}


def _text(letters: bytes) -> str:
    """Text on one line without characters that are no letters or signs."""
    try:
        text = letters.decode()
    except UnicodeDecodeError:
        text = letters.decode("latin-1")
    plain = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(plain.split())[:MOST_LETTERS].strip()


def _place(where: Directory) -> dict[str, float]:
    latitude = _degrees(where, LATITUDE, SOUTH_OR_NORTH, 90)
    longitude = _degrees(where, LONGITUDE, WEST_OR_EAST, 180)
    if latitude is None or longitude is None or latitude == longitude == 0:
        return {}  # cameras that do not know where they are write zeros
    place = {"latitude": latitude, "longitude": longitude}
    height = [round(value, 1) for value in where.fractions(ALTITUDE) if value <= HIGHEST]
    sign = -1 if where.number(BELOW_SEA) == 1 else 1
    return place | ({"altitude": sign * height[0]} if len(height) == 1 else {})


def _degrees(where: Directory, code: int, side: int, most: int) -> float | None:
    """Degrees from degrees, minutes and seconds; None if they make no sense."""
    parts = where.fractions(code)
    sign = SIGNS.get(where.text(side)[:1].upper())
    if sign is None or len(parts) != 3 or max(parts[1:]) > 60:
        return None
    degrees = parts[0] + parts[1] / 60 + parts[2] / 3600
    return round(sign * degrees, 6) if degrees <= most else None
