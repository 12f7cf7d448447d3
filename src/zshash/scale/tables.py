"""Tables of features: arrays, tensors of PyTorch and ``.npy`` files, read a block at a time."""

import sys
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError

__all__ = [
    "NO_ROWS",
    "ArrayTable",
    "DeviceError",
    "MissingShardError",
    "NumpyTable",
    "ShardError",
    "Table",
    "as_array",
    "is_tensor",
]

NO_ROWS = "it has no rows: leave it out"


class ShardError(DataError):
    """A shard that can not be read; the message names it and says why."""


class MissingShardError(ShardError):
    """A shard whose file is not there, or not where it is looked for."""


class DeviceError(RuntimeError):
    """A device that is not there or has not enough memory; the message says what to do."""


class Table(Protocol):
    """Rows that can be read."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""

    def read(self, first: int, last: int) -> NDArray[Any]:
        """Rows from `first` up to `last`."""


class ArrayTable:
    """Rows in memory, or in a memory map that the user has made."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.shape: tuple[int, int] = _check_shape(array.shape, array.dtype)

    def read(self, first: int, last: int) -> NDArray[Any]:
        """Rows from `first` up to `last`."""
        return self._array[first:last]


class NumpyTable:
    """Rows of a ``.npy`` file.

    Rows are read, not mapped: if the file is cut off meanwhile, reading raises an error, while
    touching a memory map would end the process.
    """

    def __init__(self, path: Path) -> None:
        try:
            mapping = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            if "Python objects" in str(error):
                raise ShardError("it holds objects of Python: save an array of numbers") from error
            # NumPy takes unknown content for pickled objects, and says how to load these
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


def _check_shape(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int]:
    if len(shape) == 2 and shape[0] == 0:
        raise ShardError(NO_ROWS)
    if len(shape) != 2 or dtype.kind not in "iuf" or 0 in shape:
        raise ShardError(f"features are a table of numbers (n, d), got shape {shape} of {dtype}")
    return shape[0], shape[1]


def is_tensor(value: Any) -> bool:
    """Whether the value is a tensor of PyTorch; PyTorch need not be installed."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_array(value: Any) -> NDArray[Any]:
    """The value as an array; a tensor may be on any device, and of a type that NumPy lacks."""
    if not is_tensor(value):
        return np.asanyarray(value)
    plain = value.detach().cpu()
    array: NDArray[Any]
    try:
        array = plain.numpy()
    except TypeError:  # bfloat16 and shorter ones
        array = plain.float().numpy()
    return array
