"""Items as they are given out, and as they lie in a row with a checksum over all of it."""

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
    "Added",
    "Found",
    "Item",
    "Match",
    "Page",
    "Ranking",
    "Row",
    "Synced",
    "blob_checksum",
    "content_of",
    "is_whole",
    "row_checksum",
    "to_item",
    "to_text",
]

Ids = NDArray[np.int64]
COLUMNS = "id, code, source, content, labels, metadata, size, mtime_ns, checksum"
CONTENT_BYTES = 16
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_HEAD = struct.Struct("<qBiiiii?q?q")


@dataclass(frozen=True)
class Item:
    """One thing in a collection.

    Attributes
    ----------
    id : int
        Given once and never again.
    code : bytes
        Its packed code.
    source : str or None
        Path or address of where it comes from.
    content : bytes or None
        What tells it from other items: the 16-byte BLAKE2b of a picture's file, pixels or of a
        row of features.
    labels : tuple of str
    metadata : dict
        Whatever JSON can say.
    size, mtime_ns : int or None
        Size and time of the picture's file when it was read.
    """

    id: int
    code: bytes
    source: str | None = None
    content: bytes | None = None
    labels: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    size: int | None = None
    mtime_ns: int | None = None

    def bits_from(self, code: bytes) -> int:
        """In how many bits its code differs from another packed code: their Hamming distance.

        >>> Item(0, bytes([0b1100, 255])).bits_from(bytes([0b1010, 254]))
        3
        """
        return (int.from_bytes(self.code) ^ int.from_bytes(code)).bit_count()


class Match(NamedTuple):
    """An item that was found.

    `distance` is a number of bits, the lowest is the best; for a name, and by asymmetric distance,
    it is a score, and the highest is the best.
    """

    item: Item
    distance: float


class Ranking(NamedTuple):
    """Distances and ids of the items that a query finds, in their order."""

    distances: NDArray[Any]
    ids: Ids


class Page(NamedTuple):
    """Which items of a ranking are wanted.

    Attributes
    ----------
    k : int
        How many items are ranked.
    r : int or None
        The largest distance of those that count.
    offset, limit : int, int or None
        Of these, where the page begins, and how many it has; by default all from there on.
    """

    k: int
    r: int | None = None
    offset: int = 0
    limit: int | None = None

    @property
    def rows(self) -> slice:
        """Its place in the ranking."""
        return slice(self.offset, None if self.limit is None else self.offset + self.limit)


class Found(NamedTuple):
    """A page of matches.

    Attributes
    ----------
    total : int
        How many items there are on all pages together.
    matches : list of Match
    pictured : set of int
        Ids of those items of the page, and perhaps of others, that have a thumbnail.
    """

    total: int
    matches: list[Match]
    pictured: set[int]


class Added(NamedTuple):
    """What became of things that were to be added.

    Attributes
    ----------
    ids : ndarray of int64
        Of the new items, in the order in which they came.
    duplicates : ndarray of int64
        For each thing that was there already, the item that it equals.
    failures : tuple of str
        What could not be read, and why.
    """

    ids: Ids
    duplicates: Ids
    failures: tuple[str, ...] = ()


class Synced(NamedTuple):
    """What a folder's changes did: ids of the items, and what could not be read."""

    added: Ids
    changed: Ids
    moved: Ids
    removed: Ids
    failures: tuple[str, ...] = ()


class Row(NamedTuple):
    """An item as the catalogue stores it, in the order of `COLUMNS`.

    Attributes
    ----------
    source : str, bytes or None
        Bytes where it holds what is no Unicode, as names of files may.
    labels, metadata : str
        JSON.
    checksum : int
        CRC-32 of all the others.
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
    """CRC-32 of all fields of a row; two rows that differ are never spelled alike.

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
    text = name + labels + metadata  # told apart by their numbers of letters
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


def is_whole(row: Sequence[Any]) -> bool:
    """Whether a row from the catalogue is what was written there."""
    try:
        return bool(row_checksum(*row[:8]) == row[8])
    except (struct.error, TypeError, AttributeError, ValueError):  # fields of strange types
        return False


def blob_checksum(number: int, blob: bytes) -> int:
    """CRC-32 of what is stored beside an item: its thumbnail or its features."""
    return zlib.crc32(blob, zlib.crc32(struct.pack("<q", number)))


def content_of(*parts: Any) -> bytes:
    """What tells one picture or row of features from another."""
    digest = blake2b(digest_size=CONTENT_BYTES)
    for part in parts:
        digest.update(part)
    return digest.digest()


def to_text(value: Any) -> str:
    """Compact JSON; letters stay letters where they are Unicode."""
    text = _JSON.encode(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # parts of a file name that are no Unicode
            text = _ASCII_JSON.encode(value)
    return text


@lru_cache(maxsize=4096)  # most items have the labels of many others
def _labels(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def to_item(row: Sequence[Any]) -> Item:
    """The item that a whole row stands for."""
    number, code, source, content, labels, metadata, size, mtime_ns = row[:8]
    if isinstance(source, bytes):
        source = source.decode("utf-8", "surrogatepass")
    facts = {} if metadata == "{}" else json.loads(metadata)
    item = object.__new__(Item)
    item.__dict__.update(  # as its own way of being made, which takes three times as long
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
