"""A disk that forgets what was not synced: recorded changes of files, replayed up to a cut.

Writes and truncations of a file are safe once that file was synced. New names, renames and
deletions are safe once their folder was synced. What is not safe is lost, or there, or there in
part: a random part of the writes of each file (of a write, perhaps only some sectors), and the
first few changes of each folder.
"""

import random
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

__all__ = ["Record", "disk_at", "read_records"]

_HEAD = struct.Struct("<cQqII")
SECTOR = 512


class Record(NamedTuple):
    """One change, as `recorder.c` writes it."""

    kind: str
    inode: int
    number: int
    first: bytes
    second: bytes

    @property
    def path(self) -> Path:
        """Path of the file or folder."""
        return Path(self.first.decode())


def read_records(path: Path) -> list[Record]:
    """All records of a file."""
    data, place, records = path.read_bytes(), 0, []
    while place < len(data):
        kind, inode, number, n_first, n_second = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        first, second = data[place : place + n_first], data[place + n_first :][:n_second]
        place += n_first + n_second
        records.append(Record(kind.decode(), inode, number, first, second))
    return records


@dataclass
class File:
    """Content of a file that is safe, and the writes and truncations since."""

    safe: bytearray = field(default_factory=bytearray)
    later: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        """Make everything safe."""
        for place, data in self.later:
            _apply(self.safe, place, data)
        self.later.clear()

    def content(self, rng: random.Random, share: float, is_torn: bool = True) -> bytes:
        """Content after a loss of power, in which a share of the later writes arrived."""
        found = bytearray(self.safe)
        for place, data in self.later:
            if rng.random() >= share:
                continue
            if is_torn and data is not None and rng.random() < 0.2:
                data = data[: SECTOR * rng.randint(0, len(data) // SECTOR)]
            _apply(found, place, data)
        return bytes(found)


def _apply(content: bytearray, place: int, data: bytes | None) -> None:
    """Write data at a place, or cut the content off there (or extend it) if data is None."""
    if len(content) < place:
        content.extend(bytes(place - len(content)))
    if data is None:
        del content[place:]
    else:
        content[place : place + len(data)] = data


@dataclass
class Disk:
    """Files and folders whose names are safe, and the changes of names since."""

    root: Path
    forgets_syncs: bool = False
    files: dict[int, File] = field(default_factory=dict)
    names: dict[Path, File | None] = field(default_factory=dict)  # None for a folder
    later: list[tuple[str, Path, Path, File | None]] = field(default_factory=list)

    def change(self, record: Record) -> None:
        """Take over one recorded change."""
        kind = record.kind
        if kind == "c":
            self.files[record.inode] = File()
            self._name(kind, record.path, record.path, self.files[record.inode])
        elif kind in "wt" and record.inode in self.files:
            data = record.first if kind == "w" else None
            self.files[record.inode].later.append((record.number, data))
        elif kind == "s" and not self.forgets_syncs:
            self._sync(record)
        elif kind == "r":
            self._name(kind, record.path, Path(record.second.decode()))
        elif kind in "umd":
            self._name(kind, record.path, record.path)

    def _name(self, kind: str, path: Path, other: Path, file: File | None = None) -> None:
        self.later.append((kind, path, other, file))

    def _sync(self, record: Record) -> None:
        if record.inode in self.files and not self._is_folder(record.path):
            self.files[record.inode].sync()
            return
        mine = [own for own in self.later if own[2].parent == record.path]
        self.later = [own for own in self.later if own[2].parent != record.path]
        for own in mine:
            _rename(self.names, *own)

    def _is_folder(self, path: Path) -> bool:
        return any(own[0] == "m" and own[1] == path for own in self.later) or (
            path in self.names and self.names[path] is None
        )

    def last(self) -> dict[Path, bytes]:
        """Names and contents of all files, if the power does not fail."""
        names = dict(self.names)
        for own in self.later:
            _rename(names, *own)
        found = {path: file for path, file in names.items() if file is not None}
        return {
            path: file.content(random.Random(0), 1.0, is_torn=False)
            for path, file in found.items()
            if not path.name.endswith("-shm")
        }

    def write(self, target: Path, rng: random.Random) -> None:
        """Write what is left after a loss of power into a folder."""
        share = rng.choice((0.0, 0.5, 0.9, 1.0))
        names = dict(self.names)
        kept = {parent: rng.random() < share for parent in {own[2].parent for own in self.later}}
        for own in self.later:
            parent = own[2].parent
            kept[parent] = kept[parent] and (share == 1 or rng.random() < 0.9)
            if kept[parent]:
                _rename(names, *own)
        for path, file in sorted(names.items()):
            own_path = target / path.relative_to(self.root)
            if not own_path.parent.is_dir():
                continue
            if file is None:
                own_path.mkdir()
            elif not path.name.endswith("-shm"):  # SQLite makes it anew after a restart
                own_path.write_bytes(file.content(rng, share))


def _rename(
    names: dict[Path, File | None], kind: str, path: Path, other: Path, file: File | None
) -> None:
    if kind in "cm":
        names[path] = file
    elif kind == "r" and path in names:
        names[other] = names.pop(path)
    elif kind in "ud":
        names.pop(path, None)


def disk_at(records: list[Record], root: Path, forgets_syncs: bool) -> Disk:
    """The disk after some records."""
    disk = Disk(root, forgets_syncs)
    for record in records:
        disk.change(record)
    return disk
