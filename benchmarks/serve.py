"""The server: requests per second, latencies, and memory over time.

    python benchmarks/serve.py [--quick] [--codes 1000000] [--features 1280] [--clients 32]
    python benchmarks/serve.py --minutes 10

Clients in one thread of another process send features of a picture and get its 10 nearest items as
JSON, over connections that stay open. The endpoint /healthz does nothing, so it shows the best that
the server could do. Both are measured in turn, and the ratio compares their medians. With one
client, the benchmark also prints how much time HTTP adds to the same search without a server.
Searches compare bits with bits, except in the row that says real values, the server's default.

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

import numpy as np
from numpy.typing import NDArray
from serving.clients import Load, get, post, put_load
from serving.world import make_collection, memory, served

from zshash import Collection

K = 10
ROUNDS = 5
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


def alternate(
    address: str, kinds: dict[str, list[bytes]], clients: int, seconds: float
) -> dict[str, list[Load]]:
    """Measure all kinds in turn, several times, so that other load on the machine affects all."""
    loads: dict[str, list[Load]] = {name: [] for name in kinds}
    for _ in range(ROUNDS):
        for name, requests in kinds.items():
            load = put_load(address, requests, clients, seconds)
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


def main() -> None:
    """Print tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--codes", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=1280)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=4.0, help="seconds of each round")
    parser.add_argument("--minutes", type=float, help="watch memory for this many minutes instead")
    options = parser.parse_args()
    if options.quick:
        options.codes, options.features, options.seconds = 5000, 64, 0.2
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "photos.zshash"
        queries = make_collection(folder, options.codes, options.features)[:256]
        print(f"{options.codes:,} codes of 64 bits, {options.features} features, k = {K}\n")
        with served(folder) as (address, process):
            if options.minutes or options.quick:
                mixed = [*as_json(queries), *as_bytes(queries)]
                mixed += [get(f"/api/v1/search?id={i}&k=60") for i in range(100)]
                mixed += [get(f"/api/v1/items?offset={50 * i}") for i in range(50)]
                mixed += [get(f"/api/v1/search?id={i}&label=category+{i}") for i in range(4)]
                rng = np.random.default_rng(0)
                shuffled = [mixed[i] for i in rng.permutation(len(mixed))]
                minutes = options.minutes or 0.05
                grown = watch_memory(address, process, shuffled, minutes)
                most = 100 if options.quick else 5
                print(f"grown by {grown:.1f} MB, at most {most} are allowed\n")
                if grown > most:
                    sys.exit(1)
            if options.minutes:
                return
            kinds = {
                "nothing (/healthz)": NOTHING,
                "search, features as bytes": as_bytes(queries),
                "search, features as JSON": as_json(queries),
                "by real values, as bytes": as_bytes(queries, "real"),
            }
            put_load(address, kinds["search, features as JSON"], options.clients, options.seconds)
            show(alternate(address, kinds, options.clients, options.seconds), options.clients)
            print()
            alone = alternate(address, kinds, 1, options.seconds)
            show(alone, 1)
        own = search_alone(folder, queries, options.seconds)
        print(f"\nthe same search without a server: {own:.2f} ms")
        for name in list(kinds)[1:3]:
            p50 = float(np.median([load.percentile(50) for load in alone[name]]))
            print(f"HTTP adds to {name}: {p50 - own:.2f} ms")


if __name__ == "__main__":
    main()
