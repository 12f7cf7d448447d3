"""Fit time of every method as a multiple of that of ZSH, and the growth of its memory.

    python benchmarks/methods.py [--quick] [--method NAME ...]

Every method fits the same samples with its own defaults, in turn with ZSH, several times in one
run; the median of the ratios counts. Memory is the peak beyond what the process held before the
fit, in a process of its own, at n and at 4n: a method that is quadratic in n would need 16 times
as much.
"""

import argparse
import statistics
import warnings
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from fit import clustered, memory, seconds
from threadpoolctl import threadpool_info

import zshash

N_BITS = 64
SMALL = {"n_anchors": 100, "n_steps": 5}


def hasher(name: str, small: bool) -> Any:
    """A method with its defaults, or with fewer anchors or steps."""
    method = zshash.methods()[name]
    fewer = {key: SMALL[key] for key in SMALL if small and key in method.parameters}
    return method.estimator(N_BITS, normalize=False, random_state=0, **fewer)


def compare(name: str, X: Any, y: Any, small: bool, repeats: int) -> None:
    """Print the median time of a fit, and the median of its ratios to ZSH fits."""
    own, zsh = hasher(name, small), hasher("ZSH", small)
    own.fit(X, y)
    zsh.fit(X, y)
    times, ratios = [], []
    for _ in range(repeats):
        times.append(seconds(lambda: own.fit(X, y)))
        ratios.append(times[-1] / seconds(lambda: zsh.fit(X, y)))
    print(
        f"{name:<16} {zshash.methods()[name].kind:<13} fit {statistics.median(times):7.3f} s   "
        f"{statistics.median(ratios):6.2f} × ZSH",
        flush=True,
    )


def peak(folder: str, name: str, n: int, small: bool) -> float:
    """Peak memory of a fit of n samples, in MiB."""
    warnings.simplefilter("ignore")
    X, y = (np.load(f"{folder}/{part}.npy")[:n] for part in "Xy")
    hasher(name, True).fit(X[:300], y[:300])  # compiles what is not cached
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = memory("VmRSS")
    hasher(name, small).fit(X, y)
    return memory("VmHWM") - before


def print_memory(names: list[str], X: Any, y: Any, n: int, small: bool) -> None:
    """Print each method's peaks at n and 4n."""
    with TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", X)
        np.save(f"{folder}/y.npy", y)
        for name in names:
            peaks = []
            for size in (n, 4 * n):
                with get_context("spawn").Pool(1) as pool:
                    peaks.append(pool.apply(peak, (folder, name, size, small)))
            print(
                f"{name:<16} n={n}: {peaks[0]:5.0f} MiB   n={4 * n}: {peaks[1]:5.0f} MiB   "
                f"× {peaks[1] / max(peaks[0], 1):.1f}",
                flush=True,
            )


def main() -> None:
    """Compare times, then memory."""
    known = list(zshash.methods())
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--method", nargs="+", choices=known, default=known, metavar="NAME")
    options = parser.parse_args()
    n, d, repeats = (400, 64, 1) if options.quick else (10_000, 256, 5)
    warnings.simplefilter("ignore")
    X, Y = clustered(4 * n, d)
    y = np.unique(Y, axis=0, return_inverse=True)[1].ravel()
    threads = {library["internal_api"]: library["num_threads"] for library in threadpool_info()}
    print(f"threads: {threads}; n={n}, d={d}, {N_BITS} bits, {len(np.unique(y))} classes\n")
    for name in options.method:
        compare(name, X[:n], y[:n], options.quick, repeats)
    if Path("/proc/self/clear_refs").exists():
        print("\nPeak memory of a fit beyond the features")
        names = options.method[:2] if options.quick else options.method
        print_memory(names, X, y, n, options.quick)


if __name__ == "__main__":
    main()
