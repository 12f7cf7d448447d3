"""SIGINT to this very process at a chosen moment, as Ctrl-C at a prompt or in a notebook sends it.

A timer of the system (SIGALRM) chooses the moment, to some microseconds; its handler sends a SIGINT
to the process. So what holds back or handles SIGINT works as it would for a person's Ctrl-C.
"""

import gc
import os
import signal
import sys
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import FrameType

from zshash.collection import CollectionError

__all__ = ["Interrupter", "forget_last", "is_interrupt", "keep_last", "open_files", "told"]


class Interrupter:
    """Sends SIGINTs after some time, until it is told to stop."""

    def __init__(self) -> None:
        self._again, self.sent = 0.0, 0
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGALRM, self._fire)

    def start(self, seconds: float, again: float = 0.0) -> None:
        """Send a SIGINT after some seconds, and a second one `again` seconds after the first."""
        self._again, self.sent = again, 0
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))

    def stop(self) -> None:
        """Send none any more."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _fire(self, _signal: int, _frame: FrameType | None) -> None:
        # One alarm at a time: a timer that repeats could keep a system call from ever ending.
        again, self._again = self._again, 0.0
        signal.setitimer(signal.ITIMER_REAL, again)
        self.sent += 1
        os.kill(os.getpid(), signal.SIGINT)


def keep_last(error: BaseException) -> None:
    """Keep the last exception and all its frames, as a prompt and a notebook do."""
    vars(sys)["last_exc"] = error
    sys.last_type, sys.last_value = type(error), error
    sys.last_traceback = error.__traceback__


def forget_last() -> None:
    """Drop the last exception with all its frames."""
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)
    gc.collect()


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is an interrupt, or came of one and says nothing wrong of the collection."""
    if isinstance(error, CollectionError):
        return False
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def told(error: BaseException) -> str:
    """An error, and the line that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{error!r} at {last.filename}:{last.lineno}"


def open_files() -> Counter[str]:
    """Names of all open files, as often as each is open."""
    names = Counter[str]()
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one by which the folder is read
            names[str(path.readlink())] += 1
    return names
