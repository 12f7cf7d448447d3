"""Collections: rows added per second, and the times of opening, searching and other operations.

    python benchmarks/collection.py [--quick] [--rows 1000000]

Codes of 64 bits with a path, a label, a year and a hash of their contents; then features of 256
numbers, which are encoded and hashed on the way. The disk is that of the temporary folder
(``TMPDIR``). Opening is timed in another process, without its imports.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from zshash import LSH, Collection

OPEN = """
import sys, time
from zshash import Collection
import zshash.collection.collection
start = time.perf_counter()
with Collection.open(sys.argv[1]) as collection:
    n = len(collection)
print(time.perf_counter() - start, n)
"""


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def report(what: str, seconds: float, rows: int = 0) -> None:
    """Print a line; with rows, also the rows per second."""
    rate = f"{rows / seconds:>12,.0f} rows/s" if rows else ""
    print(f"{what:<42}{seconds:>9.3f} s{rate}")


def open_elsewhere(folder: Path, n: int) -> float:
    """Seconds that another process takes to open a collection."""
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(folder)], capture_output=True, text=True, check=True
    )
    seconds, found = done.stdout.split()
    assert int(found) == n
    return float(seconds)


def add_codes(collection: Collection, n: int) -> None:
    """Add n codes with paths, labels, metadata and hashes."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (n, 8), dtype=np.uint8)
    sources = [f"/photos/{i // 1000}/{i}.jpg" for i in range(n)]
    labels = [f"category {i}" for i in rng.integers(0, 100, n)]
    metadata = [{"year": int(year)} for year in rng.integers(2000, 2025, n)]
    contents = [
        blake2b(code.tobytes() + bytes([i % 256]), digest_size=16).digest()
        for i, code in enumerate(codes)
    ]
    seconds, added = timed(
        lambda: collection.add_codes(
            codes, sources=sources, labels=labels, metadata=metadata, contents=contents
        )
    )
    report("add codes", seconds, len(added.ids))


def main() -> None:
    """Print a table of times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    n = 3_000 if given.quick else given.rows
    X = np.random.default_rng(1).standard_normal((n // 5, 256), dtype=np.float32)
    hasher = LSH(n_bits=64, normalize=False, random_state=0).fit(X[:1000])
    print(f"{n:,} codes of 64 bits, and {n // 5:,} rows of features")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "codes.zshash"
        with Collection.create(path, hasher) as collection:
            add_codes(collection, n)
        report("open, in another process", open_elsewhere(path, n))
        for snapshot in path.glob("index-*.codes"):
            snapshot.unlink()
        report("open without the derived file", open_elsewhere(path, n))
        with Collection.open(path) as collection:
            code = collection.index.codes[:1]
            report("first search, k = 20", timed(lambda: collection.search(code=code, k=20))[0])
            report("search, k = 20", timed(lambda: collection.search(code=code, k=20))[0])
            where = "label = 'category 7' and year >= 2020"
            seconds, _ = timed(lambda: collection.search(code=code, k=20, where=where))
            report("search, k = 20, with a condition", seconds)
            gone = collection.ids[::10]
            report("remove", timed(lambda: collection.remove(gone))[0], len(gone))
            report("verify", timed(collection.verify)[0], len(collection))
            report("compact", timed(collection.compact)[0])
        with Collection.create(Path(folder) / "features.zshash", hasher) as collection:
            report("add features", timed(lambda: collection.add(X))[0], len(X))
            report("add them again", timed(lambda: collection.add(X))[0], len(X))


if __name__ == "__main__":
    main()
