"""Boxes of ISO base media files, as HEIC, AVIF and some camera files have them.

A file is a row of boxes, and a box may hold boxes.
"""

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["MOST_PARTS", "Box", "BoxReader", "boxes", "only"]

MOST_PARTS = 10_000
TOO_MANY = f"more than {MOST_PARTS} parts"


class Box(NamedTuple):
    """Box: its name, and the places of its header, of its content, and behind it."""

    name: bytes
    header: int
    start: int
    end: int


def boxes(content: memoryview, start: int = 0, end: int | None = None) -> Iterator[Box]:
    """Boxes in a part of a file.

    Raises
    ------
    ValueError
        If a box reaches beyond the part, or there are too many boxes.
    """
    end = len(content) if end is None else end
    for _ in range(MOST_PARTS):
        if start + 8 > end:
            return
        size, name = struct.unpack_from(">I4s", content, start)
        n_header = 16 if size == 1 else 8
        if size == 1:
            (size,) = struct.unpack_from(">Q", content, start + 8)
        behind = start + size if size else end
        if not start + n_header <= behind <= end:
            raise ValueError("a part of it reaches beyond its end")
        yield Box(name, start, start + n_header, behind)
        start = behind
    raise ValueError(TOO_MANY)


def only(found: Iterable[Box], *names: bytes) -> dict[bytes, Box]:
    """Boxes with these names, by their names.

    Raises
    ------
    ValueError
        If two boxes have the same name: programs differ in which of them counts.
    """
    named: dict[bytes, Box] = {}
    for box in found:
        if box.name in names and named.setdefault(box.name, box) is not box:
            raise ValueError(f"two parts named {box.name.decode('ascii')}")
    return named


class BoxReader:
    """Reader of the numbers in a box, one after the other, behind its version and flags.

    Parameters
    ----------
    content : memoryview
        The whole file.
    box : Box
    version : int, optional
        Version of a box that does not tell its version.

    Raises
    ------
    ValueError
        If the box is too short, in any method.
    """

    def __init__(self, content: memoryview, box: Box, version: int | None = None) -> None:
        self._content, self._end = content, box.end
        self.place = box.start
        self.version, self.flags = version or 0, 0
        if version is None:
            self.version, self.flags = divmod(self.number(4), 1 << 24)

    def number(self, n_bytes: int) -> int:
        """The next number."""
        start = self.place
        self.place = end = start + n_bytes
        if end > self._end:
            raise ValueError("a part of it is too short")
        return int.from_bytes(self._content[start:end], "big")

    def identity(self, wide_from: int) -> int:
        """The next number of an item, which is longer from a version of the box on."""
        return self.number(4 if self.version >= wide_from else 2)

    def times(self, n_bytes: int) -> range:
        """Range as long as the next number says.

        Raises
        ------
        ValueError
            If that is longer than any picture needs.
        """
        number = self.number(n_bytes)
        if number > MOST_PARTS:
            raise ValueError(TOO_MANY)
        return range(number)
