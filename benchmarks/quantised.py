"""Real-valued queries in 8 bytes a vector: bits and parts of our indexes beside those of faiss.

    python benchmarks/quantised.py [--quick] [--n 1000000]

Vectors of 64 numbers lie in clusters around 1,000 centres; queries are drawn in the same way, and
inner products rank. The same vectors are stored as 64 signs (HammingIndex), as 8 parts of 8 bits
(ProductIndex and IndexPQ, which hold the same codes) and as 16 parts of 4 bits (IndexPQFastScan,
whose sums are rounded to a byte). All work is done by one thread, and its own time is taken, so
that other programs do not count. Indexes take turns, for many queries at once and for one at a
time. The first results of our indexes are compared with NumPy's, those of IndexPQ with ours. The
last line says how many of the 10 best vectors are among the first 100 results: codes of the same
size do not keep the same.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from search import is_same, numpy_real
from threadpoolctl import threadpool_limits

from zshash.codes import pack
from zshash.index import HammingIndex, ProductIndex

Vectors = NDArray[np.float32]
Search = Callable[[Vectors, int], Any]

D, N_CENTRES, SPREAD = 64, 1_000, 0.7
N_TRAIN, N_QUERIES, N_SINGLES, N_CHECKED = 20_000, 64, 20, 4
NEAREST, FIRST = 10, 100


def clustered(n: int, seed: int) -> Vectors:
    """Vectors around centres that are the same for every seed."""
    centres = np.random.default_rng(99).standard_normal((N_CENTRES, D), dtype=np.float32)
    rng = np.random.default_rng(seed)
    scatter = np.float32(SPREAD) * rng.standard_normal((n, D), dtype=np.float32)
    return centres[rng.integers(0, N_CENTRES, n)] + scatter


def best_of(rounds: int, *functions: Callable[[int], Any]) -> list[float]:
    """The least seconds of work of each function; functions take turns.

    A function gets 1 for the queries that are timed, and 0 for other queries before them.
    """
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            function(0)
            start = time.process_time()
            function(1)
            best[i] = min(best[i], time.process_time() - start)
    return best


class Case:
    """Vectors, queries, and four indexes over the vectors."""

    def __init__(self, n: int) -> None:
        self.vectors = clustered(n, 0)
        self.queries = [clustered(N_QUERIES, 2), clustered(N_QUERIES, 1)]  # warm-up, timed
        self.codes = pack(self.vectors >= 0)
        self.bits = HammingIndex(D)
        self.bits.add(self.codes)
        self.bits.prepare()
        self.theirs: Any = faiss.IndexPQ(D, 8, 8, faiss.METRIC_INNER_PRODUCT)
        self.fast: Any = faiss.IndexPQFastScan(D, 16, 4, faiss.METRIC_INNER_PRODUCT)
        for index in (self.theirs, self.fast):
            index.train(self.vectors[:N_TRAIN])
            index.add(self.vectors)
        centres = faiss.vector_to_array(self.theirs.pq.centroids).reshape(8, 256, D // 8)
        self.ours = ProductIndex(centres)
        self.ours.add(faiss.vector_to_array(self.theirs.codes).reshape(n, 8))

    def searches(self) -> dict[str, Search]:
        """The search of each index by its name."""
        return {
            "HammingIndex.search_real": self.bits.search_real,
            "ProductIndex, 8 x 8 bits": self.ours.search_real,
            "IndexPQ, 8 x 8 bits": self.theirs.search,
            "IndexPQFastScan, 16 x 4 bits": self.fast.search,
        }

    def is_exact(self) -> bool:
        """Whether bits and parts are ranked as NumPy ranks them, and parts as by faiss.

        Scores of faiss are sums of float32, so its scores are compared, not its order.
        """
        few = self.queries[1][:N_CHECKED]
        exact = few.astype(np.float64)
        same = is_same(self.bits.search_real(few, FIRST), numpy_real(self.codes, D, exact, FIRST))
        scores, found = self.ours.search_real(few, FIRST)
        parts = [
            own[codes] for own, codes in zip(self.ours.centres, self.ours.codes.T, strict=True)
        ]
        near = exact @ np.hstack(parts).T
        best = np.sort(near, axis=1)[:, ::-1][:, :FIRST]
        own = np.take_along_axis(near, found, axis=1)
        theirs = self.theirs.search(few, FIRST)[0]
        return same and all(np.allclose(scores, other, atol=1e-3) for other in (best, own, theirs))

    def kept(self, search: Search) -> float:
        """Share of the best vectors that are among the first results."""
        queries = self.queries[1]
        far = -queries @ self.vectors.T
        nearest = np.argpartition(far, NEAREST, axis=1)[:, :NEAREST]
        found = search(queries, FIRST)[1]
        return float((nearest[:, :, None] == found[:, None]).any(axis=2).mean())


def rows(case: Case, rounds: int) -> Iterator[tuple[str, int, list[float]]]:
    """Names of ways to search, queries in each, and seconds of each index."""
    searches = list(case.searches().values())
    for k in (10, 100):

        def many(search: Search, i: int, k: int = k) -> None:
            search(case.queries[i], k)

        def single(search: Search, i: int, k: int = k) -> None:
            for j in range(N_SINGLES):
                search(case.queries[i][j : j + 1], k)

        for name, count, way in (("", N_QUERIES, many), ("one query, ", N_SINGLES, single)):
            times = best_of(rounds, *(lambda i, s=s, w=way: w(s, i) for s in searches))
            yield f"{name}k = {k}", count, times


def main() -> None:
    """Print queries per second, and how many neighbours are kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--n", type=int, default=1_000_000, help="number of vectors")
    given = parser.parse_args()
    faiss.omp_set_num_threads(1)
    with threadpool_limits(1):
        n = 20_000 if given.quick else given.n
        case = Case(n)
        print(f"{n:,} vectors of 8 bytes, one thread, faiss {faiss.__version__}")
        if not case.is_exact():
            raise SystemExit("not what NumPy finds")
        names = list(case.searches())
        print(f"{'queries a second':<22}" + "".join(f"{name:>30}" for name in names))
        for name, count, times in rows(case, 1 if given.quick else 4):
            print(f"{name:<22}" + "".join(f"{count / time:>30,.0f}" for time in times))
        kept = [case.kept(search) for search in case.searches().values()]
        print(f"{'10 best, in 100':<22}" + "".join(f"{share:>30.2f}" for share in kept))


if __name__ == "__main__":
    main()
