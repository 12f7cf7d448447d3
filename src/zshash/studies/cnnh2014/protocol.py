"""The protocol of the paper: queries and training pictures of each category."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from zshash.datasets import DataError

__all__ = ["QUERIES", "TRAINED", "Goals", "PixelSplit", "split_pictures"]

QUERIES, TRAINED = 100, 500  # pictures of each category


class Goals(NamedTuple):
    """What a network learns of training pictures: signs (n, bits), and shares of classes (n, c)."""

    signs: NDArray[np.float32]
    shares: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class PixelSplit:
    """Row numbers of pictures, ascending; training pictures are in the database."""

    queries: NDArray[np.int64]
    train: NDArray[np.int64]
    database: NDArray[np.int64]


def split_pictures(
    labels: NDArray[np.int64], n_queries: int = QUERIES, n_train: int = TRAINED, seed: int = 0
) -> PixelSplit:
    """Draw queries and training pictures of each category; the database is all but the queries.

    >>> split = split_pictures(np.arange(40) % 4, n_queries=2, n_train=5)
    >>> len(split.queries), len(split.train), len(split.database)
    (8, 20, 32)
    """
    rng = check_random_state(seed)
    queries, train = [], []
    for category, count in zip(*np.unique(labels, return_counts=True), strict=True):
        if count < n_queries + n_train:
            raise DataError(
                f"category {category} has {count} pictures, and the protocol takes "
                f"{n_queries + n_train} of each"
            )
        drawn = rng.permutation(np.flatnonzero(labels == category))
        queries.append(drawn[:n_queries])
        train.append(drawn[n_queries : n_queries + n_train])
    chosen = np.sort(np.concatenate(queries))
    database = np.setdiff1d(np.arange(len(labels)), chosen)
    return PixelSplit(chosen, np.sort(np.concatenate(train)), database)
