"""Write the statistics of EfficientNet-Lite0's features that come with the package.

    python tools/build_prior.py CIFAR10 CLIPART TINY

CIFAR10 is a folder that holds CIFAR-10 as it is distributed, CLIPART the folder of Debian's package
openclipart-png (/usr/share/openclipart/png), whose pictures are in the public domain, and TINY a
file of features of Tiny-ImageNet (X, float16, 1,280 features). Only means, deviations and
correlations over all pictures together are kept; no picture can be made out in them.
"""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import Pictures, read_cifar
from zshash.hashing.steps.rows import unit_rows
from zshash.hashing.steps.statistics import FOLDER, Statistics
from zshash.images import PictureReader

N_CIFAR, N_CLIPART = 4000, 3000


def some(pictures: Pictures, n: int) -> Pictures:
    """Pictures drawn at random, always the same ones."""
    return pictures.select(np.sort(np.random.RandomState(0).permutation(len(pictures))[:n]))


def main() -> None:
    """Extract features, and write their statistics into the package."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cifar10", type=Path)
    parser.add_argument("clipart", type=Path)
    parser.add_argument("tiny", type=Path)
    given = parser.parse_args()
    reader = PictureReader(extractor="efficientnet-lite0", progress=True)
    cifar = some(read_cifar(given.cifar10, which="cifar10"), N_CIFAR)
    clipart = some(Pictures(tuple(sorted(given.clipart.rglob("*.png")))), N_CLIPART)
    parts: list[NDArray[np.float32]] = [reader.features(part).X for part in (cifar, clipart)]
    with np.load(given.tiny) as file:
        parts.append(file["X"].astype(np.float32))
    counts = [len(part) for part in parts]
    about = (
        f"{counts[0]} pictures of CIFAR-10, {counts[1]} of openclipart and {counts[2]} of "
        "Tiny-ImageNet (100 categories)"
    )
    X = np.concatenate([unit_rows(part) for part in parts])
    path = FOLDER / "efficientnet-lite0.safetensors"
    Statistics.of(X, reader.facts(), about).save(path)
    print(f"{path}: {about}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
