"""Shards: features that are read a block of rows at a time.

A shard says where its rows are. It is small, so it can be sent to the machine that reads the rows.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.datasets import load_features
from zshash.datasets.cifar import is_cifar
from zshash.datasets.folders import TABLES as SUFFIXES
from zshash.datasets.idx import is_idx
from zshash.datasets.listing import is_picture
from zshash.datasets.parquet import count_row_groups
from zshash.hashing.steps.rows import BLOCK_ROWS, check_values, unit_rows
from zshash.scale.tables import (
    NO_ROWS,
    ArrayTable,
    MissingShardError,
    NumpyTable,
    ShardError,
    Table,
    as_array,
)

__all__ = [
    "SUFFIXES",
    "Shard",
    "ShardRows",
    "has_shards",
    "is_shard_folder",
    "open_shards",
    "rows_by_shard",
]

Rows = NDArray[np.int64]
LABELS = ".labels.npy"
"""Ending of the file with the labels of a ``.npy`` shard, after the name of the shard."""


@dataclass(frozen=True)
class Shard:
    """Rows of features somewhere.

    Attributes
    ----------
    source : Path or ndarray
        A ``.npy``, ``.npz`` or Parquet file, or the rows themselves.
    name : str
        Name of the shard in messages.
    group : int or None
        The row group of a Parquet file; None for all of them.
    rows : ndarray or None
        Numbers of the rows that count, ascending; None for all.
    shape : (int, int) or None
        Number of rows that count, and their width; None until `looked_at`.
    """

    source: Path | NDArray[Any]
    name: str
    group: int | None = None
    rows: Rows | None = None
    shape: tuple[int, int] | None = None

    def looked_at(self) -> Self:
        """The shard with its shape, which is looked up once."""
        if self.shape is not None:
            return self
        with self.explaining():
            n, width = self._open().shape
        if self.rows is not None and len(self.rows) and self.rows[-1] >= n:
            raise ShardError(f"{self.name}: it has {n} rows, and row {self.rows[-1]} is wanted")
        return replace(self, shape=(n if self.rows is None else len(self.rows), width))

    def select(self, rows: Rows) -> Self:
        """The shard with only some of its rows: ascending numbers among the rows that count."""
        assert self.shape is not None
        own = rows if self.rows is None else self.rows[rows]
        return replace(self, rows=own, shape=(len(rows), self.shape[1]))

    def table(self) -> Table:
        """Open the shard; ShardError if its shape has changed."""
        table = self._open()
        n, width = table.shape
        if self.shape and (self.shape[1] != width or (self.rows is None and self.shape[0] != n)):
            raise ShardError(f"its shape was {self.shape} and is {table.shape} now")
        return table

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn errors into ShardError that names the shard."""
        try:
            yield
        except FileNotFoundError as error:
            raise MissingShardError(f"{self.name}: there is no such file (any more)") from error
        except (OSError, EOFError, ValueError) as error:
            words = str(error).removeprefix(f"{self.name}: ").removeprefix(f"{self.source}: ")
            raise ShardError(f"{self.name}: it can not be read: {words}") from error

    def _open(self) -> Table:
        if isinstance(self.source, np.ndarray):
            return ArrayTable(self.source)
        if self.source.suffix.lower() == ".npy":
            return NumpyTable(self.source)
        return ArrayTable(load_features(self.source, self.group).X)


class ShardRows:
    """The rows of a shard as an array that is read on demand: float32, checked and prepared.

    Parameters
    ----------
    shard : Shard
    normalize : bool
        Bring every row to unit length.
    steps : sequence of (function, args)
        Functions that are applied to each block after that.
    """

    def __init__(
        self, shard: Shard, normalize: bool = False, steps: Sequence[tuple[Any, Any]] = ()
    ) -> None:
        self._shard, self._normalize, self._steps = shard, normalize, steps
        with shard.explaining():
            self._table = shard.table()

    def __len__(self) -> int:
        return self._table.shape[0] if self._shard.rows is None else len(self._shard.rows)

    def __getitem__(self, part: slice | Rows) -> NDArray[np.float32]:
        with self._shard.explaining():
            numbers = self._numbers(part)
            X = self._read(numbers)
            check_values(X, numbers)
        if self._normalize:
            X = unit_rows(X)
        for step, args in self._steps:
            X = step(X, *args)
        return X

    def _numbers(self, part: slice | Rows) -> Rows:
        """Numbers in the table of the wanted rows."""
        numbers = np.arange(*part.indices(len(self))) if isinstance(part, slice) else part
        return numbers if self._shard.rows is None else self._shard.rows[numbers]

    def _read(self, numbers: Rows) -> NDArray[np.float32]:
        """The rows with these numbers; rows near each other are read in one piece."""
        pieces = [self._piece(near) for near in near_rows(numbers) if len(near)]
        X = pieces[0] if len(pieces) == 1 else np.concatenate([self._table.read(0, 0), *pieces])
        with np.errstate(over="ignore"):  # values too large for float32 are reported by the check
            return np.ascontiguousarray(X, dtype=np.float32)  # other layouts round differently

    def _piece(self, numbers: Rows) -> NDArray[Any]:
        first, last = int(numbers[0]), int(numbers[-1]) + 1
        piece = self._table.read(first, last)
        return piece if len(piece) == len(numbers) else piece[numbers - first]


