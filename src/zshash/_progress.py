"""Progress bars, for people who watch."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

__all__ = ["progress_bar"]


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
