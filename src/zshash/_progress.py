"""Progress bars, for people who watch."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

__all__ = ["is_watched", "progress_bar", "told", "watched"]

Listener = Callable[[str, float], object]
_watched = ContextVar("watched", default=False)
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def told(listener: Listener) -> Iterator[None]:
    """Tell a function how far each piece of work inside a block is, in place of showing bars.

    It gets the description of the work, which may be empty, and the share that is done.

    >>> with told(lambda what, done: print(what, done)), progress_bar(4, False, desc="x") as bar:
    ...     bar.update(3)
    x 0.0
    x 0.75
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class _Told:
    """In place of a bar: tells a listener."""

    disable = True

    def __init__(self, listener: Listener, total: int, what: str) -> None:
        self._listener, self._total, self._what, self._n = listener, total, what, 0
        listener(what, 0.0)

    def update(self, n: int = 1) -> None:
        self._n += n
        self._listener(self._what, min(1.0, self._n / self._total))


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
    listener = _listener.get()
    if listener is not None and total:
        return nullcontext(_Told(listener, total, str(options.get("desc") or "")))
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
