"""Write the statistics of a network's features that come with the package.

    python tools/build_prior.py efficientnet-lite0 CIFAR10 CLIPART TINY
    python tools/build_prior.py NETWORK CIFAR10 CLIPART

CIFAR10 is a folder that holds CIFAR-10 as it is distributed, CLIPART the folder of Debian's package
openclipart-png (/usr/share/openclipart/png), whose pictures are in the public domain, and TINY,
where there is one, a file of the same network's features of Tiny-ImageNet (X, float16, 1,280
features). Only means, deviations and correlations over all pictures together are kept; no picture
can be made out in them. Fits use the statistics by themselves once `SHIPPED` names the network.
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
    parser.add_argument("network")
    parser.add_argument("cifar10", type=Path)
    parser.add_argument("clipart", type=Path)
    parser.add_argument("tiny", type=Path, nargs="?")
    given = parser.parse_args()
    reader = PictureReader(extractor=given.network, progress=True)
    cifar = some(read_cifar(given.cifar10, which="cifar10"), N_CIFAR)
    clipart = some(Pictures(tuple(sorted(given.clipart.rglob("*.png")))), N_CLIPART)
    parts: list[NDArray[np.float32]] = [reader.features(part).X for part in (cifar, clipart)]
    about = f"{len(parts[0])} pictures of CIFAR-10 and {len(parts[1])} of openclipart"
    if given.tiny is not None:
        with np.load(given.tiny) as file:
            parts.append(file["X"].astype(np.float32))
        about += f", and {len(parts[2])} of Tiny-ImageNet (100 categories)"
    X = np.concatenate([unit_rows(part) for part in parts])
    path = FOLDER / f"{given.network}.safetensors"
    Statistics.of(X, reader.facts(), about).save(path)
    print(f"{path}: {about}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
