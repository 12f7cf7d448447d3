"""Codes and buckets in files that several processes map into their memory.

The system keeps one copy of a mapped file, however many processes read it. A folder holds a few
sets of files, each in a folder of its own that appears when it is complete. Nobody changes them.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.index._engine import Engine
from zshash.index._layers import Layers
from zshash.index._runs import Run
from zshash.index._tables import Buckets

__all__ = ["share"]

ALMOST = 1 / 64  # of the codes: so many may differ from those in the files
NAME = re.compile(r"codes-(\d+)-(\d+)")  # a number that grows, and the length of the codes


def share(folder: Path, layers: Layers) -> tuple[Run, Engine]:
    """Codes that other processes share, almost those of `layers`, and the engine for them.

    The newest files of the folder are used, or new ones are made of all codes of `layers`.
    """
    with _alone(folder):
        known = sorted(_sets(folder), reverse=True)
        if known and known[0][1] == layers.n_bits:
            run, engine = _mapped(known[0][2], layers.n_bits)
            if layers.based_on(run, engine).n_loose <= ALMOST * len(layers):
                return run, engine
        number = known[0][0] + 1 if known else 0
        target = folder / f"codes-{number}-{layers.n_bits}"
        _write(target, layers)
        for _, _, path in known:  # processes that have mapped these keep them
            shutil.rmtree(path, ignore_errors=True)
        return _mapped(target, layers.n_bits)


def _sets(folder: Path) -> list[tuple[int, int, Path]]:
    """Number, length of the codes, and folder of each set of files."""
    found = [(NAME.fullmatch(path.name), path) for path in folder.iterdir()]
    return [(int(name[1]), int(name[2]), path) for name, path in found if name]


def _write(target: Path, layers: Layers) -> None:
    """Write all codes and their buckets, whole or not at all."""
    run = layers.whole
    buckets = Engine(run.words, layers.n_bits).build()
    unfinished = target.with_name(f"unfinished-{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    for name, array in {**run._asdict(), **_named(buckets)}.items():
        np.save(unfinished / f"{name}.npy", array)
    unfinished.rename(target)


def _named(buckets: Buckets) -> dict[str, NDArray[Any]]:
    return {f"bucket-{name}": array for name, array in buckets._asdict().items()}


def _mapped(path: Path, n_bits: int) -> tuple[Run, Engine]:
    """Codes of a set of files, and the engine with their buckets."""
    run = Run(*(_map(path / f"{name}.npy") for name in Run._fields))
    buckets = Buckets(*(_map(path / f"bucket-{name}.npy") for name in Buckets._fields))
    return run, Engine(run.words, n_bits, buckets)


def _map(path: Path) -> Any:
    """Array in a file. It counts as writeable, because Numba compiles anew for any other array."""
    return np.load(path, mmap_mode="c", allow_pickle=False).view(np.ndarray)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process is in this block."""
    import fcntl  # only systems on which processes share a server have it

    with (folder / "codes.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
