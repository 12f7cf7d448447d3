"""Ctrl-C at any chosen moment of an action."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PLACES = ("_interrupts.py", "contextlib.py", "zshash/collection/", "zshash\\collection\\")


def interrupt(action: Callable[[], object], at: int) -> bool:
    """Press Ctrl-C at moment `at` of an action, counted from 1; return whether it took that long.

    Python looks for signals when a function begins and when one that is written in C has returned.
    Such moments are counted inside collections and inside ``with`` statements.
    """
    left, before = at, sys.getprofile()

    def look(frame, event, _):
        nonlocal left
        is_moment = event in ("call", "c_return")
        if is_moment and any(place in frame.f_code.co_filename for place in PLACES):
            left -= 1
            if not left:
                signal.raise_signal(signal.SIGINT)

    try:
        sys.setprofile(look)
        action()
    except KeyboardInterrupt:
        assert left <= 0
        return True
    finally:
        sys.setprofile(before)
    assert left > 0, "the signal was lost"
    return False


@contextmanager
def stopped() -> Iterator[None]:
    """Expect that a block is left by KeyboardInterrupt."""
    try:
        yield
    except KeyboardInterrupt:
        return
    raise AssertionError("there was no KeyboardInterrupt")
