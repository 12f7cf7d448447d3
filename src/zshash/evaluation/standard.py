"""The standard protocols, on feature files of the data folder."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zshash.datasets import DataError, Dataset, load_features
from zshash.images import PictureReader

__all__ = ["SETTINGS", "STANDARD", "Standard", "data_folder", "label_paths", "load_standard"]


@dataclass(frozen=True)
class Standard:
    """A data set, and how it is split and scored.

    Attributes
    ----------
    features, labels : str
        Files in the data folder; `labels` may also be the name of a label source.
    unseen : tuple of names, int or None
        Categories to hide, the number of categories that each seed draws, or None to hide none.
    n_train, n_queries, k, n_seen_queries : int
        As in `Protocol`.
    pictures : str
        Known data set whose pictures the features are made from where their file is absent; "" for
        none.
    """

    features: str
    labels: str
    unseen: tuple[str, ...] | int | None
    n_train: int
    n_queries: int
    k: int
    n_seen_queries: int = 0
    pictures: str = ""


CIFAR10, HUANG = "features/cifar10_lite0_pca256.npz", "words/huang2012_50d.txt"
STANDARD = {
    "cifar10": Standard(
        CIFAR10, HUANG, ("truck",), n_train=10_000, n_queries=1000, k=5000, n_seen_queries=1000
    ),
    "cifar10-seen": Standard(CIFAR10, HUANG, None, n_train=10_000, n_queries=1000, k=5000),
    "tiny100": Standard(
        "features/tiny100_lite0_pca256.npz",
        "wordnet",
        10,
        n_train=10_000,
        n_queries=500,
        k=1000,
        n_seen_queries=500,
    ),
    # A world far from photographs: 2,242 drawings of 40 categories, 15 to 150 each. A fifth of the
    # categories is hidden, which leaves 1,000 drawings to train on whichever they are; K is about
    # twice the drawings of a category, as in tiny100. All this was fixed before any score.
    "clipart": Standard(
        "features/clipart_lite0_1280.npz",
        "wordnet",
        8,
        n_train=1000,
        n_queries=100,
        k=100,
        n_seen_queries=100,
        pictures="clipart",
    ),
}
# Parameters of the paper's comparison that differ from the defaults of a method's authors.
SETTINGS: Mapping[str, dict[str, Any]] = {"KSH": {"n_anchors": 1000}}


def data_folder() -> Path:
    """The data folder: the value of ``ZSHASH_DATA``, or ``../shared/data``."""
    return Path(os.environ.get("ZSHASH_DATA") or "../shared/data")


def load_standard(name: str) -> Dataset:
    """Features and labels of a standard protocol.

    Raises
    ------
    DataError
        If its file is not in the data folder, and it can not be made from pictures.
    """
    path = data_folder() / STANDARD[name].features
    if path.is_file():
        return load_features(path)
    needs = f"{name} needs {path}: set ZSHASH_DATA to the folder that holds it"
    if not STANDARD[name].pictures:
        raise DataError(needs)
    try:
        return PictureReader(progress=True).read(STANDARD[name].pictures)
    except DataError as error:
        raise DataError(f"{needs}; or have its pictures ({error})") from error


def label_paths(labels: Sequence[str]) -> tuple[str, ...]:
    """Label sources, with the full path of each that is a file of the data folder."""
    inside = [data_folder() / spec for spec in labels]
    return tuple(
        str(path) if path.is_file() else spec for path, spec in zip(inside, labels, strict=True)
    )
