"""Fits from shards on disk: time per sample, peak memory, and two Dask workers against one.

    python benchmarks/scale.py [--quick]

Features in clusters are written to memory-mapped ``.npy`` shards in a temporary folder (1.3 GB for
the full run). Each fit runs in a separate process; the system reports its peak memory. The growth
compares the time per sample of a million rows with that of 50,000, from shards of the same size and
on as many threads as BLAS would use. The Dask workers have one thread each; their gain is at best
their number.
"""

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from zshash import ZSH, scale

DIMENSION, N_BITS, N_CLASSES, N_WORDS = 256, 64, 90, 50
HASHER = ZSH(N_BITS, graph="anchor", normalize=False, random_state=0)


def write_shards(folder: Path, n: int, rows: int) -> None:
    """Write unit vectors in clusters, `rows` per shard, and the cluster of each."""
    rng = np.random.RandomState(0)
    centers = rng.standard_normal((N_CLASSES, DIMENSION)).astype(np.float32)
    for number in range(n // rows):
        labels = rng.randint(0, N_CLASSES, rows)
        X = centers[labels] + rng.standard_normal((rows, DIMENSION)).astype(np.float32)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        np.save(folder / f"part-{number:04}.npy", X)
        np.save(folder / f"part-{number:04}.labels.npy", labels)


def shards_of(folder: Path, n: int, rows: int) -> dict[str, Any]:
    """The first n rows as shards, and their targets."""
    names = np.random.RandomState(1).standard_normal((N_CLASSES, N_WORDS))
    paths = [folder / f"part-{number:04}.npy" for number in range(n // rows)]
    labels = [np.load(path.with_suffix(".labels.npy")) for path in paths]
    names /= np.linalg.norm(names, axis=1, keepdims=True)
    return {"shards": paths, "targets": labels, "vectors": names}


def peak_memory() -> int:
    """Peak memory of this process in bytes; on Linux, since its start."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def fit_alone(folder: Path, n: int, rows: int, n_anchors: int) -> dict[str, Any]:
    """Seconds, peak memory and objective of a fit in this process."""
    hasher = clone(HASHER).set_params(n_anchors=n_anchors)
    start = time.perf_counter()
    scale.fit(hasher, **shards_of(folder, n, rows))
    elapsed = time.perf_counter() - start
    peak = peak_memory()
    return {
        "seconds": elapsed,
        "peak": peak,
        "objective": float(hasher.objective_[-1]),
        "n_iter": hasher.n_iter_,
    }


def in_process(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a call in a fresh process."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(function, args)


def warmed(folder: Path, n: int, rows: int, n_anchors: int) -> dict[str, Any]:
    """`fit_alone`, after a fit of one shard that compiles code and reads the files."""
    fit_alone(folder, rows, rows, min(n_anchors, 100))
    return fit_alone(folder, n, rows, n_anchors)


def compare_sizes(folder: Path, small: int, large: int, rows: int, n_anchors: int) -> None:
    """Print the time per sample and the peak memory of both sizes."""
    few = [in_process(warmed, folder, small, rows, n_anchors) for _ in range(3)]
    many = in_process(warmed, folder, large, rows, n_anchors)
    short = statistics.median(fit["seconds"] / fit["n_iter"] for fit in few) / small
    long = many["seconds"] / many["n_iter"] / large
    print("      rows   seconds  iterations   peak MB   µs a sample and iteration")
    for n, fit, each in ((small, few[1], short), (large, many, long)):
        peak = f"{fit['peak'] / 1e6:.0f}"
        print(f"{n:>10,} {fit['seconds']:>9.1f} {fit['n_iter']:>11} {peak:>9} {each * 1e6:>26.2f}")
    print(f"a sample takes {long / short:.2f} times as long among {large:,} as among {small:,}\n")


def compare_with_memory(folder: Path, n: int, rows: int, n_anchors: int) -> None:
    """Print the difference between the fit from shards and the fit in memory."""
    given = shards_of(folder, n, rows)
    X, labels = (
        np.concatenate(part)
        for part in zip(
            *(
                (np.load(path), own)
                for path, own in zip(given["shards"], given["targets"], strict=True)
            ),
            strict=True,
        )
    )
    held_out, X, labels = X[-n // 10 :], X[: -n // 10], labels[: -n // 10]
    cut = np.arange(len(X) // 3, len(X), len(X) // 3 + 1)
    hasher = clone(HASHER).set_params(n_anchors=n_anchors)
    inside = clone(hasher).fit(X, given["vectors"][labels])
    outside = scale.fit(clone(hasher), np.split(X, cut), labels, vectors=given["vectors"])
    again = scale.fit(clone(hasher), np.split(X, cut), labels, vectors=given["vectors"])
    equal = 1 - np.unpackbits(inside.encode(held_out) ^ outside.encode(held_out)).mean()
    gap = np.abs(outside.objective_ / inside.objective_ - 1).max()
    same = np.array_equal(outside.projection_, again.projection_)
    print(
        f"against the fit in memory, {len(X):,} rows: objective {gap:.1e} apart, "
        f"{equal:.4%} of held-out bits equal\n"
        f"fitted twice: {'the same' if same else 'DIFFERENT'} to the last bit\n"
    )


def fit_on_workers(folder: Path, n: int, rows: int, n_anchors: int, workers: int) -> dict[str, Any]:
    """Seconds of a fit on a local Dask cluster, after a small warm-up fit."""
    from distributed import Client, LocalCluster

    hasher = clone(HASHER).set_params(n_anchors=n_anchors)
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=None
        ) as cluster,
        Client(cluster) as client,
        threadpool_limits(1),
    ):
        small = min(n, workers * rows)
        scale.fit(
            clone(hasher).set_params(n_anchors=100), **shards_of(folder, small, rows), client=client
        )
        start = time.perf_counter()
        scale.fit(hasher, **shards_of(folder, n, rows), client=client)
        return {"seconds": time.perf_counter() - start, "objective": float(hasher.objective_[-1])}


def compare_workers(folder: Path, n: int, rows: int, n_anchors: int) -> None:
    """Print the gain of a second Dask worker."""
    fits = {workers: fit_on_workers(folder, n, rows, n_anchors, workers) for workers in (1, 2)}
    for workers, fit in fits.items():
        print(f"{workers} Dask worker{'s' * (workers > 1):1}, {n:,} rows: {fit['seconds']:.1f} s")
    same = fits[1]["objective"] == fits[2]["objective"]
    print(
        f"two are {fits[1]['seconds'] / fits[2]['seconds']:.2f} times as fast as one, "
        f"with {'the same' if same else 'ANOTHER'} objective"
    )


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the large fit")
    options = parser.parse_args()
    small, large, rows, n_anchors = (
        (2000, 8000, 1000, 100) if options.quick else (50_000, options.rows, 50_000, 1000)
    )
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_shards(folder, large, rows)
        print(
            f"ZSH, {N_BITS} bits, {n_anchors:,} anchors, {DIMENSION} features, shards of {rows:,}\n"
        )
        compare_with_memory(folder, small, rows, n_anchors)
        compare_sizes(folder, small, large, rows, n_anchors)
        compare_workers(folder, large, rows, n_anchors)


if __name__ == "__main__":
    main()
