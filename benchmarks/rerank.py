"""Ranking matches again by features: what it gains, and what it costs.

    python benchmarks/rerank.py [--quick] [--rows 10000 1000000] [--data FOLDER]

First the ranking: albums of features without labels, codes of 64 bits by MTH with effort="fast", as
`Collection.create` makes them from pictures; 200 queries for each of three seeds, which are not in
the album; the category is the truth. Precision of the first ten, and average precision of the first
twenty, divided by 20. The rule was chosen on Tiny-ImageNet with another seed, that is with other
queries of the same categories; CIFAR-10 had no part in it. Then the time of a search on one thread,
among random features of 1,280 numbers.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from zshash import MTH, Collection, Found
from zshash.datasets import Dataset, digits

FILES = {
    "Tiny-ImageNet, 1,280 features": "tiny100_lite0_1280.npz",
    "CIFAR-10, 256 features": "cifar10_lite0_pca256.npz",
}
ALBUMS = (9_800, 1_500)  # sizes
N_QUERIES, K, FIRST = 200, 20, 10
RERANK = (50, 200, 500)
AT_ONCE = 20_000
SEEDS = (1, 2, 3)  # the rule was chosen with seed 0
Table = NDArray[np.float64]
Data = tuple[NDArray[np.float32], NDArray[np.int64]]


def data_sets(folder: Path, quick: bool) -> Iterator[tuple[str, Data]]:
    """Features and categories, by title."""
    data = digits()
    if quick or not folder.is_dir():
        yield "digits", (data.X, np.asarray(data.labels))
        return
    for title, name in FILES.items():
        with np.load(folder / "features" / name) as file:
            yield title, (file["X"].astype(np.float32), file["y"])


def scores(found: list[Found], truth: NDArray[np.int64], labels: NDArray[np.int64]) -> Table:
    """For each query (n, 2), precision of the first ten and average precision of the first 20."""
    hits = np.array([labels[[match.id for match in own]] for own in found]) == truth[:, None]
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    average = (precision * hits).sum(axis=1) / hits.shape[1]
    return np.column_stack([hits[:, :FIRST].mean(axis=1), average])


def ranked(data: Data, n: int, seed: int, folder: Path) -> dict[int, Table]:
    """Scores of queries in an album of n items, by the number of items that are ranked again."""
    order = np.random.RandomState(seed).permutation(len(data[0]))[: n + N_QUERIES]
    X, y = data[0][order], data[1][order]
    queries, truth = Dataset(X[:N_QUERIES]), y[:N_QUERIES]
    hasher = MTH(n_bits=64, effort="fast", random_state=seed).fit(X[N_QUERIES:])
    with Collection.create(folder, hasher, keep_features=True) as album:
        album.add(X[N_QUERIES:])
        assert len(album) == len(X) - N_QUERIES  # so ids are rows
        found = {0: album.search(queries, k=K)}
        found |= {most: album.search(queries, k=K, rerank=most) for most in RERANK}
    return {most: scores(own, truth, y[N_QUERIES:]) for most, own in found.items()}


def report(title: str, runs: list[dict[int, Table]]) -> None:
    """Print mean scores, and what re-ranking gains for the same queries, with standard errors."""
    print(title)
    codes = np.concatenate([run[0] for run in runs])
    for most in runs[0]:
        own = np.concatenate([run[most] for run in runs])
        gains, errors = (own - codes).mean(axis=0), (own - codes).std(axis=0) / np.sqrt(len(own))
        what = f"{most} ranked again" if most else "by codes"
        told = (f"{gain:+.3f} ± {error:.3f}" for gain, error in zip(gains, errors, strict=True))
        more = f"   {'   '.join(told)}" if most else ""
        print(f"  {what:<20}{own[:, 0].mean():.3f} {own[:, 1].mean():.3f}{more}", flush=True)


def milliseconds(search: Callable[[], Any], n: int) -> float:
    """The median time of a search."""
    times = []
    for _ in range(n):
        start = time.perf_counter()
        search()
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times))


def fill(folder: Path, n: int, dimension: int) -> None:
    """Make a collection of n random items that keeps their features."""
    rng = np.random.default_rng(0)
    sample = rng.standard_normal((2_000, dimension), dtype=np.float32)
    hasher = MTH(n_bits=64, n_units=2_048, n_steps=1, random_state=0).fit(sample)
    with Collection.create(folder, hasher, keep_features=True) as album:
        for start in range(0, n, AT_ONCE):
            rows = min(AT_ONCE, n - start)
            album.add(rng.standard_normal((rows, dimension), dtype=np.float32))


def cost(folder: Path, n: int, dimension: int, times: int) -> None:
    """Print bytes an item, and times of searches among n items."""
    fill(folder, n, dimension)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{n:,} items of {dimension:,} features: {size / n:,.0f} bytes an item on the disk")
    with Collection.open(folder) as album, threadpool_limits(1):
        rng = np.random.default_rng(1)

        def search(**how: Any) -> Any:
            return album.search(rng.standard_normal(dimension, dtype=np.float32), k=K, **how)

        plain = milliseconds(search, times)
        first = milliseconds(lambda: search(rerank=200), 1)
        again = milliseconds(lambda: search(rerank=200), times)
        print(f"  by codes            {plain:.2f} ms")
        print(
            f"  200 ranked again    {again:.2f} ms, {again / plain:.0f} x; the first {first:.0f} ms"
        )


def main() -> None:
    """Print what re-ranking gains, and what it costs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("items ranked again: precision of the first 10, average precision of the first 20")
        for number, (title, data) in enumerate(data_sets(given.data, given.quick)):
            for n in ALBUMS[1:] if given.quick else ALBUMS:
                seeds = SEEDS[:1] if given.quick else SEEDS
                places = [Path(folder) / f"{number} {n} {seed}" for seed in seeds]
                report(f"{title}, {n:,} items", list(map(partial(ranked, data, n), seeds, places)))
        for n in [500] if given.quick else given.rows:
            cost(Path(folder) / str(n), n, 64 if given.quick else 1_280, 3 if given.quick else 30)


if __name__ == "__main__":
    main()
