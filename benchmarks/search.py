"""Searching codes: times of queries against faiss, a bare matrix product and reading memory.

    python benchmarks/search.py [--quick] [--shape even] [--threads 1] [--only 1000000x64]
        [--way both_ways]

Codes lie in clusters, a thousand codes or ten thousand around each of 1,000 centres, with every
bit flipped in one of twenty; `--shape even` spreads them evenly instead, the worst for buckets.
Queries are drawn in the same way and are not among the codes. Buckets are made before; their time
is printed, too. The peer is the best exact mode of faiss on the same number of threads, and the
first results are compared, including their order, with NumPy's. Both take turns for several
rounds: each rests until no thread of the other one spins any more, answers other queries first,
and then those that are timed. The best round counts. In the last line the peer is this index, too:
the same queries by real values and, as the peer, by Hamming distance.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from zshash.codes import hamming, unpack
from zshash.index import HammingIndex

Codes = NDArray[np.uint8]

SIZES = [(1_000_000, 64), (10_000_000, 64), (1_000_000, 128)]
WAYS = ("radius", "nearest", "one_by_one", "real", "both_ways")
N_QUERIES, N_CENTRES, FLIPS = 1_000, 1_000, 0.05
BLOCK = 1 << 20
PAIRS = 1_000_000_000  # most distances that NumPy computes


def clustered(n: int, n_bits: int, seed: int) -> Codes:
    """Codes around centres that are the same for every seed."""
    centres = np.random.default_rng(99).integers(0, 2, (N_CENTRES, n_bits), dtype=np.uint8)
    rng = np.random.default_rng(seed)
    codes = np.empty((n, n_bits // 8), dtype=np.uint8)
    for part in blocks(n, 1 << 17):
        own = centres[rng.integers(0, N_CENTRES, part.stop - part.start)]
        flips = rng.random(own.shape, dtype=np.float32) < FLIPS
        codes[part] = np.packbits(own ^ flips, axis=1)
    return codes


def even(n: int, n_bits: int, seed: int) -> Codes:
    """Codes whose bits are all independent."""
    return np.random.default_rng(seed).integers(0, 256, (n, n_bits // 8), dtype=np.uint8)


def blocks(n: int, size: int) -> Iterator[slice]:
    """Slices of at most `size`."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def best_of(rounds: int, *functions: Callable[[int], Any]) -> list[float]:
    """The least seconds of each function; functions take turns.

    A function gets 1 for the queries that are timed, and 0 for other queries before them.
    """
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            time.sleep(0.1)  # BLAS and OpenMP keep their threads busy for a while
            function(0)
            start = time.perf_counter()
            function(1)
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def numpy_nearest(codes: Codes, queries: Codes, k: int) -> tuple[Any, Any]:
    """Distances and positions by a stable sort of all distances."""
    distances = hamming(queries, codes)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, 1), order


def numpy_within(codes: Codes, queries: Codes, r: int) -> tuple[Any, Any, Any]:
    """Limits, distances and positions, in order."""
    distances = hamming(queries, codes)
    rows, positions = np.nonzero(distances <= r)
    found = distances[rows, positions]
    order = np.lexsort((found, rows))
    limits = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(queries)))])
    return limits, found[order], positions[order]


def numpy_real(codes: Codes, n_bits: int, vectors: Any, k: int) -> tuple[Any, Any]:
    """Scores and positions by a stable sort of exact sums, entries rounded as documented."""
    signs = 2 * unpack(codes, n_bits).astype(np.int8) - 1
    scores, order = [], []
    for vector in vectors:
        unit = 2.0 ** (np.frexp(np.abs(vector).max())[1] - 40)
        # Whole numbers below 2**53, which float64 adds up exactly.
        sums = signs.astype(np.float64) @ np.rint(vector / unit)
        order.append(np.argsort(-sums, kind="stable")[:k])
        scores.append(sums[order[-1]] * unit)
    return np.array(scores), np.array(order)


def is_same(found: Any, expected: Any) -> bool:
    """Whether two lists of arrays are equal to the last bit."""
    return all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


