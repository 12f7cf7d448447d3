"""A collection to be served, and the process that serves it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash import ZSH, Collection

__all__ = ["growing", "make_collection", "memory", "served"]

N_BITS, N_ANCHORS, N_CENTRES, N_TRAIN = 64, 1000, 100, 4000
MOST_FLIPPED = 4  # most bits in which a code differs from the code of its sample
CODES_AT_ONCE = 100_000
GROW = """
import sys, time, numpy
from zshash import Collection
rng, wait = numpy.random.default_rng(1), float(sys.argv[2])
with Collection.open(sys.argv[1], patience=30) as album:
    width = album.index.codes.shape[1]
    for i in range(10**9):
        codes = rng.integers(0, 256, (1, width), dtype=numpy.uint8)
        album.add_codes(codes, sources=[f"/new/{time.time_ns()}.jpg"], labels=["new"])
        print(i, flush=True) if not i else time.sleep(wait)
"""


def make_collection(folder: Path, n: int, n_features: int) -> NDArray[np.float32]:
    """Write a collection of `n` clustered codes, and return features to search with.

    The model is a ZSH of 64 bits and 1,000 anchors on `n_features` numbers. The codes are the codes
    of its training samples, each with a few bits flipped.
    """
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((N_CENTRES, n_features), dtype=np.float32)
    groups = rng.integers(0, N_CENTRES, N_TRAIN)
    X = centres[groups] + 0.5 * rng.standard_normal((N_TRAIN, n_features), dtype=np.float32)
    hasher = ZSH(N_BITS, n_anchors=N_ANCHORS, normalize=True, random_state=0).fit(X, groups)
    base = hasher.encode(X)
    with Collection.create(folder, hasher) as collection:
        for start in range(0, n, CODES_AT_ONCE):
            rows = rng.integers(0, N_TRAIN, min(CODES_AT_ONCE, n - start))
            collection.add_codes(
                flipped(base[rows], rng),
                sources=[f"/photos/{start + i}.jpg" for i in range(len(rows))],
                labels=[f"category {group}" for group in groups[rows].tolist()],
            )
        collection.compact()
    noise = rng.standard_normal(X.shape, dtype=np.float32)
    return (X + 0.1 * noise).astype(np.float32)


def flipped(codes: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Codes with a few random bits flipped in each."""
    codes = codes.copy()
    for _ in range(MOST_FLIPPED):
        bits = rng.integers(0, N_BITS, len(codes))
        codes[np.arange(len(codes)), bits // 8] ^= (128 >> (bits % 8)).astype(np.uint8)
    return codes


@contextmanager
def served(folder: Path, workers: int = 1) -> Iterator[tuple[str, int]]:
    """Address and process id of a server; the server is stopped at the end."""
    command = [sys.executable, "-m", "zshash.cli", "serve", str(folder), "--port", "0"]
    command += ["--workers", str(workers)] if workers > 1 else []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+/", process.stdout.readline())
            if found is None:
                raise RuntimeError(f"{' '.join(command)}: no address was printed")
            yield found.group(), process.pid
        finally:
            process.send_signal(signal.SIGINT)
            status = process.wait(60)
        if status:
            raise RuntimeError(f"the server ended with status {status}")


@contextmanager
def growing(folder: Path, a_minute: int) -> Iterator[None]:
    """Another process adds so many items a minute to a collection, one after another."""
    command = [sys.executable, "-c", GROW, str(folder), str(60 / a_minute)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()  # the first item has been added
            yield
        finally:
            process.terminate()


def memory(process: int) -> float:
    """Memory of a server in megabytes; what its processes share counts once."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return sum(map(_own_memory, [process, *map(int, children)]))


def _own_memory(process: int) -> float:
    """Memory of a process in megabytes, its part of what it shares."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024 / 1e6
