"""Exports of items: a table, JSON, or an archive with pictures; made a part at a time."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["KINDS", "archive", "as_csv", "as_json", "gathered", "safe_name"]

KINDS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "zip": "application/zip"}
Facts = dict[str, Any]
Picture = Callable[[int], bytes | None]  # JPEG of an item, or None

COLUMNS = ("id", "file", "labels", "metadata")
BETWEEN = "; "  # labels of one item in a table
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the begin of a formula
STRANGE = re.compile(
    r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]'
)
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
LEAST_PART = 2**16  # bytes
MOST_BYTES = 150  # of a name, which every file system can hold
DATE = (1980, 1, 1, 0, 0, 0)  # of all files of an archive: the same items give the same bytes


def as_csv(items: Iterable[Facts], more: tuple[str, ...] = ()) -> Iterator[bytes]:
    r"""A table by RFC 4180 with a header, in UTF-8, a part for each item.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.

    >>> item = {"id": 5, "file": "=1+1", "labels": ["dog", "pet"], "metadata": {}}
    >>> b"".join(as_csv([item])).decode()
    "id,file,labels,metadata\r\n5,'=1+1,dog; pet,{}\r\n"
    """
    columns = (*COLUMNS, *more)
    yield _line(columns)
    for item in items:
        yield _line([_cell(item.get(column)) for column in columns])


def _line(cells: Iterable[str]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out).writerow(cells)
    return out.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        value = BETWEEN.join(value)
    elif isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"))
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def as_json(items: Iterable[Facts]) -> Iterator[bytes]:
    r"""A list of items in JSON, a line for each.

    >>> b"".join(as_json([{"id": 1}, {"id": 2}])).decode()
    '[\n{"id":1},\n{"id":2}\n]\n'
    """
    before = "[\n"
    for item in items:
        yield f"{before}{json.dumps(item, separators=(',', ':'))}".encode()
        before = ",\n"
    yield b"\n]\n" if before == ",\n" else b"[]\n"


def archive(items: Iterable[Facts], picture: Picture) -> Iterator[bytes]:
    """A zip archive, a part for each picture, with a table `items.csv` that names their files.

    Parameters
    ----------
    items : iterable of dict
    picture : callable
        Returns the JPEG of an item, given its id, or None; the table still has the item then.
    """
    out, listed, taken = _Outlet(), list[Facts](), {"items.csv"}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as packed:
        for item in items:
            content = picture(item["id"])
            name = "" if content is None else _unique(safe_name(item["file"], item["id"]), taken)
            listed.append(item | {"picture": name})
            if content is not None:
                packed.writestr(zipfile.ZipInfo(name, DATE), content)
                yield out.taken()
        table = b"".join(as_csv(listed, ("picture",)))
        packed.writestr(zipfile.ZipInfo("items.csv", DATE), table, zipfile.ZIP_DEFLATED)
    yield out.taken()


def gathered(parts: Iterable[bytes], least: int = LEAST_PART) -> Iterator[bytes]:
    """The same bytes in parts of at least so many, except the last one.

    >>> list(gathered([b"ab", b"c", b"de", b"f"], least=3))
    [b'abc', b'def']
    """
    waiting, size = list[bytes](), 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= least:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


class _Outlet(io.RawIOBase):
    """A file that is written from its begin to its end, and read as it grows."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(part)

    def taken(self) -> bytes:
        """What was written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def safe_name(file: str | None, number: int) -> str:
    r"""Name of the JPEG of an item in an archive: no folder, and nothing a file system refuses.

    >>> safe_name("../../etc/passwd", 1), safe_name("C:\\a?.png", 2), safe_name(None, 3)
    ('passwd.jpg', 'a_.jpg', 'item-3.jpg')
    >>> safe_name("nul.txt", 4), safe_name(" .. ", 5), safe_name("Kätzchen.HEIC", 6)
    ('_nul.jpg', 'item-5.jpg', 'Kätzchen.jpg')
    """
    last = re.split(r"[/\\]", file or "")[-1]
    stem, dot, end = last.rpartition(".")
    stem = stem if dot and stem and len(end) <= 5 else last
    stem = STRANGE.sub("_", stem).strip(" .")
    while len(stem.encode()) > MOST_BYTES:
        stem = stem[:-1].rstrip(" .")
    if RESERVED.fullmatch(stem):
        stem = f"_{stem}"
    return f"{stem or f'item-{number}'}.jpg"


def _unique(name: str, taken: set[str]) -> str:
    """The name, or one like it that no file of the archive has, in whatever case.

    >>> taken = {"a.jpg"}
    >>> _unique("A.jpg", taken), _unique("a.jpg", taken)
    ('A (2).jpg', 'a (3).jpg')
    """
    stem, count, own = name.removesuffix(".jpg"), 1, name
    while own.casefold() in taken:
        count += 1
        own = f"{stem} ({count}).jpg"
    taken.add(own.casefold())
    return own
