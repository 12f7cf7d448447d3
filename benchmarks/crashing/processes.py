"""Child processes whose output is read in time, and which are always ended."""

import os
import select
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["end", "fork", "loads", "read_all", "read_some", "run_all"]


def fork(function: Callable[[int], None]) -> tuple[int, int]:
    """Run a function in a child process; returns its id and the pipe to read from."""
    out, into = os.pipe()
    process = os.fork()
    if process:
        os.close(into)
        return process, out
    try:
        os.close(out)
        function(into)
        status = 0
    except BaseException:
        traceback.print_exc()
        status = 1
    os._exit(status)  # nothing of the parent's is to be closed or flushed here


def read_some(pipe: int, until: float) -> bytes | None:
    """The next bytes of a pipe: empty at its end, None when time is up."""
    ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
    return os.read(pipe, 1 << 16) if ready else None


def read_all(process: int, pipe: int, seconds: float) -> bytes | None:
    """All output of a child; None if it takes too long or fails."""
    data, until = b"", time.monotonic() + seconds
    while (part := read_some(pipe, until)) is not None:
        if not part:
            break
        data += part
    if part is None:
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    os.close(pipe)
    return None if part is None or status else data


def run_all(functions: list[Callable[[int], None]], seconds: float) -> list[bytes | None]:
    """Output of several children that run at the same time; None for one that failed."""
    children = [fork(function) for function in functions]
    until = time.monotonic() + seconds
    return [read_all(*child, max(0.1, until - time.monotonic())) for child in children]


def end(process: int, pipe: int, how: int = signal.SIGKILL) -> int:
    """Send a signal to a child, wait for its end, and return its status."""
    with suppress(ProcessLookupError):
        os.kill(process, how)
    _, status = os.waitpid(process, 0)
    os.close(pipe)
    return status


@contextmanager
def loads(functions: list[Callable[[int], None]]) -> Iterator[list[tuple[int, int]]]:
    """Children that work as long as the block; those that are left at its end are killed."""
    children: list[tuple[int, int]] = []
    try:
        for function in functions:
            children.append(fork(function))
        yield children
    finally:
        for process, pipe in children:
            with suppress(ChildProcessError, OSError):  # its output was read to the end
                end(process, pipe)
