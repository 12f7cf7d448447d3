"""Choose the width of ZSH's random start on seen categories that are held out.

    python benchmarks/init_scale.py [--quick]

CIFAR-10 without *truck*, the category that results are reported on: each of the nine others is
hidden in turn, ZSH learns from 10,000 pictures of the remaining eight, and 500 hidden pictures
query the rest. Needs the data folder (``ZSHASH_DATA``, default ``../shared/data``); ``--quick``
uses digits instead.
"""

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np

from zshash import ZSH
from zshash.datasets import Dataset, digits, load_features
from zshash.evaluation import Protocol, Setup, run, summarize

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ZSHASH_DATA", ROOT / ".." / "shared" / "data"))
SCALES = (18.0, 25.0, 30.0, 35.0, 40.0, 45.0, 57.0, 80.0)


def seen_of_cifar10() -> Dataset:
    """CIFAR-10's features without *truck*, which is number 9."""
    whole = load_features(DATA / "features" / "cifar10_lite0_pca256.npz")
    assert whole.labels is not None
    keep = np.flatnonzero(whole.labels != 9)
    return Dataset(whole.X[keep], whole.labels[keep], whole.names[:9])


def compare(
    dataset: Dataset, labels: tuple[str, ...], bits: int, repeats: int, **options: Any
) -> None:
    """Print MAP and precision of each scale, averaged over hidden categories and seeds."""
    n_train, n_queries = options.pop("n_train"), options.pop("n_queries")
    setups = [
        Setup(f"{scale:g}", ZSH(bits, init_scale=scale, normalize=True, **options), labels)
        for scale in SCALES
    ]
    records = []
    for hidden in range(len(dataset.names)):
        protocol = Protocol(unseen=[hidden], n_train=n_train, n_queries=n_queries)
        seeds = range(100 * hidden, 100 * hidden + repeats)
        records += list(run(dataset, setups, protocol, seeds))
    print(f"\n{bits} bits  init_scale  MAP@5000  precision, radius 2")
    for row in summarize(records):
        print(f"{row['name']:>19}  {row['map']:>8.3f}  {row['precision']:>8.3f}")


def main() -> None:
    """Compare at 32, 64 and 128 bits."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="digits, to see that it runs")
    if parser.parse_args().quick:
        compare(
            digits(),
            ("onehot",),
            16,
            repeats=1,
            n_train=400,
            n_queries=50,
            n_anchors=50,
            max_iter=2,
        )
        return
    words = (str(DATA / "words" / "huang2012_50d.txt"),)
    for bits in (32, 64, 128):
        compare(
            seen_of_cifar10(), words, bits, repeats=3, n_train=10_000, n_queries=500, graph=None
        )


if __name__ == "__main__":
    main()
