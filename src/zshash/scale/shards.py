"""Tables of features that are read a block of rows at a time.

A shard says where its rows are and is small itself, so that it can be sent to where they are read.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.datasets import DataError, load_features
from zshash.datasets.cifar import is_cifar
from zshash.datasets.folders import TABLES as SUFFIXES
from zshash.datasets.idx import is_idx
from zshash.datasets.listing import is_picture
from zshash.datasets.parquet import count_row_groups
from zshash.hashing.base import check_values, unit_rows
from zshash.hashing.rows import BLOCK_ROWS
from zshash.scale.tensors import as_array

__all__ = [
    "SUFFIXES",
    "MissingShardError",
    "Shard",
    "ShardError",
    "ShardRows",
    "has_shards",
    "is_shard_folder",
    "open_shards",
    "rows_by_shard",
]

Rows = NDArray[np.int64]
LABELS = ".labels.npy"
"""What follows the name of a ``.npy`` shard in that of the file with its labels."""
NO_ROWS = "it has no rows: leave it out"


class ShardError(DataError):
    """A shard that can not be read; the message names it and says why."""


class MissingShardError(ShardError):
    """A shard whose file is not there, or not where it is looked for."""


class Table(Protocol):
    """Rows that can be read."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""

    def read(self, first: int, last: int) -> NDArray[Any]:
        """Rows from `first` up to `last`."""


class ArrayTable:
    """Rows in memory, or in a mapping that the user has made."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.shape: tuple[int, int] = _check_shape(array.shape, array.dtype)

    def read(self, first: int, last: int) -> NDArray[Any]:
        """Rows from `first` up to `last`."""
        return self._array[first:last]


class NumpyTable:
    """Rows of a ``.npy`` file.

    They are read, not mapped: a file that is cut off meanwhile is an error then, where touching a
    mapping would end the process.
    """

    def __init__(self, path: Path) -> None:
        try:
            mapping = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            if "Python objects" in str(error):
                raise ShardError("it holds objects of Python: save an array of numbers") from error
            # NumPy takes whatever it does not know for pickled objects, and says how to load these
            why = "no array of numbers" if "pickle" in str(error) else error
            raise ShardError(f"it is no whole .npy file ({why}): copy it again") from error
        if not isinstance(mapping, np.memmap):
            mapping.close()
            raise ShardError("it is a .npz file: let its name end in .npz")
        self.shape = _check_shape(mapping.shape, mapping.dtype)
        if not mapping.flags.c_contiguous:
            raise ShardError("it is stored by columns: save np.ascontiguousarray of it")
        self._path, self.dtype, self._start = path, mapping.dtype, mapping.offset
        self._width = self.shape[1] * self.dtype.itemsize

    def read(self, first: int, last: int) -> NDArray[Any]:
        """Rows from `first` up to `last`."""
        block = np.empty((last - first, self.shape[1]), dtype=self.dtype)
        with self._path.open("rb", buffering=0) as file:
            file.seek(self._start + first * self._width)
            flat, done = memoryview(block.reshape(-1).view(np.uint8).data), 0
            while done < len(flat):
                count = file.readinto(flat[done:])
                if not count:
                    raise ShardError("the file has become shorter: copy it again")
                done += count
        return block


@dataclass(frozen=True)
class Shard:
    """Rows of features somewhere.

    Attributes
    ----------
    source : Path or ndarray
        A ``.npy``, ``.npz`` or Parquet file, or the rows themselves.
    name : str
        What messages call it.
    group : int or None
        The row group of a Parquet file; None for all of them.
    rows : ndarray or None
        Numbers of the rows that count, ascending; None for all.
    shape : (int, int) or None
        Rows that count and their width, once somebody has looked.
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
        """Some of the rows that count, by their numbers among these, which ascend."""
        assert self.shape is not None
        own = rows if self.rows is None else self.rows[rows]
        return replace(self, rows=own, shape=(len(rows), self.shape[1]))

    def table(self) -> Table:
        """Open it; ShardError where it is no longer what it was."""
        table = self._open()
        n, width = table.shape
        if self.shape and (self.shape[1] != width or (self.rows is None and self.shape[0] != n)):
            raise ShardError(f"it was {self.shape} and is {table.shape} now")
        return table

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Errors inside name the shard."""
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
    """The rows of a shard as an array that is read when asked: float32, checked and prepared.

    Parameters
    ----------
    shard : Shard
    normalize : bool
        Bring every row to unit length.
    steps : sequence of (function, args)
        What is done to each block after that.
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
        """Which rows of the table are wanted."""
        numbers = np.arange(*part.indices(len(self))) if isinstance(part, slice) else part
        return numbers if self._shard.rows is None else self._shard.rows[numbers]

    def _read(self, numbers: Rows) -> NDArray[np.float32]:
        """Rows that are near to each other in one piece, and what is wanted of them."""
        pieces = [self._piece(near) for near in near_rows(numbers) if len(near)]
        X = pieces[0] if len(pieces) == 1 else np.concatenate([self._table.read(0, 0), *pieces])
        with np.errstate(over="ignore"):  # what does not fit is reported by the check
            return np.ascontiguousarray(X, dtype=np.float32)  # other layouts round differently

    def _piece(self, numbers: Rows) -> NDArray[Any]:
        first, last = int(numbers[0]), int(numbers[-1]) + 1
        piece = self._table.read(first, last)
        return piece if len(piece) == len(numbers) else piece[numbers - first]


NEAR = 64  # rows between two that are wanted, below which all are read in one piece


def near_rows(numbers: Rows) -> list[Rows]:
    """Ascending numbers in pieces to read: whole where no row is left out, else of few rows."""
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
        `zshash.datasets.load_features` reads them). Of a folder, all such files in the order of
        their names; files that end in ``.labels.npy`` are the labels of others. A Parquet file of
        several row groups is a shard for each.
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
    """Numbers of rows among all, which ascend, as those within each of the shards.

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
    """Where the labels of a ``.npy`` shard are."""
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
    """A mapping of a whole ``.npy`` file is the file: it can be sent without its rows."""
    path = _mapped_file(array) if isinstance(array, np.memmap) else None
    return Shard(array, name) if path is None else Shard(path, str(path))


def _mapped_file(array: np.memmap[Any, Any]) -> Path | None:
    """The ``.npy`` file of which a mapping shows all rows as they are there, if there is one."""
    if array.filename is None or array.mode == "c":  # what is written to such a mapping stays here
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


def _check_shape(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int]:
    if len(shape) == 2 and shape[0] == 0:
        raise ShardError(NO_ROWS)
    if len(shape) != 2 or dtype.kind not in "iuf" or 0 in shape:
        raise ShardError(f"features are a table of numbers (n, d), got shape {shape} of {dtype}")
    return shape[0], shape[1]
