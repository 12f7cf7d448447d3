"""The server: requests per second, latencies, and memory over time.

    python benchmarks/serve.py [--quick] [--codes 1000000] [--features 1280] [--clients 32]
                               [--workers 1 2]
    python benchmarks/serve.py --minutes 10

Clients in one thread of another process send features of a picture and get its 10 nearest items as
JSON, over connections that stay open. The endpoint /healthz does nothing, so it shows the best that
the server could do. Both are measured in turn, and the ratio compares their medians. With one
client, the benchmark also prints how much time HTTP adds to the same search without a server.
Searches compare bits with bits, except in the row that says real values, the server's default.
A batch has 64 queries; its features and its answers are packed. All of this is measured for each
number of worker processes, with the memory that they take, where what they share counts once.

Then one search after another is measured at rest and while another process adds 1,000 items a
minute, in turn: the ratio of their 99th percentiles says how much that disturbs searches.

With --minutes it measures memory instead: it sends searches by features and ids, filters and lists
all the time, and prints the server's memory every ten seconds. Memory must not grow by more than a
few MB after the first minute (in a quick run, not by 100 MB).
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from serving.clients import Load, get, post, put_load
from serving.world import growing, make_collection, memory, served

from zshash import Collection

K, BATCH, A_MINUTE = 10, 64, 1000
NOTHING = [get("/healthz")]
JSON, BINARY = "application/json", "application/octet-stream"


def as_json(queries: NDArray[np.float32], distance: str = "bits") -> list[bytes]:
    """Requests with features as a list of numbers, with the seven digits of float32."""
    how = {"k": K, "distance": distance}
    return [
        post("/api/v1/search", JSON, json.dumps({"features": row} | how).encode())
        for row in ([float(f"{value:.7g}") for value in query] for query in queries.tolist())
    ]


def as_bytes(queries: NDArray[np.float32], distance: str = "bits") -> list[bytes]:
    """Requests with features as the bytes of float32 numbers."""
    path = f"/api/v1/search?k={K}&distance={distance}"
    return [post(path, BINARY, query.astype("<f4").tobytes()) for query in queries]


def as_batches(queries: NDArray[np.float32], distance: str) -> list[bytes]:
    """Requests with the features of many pictures each, and packed answers."""
    path = f"/api/v1/search/batch?k={K}&distance={distance}"
    starts = range(0, len(queries) - BATCH + 1, BATCH)
    bodies = [queries[start : start + BATCH].astype("<f4").tobytes() for start in starts]
    return [post(path, BINARY, body, accept=BINARY) for body in bodies]


def alternate(
    address: str, kinds: dict[str, list[bytes]], clients: int, options: Any
) -> dict[str, list[Load]]:
    """Measure all kinds in turn, several times, so that other load on the machine affects all."""
    loads: dict[str, list[Load]] = {name: [] for name in kinds}
    for _ in range(options.rounds):
        for name, requests in kinds.items():
            load = put_load(address, requests, clients, options.seconds)
            if set(load.statuses) != {200}:
                raise RuntimeError(f"{name}: answers other than 200: {load.statuses}")
            loads[name].append(load)
    return loads


def show(loads: dict[str, list[Load]], clients: int) -> None:
    """Print a line for each kind: the median over rounds, and its ratio to the first kind."""
    print(f"{clients} clients{'':<20}requests/s  of nothing   p50 ms   p99 ms")
    base = np.array([load.rate for load in next(iter(loads.values()))])
    for name, own in loads.items():
        rates = np.array([load.rate for load in own])
        middle = own[int(np.argsort(rates)[len(rates) // 2])]
        ratio = float(np.median(rates / base))
        times = f"{middle.percentile(50):>9.2f}{middle.percentile(99):>9.2f}"
        print(f"{name:<28}{np.median(rates):>11,.0f}{ratio:>12.2f}{times}")


def measure(folder: Path, queries: NDArray[np.float32], workers: int, options: Any) -> None:
    """Print tables about a server with so many workers."""
    kinds = {
        "nothing (/healthz)": NOTHING,
        "search, features as bytes": as_bytes(queries),
        "search, features as JSON": as_json(queries),
        "by real values, as bytes": as_bytes(queries, "real"),
        f"batches of {BATCH}, by bits": as_batches(queries, "bits"),
        f"batches of {BATCH}, real values": as_batches(queries, "real"),
    }
    with served(folder, workers) as (address, process):
        for requests in kinds.values():
            put_load(address, requests, options.clients, options.seconds / 4)
        print(f"workers: {workers}, memory: {memory(process):.0f} MB")
        loads = alternate(address, kinds, options.clients, options)
        show(loads, options.clients)
        for name in list(kinds)[-2:]:
            rate = float(np.median([load.rate for load in loads[name]]))
            print(f"{name}: {BATCH * rate:,.0f} queries/s")
        print()
        if workers == 1:
            alone = alternate(address, dict(list(kinds.items())[:4]), 1, options)
            show(alone, 1)
            own = search_alone(folder, queries, options.seconds)
            print(f"\nthe same search without a server: {own:.2f} ms")
            for name in list(kinds)[1:3]:
                p50 = float(np.median([load.percentile(50) for load in alone[name]]))
                print(f"HTTP adds to {name}: {p50 - own:.2f} ms")
            print()
        beside_a_writer(folder, address, as_bytes(queries), options)


def beside_a_writer(folder: Path, address: str, requests: list[bytes], options: Any) -> None:
    """Print the 99th percentile at rest and while another process adds items."""
    times = []
    for _ in range(options.rounds):
        rest = put_load(address, requests, 1, options.seconds)
        with growing(folder, A_MINUTE):
            busy = put_load(address, requests, 1, options.seconds)
        if {*rest.statuses, *busy.statuses} != {200}:
            raise RuntimeError(f"answers other than 200: {rest.statuses}, {busy.statuses}")
        times.append((rest.percentile(99), busy.percentile(99)))
    rest_ms, busy_ms = np.median(times, axis=0)
    ratio = float(np.median([busy / rest for rest, busy in times]))
    print(
        f"p99 at rest {rest_ms:.2f} ms, beside {A_MINUTE} added a minute {busy_ms:.2f} ms: ", end=""
    )
    print(f"{ratio:.2f} times\n")


def search_alone(folder: Path, queries: NDArray[np.float32], seconds: float) -> float:
    """Median time of a search in this process, without a server, in milliseconds."""
    times: list[float] = []
    with Collection.open(folder) as collection:
        collection.index.prepare()
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            began = time.perf_counter()
            collection.search(queries[len(times) % len(queries)], k=K, distance="bits")
            times.append(time.perf_counter() - began)
    return 1000 * float(np.median(times))


def watch_memory(address: str, process: int, requests: list[bytes], minutes: float) -> float:
    """Print memory every ten seconds under load; return its growth in MB after the first minute."""
    step = min(10.0, 6 * minutes)
    end = time.perf_counter() + 60 * minutes
    seen: list[float] = []
    while time.perf_counter() < end:
        load = put_load(address, requests, 16, step)
        seen.append(memory(process))
        print(f"{step * len(seen):>6.0f} s{load.rate:>10,.0f} requests/s{seen[-1]:>10.1f} MB")
    settled = seen[min(6, len(seen) // 2) :]
    return max(settled) - settled[0]


def check_memory(folder: Path, queries: NDArray[np.float32], options: Any) -> None:
    """End with status 1 if the server's memory grows under load."""
    mixed = [*as_json(queries), *as_bytes(queries)]
    mixed += [get(f"/api/v1/search?id={i}&k=60") for i in range(100)]
    mixed += [get(f"/api/v1/items?offset={50 * i}") for i in range(50)]
    mixed += [get(f"/api/v1/search?id={i}&label=category+{i}") for i in range(4)]
    shuffled = [mixed[i] for i in np.random.default_rng(0).permutation(len(mixed))]
    with served(folder) as (address, process):
        grown = watch_memory(address, process, shuffled, options.minutes or 0.05)
    most = 100 if options.quick else 5
    print(f"grown by {grown:.1f} MB, at most {most} are allowed\n")
    if grown > most:
        sys.exit(1)


def main() -> None:
    """Print tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--codes", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=1280)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=4.0, help="seconds of each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, help="watch memory for this many minutes instead")
    options = parser.parse_args()
    if options.quick:
        options.codes, options.features, options.seconds, options.rounds = 5000, 64, 0.2, 1
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "photos.zshash"
        queries = make_collection(folder, options.codes, options.features)[:256]
        print(f"{options.codes:,} codes of 64 bits, {options.features} features, k = {K}\n")
        if options.minutes or options.quick:
            check_memory(folder, queries, options)
        if not options.minutes:
            for workers in options.workers:
                measure(folder, queries, workers, options)


if __name__ == "__main__":
    main()
