"""Features on disk, appended in shards, so that features extracted once are found again.

A store is a folder. Each shard is a safetensors file with a checksum, written whole or not at all:
whatever interrupts an extraction, the shards are right, and the next run adds the rest. Rows are
found by keys, which tell pictures apart.
"""

import hashlib
import os
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from zshash._files import write_whole
from zshash._warnings import warn_user

__all__ = ["FeatureStore", "file_key", "picture_keys"]

KEY_BYTES = 16
MAX_ROWS = 1024
SECONDS_BETWEEN_SHARDS = 10
SUFFIX = ".shard"
Tensors = dict[str, NDArray[Any]]


class FeatureStore:
    """Rows of features by key, in the shards of a folder.

    Parameters
    ----------
    folder : Path or None
        Made if it is not there. None keeps the rows in memory.
    dimension : int
        Length of a row.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = FeatureStore(Path(folder), dimension=2)
    ...     store.append([b"a" * 16, b"b" * 16], np.eye(2, dtype=np.float32))
    ...     store.flush()
    ...     FeatureStore(Path(folder), dimension=2).gather([b"b" * 16])
    array([[0., 1.]], dtype=float32)
    """

    def __init__(self, folder: Path | None, dimension: int) -> None:
        self.folder, self.dimension = folder, dimension
        self._places: dict[bytes, tuple[Path, int]] = {}
        self._waiting: dict[bytes, NDArray[np.float32]] = {}
        self._flushed = time.monotonic()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.glob(f"*{SUFFIX}")):
                self._open(path)

    def __len__(self) -> int:
        return len(self._places) + len(self._waiting)

    def __contains__(self, key: bytes) -> bool:
        return key in self._places or key in self._waiting

    def append(self, keys: Sequence[bytes], features: NDArray[np.float32]) -> None:
        """Add rows; they reach the disk after a while, at the latest by `flush`."""
        self._waiting.update(zip(keys, features, strict=True))
        late = time.monotonic() - self._flushed > SECONDS_BETWEEN_SHARDS
        if late or len(self._waiting) >= MAX_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the waiting rows as a new shard."""
        if self._waiting and self.folder is not None:
            path = _new_path(self.folder)
            keys = list(self._waiting)
            write_shard(path, keys, np.stack(list(self._waiting.values())))
            self._places.update((key, (path, row)) for row, key in enumerate(keys))
            self._waiting = {}
        self._flushed = time.monotonic()

    def gather(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Rows of the keys, (n, dimension); all keys must be in the store."""
        wanted: dict[Path, list[tuple[int, int]]] = {}
        gathered = np.empty((len(keys), self.dimension), dtype=np.float32)
        for place, key in enumerate(keys):
            if key in self._waiting:
                gathered[place] = self._waiting[key]
            else:
                path, row = self._places[key]
                wanted.setdefault(path, []).append((place, row))
        for path, pairs in wanted.items():
            places, rows = np.array(pairs).T
            gathered[places] = read_shard(path)[1][rows]
        return gathered

    def _open(self, path: Path) -> None:
        try:
            keys, features = read_shard(path)
            if features.shape != (len(keys), self.dimension):
                raise ValueError(f"{path}: features of another network")
        except ValueError as error:
            warn_user(f"{error}; making its features again")
            with suppress(OSError):
                path.unlink()
        else:
            self._places.update((key, (path, row)) for row, key in enumerate(keys))


def _new_path(folder: Path) -> Path:
    """Path of a new shard, which sorts behind all others and which no other process takes."""
    number = sum(1 for _ in folder.glob(f"*{SUFFIX}"))
    return folder / f"{number:06d}-{secrets.token_hex(4)}{SUFFIX}"


def write_shard(path: Path, keys: Sequence[bytes], features: NDArray[np.float32]) -> None:
    """Write keys and their rows, with a checksum."""
    names = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, KEY_BYTES)
    tensors: Tensors = {"keys": names, "features": np.ascontiguousarray(features)}
    write_whole(path, to_bytes(tensors, metadata={"checksum": _checksum(tensors)}))


def read_shard(path: Path) -> tuple[list[bytes], NDArray[np.float32]]:
    """Keys and rows of a shard; ValueError if the file is damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            checksum = (file.metadata() or {}).get("checksum")
            tensors = {name: file.get_tensor(name) for name in ("keys", "features")}
    except (SafetensorError, ValueError, TypeError) as error:
        raise ValueError(f"{path}: damaged") from error
    if checksum != _checksum(tensors):
        raise ValueError(f"{path}: damaged, its checksum does not match")
    return [row.tobytes() for row in tensors["keys"]], tensors["features"]


def _checksum(tensors: Tensors) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def picture_keys(sources: Sequence[Path] | NDArray[np.uint8]) -> list[bytes]:
    """Keys of pictures: from the path, size and times of files, or from the pixels."""
    if isinstance(sources, np.ndarray):
        return [_key(str(pixels.shape).encode(), pixels.tobytes()) for pixels in sources]
    return [file_key(path) for path in sources]


def file_key(path: Path) -> bytes:
    """Key of one file as it is now; from its path alone if the file can not be looked at."""
    name = os.fsencode(path.absolute())
    try:
        status = path.stat()
    except OSError:  # reported when the picture is read
        return _key(name)
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    return _key(name, f"{status.st_size} {times}".encode())


def _key(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"\0".join(parts), digest_size=KEY_BYTES).digest()
