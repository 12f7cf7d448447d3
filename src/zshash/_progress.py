"""Progress bars, for people who watch."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

__all__ = ["is_watched", "progress_bar", "watched"]

_watched = ContextVar("watched", default=False)


@contextmanager
def watched(wanted: bool) -> Iterator[None]:
    """Whether somebody watches the fits inside a block, which know of no progress bars."""
    before = _watched.set(wanted)
    try:
        yield
    finally:
        _watched.reset(before)


def is_watched() -> bool:
    """Whether somebody watches the fit that is running."""
    return _watched.get()


def progress_bar(total: int, wanted: bool, **options: Any) -> Any:
    """A context manager with `update(n)`: a bar where one is wanted and the output is a terminal.

    Where none is wanted, tqdm is left alone: its locks are shared by processes that are forked, so
    a process that is killed inside tqdm would stop all others.

    >>> with progress_bar(10, wanted=False) as bar:
    ...     bar.update(3)
    """
    if not (wanted and total):
        return nullcontext(SimpleNamespace(update=lambda _: None))
    from tqdm import tqdm

    return tqdm(total=total, disable=None, **options)
