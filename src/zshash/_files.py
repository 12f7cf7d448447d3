"""Writing files so that a reader never finds a half-written one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["whole_file", "write_whole"]


def write_whole(path: Path, data: bytes) -> None:
    """Write all of a file at once, as `whole_file` does."""
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Write beside the target, then rename: a reader sees the old file or the new one.

    A link is followed; a pipe or a device is written to as it is.
    """
    target = path.resolve() if path.is_symlink() else path
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
        else:
            with _replacing(target) as file:
                yield file
    except OSError as error:  # its message may name the temporary file
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)  # a temporary file is private; the result is as public as any other
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
