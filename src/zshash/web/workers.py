"""Several processes of one server: they are started, watched, replaced when they die, and ended.

The first process makes nothing but other processes. It forks them, so they share the memory of
all that has been loaded and compiled by then.
"""

import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["Crew"]

SECONDS_BETWEEN = 0.05  # between looks at what has happened
SECONDS_APART = 1.0  # between two processes in the place of one that has died


class Crew:
    """Processes that do the same work.

    Parameters
    ----------
    work : callable
        Called in each process; it calls its argument when it is ready. When it returns, or the
        process is told to end (SIGTERM, SIGINT), the process ends.
    number : int
        Number of processes.
    grace : float
        Seconds for a process to end by itself after it was told to.
    """

    def __init__(self, work: Callable[[Callable[[], None]], None], number: int, grace: float):
        self._work, self._number, self._grace = work, number, grace
        self._begun: dict[int, float] = {}  # time when each process was started, by its id
        self._n_ready, self._told = 0, 0
        self._ready, self._says_ready = os.pipe()
        self._lives, self._life = os.pipe()  # a process sees the end of this one as the pipe's end

    def run(self, on_ready: Callable[[], object]) -> None:
        """Run the processes until this one is told to end; `on_ready` when all are ready.

        Raises
        ------
        RuntimeError
            If a process ends before all of them are ready.
        """
        try:
            with self._noting_signals():
                for _ in range(self._number):
                    self._start()
                self._watch(on_ready)
        finally:
            self._end()

    def _watch(self, on_ready: Callable[[], object]) -> None:
        is_ready = False
        while not self._told:
            self._count_ready()
            if not is_ready and self._n_ready >= self._number:
                is_ready = True
                on_ready()
            for begun in self._gone():
                if not is_ready:
                    raise RuntimeError("a process of the server ended before it was ready")
                time.sleep(max(0.0, begun + SECONDS_APART - time.monotonic()))
                self._start()

    def _count_ready(self) -> None:
        if select.select([self._ready], [], [], SECONDS_BETWEEN)[0]:
            self._n_ready += len(os.read(self._ready, 1024))

    def _gone(self) -> list[float]:
        """Take the processes that have ended off the list, and return when they were started."""
        gone = []
        for process in list(self._begun):
            with suppress(ChildProcessError):
                if not os.waitpid(process, os.WNOHANG)[0]:
                    continue
            gone.append(self._begun.pop(process))
        return gone

    def _start(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process:
            self._begun[process] = time.monotonic()
        else:
            self._be_one()

    def _be_one(self) -> None:
        """Do the work in this new process, which ends with it whatever happens."""
        status = 1
        try:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.close(self._life)
            threading.Thread(target=self._follow, daemon=True).start()
            self._work(self._say_ready)
            status = 0
        except (KeyboardInterrupt, SystemExit):
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    def _say_ready(self) -> None:
        os.write(self._says_ready, b".")

    def _follow(self) -> None:
        """End this process when the first one has ended."""
        os.read(self._lives, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    @contextmanager
    def _noting_signals(self) -> Iterator[None]:
        def note(*_: object) -> None:
            self._told += 1

        before = {kind: signal.signal(kind, note) for kind in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
            self._end()
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def _end(self) -> None:
        """End all processes: first they are told to, then they are killed."""
        self._tell(signal.SIGTERM)
        end = time.monotonic() + self._grace
        while self._begun and time.monotonic() < end and self._told < 2:
            self._gone()
            time.sleep(SECONDS_BETWEEN)
        self._tell(signal.SIGKILL)
        for process in list(self._begun):
            with suppress(ChildProcessError):
                os.waitpid(process, 0)
        self._begun.clear()

    def _tell(self, kind: signal.Signals) -> None:
        for process in self._begun:
            with suppress(ProcessLookupError):
                os.kill(process, kind)
