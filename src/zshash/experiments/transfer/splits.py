"""The data of the study, and which categories are hidden together."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from zshash.datasets import DataError, Dataset, digits, load_features
from zshash.experiments.protocol import Protocol
from zshash.experiments.standard import STANDARD, data_folder

__all__ = ["DEVELOPMENT", "FRESH", "SOURCES", "Source", "label_path"]

N_SPLITS = 10
DEVELOPMENT, FRESH = range(5), range(5, N_SPLITS)  # looked at while MTH was made, and not
SHUFFLE = 2016  # seed of the order in which categories are hidden


@dataclass(frozen=True)
class Source:
    """A data set, ten splits of it, and how they are scored.

    Attributes
    ----------
    name, title : str
        In records, and for a reader.
    n_categories, n_hidden : int
        Of all, so many are hidden at a time, and each of them once in the ten splits.
    n_queries, k : int
        Queries of hidden categories, and ranks that MAP looks at.
    labels : tuple of str
        Label sources of a method that learns from the names' meaning.
    knows_related : bool
        Whether categories that WordNet finds related are scored, too.
    """

    name: str
    title: str
    n_categories: int
    n_hidden: int
    n_queries: int
    k: int
    labels: tuple[str, ...]
    knows_related: bool

    def hidden(self, split: int) -> list[int]:
        """The categories that a split hides, by their numbers.

        >>> SOURCES["cifar10"].hidden(0)
        [1]
        """
        order = np.random.RandomState(SHUFFLE).permutation(self.n_categories)
        return sorted(order.reshape(N_SPLITS, self.n_hidden)[split].tolist())

    def protocol(self, split: int, n_train: int | None) -> Protocol:
        """What is hidden and scored; None trains on all that is not hidden."""
        return Protocol(self.hidden(split), n_train, self.n_queries, self.k)

    def load(self) -> Dataset:
        """The samples."""
        return _load(self.name)


SOURCES = {
    source.name: source
    for source in (
        Source("cifar10", "CIFAR-10", 10, 1, 500, 5000, (STANDARD["cifar10"].labels,), False),
        Source("tiny100", "Tiny-ImageNet-100", 100, 10, 500, 1000, ("wordnet",), True),
        Source("digits", "digits", 10, 1, 50, 100, ("wordnet",), True),  # for a try
    )
}


@lru_cache(maxsize=2)
def _load(name: str) -> Dataset:
    if name == "digits":
        return digits()
    path = data_folder() / STANDARD[name].features
    if not path.is_file():
        raise DataError(f"{name} needs {path}: set ZSHASH_DATA to the folder that holds it")
    return load_features(path)


def label_path(label: str) -> str:
    """A label source as `open_source` takes it: a file of the data folder, or a name."""
    path = data_folder() / label
    return str(path) if path.is_file() else label
