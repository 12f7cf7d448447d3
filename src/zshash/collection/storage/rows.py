"""Items as users get them, and the rows that store them, with a checksum over all fields."""

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COLUMNS",
    "Item",
    "Row",
    "blob_checksum",
    "change_checksum",
    "content_of",
    "first_damaged",
    "is_whole",
    "row_checksum",
    "to_item",
    "to_text",
    "with_fields",
]

Ids = NDArray[np.int64]
COLUMNS = "id, code, source, content, labels, metadata, size, mtime_ns, checksum"
CONTENT_BYTES = 16
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_HEAD = struct.Struct("<qBiiiii?q?q")
_CHANGE = struct.Struct("<qqq")
_STRANGE = (struct.error, TypeError, AttributeError, ValueError)  # of fields of strange types


@dataclass(frozen=True)
class Item:
    """One thing in a collection.

    Attributes
    ----------
    id : int
        Number of the item; no id is used twice.
    code : bytes
        Its packed code.
    source : str or None
        Path or address of where it comes from.
    content : bytes or None
        16-byte BLAKE2b hash of the picture's file, of its pixels or of its features; no two
        items have the same.
    labels : tuple of str
    metadata : dict
        Values that JSON can hold.
    size, mtime_ns : int or None
        Size and time of the picture's file when it was read.
    """

    id: int
    code: bytes = field(repr=False)
    source: str | None = None
    content: bytes | None = field(default=None, repr=False)
    labels: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    size: int | None = field(default=None, repr=False)
    mtime_ns: int | None = field(default=None, repr=False)

    @property
    def seen_size(self) -> tuple[int, int] | None:
        """Width and height of the upright picture, as its metadata say; None if they do not.

        >>> Item(0, b"", metadata={"width": 640, "height": 480}).seen_size
        (640, 480)
        """
        width, height = self.metadata.get("width"), self.metadata.get("height")
        if type(width) is not int or type(height) is not int or min(width, height) < 1:
            return None
        return width, height

    def bits_from(self, code: bytes) -> int:
        """In how many bits its code differs from another packed code: their Hamming distance.

        >>> Item(0, bytes([0b1100, 255])).bits_from(bytes([0b1010, 254]))
        3
        """
        return (int.from_bytes(self.code) ^ int.from_bytes(code)).bit_count()


class Row(NamedTuple):
    """An item as the catalogue stores it, in the order of `COLUMNS`.

    Attributes
    ----------
    source : str, bytes or None
        Bytes if it is not Unicode, as names of files may be.
    labels, metadata : str
        JSON.
    checksum : int
        CRC-32 of all other fields.
    """

    id: int
    code: bytes
    source: str | bytes | None
    content: bytes | None
    labels: str
    metadata: str
    size: int | None
    mtime_ns: int | None
    checksum: int


def row_checksum(
    number: int,
    code: bytes,
    source: str | bytes | None,
    content: bytes | None,
    labels: str,
    metadata: str,
    size: int | None,
    mtime_ns: int | None,
) -> int:
    """CRC-32 of all fields of a row; it is taken over bytes that differ if two rows differ.

    >>> row_checksum(0, b"", None, None, "[]", "{}", None, None) != row_checksum(
    ...     0, b"", "", None, "[]", "{}", None, None
    ... )
    True
    """
    if source is None:
        name, kind = "", 0
    elif isinstance(source, bytes):
        name, kind = source.decode("utf-8", "surrogatepass"), 1
    else:
        name, kind = source, 2
    text = name + labels + metadata  # the header has their lengths, which tell them apart
    head = _HEAD.pack(
        number,
        kind,
        len(name),
        len(labels),
        len(text),
        len(code),
        -1 if content is None else len(content),
        size is None,
        size or 0,
        mtime_ns is None,
        mtime_ns or 0,
    )
    return zlib.crc32(head + text.encode("utf-8", "surrogatepass") + code + (content or b""))


def with_fields(row: Row, **fields: Any) -> Row:
    """Row with other fields, and with the checksum of all its fields."""
    row = row._replace(**fields)
    return row._replace(checksum=row_checksum(*row[:8]))


def is_whole(row: Sequence[Any]) -> bool:
    """Whether a row from the catalogue is what was written there."""
    try:
        return bool(row_checksum(*row[:8]) == row[8])
    except _STRANGE:
        return False


def first_damaged(rows: Sequence[Sequence[Any]]) -> Sequence[Any] | None:
    """The first of many rows from the catalogue that is not what was written there, or None.

    A row may have more columns behind its checksum.
    """
    try:
        if [row_checksum(*row[:8]) for row in rows] == [row[8] for row in rows]:
            return None
    except _STRANGE:
        pass
    return next((row for row in rows if not is_whole(row)), None)


def change_checksum(generation: int, number: int, delta: int) -> int:
    """CRC-32 of a row in the log of changes."""
    return zlib.crc32(_CHANGE.pack(generation, number, delta))


def blob_checksum(number: int, blob: bytes) -> int:
    """CRC-32 of what is stored beside an item: its thumbnail or its features."""
    return zlib.crc32(blob, zlib.crc32(struct.pack("<q", number)))


def content_of(*parts: Any) -> bytes:
    """Content hash of a picture or of a row of features."""
    digest = blake2b(digest_size=CONTENT_BYTES)
    for part in parts:
        digest.update(part)
    return digest.digest()


def to_text(value: Any) -> str:
    """Compact JSON; letters beyond ASCII are kept if all of them are valid Unicode."""
    text = _JSON.encode(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # parts of a file name that are not Unicode
            text = _ASCII_JSON.encode(value)
    return text


@lru_cache(maxsize=4096)  # most items have the labels of many others
def _labels(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def to_item(row: Sequence[Any]) -> Item:
    """Item of an undamaged row."""
    number, code, source, content, labels, metadata, size, mtime_ns = row[:8]
    if isinstance(source, bytes):
        source = source.decode("utf-8", "surrogatepass")
    facts = {} if metadata == "{}" else json.loads(metadata)
    item = object.__new__(Item)
    item.__dict__.update(  # the same as `Item(...)`, which takes three times as long
        id=number,
        code=code,
        source=source,
        content=content,
        labels=_labels(labels),
        metadata=facts,
        size=size,
        mtime_ns=mtime_ns,
    )
    return item