NEAR = 64  # wanted rows that are at most this far apart are read in one piece


def near_rows(numbers: Rows) -> list[Rows]:
    """Ascending numbers, split into pieces to read; one piece where no row is left out."""
    steps = np.diff(numbers)
    if (steps == 1).all():
        return [numbers]
    is_full = np.diff((numbers - numbers[0]) // BLOCK_ROWS) > 0
    return np.split(numbers, np.flatnonzero((steps > NEAR) | is_full) + 1)


def open_shards(data: Any) -> list[Shard]:
    """Shards of a folder, a file, an array, or a sequence of files and arrays.

    Parameters
    ----------
    data : path-like, ndarray, or sequence of these or of Shard
        Files end in ``.npy`` (one array (n, d)), ``.npz`` or ``.parquet`` (as
        `zshash.datasets.load_features` reads them). A folder stands for all such files in the
        order of their names, except those that end in ``.labels.npy``, which hold labels. Each row
        group of a Parquet file is a shard.
    """
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        found = _in_folder(path) if path.is_dir() else [path]
        return [shard for file in found for shard in _of_file(file)]
    if isinstance(data, np.ndarray):
        return [_of_array(data, "the array")]
    if not isinstance(data, Iterable):
        raise ShardError(f"shards are files or arrays, or a folder of such files, got {data!r}")
    shards = []
    for number, item in enumerate(data):
        if isinstance(item, Shard):
            shards.append(item)
        elif isinstance(item, str | os.PathLike):
            shards += _of_file(Path(item))
        else:
            shards.append(_of_array(as_array(item), f"shard {number}"))
    if not shards:
        raise ShardError("there are no shards: give files or arrays, or a folder of such files")
    return shards


def rows_by_shard(numbers: Rows, sizes: ArrayLike) -> list[Rows]:
    """Ascending numbers among the rows of all shards, as numbers within each shard.

    >>> rows_by_shard(np.array([0, 3, 4]), [2, 1, 2])
    [array([0]), array([], dtype=int64), array([0, 1])]
    """
    starts = np.cumsum(sizes) - sizes
    parts = np.split(numbers, np.searchsorted(numbers, starts[1:]))
    return [part - start for part, start in zip(parts, starts, strict=True)]


def is_shard_folder(path: Path) -> bool:
    """Whether a folder holds tables of features, and not pictures.

    Tables count where they lie in the folder itself, pictures at any depth.
    """
    return has_shards(path) and not (is_cifar(path) or is_idx(path) or _has_pictures(path))


def has_shards(path: Path) -> bool:
    """Whether tables lie in a folder, with or without pictures."""
    return path.is_dir() and any(map(_is_shard, path.iterdir()))


def _has_pictures(folder: Path) -> bool:
    return any(is_picture(name) for _, _, names in os.walk(folder) for name in names)


def labels_file(path: Path) -> Path:
    """The file with the labels of a ``.npy`` shard."""
    return path.with_name(path.name.removesuffix(path.suffix) + LABELS)


def _is_shard(path: Path) -> bool:
    is_table = path.suffix.lower() in SUFFIXES and not path.name.endswith(LABELS)
    return is_table and not path.name.startswith(".") and path.is_file()


def _in_folder(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.iterdir() if _is_shard(path))
    if not found:
        raise ShardError(f"{folder}: no shards in it (files that end in {', '.join(SUFFIXES)})")
    return found


def _of_file(path: Path) -> list[Shard]:
    path = path.absolute()
    if path.suffix.lower() not in SUFFIXES:
        missing = "" if path.exists() else ", and there is no such folder"
        raise ShardError(f"{path}: shards end in {', '.join(SUFFIXES)}{missing}")
    if path.suffix.lower() != ".parquet":
        return [Shard(path, str(path))]
    if not path.is_file():
        raise ShardError(f"{path}: there is no such file")
    groups = range(count_row_groups(path))
    if not groups:
        raise ShardError(f"{path}: {NO_ROWS}")
    return [Shard(path, f"{path} (row group {group})", group) for group in groups]


def _of_array(array: NDArray[Any], name: str) -> Shard:
    """The shard of an array, or of the ``.npy`` file that it maps, which is sent without rows."""
    path = _mapped_file(array) if isinstance(array, np.memmap) else None
    return Shard(array, name) if path is None else Shard(path, str(path))


def _mapped_file(array: np.memmap[Any, Any]) -> Path | None:
    """The ``.npy`` file that a memory map shows completely and unchanged, or None."""
    if array.filename is None or array.mode == "c":  # changes to such a map are not in the file
        return None
    path = Path(array.filename).absolute()
    if path.suffix.lower() != ".npy":
        return None
    try:
        table = NumpyTable(path)
    except (OSError, EOFError, ValueError):  # it is gone, or holds something else
        return None
    is_whole = array.flags.c_contiguous and array.shape == table.shape
    return path if is_whole and array.dtype == table.dtype else None
