"""A Milvus server: rates of inserts and searches, and the memory and disk that codes take.

    python benchmarks/milvus.py [--quick]

The server is the one of ``make milvus``, as it is installed, on this machine alone and with one
shard; the client is `zshash.index.MilvusIndex`. Codes have 64 bits and lie in clusters of a
thousand around random centres, where each bit differs from its centre with probability 0.03. A
query is one of the codes. Inserts are counted from the first to the last acknowledgement. Searches
start half a minute after `prepare`, when the server has written all rows and built its index
(BIN_FLAT); before that they are slower. Times are medians over several calls. Bytes are the growth
of the server's folder and of its resident memory; they include logs and caches, so they say little
for few codes. Answers are compared with those of `HammingIndex`.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parents[1]))

from tests.milvus_server import Server, missing, running, use_client
from zshash.index import HammingIndex, MilvusIndex

N_BITS, CLUSTER, AT_ONCE = 64, 1000, 64
K, MANY, R = 100, 5000, 2
SIZES, QUICK = (100_000, 1_000_000), (2_000,)
SECONDS_TO_SETTLE = 30.0  # the server moves rows between its parts in this time


def make_codes(n: int) -> NDArray[np.uint8]:
    """Codes in clusters."""
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 256, (max(1, n // CLUSTER), N_BITS // 8), dtype=np.uint8)
    codes = centres[np.arange(n) % len(centres)]
    for part in np.array_split(codes, -(-n // 1_000_000)):
        part ^= np.packbits(rng.random((len(part), N_BITS)) < 0.03, axis=1)
    return codes


def resident(server: Server) -> int:
    """Resident memory of the server, in bytes."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return 1024 * int(status.split("VmRSS:")[1].split()[0])


def stored(server: Server) -> int:
    """Size of the server's files, in bytes."""
    files = (path for path in (server.folder / "data").rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files)


def milliseconds(call: Callable[[int], Any], repeats: int) -> float:
    """Median time of a call, after one warm-up call."""
    times = []
    for turn in range(repeats + 1):
        start = time.perf_counter()
        call(turn)
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times[1:]))


def same(index: MilvusIndex, twin: HammingIndex, queries: NDArray[np.uint8]) -> bool:
    """Whether both indexes find the same."""
    found: list[NDArray[Any]] = [*index.search(queries, K), *index.radius(queries, R)]
    wanted: list[NDArray[Any]] = [*twin.search(queries, K), *twin.radius(queries, R)]
    return all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


def search_times(
    index: MilvusIndex, queries: NDArray[np.uint8], repeats: int
) -> tuple[float, float]:
    """Milliseconds of a call with each row of queries (turns, n, bytes), by rank and by radius."""
    return (
        milliseconds(lambda turn: index.search(queries[turn], K), repeats),
        milliseconds(lambda turn: index.radius(queries[turn], R), repeats),
    )


def report(n: int, what: str, value: float) -> None:
    """Print a line."""
    print(f"{n:>9,} codes  {what:<38}{value:>12,.1f}", flush=True)


def measure(server: Server, n: int, repeats: int, patience: float) -> None:
    """Measure everything with `n` codes, and print a line for each measure."""
    codes, before = make_codes(n), (stored(server), resident(server))
    index = MilvusIndex(f"milvus://{server.address}/codes_{n}", N_BITS)
    start = time.perf_counter()
    index.add(codes)
    seconds = time.perf_counter() - start
    index.prepare()
    time.sleep(patience)
    twin = HammingIndex(N_BITS)
    twin.add(codes)
    queries = codes[np.random.default_rng(1).integers(0, n, (repeats + 1, AT_ONCE))]
    once = [search_times(index, queries[:, :1], repeats), search_times(index, queries, repeats)]
    deep = milliseconds(lambda turn: index.search(queries[turn, :1], MANY), 2)
    is_same = same(index, twin, queries[0, :8])
    report(n, "inserts/s", n / seconds)
    for at_once, times in zip((1, AT_ONCE), once, strict=True):
        report(n, f"ms a query, {at_once} at once, k = {K}", times[0] / at_once)
        report(n, f"ms a query, {at_once} at once, radius {R}", times[1] / at_once)
    report(n, f"ms a query, 1 at once, k = {MANY}", deep)
    report(n, "answers as of HammingIndex (1: yes)", is_same)
    report(n, "bytes on disk a code", (stored(server) - before[0]) / n)
    report(n, "resident bytes a code", (resident(server) - before[1]) / n)
    report(n, "resident MB of the empty server", before[1] / 1e6)
    index.close()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="few codes, to see that it works")
    parser.add_argument("--codes", type=int, nargs="+", default=SIZES, help="how many")
    options = parser.parse_args()
    quick = options.quick
    print(f"{N_BITS} bits, clusters of {CLUSTER}, k = {K}, radius {R}")
    print("each number of codes in a server of its own")
    print("medians; one noisy machine: compare inside a run\n")
    if reason := missing():
        print(reason)
        return
    use_client()
    for n in QUICK if quick else options.codes:
        with (
            tempfile.TemporaryDirectory(prefix="milvus-") as folder,
            running(Path(folder)) as server,
        ):
            measure(server, n, 2 if quick else 20, 0 if quick else SECONDS_TO_SETTLE)


if __name__ == "__main__":
    main()
