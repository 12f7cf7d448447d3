"""Size of pictures coded by HEVC or AV1, read from the bits that a decoder gets.

The boxes around them may tell another size, and a decoder takes memory for the size in the bits.
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import TypeVar

__all__ = ["av1_pixels", "hevc_pixels"]

Unit = TypeVar("Unit")

MOST_UNITS = 1000
MOST_SLICES = 200
MOST_FRAMES = 8  # a still picture is one, or a few layers of growing quality
HEAD = 200  # bytes that hold the size

PARAMETERS, FIRST_OTHER = 33, 32  # HEVC: units below 32 hold pixels
SEQUENCE, FRAME_HEADER, FRAME = 1, 3, 6  # AV1


class _Bits:
    """Reader of bits from the left."""

    def __init__(self, content: bytes) -> None:
        self._number, self._left = int.from_bytes(content, "big"), 8 * len(content)

    def take(self, n: int) -> int:
        """The next n bits as a number."""
        self._left -= n
        if self._left < 0:
            raise ValueError("no size in it")
        return self._number >> self._left & (1 << n) - 1

    def skip_if(self, n: int) -> bool:
        """Take one bit and, if it is set, pass over n more; return the bit."""
        is_set = bool(self.take(1))
        self.take(n * is_set)
        return is_set

    def zeros(self) -> int:
        """Number of zeros before the next one, which is taken, too."""
        n = 0
        while not self.take(1):
            n += 1
        return n

    def golomb(self) -> int:
        """The next number in Exp-Golomb code."""
        n = self.zeros()
        return (1 << n) - 1 + self.take(n)


def hevc_pixels(settings: memoryview, content: memoryview) -> int:
    """Area of the largest picture that HEVC settings ("hvcC") and coded bytes announce.

    Raises
    ------
    ValueError or IndexError
        If no size is announced, or a decoder would work without end.
    """
    areas, n_slices = [0], 0
    units = chain(_set_units(settings), _coded_units(content, (settings[21] & 3) + 1))
    for unit in _few(units):
        kind = unit[0] >> 1 & 63
        is_extra_layer = unit[0] & 1 or unit[1] >> 3  # which decoders pass over
        if kind == PARAMETERS and not is_extra_layer:
            areas.append(_hevc_area(bytes(unit[2:HEAD])))
        n_slices += kind < FIRST_OTHER
    if n_slices > MOST_SLICES:
        raise ValueError(f"painted {n_slices} times over")
    return max(areas)


def _few(units: Iterator[Unit]) -> Iterator[Unit]:
    yield from islice(units, MOST_UNITS)
    if next(units, None) is not None:
        raise ValueError(f"more than {MOST_UNITS} units")


def _set_units(settings: memoryview) -> Iterator[memoryview]:
    place = 23
    for _ in range(settings[22]):
        count, place = int.from_bytes(settings[place + 1 : place + 3], "big"), place + 3
        for _ in range(count):
            start = place + 2
            place = start + int.from_bytes(settings[place:start], "big")
            if len(settings) < place or place < start + 2:
                raise ValueError("settings that are cut off")
            yield settings[start:place]


def _coded_units(content: memoryview, n_bytes: int) -> Iterator[memoryview]:
    place = 0
    while (start := place + n_bytes) + 2 <= len(content):
        place = start + int.from_bytes(content[place:start], "big")
        yield content[start : max(place, start + 2)]


def _hevc_area(parameters: bytes) -> int:
    bits = _Bits(parameters.replace(b"\0\0\3", b"\0\0"))  # bytes that keep marks from appearing
    bits.take(4)
    n_layers = bits.take(3)
    bits.take(1 + 96)
    flags = [bits.take(2) for _ in range(8 if n_layers else 0)][:n_layers]
    bits.take(sum(88 * (flag >> 1) + 8 * (flag & 1) for flag in flags))
    bits.golomb()
    if bits.golomb() == 3:  # colours in three planes of the same size
        bits.take(1)
    return bits.golomb() * bits.golomb()


def av1_pixels(content: memoryview) -> int:
    """Area of the largest picture that bytes coded by AV1 announce.

    Raises
    ------
    ValueError or IndexError
        If no size is announced, or a decoder would work without end.
    """
    areas, n_frames = [0], 0
    for kind, unit in _few(_av1_units(content)):
        if kind == SEQUENCE:
            areas.append(_av1_area(bytes(unit[:HEAD])))
        n_frames += kind in (FRAME_HEADER, FRAME)
    if n_frames > MOST_FRAMES:
        raise ValueError(f"painted {n_frames} times over")
    return max(areas)


def _av1_units(content: memoryview) -> Iterator[tuple[int, memoryview]]:
    place = 0
    while place < len(content):
        head = content[place]
        place += 2 if head & 4 else 1
        length = len(content) - place
        if head & 2:
            length, place = _leb128(content, place)
        yield head >> 3 & 15, content[place : place + length]
        place += length


def _leb128(content: memoryview, place: int) -> tuple[int, int]:
    """Number in groups of seven bits, the lowest first, and the place behind it."""
    number = 0
    for i in range(8):
        byte = content[place + i]
        number |= (byte & 127) << 7 * i
        if byte < 128:
            return number, place + i + 1
    raise ValueError("a number without an end")


def _av1_area(sequence: bytes) -> int:
    bits = _Bits(sequence)
    bits.take(4)
    if bits.take(1):  # the short form for still pictures
        bits.take(5)
    else:
        _skip_operating_points(bits)
    n_width, n_height = bits.take(4) + 1, bits.take(4) + 1
    return (bits.take(n_width) + 1) * (bits.take(n_height) + 1)


def _skip_operating_points(bits: _Bits) -> None:
    n_delay = 0
    if bits.take(1):
        bits.take(64)
        if bits.take(1):
            bits.take(min(bits.zeros(), 32))
        if bits.take(1):
            n_delay = bits.take(5) + 1
            bits.take(42)
    has_display_delay = bits.take(1)
    for _ in range(bits.take(5) + 1):
        bits.take(12)
        if bits.take(5) > 7:
            bits.take(1)
        if n_delay:
            bits.skip_if(2 * n_delay + 1)
        if has_display_delay:
            bits.skip_if(4)
