"""Boxes of an AVIF file, and the size of the frames that its AV1 streams announce.

A file may call itself small and hold a frame of any size, which is decoded in full before it is
scaled down. So the frames are asked. Of a film only the picture that stands for it is read.
"""

import struct
from collections.abc import Iterator

from zshash.images.announced import Announced

__all__ = ["strip_avif"]

Box = tuple[bytes, memoryview]

MOST_PARTS = 10_000
SEQUENCE_HEADER = 1


def strip_avif(content: memoryview) -> Announced:
    """Blank remarks of a camera and count the pixels of all frames of colour and of alpha."""
    _leave_no_film(_body(content, b"ftyp"))
    parts = dict(_boxes(_body(content, b"meta")[4:]))
    streams = []
    for number, kind in _items(parts[b"iinf"]):
        if bytes(kind) == b"av01":
            streams.append(number)
        elif bytes(kind) == b"Exif":
            kind[:] = b"none"
    places = _places(parts[b"iloc"])
    sources = {0: content, 1: parts.get(b"idat", content[:0])}
    pixels = read = 0
    for number in streams:
        method, spans = places.get(number, (0, []))
        stream = b"".join(sources[method][start : start + length] for start, length in spans)
        pixels += sum(_frame_pixels(header) for header in _sequence_headers(stream))
        read += len(stream)
        if read > 2 * len(content):
            raise ValueError("parts of it overlap")
    return Announced(pixels=pixels // 2)  # colour and alpha are two frames of one picture


def _leave_no_film(brands: memoryview) -> None:
    for place in range(0, len(brands) - 3, 4):
        if place == 0 or bytes(brands[place : place + 4]) == b"avis":
            brands[place : place + 4] = b"avif"


def _body(content: memoryview, kind: bytes) -> memoryview:
    found = [body for name, body in _boxes(content) if name == kind]
    if len(found) != 1:
        raise ValueError("no single picture in it")
    return found[0]


def _boxes(content: memoryview) -> Iterator[Box]:
    """Name and body of each box."""
    for _ in range(MOST_PARTS):
        if len(content) < 8:
            return
        size, name = struct.unpack_from(">I4s", content)
        start = 8
        if size == 1:
            (size,) = struct.unpack_from(">Q", content, 8)
            start = 16
        size = size or len(content)
        if not start <= size <= len(content):
            return
        yield name, content[start:size]
        content = content[size:]
    raise ValueError(f"more than {MOST_PARTS} boxes")


def _items(table: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Number and kind of each item."""
    for name, body in _boxes(table[6:] if table[0] == 0 else table[8:]):
        if name == b"infe" and body[0] in (2, 3):
            form = ">H" if body[0] == 2 else ">I"
            start = 4 + struct.calcsize(form)
            yield struct.unpack_from(form, body, 4)[0], body[start + 2 : start + 6]


class _Reader:
    """Whole numbers of any number of bits, one after the other, the highest bit first."""

    def __init__(self, content: memoryview | bytes) -> None:
        self.content = content
        self.place = 0

    def take(self, n_bits: int) -> int:
        start, self.place = self.place, self.place + n_bits
        if self.place > 8 * len(self.content):
            raise ValueError("cut off")
        behind = (self.place + 7) // 8
        value = int.from_bytes(self.content[start // 8 : behind], "big")
        return value >> (8 * behind - self.place) & ((1 << n_bits) - 1)

    def take_bytes(self, n_bytes: int) -> int:
        return self.take(8 * n_bytes)


def _places(table: memoryview) -> dict[int, tuple[int, list[tuple[int, int]]]]:
    """Where each item is: in the file (0) or in a box for data (1), and spans of it."""
    version = table[0]
    reader = _Reader(table[4:])
    offset_size, length_size, base_size, index_size = (reader.take(4) for _ in range(4))
    places = {}
    for _ in range(reader.take_bytes(4 if version == 2 else 2)):
        number = reader.take_bytes(4 if version == 2 else 2)
        method = reader.take_bytes(2) & 15 if version else 0
        reader.take_bytes(2)
        base = reader.take_bytes(base_size)
        spans = []
        for _ in range(reader.take_bytes(2)):
            reader.take_bytes(index_size if version else 0)
            start = base + reader.take_bytes(offset_size)
            spans.append((start, reader.take_bytes(length_size)))
        places[number] = method, spans
    return places


def _sequence_headers(stream: bytes) -> Iterator[bytes]:
    """Each header of a stream that announces the size of frames."""
    reader = _Reader(stream)
    for _ in range(MOST_PARTS):
        if reader.place == 8 * len(stream):
            return
        _, kind, is_extended, has_size, _ = (reader.take(n_bits) for n_bits in (1, 4, 1, 1, 1))
        reader.take_bytes(is_extended)
        size = _take_leb128(reader) if has_size else len(stream) - reader.place // 8
        start = reader.place // 8
        if kind == SEQUENCE_HEADER:
            yield stream[start : start + size]
        reader.place = 8 * min(start + size, len(stream))
    raise ValueError(f"more than {MOST_PARTS} parts of a stream")


def _take_leb128(reader: _Reader) -> int:
    value = 0
    for shift in range(0, 56, 7):
        more, bits = reader.take(1), reader.take(7)
        value |= bits << shift
        if not more:
            break
    return value


def _frame_pixels(header: bytes) -> int:
    """The largest frame that a stream may hold by its header."""
    reader = _Reader(header)
    reader.take(4)
    is_still = reader.take(1)
    if is_still:
        reader.take(5)
    else:
        _skip_timing(reader)
    width_bits, height_bits = reader.take(4) + 1, reader.take(4) + 1
    if not is_still:  # each frame may have its own size, of so many bits
        return 1 << width_bits + height_bits
    return (reader.take(width_bits) + 1) * (reader.take(height_bits) + 1)


def _skip_timing(reader: _Reader) -> None:
    """Pass over what films say of time and of their operating points."""
    delay_bits = 0
    if reader.take(1):
        reader.take(64)
        if reader.take(1):
            _skip_uvlc(reader)
        if reader.take(1):
            delay_bits = reader.take(5) + 1
            reader.take(42)
    has_delays = reader.take(1)
    for _ in range(reader.take(5) + 1):
        reader.take(12)
        if reader.take(5) > 7:
            reader.take(1)
        if delay_bits and reader.take(1):
            reader.take(2 * delay_bits + 1)
        if has_delays and reader.take(1):
            reader.take(4)


def _skip_uvlc(reader: _Reader) -> None:
    n_zeros = 0
    while not reader.take(1):
        n_zeros += 1
    if n_zeros < 32:
        reader.take(n_zeros)
