"""A process that decodes pictures, and the memory and time that it needs."""

import struct
import subprocess
import sys
from select import select
from typing import NamedTuple

import pytest

from zshash.images.limits import Limits

SECONDS = 30  # within which any picture is decoded, on the slowest machine

CHILD = """
import struct, sys, time
from pathlib import Path
from zshash.images.decoding import Limits, PictureError, decode

def resident(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

def answer(content, side, limits):
    try:
        image = decode(content, limits, side)
    except PictureError as error:
        return f"refused: {error}"
    except BaseException as error:
        return f"raised: {error!r}"
    return f"{image.mode} {image.width} {image.height}"

measured = Path("/proc/self/clear_refs").exists()
while head := sys.stdin.buffer.read(24):
    n_bytes, side, pixels, most_bytes = struct.unpack("<IIQQ", head)
    content = sys.stdin.buffer.read(n_bytes)
    if measured:
        Path("/proc/self/clear_refs").write_text("5")
    start = time.process_time()
    said = answer(content, side, Limits(pixels, most_bytes))
    seconds = time.process_time() - start
    del content
    print(resident("VmHWM") if measured else 0, seconds, said.replace("\\n", " "), flush=True)
"""


class Answer(NamedTuple):
    """Result of decoding a picture, with its time and its memory beyond that for small pictures."""

    said: str
    memory: int
    seconds: float


class Child:
    """A process that decodes pictures and is started again after it has ended.

    Parameters
    ----------
    warm_up : list of bytes
        Pictures to decode first: what decoders load once is not counted.
    """

    def __init__(self, warm_up):
        self.warm_up = warm_up
        self.process = None

    def decode(self, content, limits, side=0):
        if self.process is None:
            self._start()
        head = struct.pack("<IIQQ", len(content), side, limits.pixels, limits.bytes)
        try:
            self.process.stdin.write(head + content)
            self.process.stdin.flush()
        except BrokenPipeError:
            self.stop()
            pytest.fail("crashed")
        ready, _, _ = select([self.process.stdout], [], [], SECONDS)
        line = self.process.stdout.readline() if ready else None
        if not line:
            self.stop()
            pytest.fail("hangs" if line is None else "crashed")
        peak, seconds, said = line.decode().split(" ", 2)
        return Answer(said.strip(), int(peak) - self.base, float(seconds))

    def _start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.base = 0
        self.base = max(self.decode(content, Limits()).memory for content in self.warm_up)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
