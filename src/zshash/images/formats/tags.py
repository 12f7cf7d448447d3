"""Directories of tags, as TIFF files and the notes of a camera (EXIF) have them."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Bytes", "Directory", "Layout", "Tag", "orientation", "sensible"]

Bytes = bytes | memoryview

EXIF = b"Exif\0\0"
WIDTH, HEIGHT, ORIENTATION = 256, 257, 274
NUMBERS = {1: "B", 3: "H", 4: "I", 5: "2I", 6: "b", 8: "h", 9: "i", 10: "2i", 13: "I", 16: "Q"}
BYTES, LETTERS, OPAQUE = 1, 2, 7  # kinds of tags that hold bytes
FRACTIONS = (5, 10)
MOST_TAGS = 65535
MOST_READ = 1000  # tags of a directory that is read, and numbers of one of its tags


class Tag(NamedTuple):
    """Tag of a directory; `value` holds its numbers if they fit, else their place in the file."""

    code: int
    kind: int
    n_numbers: int
    value: bytes


class Layout(NamedTuple):
    """Formats of the numbers in a file, for `struct`."""

    offset: str
    length: str
    tag: str

    @classmethod
    def of(cls, content: Bytes) -> "Layout":
        """Layout of a file, from its first bytes."""
        order = "<" if content[0] == ord("I") else ">"
        if content[2] == 43:  # files that may exceed 4 GB
            return cls(f"{order}Q", f"{order}Q", f"{order}HHQ8s")
        return cls(f"{order}I", f"{order}H", f"{order}HHI4s")

    def start(self, content: Bytes) -> int:
        """Place of the first directory."""
        return int(struct.unpack_from(self.offset, content, struct.calcsize(self.offset))[0])

    def tags(self, content: Bytes, start: int, most: int = MOST_TAGS) -> Iterator[Tag]:
        """Tags of the directory at a place, `most` at most."""
        (count,) = struct.unpack_from(self.length, content, start)
        start += struct.calcsize(self.length)
        for place in range(min(count, most)):
            yield Tag(*struct.unpack_from(self.tag, content, start + place * self.size))

    def behind(self, content: Bytes, start: int) -> int:
        """Place of the directory that follows the one at `start`; 0 if there is none."""
        (count,) = struct.unpack_from(self.length, content, start)
        place = start + struct.calcsize(self.length) + count * self.size
        return int(struct.unpack_from(self.offset, content, place)[0])

    @property
    def size(self) -> int:
        """Bytes that a tag takes."""
        return struct.calcsize(self.tag)

    def number(self, tag: Tag) -> int:
        """The only number of a tag; 0 if the tag has none or several, or numbers with a sign."""
        form = NUMBERS.get(tag.kind)
        if form is None or form not in "BHIQ" or tag.n_numbers != 1:
            return 0
        return int(struct.unpack_from(self.tag[0] + form, tag.value)[0])


class Directory(NamedTuple):
    """A directory that is read without trust: what makes no sense is missing.

    Attributes
    ----------
    content : bytes or memoryview
        Bytes that the places of tags count from.
    layout : Layout
    tags : dict of int to Tag
        Tags by their codes; of a tag that comes twice the first counts.
    behind : int
        Place of the directory that follows; 0 if there is none.
    """

    content: Bytes
    layout: Layout
    tags: dict[int, Tag]
    behind: int = 0

    @classmethod
    def at(cls, content: Bytes, layout: Layout, start: int) -> "Directory":
        """The directory at a place, as far as the bytes go."""
        tags: dict[int, Tag] = {}
        try:
            for tag in layout.tags(content, start, MOST_READ):
                tags.setdefault(tag.code, tag)
            return cls(content, layout, tags, layout.behind(content, start))
        except (struct.error, IndexError):  # the file ends before the directory does
            return cls(content, layout, tags)

    @classmethod
    def first(cls, content: Bytes) -> "Directory":
        """The first directory of a file, or of the notes of a camera."""
        content = content[6:] if bytes(content[:6]) == EXIF else content
        try:
            layout = Layout.of(content)
            return cls.at(content, layout, layout.start(content))
        except (struct.error, IndexError):
            return cls(content, Layout.of(b"II*\0"), {})

    def inner(self, code: int) -> "Directory":
        """The directory whose place a tag holds; without any tag if there is none."""
        if place := self.number(code):
            return Directory.at(self.content, self.layout, place)
        return self._replace(tags={})

    @property
    def orientation(self) -> int:
        """Which side of the picture is up, 1 to 8 as in EXIF; 0 if nothing sensible is said."""
        tag = self.tags.get(ORIENTATION)
        return sensible(self.layout.number(tag)) if tag else 0

    def number(self, code: int) -> int:
        """The first whole number of a tag, 0 if there is none."""
        return next(iter(self.numbers(code)), 0)

    def numbers(self, code: int) -> tuple[int, ...]:
        """Whole numbers of a tag, two for each fraction; empty if there are none."""
        tag = self.tags.get(code)
        if tag is None or tag.kind not in NUMBERS or tag.n_numbers > MOST_READ:
            return ()
        form = f"{self.layout.tag[0]}{NUMBERS[tag.kind] * tag.n_numbers}"
        held = self._bytes(tag, struct.calcsize(form))
        return struct.unpack(form, held) if len(held) == struct.calcsize(form) else ()

    def fractions(self, code: int) -> list[float]:
        """Fractions of a tag that are no less than 0; empty if one of them makes no sense."""
        tag, parts = self.tags.get(code), self.numbers(code)
        if tag is None or tag.kind not in FRACTIONS or min(parts[1::2], default=0) < 1:
            return []
        values = [above / below for above, below in zip(parts[::2], parts[1::2], strict=True)]
        return values if min(values) >= 0 else []

    def text(self, code: int) -> bytes:
        """Letters of a tag, up to the first zero; empty if there are none."""
        tag = self.tags.get(code)
        if tag is None or tag.kind not in (LETTERS, OPAQUE):
            return b""
        return bytes(self._bytes(tag, min(tag.n_numbers, MOST_READ))).partition(b"\0")[0]

    def block(self, code: int, most: int) -> Bytes:
        """Bytes of a tag, empty if there are none or more than `most`."""
        tag = self.tags.get(code)
        if tag is None or tag.kind not in (BYTES, OPAQUE) or tag.n_numbers > most:
            return b""
        return self._bytes(tag, tag.n_numbers)

    def place(self, code: int) -> int:
        """Place of the bytes of a tag that has too many for the directory; 0 if there is none."""
        tag = self.tags.get(code)
        return self._place(tag) if tag and tag.n_numbers > len(tag.value) else 0

    def _place(self, tag: Tag) -> int:
        return int(struct.unpack(self.layout.offset, tag.value)[0])

    def _bytes(self, tag: Tag, n_bytes: int) -> Bytes:
        if n_bytes <= len(tag.value):
            return tag.value[:n_bytes]
        return self.content[self._place(tag) : self._place(tag) + n_bytes]


def sensible(number: int) -> int:
    """The number if it is an orientation, 1 to 8 as in EXIF; else 0."""
    return number if 1 <= number <= 8 else 0


def orientation(exif: Bytes) -> int:
    """Orientation of a picture, 1 to 8 as in EXIF; 1 if it is missing or makes no sense."""
    return Directory.first(exif).orientation or 1
