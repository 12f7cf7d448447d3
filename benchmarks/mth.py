"""Times of MTH to learn and to hash, against ZSH in the same run.

    python benchmarks/mth.py [--quick]

10,000 samples of 256 features in 90 categories, 64 bits, two threads. Each round times every
setup once, so that a busy machine slows all of them; ratios are ratios of medians.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from zshash import MTH, ZSH

Array = NDArray[Any]


def clusters(n: int, n_categories: int, d: int) -> tuple[Array, Array]:
    """Samples around random centres, and the category of each."""
    rng = np.random.RandomState(0)
    y = rng.randint(n_categories, size=n)
    X = rng.standard_normal((n_categories, d))[y] + 2 * rng.standard_normal((n, d))
    return X.astype(np.float32), y


def seconds(work: Callable[[], object]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def print_ratios(what: str, works: Mapping[str, Callable[[], object]], rounds: int) -> None:
    """Print the median time of each setup, and its ratio to the first."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()  # compiles
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work))
    medians = {name: float(np.median(own)) for name, own in times.items()}
    first = next(iter(medians.values()))
    for name, median in medians.items():
        print(f"{what} {name:<10} {median:8.3f} s, {median / first:6.2f} times ZSH's")


def main() -> None:
    """Print times of fits and of codes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    is_quick = parser.parse_args().quick
    n, rounds = (400, 1) if is_quick else (10_000, 5)
    X, y = clusters(n, 10 if is_quick else 90, 64 if is_quick else 256)
    shared = {"normalize": True, "random_state": 0}
    anchors, steps = (100, 5) if is_quick else (1000, None)
    setups: dict[str, Any] = {
        "ZSH": ZSH(64, n_anchors=anchors, **shared),
        "MTH, fast": MTH(64, effort="fast", n_steps=steps, **shared),
        "MTH, best": MTH(64, n_steps=steps, **shared),
    }
    with threadpool_limits(2):
        fits = {name: partial(hasher.fit, X, y) for name, hasher in setups.items()}
        best = fits.pop("MTH, best")
        print_ratios("fit   ", fits, rounds)
        print(f"fit    MTH, best  {seconds(best):8.3f} s, once")
        codes = {name: partial(hasher.encode, X) for name, hasher in setups.items()}
        print_ratios("encode", codes, rounds)


if __name__ == "__main__":
    main()
