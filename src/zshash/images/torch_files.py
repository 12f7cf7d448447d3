"""PyTorch's older ``.pth`` files, read without PyTorch and without running code from them.

Such a file is a row of pickles (a magic number, a version, facts about the machine, the
dictionary of tensors, the keys of their storages) and then the storages: a count and as many
numbers each. A tensor in the dictionary says which storage it looks at, from where, and in which
steps; all of this is checked before a number is touched.
"""

from collections.abc import Mapping
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._pickles import PickledDict, SafeUnpickler, UnpicklingError

__all__ = ["read_legacy_state"]

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
COUNT = np.dtype("<i8")
STORAGE_TYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "<?",
}

Array = NDArray[Any]


class _Storage(NamedTuple):
    dtype: str
    length: int


def read_legacy_state(path: str | Path) -> dict[str, Array]:
    """Tensors of a state dictionary by name, as read-only views of the file's content.

    Parameters
    ----------
    path : path-like
        Written by PyTorch before 1.6, or later with ``_use_new_zipfile_serialization=False``.

    Raises
    ------
    ValueError
        If the file is missing, incomplete or of another kind.
    """
    path = Path(path)
    try:
        return _read(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except Exception as error:  # meaningless bytes can make it raise any error
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path}: not a whole file of PyTorch weights ({reason})") from error


def _read(content: bytes) -> dict[str, Array]:
    file = BytesIO(content)
    _check_header(file)
    pickled = _StateUnpickler(file)
    tensors = pickled.load()
    keys = SafeUnpickler(file, {}).load()
    storages = _read_storages(content, file.tell(), keys, pickled.storages)
    if not isinstance(tensors, PickledDict):
        raise ValueError("no dictionary of tensors")
    return {_name(name): _view(name, parts, storages) for name, parts in tensors.items()}


def _check_header(file: BytesIO) -> None:
    if SafeUnpickler(file, {}).load() != MAGIC_NUMBER:
        raise ValueError("another magic number")
    version = SafeUnpickler(file, {}).load()
    if version != PROTOCOL_VERSION:
        raise ValueError(f"version {str(version)[:20]}")
    if SafeUnpickler(file, {}).load().get("little_endian") is not True:
        raise ValueError("big-endian numbers")


class _StateUnpickler(SafeUnpickler):
    """Unpickler that keeps tensors as tuples of their parts, and collects their storages."""

    def __init__(self, file: BytesIO) -> None:
        table: dict[tuple[str, str], Any] = {
            ("collections", "OrderedDict"): PickledDict,
            ("torch._utils", "_rebuild_tensor_v2"): lambda *parts: parts,
        }
        table |= {("torch", name): dtype for name, dtype in STORAGE_TYPES.items()}
        super().__init__(file, table)
        self.storages: dict[str, _Storage] = {}

    def persistent_load(self, pid: Any) -> Any:
        """Key of a storage, whose type and length are noted."""
        kind, dtype, key, _device, length, view = pid
        if (
            (kind, view) != ("storage", None)
            or dtype not in STORAGE_TYPES.values()
            or type(key) is not str
            or type(length) is not int
        ):
            raise UnpicklingError("a storage of an unknown form")
        storage = _Storage(dtype, length)
        if self.storages.setdefault(key, storage) != storage:
            raise UnpicklingError(f"storage {key} is described twice")
        return key


def _read_storages(
    content: bytes, start: int, keys: Any, described: Mapping[str, _Storage]
) -> dict[str, Array]:
    if not isinstance(keys, list) or sorted(keys) != sorted(described):
        raise ValueError("the list of storages does not match the tensors")
    storages = {}
    for key in keys:
        dtype, length = described[key]
        count = np.frombuffer(content, COUNT, 1, start).item()
        if count != length or length < 0:
            raise ValueError(f"storage {key} has {count} numbers where {length} are expected")
        start += COUNT.itemsize
        storages[key] = np.frombuffer(content, dtype, length, start)
        start += storages[key].nbytes
    if start != len(content):
        raise ValueError(f"{len(content) - start} bytes too many")
    return storages


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise ValueError(f"a tensor's name is of type {type(name).__name__}")
    return name


def _view(name: str, parts: Any, storages: Mapping[str, Array]) -> Array:
    """Tensor as a view of its storage."""
    try:
        key, offset, shape, strides, _requires_grad, _hooks = parts
        storage = storages[key]
        if not _fits(storage.size, offset, shape, strides):
            raise ValueError("it reaches beyond its storage")
        size = storage.itemsize
        steps = [step * size for step in strides]
        return np.ndarray(shape, storage.dtype, storage.data, offset * size, steps)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ValueError(f"tensor {name} does not fit its storage") from error


def _fits(length: int, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether a view stays inside its storage; an overflow can deceive NumPy's own check.

    >>> _fits(6, 0, (2, 3), (3, 1)), _fits(6, 1, (2, 3), (3, 1))
    (True, False)
    """
    if min(offset, *shape, *strides, 0) < 0 or prod(shape) > length:
        return False
    if 0 in shape:
        return offset <= length
    reach = sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    return offset + reach < length
