"""What tells pictures apart, so that features are found again and never those of another one."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.images.store import KEY_BYTES

__all__ = ["file_key", "picture_keys"]


def picture_keys(sources: Sequence[Path] | NDArray[np.uint8]) -> list[bytes]:
    """Keys by the path, size and times of files, or by the pixels themselves."""
    if isinstance(sources, np.ndarray):
        return [_key(str(pixels.shape).encode(), pixels.tobytes()) for pixels in sources]
    return [file_key(path) for path in sources]


def file_key(path: Path) -> bytes:
    """The key of one file as it is now; of its path alone where it can not be looked at."""
    name = os.fsencode(path.absolute())
    try:
        status = path.stat()
    except OSError:  # reported when the picture is read
        return _key(name)
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    return _key(name, f"{status.st_size} {times}".encode())


def _key(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"\0".join(parts), digest_size=KEY_BYTES).digest()
