"""Searches by name in a large collection, against searches by features and by labels.

    python benchmarks/names.py [--quick] [--rows 1000000]

The model is learned from features of random pictures that a network with 1,000 named categories
could have made. Codes are random, and a hundredth of the items has a label. All searches ask for
the best 100 on one thread; the first search by each name is timed apart, because it prepares what
later ones find again.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from zshash import MTH, Collection
from zshash.images import Categories
from zshash.images.imagenet import imagenet_categories
from zshash.learning.knowledge import learn_knowledge
from zshash.learning.model import Model

KNOWN = ["goldfish", "dog", "vehicle", "teapot"]  # the network knows these, or kinds of them
PREDICTED = ["cow", "unicorn", "spoon of silver", "palm"]  # and not these


def network(dimension: int, rng: np.random.Generator) -> Categories:
    """Categories of a network that was never trained."""
    directions = rng.standard_normal((1000, dimension), dtype=np.float32)
    return imagenet_categories(directions, np.zeros(1000, dtype=np.float32))


def make_model(rng: np.random.Generator) -> tuple[Model, Any]:
    """A model that knows the names of its network, and features to search with."""
    known = network(64, rng)
    shown = rng.integers(0, 1000, 4000)
    X = known.directions[shown] + rng.standard_normal((4000, 64), dtype=np.float32)
    hasher = MTH(n_bits=64, normalize=False, effort="fast", random_state=0).fit(X)
    signs = np.where(hasher.project(X) >= 0, np.float32(1), np.float32(-1))
    return Model(hasher, {}, knowledge=learn_knowledge(X, signs, known)), X


def milliseconds(search: Callable[[], Any], n: int) -> float:
    """The median time of a search."""
    times = []
    for _ in range(n):
        start = time.perf_counter()
        search()
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times))


def compare(album: Collection, X: Any, n: int) -> None:
    """Print the times, and their ratios to a search by features."""
    picture = milliseconds(lambda: album.search(X[0], k=100), n)
    print(f"{'features':<28}{picture:>9.2f} ms")
    for kind, names in (("known name", KNOWN), ("predicted name", PREDICTED)):
        for name in names:
            first = milliseconds(lambda name=name: album.search(name=name, k=100), 1)  # type: ignore[misc]
            own = milliseconds(lambda name=name: album.search(name=name, k=100), n)  # type: ignore[misc]
            what = f"{kind}, {name}"
            print(f"{what:<28}{own:>9.2f} ms{own / picture:>7.2f} x   first {first:.1f} ms")
    own = milliseconds(lambda: album.search(name="truck", k=100), n)
    print(f"{'a name that is a label':<28}{own:>9.2f} ms{own / picture:>7.2f} x")


def main() -> None:
    """Print a table of times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    n = 5_000 if given.quick else given.rows
    rng = np.random.default_rng(0)
    print(f"{n:,} codes of 64 bits, one thread")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        model, X = make_model(rng)
        with Collection.create(Path(folder) / "album", model) as album:
            codes = rng.integers(0, 256, (n, 8), dtype=np.uint8)
            labels = [["truck"] if i % 100 == 0 else [] for i in range(n)]
            album.add_codes(codes, labels=labels)
            album.search(X[0], k=100)
            compare(album, X, 3 if given.quick else 30)


if __name__ == "__main__":
    main()
