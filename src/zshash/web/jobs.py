"""Long work in processes of their own: searches go on meanwhile, whatever the work takes.

All processes of a server share a folder, where a job writes how far it is, and holds a lock as long
as it runs. So one job of a kind runs at a time, each process can tell its state, and a job that
was killed is told from one that is running.
"""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from zshash._files import write_whole
from zshash.images import Limits

if sys.platform != "win32":
    import fcntl

__all__ = ["Job", "JobState", "write_state"]

KILLED = "the process that did this has ended before it was through: try again"
SECONDS = 3.0  # for a process to end by itself when it is told to, or when its work is done
PAUSE = 0.02
LIMITS = Limits()


class JobState(NamedTuple):
    """How far a job is.

    Attributes
    ----------
    state : {"idle", "running", "done", "failed"}
    part : str
        What it does now.
    done : float
        Share of all the work that is done.
    text : str
        A sentence for people.
    generation : int
        Generation of the collection that the work was begun for.
    """

    state: str = "idle"
    part: str = ""
    done: float = 0.0
    text: str = ""
    generation: int = -1


def write_state(path: Path, state: JobState) -> None:
    """Write the state of a job, so that other processes see all of it or what was before."""
    write_whole(path, json.dumps(state._asdict()).encode())


class Job:
    """A kind of work on a collection.

    Parameters
    ----------
    folder : Path
        Folder of the collection.
    place : Path
        Folder that the processes of a server share.
    name : str
        What is done, as `zshash.web.working` knows it.
    limits : Limits
        Of pictures that are read.
    """

    def __init__(self, folder: Path, place: Path, name: str, limits: Limits = LIMITS) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self._folder, self._name, self._limits = folder, name, limits
        self.path, self.result = place / f"{name}.json", place / f"{name}.result"
        self._lock_path = place / f"{name}.lock"
        self._mutex = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def state(self) -> JobState:
        """How far the work is, by whichever process of the server it was begun."""
        with self._mutex:
            if self._process is not None:
                self._process.poll()  # a process that has ended goes from the list of the system
            for _ in range(2):
                found = self._read()
                if found.state != "running" or self._is_running():
                    return found
            return found._replace(state="failed", text=KILLED)  # it wrote nothing before it ended

    def _read(self) -> JobState:
        with suppress(OSError, ValueError, TypeError):
            return JobState(**json.loads(self.path.read_bytes()))
        return JobState()

    def _is_running(self) -> bool:
        """Whether a process holds the lock."""
        handle = self._take()
        if handle is not None:
            os.close(handle)
        return handle is None

    def _take(self) -> int | None:
        """The lock as an open file, or None if a job has it."""
        handle = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform != "win32":  # there, only this process knows of its jobs
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            elif self._process is not None and self._process.poll() is None:
                raise OSError("it is running")
        except OSError:
            os.close(handle)
            return None
        return handle

    def start(self, generation: int = -1) -> JobState:
        """Begin the work, unless it is under way; work that is done begins anew."""
        end = time.monotonic() + SECONDS
        while not self._started(generation) and time.monotonic() < end:
            if self.state().state == "running":
                break
            time.sleep(PAUSE)  # its process has written the outcome, and is about to end
        return self.state()

    def _started(self, generation: int) -> bool:
        """Start the work, if no process has the lock."""
        with self._mutex:
            handle = self._take()
            if handle is None:
                return False
            try:
                write_state(self.path, JobState("running", "starting", generation=generation))
                self._begin(handle, generation)
            finally:
                os.close(handle)
            return True

    def _begin(self, handle: int, generation: int) -> None:
        """Start a process, which has the lock from then on and ends when this one ends."""
        self.close()  # an earlier one, which has ended
        command = [sys.executable, "-m", "zshash.web.working", self._name]
        numbers = [generation, self._limits.pixels, self._limits.bytes]
        given = [*map(str, [self._folder, self.path, self.result, *numbers])]
        self._process = subprocess.Popen(
            [*command, *given],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=() if sys.platform == "win32" else (handle,),
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def close(self) -> None:
        """End the work that this process has begun."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
        process.terminate()
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
