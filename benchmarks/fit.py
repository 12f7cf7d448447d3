"""Time and memory of a ZSH fit against the matrix products that no implementation can avoid.

    python benchmarks/fit.py [--quick]

The floor of a fit is measured in the same run, with plain NumPy products in float32 on the same
sizes: X Aᵀ (n·m·d), ΦᵀΦ (n·m²), ΦP and ΦᵀB in every iteration (2·n·m·l), and X Xᵀ (n²·d) where
the neighbour graph is on. The growth compares the time per sample at n = 10,000 and
n = 50,000. Only ratios mean anything: the machine's own speed cancels.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from zshash import ZSH

Matrix = NDArray[np.float32]
N_BITS, N_CLASSES, N_WORDS = 64, 90, 50


def clustered(n: int, d: int) -> tuple[Matrix, Matrix]:
    """Unit vectors in clusters, and for each the unit vector of its cluster's name."""
    rng = np.random.RandomState(0)
    centers, names = rng.standard_normal((N_CLASSES, d)), rng.standard_normal((N_CLASSES, N_WORDS))
    labels = rng.randint(0, N_CLASSES, n)
    X = (centers[labels] + rng.standard_normal((n, d))).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    names /= np.linalg.norm(names, axis=1, keepdims=True)
    return X, names[labels].astype(np.float32)


def seconds(function: Callable[[], Any]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def floor(X: Matrix, hasher: ZSH) -> float:
    """Seconds of the products alone, into memory that is allocated already."""
    anchors, n = hasher.anchors_, len(X)
    Phi = np.ones((n, len(anchors) + 1), dtype=np.float32)
    P = np.ones((Phi.shape[1], N_BITS), dtype=np.float32)
    B = np.ones((n, N_BITS), dtype=np.float32)
    gram, PhitB = Phi.T @ Phi, Phi.T @ B
    total = seconds(lambda: np.matmul(X, anchors.T, out=Phi[:, :-1]))
    total += seconds(lambda: np.matmul(Phi.T, Phi, out=gram))
    for _ in range(hasher.n_iter_):
        total += seconds(lambda: np.matmul(Phi, P, out=B))
        total += seconds(lambda: np.matmul(Phi.T, B, out=PhitB))
    return total + (distances_floor(X) if hasher.graph == "knn" else 0)


def distances_floor(X: Matrix) -> float:
    """Seconds of X Xᵀ, in blocks of rows."""
    blocks = [X[start : start + 2000] for start in range(0, len(X), 2000)]
    out = np.ones((len(blocks[0]), len(X)), dtype=np.float32)
    return sum(
        seconds(lambda rows=rows: np.matmul(rows, X.T, out=out[: len(rows)]))  # type: ignore[misc]
        for rows in blocks
    )


def compare(d: int, graph: str | None, n: int, n_anchors: int, repeats: int) -> None:
    """Print the median fit, the median floor and the median of their ratios."""
    X, Y = clustered(n, d)
    hasher = ZSH(N_BITS, n_anchors=n_anchors, graph=graph, normalize=False, random_state=0).fit(
        X, Y
    )
    floor(X, hasher)
    fits, floors = [], []
    for _ in range(repeats):
        fits.append(seconds(lambda: hasher.fit(X, Y)))
        floors.append(floor(X, hasher))
    ratio = statistics.median(fit / bare for fit, bare in zip(fits, floors, strict=True))
    print(
        f"n={n:<6} d={d:<5} graph={graph!s:<7} {hasher.n_iter_:>2} iterations  "
        f"fit {statistics.median(fits):.3f} s  products {statistics.median(floors):.3f} s  "
        f"ratio {ratio:.2f}"
    )


def grow(graph: str | None, sizes: tuple[int, int], n_anchors: int, repeats: int) -> None:
    """Print the time per sample at the larger size, divided by that at the smaller size."""
    times = [time_a_sample(graph, n, n_anchors, repeats) for n in sizes]
    print(
        f"graph={graph!s:<7} from n={sizes[0]} to n={sizes[1]}: time a sample and iteration "
        f"× {times[1] / times[0]:.2f} (linear is 1.00)"
    )


def time_a_sample(graph: str | None, n: int, n_anchors: int, repeats: int) -> float:
    """Median seconds of a fit, divided by samples and iterations."""
    X, Y = clustered(n, 256)
    hasher = ZSH(N_BITS, n_anchors=n_anchors, graph=graph, normalize=False, random_state=0).fit(
        X, Y
    )
    times = [seconds(lambda: hasher.fit(X, Y)) for _ in range(repeats)]
    return statistics.median(times) / (n * int(hasher.n_iter_))


def peak_memory(folder: str, graph: str | None, n_anchors: int) -> float:
    """Peak memory of a fit in MiB, without what the process held before the fit."""
    X, Y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/Y.npy")
    ZSH(N_BITS, n_anchors=50, graph=graph, normalize=False).fit(
        X[:100], Y[:100]
    )  # compiles what is not cached
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = memory("VmRSS")
    ZSH(N_BITS, n_anchors=n_anchors, graph=graph, normalize=False, random_state=0).fit(X, Y)
    return memory("VmHWM") - before


def memory(kind: str) -> float:
    """MiB of this process: VmRSS now, VmHWM at the peak."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{kind}:")[1].split()[0]) / 1024


def print_memory(n: int, d: int, n_anchors: int) -> None:
    """Measure the peaks, each in a separate process that only loads the data."""
    X, Y = clustered(n, d)
    with TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", X)
        np.save(f"{folder}/Y.npy", Y)
        for graph in ("knn", "anchor", None):
            with get_context("spawn").Pool(1) as pool:
                peak = pool.apply(peak_memory, (folder, graph, n_anchors))
            print(
                f"n={n:<6} d={d:<5} graph={graph!s:<7} peak {peak:.0f} MiB beyond the features' "
                f"{X.nbytes / 2**20:.0f} MiB; Φ takes {n * (n_anchors + 1) * 4 / 2**20:.0f} MiB"
            )


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    quick = parser.parse_args().quick
    n, dimensions, n_anchors = (1000, (32,), 100) if quick else (10_000, (256, 1280), 1000)
    repeats = 2 if quick else 7
    threads = {library["internal_api"]: library["num_threads"] for library in threadpool_info()}
    print(f"threads: {threads}; {n_anchors} anchors, {N_BITS} bits\n\nFit against bare products")
    for d in dimensions:
        for graph in ("knn", "anchor", None):
            compare(d, graph, n, n_anchors, repeats)
    print("\nGrowth with the number of samples")
    for graph in ("anchor", None):
        grow(graph, (n, 5 * n), n_anchors, repeats)
    if Path("/proc/self/clear_refs").exists():
        print("\nMemory")
        print_memory(5 * n, dimensions[0], n_anchors)


if __name__ == "__main__":
    main()
