"""Items of HEIC and AVIF files: pictures, parts of pictures, and notes about them."""

from dataclasses import dataclass, field
from typing import NamedTuple

from zshash.images.formats.boxes import MOST_PARTS, Box, BoxReader, boxes, only

__all__ = ["Items", "read_items"]

IN_FILE, IN_BOX = 0, 1  # where the bytes of an item are
FAR = 2**63


class Place(NamedTuple):
    """Place of a piece of an item in the file."""

    start: int
    end: int


@dataclass
class Items:
    """Items of a file.

    Attributes
    ----------
    primary : int
        Number of the item that is the picture.
    kinds : dict of int to bytes
        Kind of each item, such as b"hvc1".
    labels : dict of int to int
        Place of each item's kind in the file.
    places : dict of int to list of Place
        Where the bytes of each item are.
    properties : dict of int to list of Box
        Size, rotation, settings of the decoder and other properties of each item, in order.
    links : list of (kind, from, to)
        Which items an item is made of, belongs to, or tells of.
    """

    primary: int = 0
    kinds: dict[int, bytes] = field(default_factory=dict)
    labels: dict[int, int] = field(default_factory=dict)
    places: dict[int, list[Place]] = field(default_factory=dict)
    properties: dict[int, list[Box]] = field(default_factory=dict)
    links: list[tuple[bytes, int, list[int]]] = field(default_factory=list)

    def property(self, number: int, name: bytes) -> Box | None:
        """The first property of an item with a name, or None."""
        return next((box for box in self.properties.get(number, ()) if box.name == name), None)

    def read(self, content: memoryview, number: int) -> memoryview:
        """Bytes of an item, no more than the file has; empty if the file does not hold them."""
        places = self.places.get(number, [])
        if len(places) == 1:
            return content[places[0].start : places[0].end]
        pieces = [content[start:end] for start, end in places]
        if sum(map(len, pieces)) > len(content):
            raise ValueError("an item is longer than the file")
        return memoryview(b"".join(pieces))


def read_items(content: memoryview, meta: Box) -> Items:
    """Items that a box "meta" describes.

    Raises
    ------
    ValueError or struct.error
        If the bytes make no sense.
    """
    names = (b"pitm", b"iinf", b"iloc", b"iprp", b"iref", b"idat")
    found = only(boxes(content, meta.start + 4, meta.end), *names)
    items = Items()
    if b"pitm" in found:
        items.primary = BoxReader(content, found[b"pitm"]).identity(wide_from=1)
    if b"iinf" in found:
        _read_kinds(content, found[b"iinf"], items)
    if b"iloc" in found:
        _read_places(BoxReader(content, found[b"iloc"]), items, found.get(b"idat"))
    if b"iprp" in found:
        _read_properties(content, found[b"iprp"], items)
    if b"iref" in found:
        _read_links(content, found[b"iref"], items)
    return items


def _read_kinds(content: memoryview, box: Box, items: Items) -> None:
    reader = BoxReader(content, box)
    reader.number(4 if reader.version else 2)
    for entry in boxes(content, reader.place, box.end):
        one = BoxReader(content, entry)
        if entry.name != b"infe" or one.version < 2:
            continue
        number = one.identity(wide_from=3)
        one.number(2)
        if number in items.kinds:
            raise ValueError(f"two items {number}")
        items.labels[number] = one.place
        items.kinds[number] = one.number(4).to_bytes(4, "big")


def _read_places(reader: BoxReader, items: Items, inside: Box | None) -> None:
    sizes, more = reader.number(1), reader.number(1)
    n_index = more & 15 if reader.version else 0
    n_bytes = (n_index, sizes >> 4, sizes & 15)
    n_pieces = 0
    for _ in reader.times(4 if reader.version >= 2 else 2):
        number = reader.identity(wide_from=2)
        where = reader.number(2) & 15 if reader.version else IN_FILE
        is_elsewhere = reader.number(2) or where > IN_BOX or (where == IN_BOX and inside is None)
        low, high = (inside.start, inside.end) if inside and where == IN_BOX else (0, FAR)
        places = _pieces(reader, low + reader.number(more >> 4), high, n_bytes)
        n_pieces += len(places)
        if number in items.places or n_pieces > MOST_PARTS:
            raise ValueError("an item in too many pieces")
        items.places[number] = [] if is_elsewhere else places


def _pieces(reader: BoxReader, base: int, high: int, n_bytes: tuple[int, int, int]) -> list[Place]:
    pieces = []
    for _ in reader.times(2):
        _, offset, length = (reader.number(n) for n in n_bytes)
        start = min(base + offset, high)
        pieces.append(Place(start, min(start + length, high) if length else high))
    return pieces


def _read_properties(content: memoryview, box: Box, items: Items) -> None:
    inside = list(boxes(content, box.start, box.end))
    store = only(inside, b"ipco").get(b"ipco")
    known = [] if store is None else list(boxes(content, store.start, store.end))
    n_links = 0
    for each in inside:
        if each.name != b"ipma":
            continue
        reader = BoxReader(content, each)
        for _ in reader.times(4):
            number = reader.identity(wide_from=1)
            indices = _indices(reader)
            n_links += len(indices)
            if number in items.properties or n_links > MOST_PARTS:
                raise ValueError("an item with too many properties")
            items.properties[number] = [known[i - 1] for i in indices if 0 < i <= len(known)]


def _indices(reader: BoxReader) -> list[int]:
    n_bytes = 2 if reader.flags & 1 else 1
    essential = 1 << 8 * n_bytes - 1  # this bit tells whether the property may be ignored
    return [reader.number(n_bytes) & ~essential for _ in reader.times(1)]


def _read_links(content: memoryview, box: Box, items: Items) -> None:
    whole = BoxReader(content, box)
    n_bytes, n_links = (4 if whole.version else 2), 0
    for entry in boxes(content, whole.place, box.end):
        reader = BoxReader(content, entry, whole.version)
        start = reader.number(n_bytes)
        ends = [reader.number(n_bytes) for _ in reader.times(2)]
        n_links += len(ends)
        if n_links > MOST_PARTS:
            raise ValueError("too many links between items")
        items.links.append((entry.name, start, ends))