class Case:
    """Codes, queries, and both indexes over them."""

    def __init__(self, n: int, n_bits: int, shape: str, n_queries: int) -> None:
        make = clustered if shape == "clustered" else even
        self.n, self.n_bits = n, n_bits
        self.codes = make(n, n_bits, 0)
        n_others = n_queries if n <= 2_000_000 else 100
        self.queries = [make(n_others, n_bits, 2), make(n_queries, n_bits, 1)]  # warm-up, timed
        self.vectors = np.random.default_rng(2).standard_normal((64, n_bits))
        start = time.perf_counter()
        self.index = HammingIndex(n_bits)
        self.index.add(self.codes)
        self.add_seconds = time.perf_counter() - start
        self.memory = self.index.nbytes
        self.index.subset(self.index.ids[:1000]).prepare()  # compiles
        start = time.perf_counter()
        self.index.prepare()
        self.build_seconds = time.perf_counter() - start
        self.faiss: Any = faiss.IndexBinaryFlat(n_bits)
        self.faiss.add(self.codes)
        self.n_checked = max(5, min(n_queries, PAIRS // n))

    def faiss_search(self, queries: Codes, k: int, use_heap: bool) -> Any:
        """The k nearest in one of two modes."""
        self.faiss.use_heap = use_heap
        return self.faiss.search(queries, k)

    def rows(
        self, rounds: int, ways: Sequence[str]
    ) -> Iterator[tuple[str, float, float, str, bool]]:
        """Rows of the table: name, seconds per query, those of the peer, its mode, is exact."""
        k = min(100, self.n)
        if "radius" in ways:
            yield self.radius(rounds)
        if "nearest" in ways:
            yield self.nearest(k, rounds)
            yield self.nearest(min(5000, self.n), rounds)
        for way in (self.one_by_one, self.real, self.both_ways):
            if way.__name__ in ways:
                yield way(k, rounds)

    def radius(self, rounds: int) -> tuple[str, float, float, str, bool]:
        """Time all codes within 2 bits, for all queries at once."""
        own, flat = best_of(
            4 * rounds,
            lambda i: self.index.radius(self.queries[i], 2),
            lambda i: self.faiss.range_search(self.queries[i], 3),
        )
        some, count = self.queries[1][: self.n_checked], len(self.queries[1])
        exact = is_same(self.index.radius(some, 2), numpy_within(self.codes, some, 2))
        return "radius 2", own / count, flat / count, "range_search", exact

    def nearest(self, k: int, rounds: int) -> tuple[str, float, float, str, bool]:
        """Time the nearest codes, for all queries at once."""
        times = best_of(
            rounds,
            lambda i: self.index.search(self.queries[i], k),
            lambda i: self.faiss_search(self.queries[i], k, True),
            lambda i: self.faiss_search(self.queries[i], k, False),
        )
        some = self.queries[1][: max(5, self.n_checked // 10)]
        exact = all(
            is_same(self.index.search(few, k), numpy_nearest(self.codes, few, k))
            for few in np.array_split(some, len(some) // 5)
        )
        return f"k = {k}", *_compared(times, len(self.queries[1])), exact

    def one_by_one(self, k: int, rounds: int) -> tuple[str, float, float, str, bool]:
        """Time the nearest codes, for one query at a time."""
        singles = [[queries[j : j + 1] for j in range(50)] for queries in self.queries]
        times = best_of(
            rounds,
            lambda i: [self.index.search(one, k) for one in singles[i]],
            lambda i: [self.faiss_search(one, k, True) for one in singles[i]],
            lambda i: [self.faiss_search(one, k, False) for one in singles[i]],
        )
        one = singles[1][0]
        exact = is_same(self.index.search(one, k), numpy_nearest(self.codes, one, k))
        return f"one query, k = {k}", *_compared(times, 50), exact

    def real(self, k: int, rounds: int) -> tuple[str, float, float, str, bool]:
        """Time real vectors, against only their products with all codes."""
        transposed = np.ascontiguousarray(self.vectors.T, dtype=np.float32)
        part = self.codes[:BLOCK]
        signs = 2 * unpack(part, self.n_bits).astype(np.float32) - 1
        products = np.empty((len(part), len(self.vectors)), dtype=np.float32)
        own, peer = best_of(
            rounds,
            lambda _: self.index.search_real(self.vectors, k),
            lambda _: np.matmul(signs, transposed, out=products),
        )
        peer *= self.n / len(part)
        few = self.vectors[: 5 if self.n <= 1_000_000 else 2]
        exact = is_same(self.index.search_real(few, k), numpy_real(self.codes, self.n_bits, few, k))
        count = len(self.vectors)
        return f"real values, k = {k}", own / count, peer / count, "matrix product", exact

    def both_ways(self, k: int, rounds: int) -> tuple[str, float, float, str, bool]:
        """Time real values whose signs are the bits of queries, against these bits."""
        size, queries = len(self.vectors), self.queries[1][: len(self.vectors)]
        values = np.abs(self.vectors[: len(queries)])
        values *= 2.0 * unpack(queries, self.n_bits) - 1
        own, by_bits = best_of(
            rounds,
            lambda _: self.index.search_real(values, k),
            lambda i: self.index.search(self.queries[i][:size], k),
        )
        few = values[: 5 if self.n <= 1_000_000 else 2]
        exact = is_same(self.index.search_real(few, k), numpy_real(self.codes, self.n_bits, few, k))
        count = len(queries)
        return f"values, k = {k}", own / count, by_bits / count, "their bits", exact


def _compared(times: list[float], n_queries: int) -> tuple[float, float, str]:
    """Seconds per query, those of the better mode of faiss, and this mode."""
    mode = "heap" if times[1] < times[2] else "counting"
    return times[0] / n_queries, min(times[1:]) / n_queries, mode


def stream_rate(n_bytes: int) -> float:
    """Bytes per second that one thread reads from an array of about this size."""
    array = np.ones(max(n_bytes // 8, 1), dtype=np.uint64)
    return array.nbytes / best_of(5, lambda _: np.bitwise_or.reduce(array))[0]


def report(case: Case, threads: int, rounds: int, ways: Sequence[str]) -> None:
    """Print the table of one case on a number of threads."""
    faiss.omp_set_num_threads(threads)
    with threadpool_limits(threads):
        print(f"\n{case.n:,} codes of {case.n_bits} bits, {threads} thread(s)")
        print(f"{'':<22}{'µs a query':>12}{'peer':>12}{'ratio':>8}  {'peer mode':<16}as NumPy")
        bound = case.codes.nbytes / stream_rate(case.codes.nbytes)
        times = {}
        for name, own, peer, mode, exact in case.rows(rounds, ways):
            times[name] = own
            ratio = peer / own
            print(
                f"{name:<22}{own * 1e6:>12.2f}{peer * 1e6:>12.1f}{ratio:>8.3g}  {mode:<16}"
                f"{'yes' if exact else 'NO'}"
            )
            if not exact:
                raise SystemExit(f"{name}: not what NumPy finds")
        print(f"  one thread reads all codes once in {bound * 1e6:.0f} µs; queries in that time:")
        print("  " + ", ".join(f"{name} {bound / own:.1f}" for name, own in times.items()))


def main() -> None:
    """Print times, ratios and memory."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--shape", choices=["clustered", "even"], default="clustered")
    parser.add_argument("--threads", type=int, action="append", help="threads, several in turn")
    parser.add_argument("--way", choices=WAYS, action="append", help="what to time, all by default")
    parser.add_argument("--only", help="codes and bits, such as 1000000x64")
    given = parser.parse_args()
    sizes = [(20_000, 64), (5_000, 128)] if given.quick else SIZES
    if given.only:
        n, n_bits = (int(number) for number in given.only.split("x"))
        sizes = [(n, n_bits)]
    print(f"{given.shape} codes, faiss {faiss.__version__}")
    for n, n_bits in sizes:
        case = Case(n, n_bits, given.shape, 70 if given.quick else N_QUERIES)
        held = case.codes.nbytes
        print(
            f"\n{n:,} codes of {n_bits} bits: added at {n / case.add_seconds / 1e6:.1f} million/s; "
            f"codes and ids take {case.memory / held:.2f} times the codes, buckets "
            f"{(case.index.nbytes - case.memory) / held:.2f} times, made in "
            f"{case.build_seconds:.2f} s"
        )
        for threads in given.threads or ([1] if given.quick else [1, 2]):
            rounds = 1 if given.quick else 2 if n > 2_000_000 else 4
            report(case, threads, rounds, given.way or WAYS)


if __name__ == "__main__":
    main()
