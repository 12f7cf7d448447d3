"""Progress bars, for people who watch."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

__all__ = ["is_watched", "progress_bar", "watched"]

_watched = ContextVar("watched", default=False)


@contextmanager
def watched(wanted: bool) -> Iterator[None]:
    """Whether somebody watches the work inside a block, which knows of no progress bars."""
    before = _watched.set(wanted)
    try:
        yield
    finally:
        _watched.reset(before)


def is_watched() -> bool:
    """Whether somebody watches the work that is going on."""
    return _watched.get()


def progress_bar(total: int, wanted: bool, **options: Any) -> Any:
    """A context manager with `update(n)`: a bar where one is wanted, if somebody can see it.

    Bars are shown on a terminal and in a notebook.

    Where none is wanted, tqdm is left alone: its locks are shared by processes that are forked, so
    a process that is killed inside tqdm would stop all others.

    >>> with progress_bar(10, wanted=False) as bar:
    ...     bar.update(3)
    """
    if not (wanted and total):
        return nullcontext(SimpleNamespace(update=lambda _=1: None, disable=True))
    is_notebook = _is_notebook()
    has_widgets = is_notebook and find_spec("ipywidgets") is not None
    bar: Any = import_module("tqdm.notebook" if has_widgets else "tqdm").tqdm
    # None: off unless there is a terminal. The output of a notebook does not look like one.
    return bar(total=total, disable=False if is_notebook else None, **options)


def _is_notebook() -> bool:
    """Whether this process runs the cells of a notebook."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    return "IPKernelApp" in getattr(get_shell(), "config", ())
