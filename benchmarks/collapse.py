"""MTH against ITQ on pools of every size and shape.

    python benchmarks/collapse.py [--draws N] [--samples N ...] [--features N ...] [--quick]

It shows where MTH finds less. Each pool holds pictures of twelve categories, a quarter of them
hidden: nobody labelled them. Large pools hold more categories. Both methods learn from the same
pool. The score is the precision of the first ten for queries outside the pool, of seen and of
hidden categories, by bits and in the mean over draws; MTH's is divided by ITQ's. "inductive" pools
hold labelled pictures alone: hidden categories are met in the search only. Other pools have
constant columns, or each picture twice. Features are those of Tiny-ImageNet in the folder that
ZSHASH_DATA names, turned to as many dimensions: all 1,280 of 100 pictures of each category, or 256
of 550 of each for large pools. A quick run takes digits.
"""

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from zshash import ITQ, MTH
from zshash.datasets import digits
from zshash.evaluation.standard import data_folder
from zshash.hashing.hasher import Hasher

N_CATEGORIES, SHARE_HIDDEN, QUERIES, FIRST = 12, 4, 15, 10
LARGE = 1100  # more samples come from the file with 550 of each category
SAMPLES = [30, 100, 240, 768, 1100, 10_000, 50_000]
KINDS = ("no labels", "a tenth", "half", "seen", "inductive", "constant", "twice")
Array = NDArray[np.float32]
Labels = NDArray[np.int64]


def load(quick: bool, n: int) -> tuple[Array, Labels]:
    """Features and labels to draw pools of n samples from."""
    name = "tiny100_lite0_1280.npz" if n <= LARGE else "tiny100_lite0_pca256.npz"
    path = data_folder() / "features" / name
    if quick or not path.is_file():
        data = digits()
        assert data.labels is not None
        return data.X.astype(np.float32), data.labels.astype(np.int64)
    with np.load(path) as file:
        return file["X"].astype(np.float32), file["y"].astype(np.int64)


def turned(X: Array, d: int, rng: np.random.RandomState) -> Array:
    """Features in d dimensions: a random part of a rotation, or with noise beside them."""
    if d <= X.shape[1]:
        rotation, _ = np.linalg.qr(rng.standard_normal((X.shape[1], d)))
        return np.asarray(X @ rotation, dtype=np.float32)
    noise = 0.1 * X.std() * rng.standard_normal((len(X), d - X.shape[1]))
    return np.hstack([X, noise]).astype(np.float32)


def draw(y: Labels, n: int, rng: np.random.RandomState) -> tuple[Labels, Labels, Labels]:
    """Rows of a pool of about n pictures, rows of queries, and the hidden categories."""
    known, counts = np.unique(y, return_counts=True)
    n_categories = max(N_CATEGORIES, -(-n // (int(counts.min()) - QUERIES)))
    chosen = rng.permutation(known)[: min(n_categories, len(known))]
    pool, queries = [], []
    for category in chosen:
        rows = rng.permutation(np.flatnonzero(y == category))
        count = min(max(2, n // len(chosen)), len(rows) - QUERIES)
        pool.append(rows[:count])
        queries.append(rows[count : count + QUERIES])
    hidden = chosen[: max(1, len(chosen) // SHARE_HIDDEN)]
    return np.concatenate(pool), np.concatenate(queries), hidden


def labels_of(kind: str, y: Labels, is_hidden: NDArray[np.bool_], seed: int) -> Labels | None:
    """Labels of a pool, −1 for none."""
    if kind == "no labels":
        return None
    share = {"a tenth": 0.1, "half": 0.5}.get(kind, 1.0)
    is_known = ~is_hidden & (np.random.RandomState(seed).rand(len(y)) < share)
    return np.where(is_known, y, -1)


def precision(hasher: Hasher, database: Array, queries: Array, same: NDArray[np.bool_]) -> Array:
    """Precision of the first ten for each query, by bits; ties in random order."""
    signs = [2.0 * hasher.transform(X) - 1.0 for X in (queries, database)]
    near = signs[0] @ signs[1].T + 0.5 * np.random.RandomState(0).rand(len(queries), len(database))
    first = np.argsort(-near, axis=1)[:, : min(FIRST, len(database))]
    found = np.take_along_axis(same, first, axis=1).mean(axis=1)
    return np.asarray(found / np.clip(same.sum(axis=1) / first.shape[1], 1e-9, 1), np.float32)


def compare(
    X: Array, y: Labels, n: int, kind: str, seed: int, effort: str
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Precisions of MTH and of ITQ, each for hidden and for seen queries."""
    rng = np.random.RandomState(seed)
    rows, asked, hidden = draw(y, n, rng)
    database, labels = X[rows], y[rows]
    if kind == "constant":
        X = X.copy()
        X[:, :: max(2, X.shape[1] // 8)] = 1.0
        database = X[rows]
    if kind == "twice":
        database, labels = np.repeat(database, 2, axis=0), np.repeat(labels, 2)
    is_hidden = np.isin(labels, hidden)
    learned = ~is_hidden if kind == "inductive" else np.ones(len(labels), dtype=bool)
    own = labels_of(kind, labels, is_hidden, seed)
    own = own if own is None else own[learned]
    same, hard = y[asked][:, None] == labels, np.isin(y[asked], hidden)
    n_bits = min(64, X.shape[1])
    found = []
    for hasher, targets in (
        (MTH(n_bits, effort=effort, random_state=seed), own),
        (ITQ(n_bits, random_state=seed), None),
    ):
        hasher.fit(database[learned], targets)
        scores = precision(hasher, database, X[asked], same)
        found.append((float(scores[hard].mean()), float(scores[~hard].mean())))
    return found[0], found[1]


def sweep(given: argparse.Namespace) -> Iterator[tuple[str, float]]:
    """Each pool with the lower of its two ratios."""
    for n, d in product(given.samples, given.features):
        X, y = load(given.quick, n)
        turned_X = turned(X, d, np.random.RandomState(d))
        for kind in KINDS:
            pairs = [
                compare(turned_X, y, n, kind, seed, given.effort) for seed in range(given.draws)
            ]
            own, rival = np.mean(pairs, axis=0)
            ratios = own / np.maximum(rival, 1e-9)
            print(
                f"{n:>6} {d:>5} {kind:<10} {own[0]:.3f} {rival[0]:.3f} {ratios[0]:.2f}   "
                f"{own[1]:.3f} {rival[1]:.3f} {ratios[1]:.2f}",
                flush=True,
            )
            yield f"{n} samples of {d} features, {kind}", float(ratios.min())


def main() -> None:
    """Print a line for each pool, and the worst of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--samples", type=int, nargs="+", default=SAMPLES)
    parser.add_argument("--features", type=int, nargs="+", default=[16, 64, 256, 1280, 2048])
    parser.add_argument("--effort", choices=["best", "fast"], default="best")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    given = parser.parse_args()
    if given.quick:
        given.draws, given.samples, given.features, given.effort = 2, [30, 100], [16, 40], "fast"
    print("                        hidden: MTH, ITQ, ratio   seen: MTH, ITQ, ratio")
    where, worst = min(sweep(given), key=lambda pool: pool[1])
    print(f"lowest ratio: {worst:.2f} ({where})")


if __name__ == "__main__":
    main()
