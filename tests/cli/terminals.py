"""The command line on a terminal of its own, interrupted by Ctrl-C."""

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from pathlib import Path

ZSHASH = Path(sys.executable).with_name("zshash")


def interrupt(*arguments, at, until):
    """Run a command, and send SIGINT once it has shown the text `at`.

    Returns its exit status, its standard output, and what the terminal has shown up to `until`.
    """
    with terminal() as (ours, theirs):
        process = subprocess.Popen(
            [ZSHASH, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=theirs,
            preexec_fn=heed_interrupts,
        )
        shown = wait_for(at, ours)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        shown += wait_for(until, ours)
    return process.returncode, out, shown


def heed_interrupts():
    """Undo what a shell does to programs in the background, which ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def terminal():
    """Both ends of a terminal of 200 columns."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
    try:
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


def wait_for(text, end, seconds=60):
    """What a terminal shows up to a text."""
    shown, last = b"", time.monotonic() + seconds
    while text not in shown:
        assert time.monotonic() < last, shown
        if select.select([end], [], [], 1)[0]:
            shown += os.read(end, 4096)
    return shown
