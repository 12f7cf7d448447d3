"""The standard protocols, on feature files of the data folder."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["STANDARD", "Standard", "data_folder"]


@dataclass(frozen=True)
class Standard:
    """A data set and how it is scored.

    Attributes
    ----------
    features, labels : str
        Files in the data folder, or a label source by name.
    unseen : tuple of names, int or None
        Categories to hide, how many to draw anew for each seed, or none.
    """

    features: str
    labels: str
    unseen: tuple[str, ...] | int | None
    n_train: int
    n_queries: int
    k: int


CIFAR10, HUANG = "features/cifar10_lite0_pca256.npz", "words/huang2012_50d.txt"
STANDARD = {
    "cifar10": Standard(CIFAR10, HUANG, ("truck",), n_train=10_000, n_queries=1000, k=5000),
    "cifar10-seen": Standard(CIFAR10, HUANG, None, n_train=10_000, n_queries=1000, k=5000),
    "tiny100": Standard(
        "features/tiny100_lite0_pca256.npz", "wordnet", 10, n_train=10_000, n_queries=500, k=1000
    ),
}
# In the paper's comparison, where it differs from the authors' own default.
SETTINGS: Mapping[str, dict[str, Any]] = {"KSH": {"n_anchors": 1000}}


def data_folder() -> Path:
    """Where the files are: the folder that ``ZSHASH_DATA`` names."""
    return Path(os.environ.get("ZSHASH_DATA") or "../shared/data")
