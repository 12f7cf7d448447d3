"""Ctrl-C that never stops the work between two steps which belong together.

Python runs the handler of SIGINT between any two instructions of the main thread, and the one it
starts with raises KeyboardInterrupt there: after a lock is taken, say, and before the block that
releases it. Inside `guarding` the signal is remembered instead. Its handler runs at the next
`check`, at once inside `interruptible`, and at the latest when the outermost block ends.

Only the main thread runs handlers, so in other threads all of this does nothing. Nothing happens
either where the program ignores SIGINT or leaves it to the system. A handler that the program has
set gets the signal, only later.
"""

import _signal  # type: ignore[import-not-found]
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

__all__ = ["check", "current_call", "guarding", "holding", "interruptible", "is_stopping"]

SECONDS_BETWEEN = 0.1  # waiting threads look for a remembered signal this often

# What `signal` wraps: turning handlers into members of an enum and back takes longer than the rest.
_get_handler: Callable[[int], Any] = _signal.getsignal
_set_handler: Callable[[int, Any], Any] = _signal.signal
_SIGINT = int(signal.SIGINT)


class _Now:
    """What the main thread is doing."""

    depth = 0  # number of guarded blocks it is inside of
    call = 0  # number of the outermost one, counted from the start
    is_open = False  # whether a signal is passed on at once
    is_waiting = False  # whether a signal is remembered
    is_passing = False  # whether the program's handler is running
    handler: Any = None  # the program's handler
    thread = threading.main_thread().ident


_now = _Now()


def _is_main() -> bool:
    return threading.get_ident() == _now.thread


class guarding:  # noqa: N801, reads like a function
    """Remember SIGINT inside a block, which may lie inside another.

    Parameters
    ----------
    undo : callable, optional
        Called if a signal raises at the end: then nobody gets what the block has made.

    Examples
    --------
    >>> try:
    ...     with guarding():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("not yet")
    ... except KeyboardInterrupt:
    ...     print("now")
    not yet
    now
    """

    __slots__ = ("_is_on", "_undo", "_was_open")

    def __init__(self, undo: Callable[[], object] | None = None) -> None:
        self._undo = undo

    def __enter__(self) -> None:
        self._is_on = _is_main()
        if self._is_on:
            self._was_open = _now.is_open
            if _now.depth:
                _now.depth += 1
                _now.is_open = False
            else:
                self._is_on = _start()

    def __exit__(self, *_: object) -> None:
        if not self._is_on:
            return
        try:
            if _now.depth == 1:
                _stop()
            elif _now.depth:  # 0 in a child process that was made meanwhile
                _now.depth -= 1
                _now.is_open = self._was_open
                if _now.is_open:
                    check()
        except BaseException:
            if self._undo is not None:
                self._undo()
            raise


def _start() -> bool:
    """Set the handler that remembers; return whether there is a handler of the program."""
    known = _get_handler(_SIGINT)
    if known is not _remember:  # it is, where the program has set our handler again
        if not callable(known):
            return False
        _now.handler = known
    try:
        _now.depth = 1
        _now.call += 1
        _set_handler(_SIGINT, _remember)
    except BaseException as error:
        _now.depth = 0
        if isinstance(error, ValueError):  # an interpreter inside another gets no signals
            return False
        raise
    return True


def _stop() -> None:
    """Set the program's handler again, and pass on a signal that was remembered."""
    try:
        if _get_handler(_SIGINT) is _remember:
            _set_handler(_SIGINT, _now.handler)
    finally:  # from here on, a signal may raise at any moment
        is_waiting, _now.is_waiting, _now.depth = _now.is_waiting, False, 0
    if is_waiting:
        _pass_on()


def _remember(_: int, frame: FrameType | None) -> None:
    """Handle SIGINT: remember it, or pass it on where that harms nothing."""
    if _now.is_passing:  # the program's handler calls the one before it, which was this one
        raise KeyboardInterrupt
    if _now.depth and not _now.is_open:
        _now.is_waiting = True
    else:
        _pass_on(frame)


def _pass_on(frame: FrameType | None = None) -> None:
    """Call the program's handler; if it raises, blocks are left without further interruptions."""
    was_open = _now.is_open
    _now.is_waiting = _now.is_open = False
    _now.is_passing = True
    try:
        _now.handler(_SIGINT, frame)
    finally:
        _now.is_passing = False
    _now.is_open = was_open


def check() -> None:
    """Pass on a signal that was remembered: KeyboardInterrupt, if the program's handler raises."""
    if _now.is_waiting and _is_main():
        _pass_on()


def is_stopping() -> bool:
    """Whether the next `check` is known to raise KeyboardInterrupt."""
    return _now.is_waiting and _now.handler is signal.default_int_handler and _is_main()


def current_call() -> int:
    """Number of the outermost guarded block that this thread is inside of, or 0."""
    return _now.call if _now.depth and _is_main() else 0


class interruptible:  # noqa: N801, reads like a function
    """Pass SIGINT on at once inside a block of long work, which leaves nothing half-done.

    Around it there may be locks and transactions: they are left without further interruptions.
    """

    __slots__ = ("_is_on", "_was_open")

    def __enter__(self) -> None:
        self._is_on = bool(current_call())
        if self._is_on:
            self._was_open = _now.is_open
            _now.is_open = True
            check()

    def __exit__(self, *_: object) -> None:
        if self._is_on:
            _now.is_open = self._was_open


class _Lock(Protocol):
    def acquire(self, blocking: bool = ..., timeout: float = ...) -> bool: ...

    def release(self) -> None: ...


class holding:  # noqa: N801, reads like a function
    """Hold a lock of threads inside a block; waiting for it can be interrupted."""

    __slots__ = ("_lock",)

    def __init__(self, lock: _Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            while not self._lock.acquire(timeout=SECONDS_BETWEEN):
                check()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _forget() -> None:
    """In a child process: nothing that its parent was doing goes on here."""
    _now.depth, _now.is_waiting, _now.is_open = 0, False, False
    _now.thread = threading.get_ident()
    if _get_handler(_SIGINT) is _remember:
        _set_handler(_SIGINT, _now.handler)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
