"""What MTH learns from pictures that nobody labelled, against the float features and rivals.

    python benchmarks/unlabelled.py [tiny100] [cifar10] [folders] [--seeds N] [--bits N] [--quick]

tiny100 and cifar10: a pool of all pictures but the queries, 10,000 of them labelled, none of the
hidden categories (ten of 100, or one of ten). MAP for queries of hidden categories in the whole
pool, among hidden categories alone, and for queries of seen categories in the whole pool; ITQ
learns from the same pool, ZSH from its labelled pictures. folders: 240 and 768 pictures of twelve
categories with all 1,280 features and no label, statistics made from the other 88 categories;
precision of the first ten. Features lie in the folder that ZSHASH_DATA names; a quick run takes
digits.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zshash import ITQ, MTH, ZSH, metrics
from zshash.datasets import digits, load_features
from zshash.evaluation.standard import data_folder
from zshash.hashing.hasher import Hasher
from zshash.hashing.steps.rows import unit_rows
from zshash.hashing.steps.statistics import Statistics

Rows = NDArray[np.int64]
Features = NDArray[np.float32]
CIFAR10_HIDDEN = (9, 3, 0, 8, 4)  # truck, cat, airplane, ship, deer
KINDS = ("hidden", "alone", "seen")


@dataclass(frozen=True)
class Pool:
    """Features, labels and the parts of one split."""

    X: Features
    y: Rows
    hidden: Rows  # categories
    queries: dict[str, Rows]  # hidden and seen
    pool: Rows
    labelled: Rows
    k: int

    def parts(self) -> Iterator[tuple[str, Rows, Rows]]:
        """Each kind of queries with its database."""
        own = np.isin(self.y[self.pool], self.hidden)
        yield "hidden", self.queries["hidden"], self.pool
        yield "alone", self.queries["hidden"], self.pool[own]
        yield "seen", self.queries["seen"], self.pool


def split(
    X: Features, y: Rows, hidden: Rows, n_labelled: int, n_queries: int, k: int, seed: int
) -> Pool:
    """Queries of both kinds, and the pool of everything else."""
    rng = np.random.RandomState(seed)
    is_hidden = np.isin(y, hidden)
    parts = {"hidden": np.flatnonzero(is_hidden), "seen": np.flatnonzero(~is_hidden)}
    queries = {kind: rng.permutation(rows)[:n_queries] for kind, rows in parts.items()}
    pool = np.setdiff1d(np.arange(len(y)), np.concatenate(list(queries.values())))
    labelled = np.sort(rng.permutation(pool[~is_hidden[pool]])[:n_labelled])
    return Pool(X, y, hidden, queries, pool, labelled, k)


def score(own: Pool, hasher: Hasher) -> dict[str, tuple[float, float]]:
    """MAP of each kind of queries, by bits and by real values."""
    found = {}
    for kind, queries, database in own.parts():
        codes = hasher.encode(own.X[database])
        same = metrics.same_label(own.y[queries], own.y[database])
        by_bits = metrics.evaluate(hasher.encode(own.X[queries]), codes, same, k=own.k)["map"]
        real = metrics.evaluate_real(hasher.project(own.X[queries]), codes, same, k=own.k)
        found[kind] = by_bits, real["map_real"]
    return found


def score_floats(own: Pool) -> dict[str, tuple[float, float]]:
    """MAP of each kind of queries by the cosine of the features."""
    found = {}
    for kind, queries, database in own.parts():
        values = []
        for query in queries:
            near = own.X[database] @ own.X[query]
            first = np.argsort(-near, kind="stable")[: own.k]
            hits = own.y[database][first] == own.y[query]
            at = np.cumsum(hits) / np.arange(1, len(hits) + 1)
            values.append((at * hits).sum() / max(hits.sum(), 1))
        found[kind] = float(np.mean(values)), float("nan")
    return found


def compare(
    own: Pool, n_bits: int, seed: int, effort: str
) -> dict[str, dict[str, tuple[float, float]]]:
    """Scores of MTH and its rivals on one split."""
    labels = np.full(len(own.y), -1)
    labels[own.labelled] = own.y[own.labelled]
    given = {"n_bits": n_bits, "random_state": seed}
    fits: dict[str, Callable[[], Hasher]] = {
        "ITQ": lambda: ITQ(**given).fit(own.X[own.pool]),
        "ZSH, labelled alone": lambda: ZSH(**given).fit(own.X[own.labelled], own.y[own.labelled]),
        "MTH": lambda: MTH(effort=effort, **given).fit(own.X[own.pool], labels[own.pool]),
        "MTH, no labels": lambda: MTH(effort=effort, **given).fit(own.X[own.pool]),
    }
    found = {"float cosine": score_floats(own)}
    for name, fit in fits.items():
        start = time.perf_counter()
        hasher = fit()
        seconds = time.perf_counter() - start
        found[name] = score(own, hasher)
        print(f"  {name}: {seconds:.1f} s {show(found[name])}", flush=True)
    return found


def show(scores: dict[str, tuple[float, float]]) -> str:
    """Scores as text: by bits, and by real values in brackets."""
    return "  ".join(f"{kind} {own[0]:.3f} ({own[1]:.3f})" for kind, own in scores.items())


def run_pools(name: str, given: argparse.Namespace) -> None:
    """Print means and standard errors over the splits of a data set."""
    found = []
    for seed in range(given.seeds):
        own = draw_pool(name, seed, given.quick)
        names = ", ".join(map(str, own.hidden))
        print(f"{name}, seed {seed}, hidden: {names}", flush=True)
        found.append(compare(own, given.bits, seed, given.effort))
    print(f"\n{name}, {given.bits} bits, mean ± standard error over {given.seeds} splits:")
    for method in found[0]:
        columns = []
        for kind in KINDS:
            values = np.array([each[method][kind] for each in found])
            means = values.mean(axis=0)
            error = values[:, 0].std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            columns.append(f"{kind} {means[0]:.3f} ± {error:.3f} (real-valued {means[1]:.3f})")
        print(f"  {method:<20} {'  '.join(columns)}")


def draw_pool(name: str, seed: int, quick: bool) -> Pool:
    """The split of a seed."""
    if quick:
        data = digits()
        assert data.labels is not None
        X, y = data.X, data.labels.astype(np.int64)
        return split(unit_rows(X), y, np.array([seed]), 300, 50, 100, seed)
    data = load_features(data_folder() / "features" / f"{name}_lite0_pca256.npz")
    assert data.labels is not None
    X, y = unit_rows(data.X.astype(np.float32)), data.labels.astype(np.int64)
    if name == "cifar10":
        hidden = np.array([CIFAR10_HIDDEN[seed % len(CIFAR10_HIDDEN)]])
        return split(X, y, hidden, 10_000, 1000, 5000, seed)
    drawn = np.sort(np.random.RandomState(1000 + seed).permutation(100)[:10])
    return split(X, y, drawn, 10_000, 500, 1000, seed)


def run_folders(given: argparse.Namespace) -> None:
    """Print precisions of the first ten in small folders without labels."""
    if given.quick:
        data = digits()
        assert data.labels is not None
        X, y = unit_rows(data.X.astype(np.float32)), data.labels.astype(np.int64)
        sizes, n_categories = [8], 5
    else:
        with np.load(data_folder() / "features" / "tiny100_lite0_1280.npz") as file:
            X, y = unit_rows(file["X"].astype(np.float32)), file["y"].astype(np.int64)
        sizes, n_categories = [20, 64], 12
    for each in sizes:
        rows = [folder(X, y, each, n_categories, seed, given) for seed in range(given.folders)]
        means, gains = np.mean(rows, axis=0), np.array(rows) / np.array(rows)[:, :1] - 1
        errors = gains.std(axis=0, ddof=1) / np.sqrt(len(rows))
        print(f"\nfolders of {each * n_categories} pictures ({given.folders} of them), no label:")
        for name, mean, gain, error in zip(
            ("float cosine", "ITQ", "ITQ, real-valued", "MTH", "MTH, real-valued"),
            means,
            gains.mean(axis=0),
            errors,
            strict=True,
        ):
            print(f"  {name:<18} {mean:.3f}  {100 * gain:+.1f} ± {100 * error:.1f} %")


def folder(
    X: Features, y: Rows, each: int, n_categories: int, seed: int, given: argparse.Namespace
) -> list[float]:
    """Precision of the first ten by floats, ITQ and MTH, in one folder."""
    rng = np.random.RandomState(seed)
    chosen = rng.permutation(np.unique(y))[:n_categories]
    members = [rng.permutation(np.flatnonzero(y == category)) for category in chosen]
    database = np.concatenate([rows[:each] for rows in members])
    queries = np.concatenate([rows[each : each + 15] for rows in members])
    same = y[queries][:, None] == y[database]
    prior = Statistics.of(X[~np.isin(y, chosen)])
    found = [first_ten(X[queries] @ X[database].T, same)]
    for hasher in (
        ITQ(given.bits, random_state=seed),
        MTH(given.bits, effort=given.effort, prior=prior, random_state=seed),
    ):
        hasher.fit(X[database])
        values, signs = hasher.project(X[queries]), 2.0 * hasher.transform(X[database]) - 1
        ties = 0.5 * rng.rand(*same.shape)
        found.append(first_ten(np.where(values >= 0, 1.0, -1.0) @ signs.T + ties, same))
        found.append(first_ten(values @ signs.T, same))
    return found


def first_ten(near: NDArray[np.floating], same: NDArray[np.bool_]) -> float:
    """Precision of the first ten."""
    first = np.argsort(-near, axis=1)[:, :10]
    return float(np.take_along_axis(same, first, axis=1).mean())


def main() -> None:
    """Run what is named, or everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="*", default=["tiny100", "cifar10", "folders"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folders", type=int, default=20, help="folders of each size")
    parser.add_argument("--bits", type=int, default=64)
    parser.add_argument("--effort", choices=["best", "fast"], default="best")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    given = parser.parse_args()
    if given.quick:
        given.what, given.seeds, given.folders, given.effort = ["tiny100", "folders"], 2, 2, "fast"
        given.bits = 32
    for name in given.what:
        if name == "folders":
            run_folders(given)
        else:
            run_pools(name, given)


if __name__ == "__main__":
    main()
