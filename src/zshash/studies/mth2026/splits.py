"""The data of the study, and the categories that each split hides."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from zshash.datasets import Dataset, digits
from zshash.evaluation.protocol import Protocol
from zshash.evaluation.standard import STANDARD, load_standard

__all__ = ["DEVELOPMENT", "FRESH", "SOURCES", "Source"]

N_SPLITS = 10
DEVELOPMENT, FRESH = range(5), range(5, N_SPLITS)  # seen, or not, while MTH was developed
SHUFFLE = 2016  # seed of the order in which categories are hidden


@dataclass(frozen=True)
class Source:
    """A data set, its ten splits, and how they are scored.

    Attributes
    ----------
    name, title : str
        Name in records, and title in tables.
    n_categories, n_hidden : int
        Number of categories, and how many each split hides; each is hidden in one split.
    n_queries, n_seen_queries, k : int
        Number of queries of hidden and of seen categories, and ranks that MAP counts.
    labels : tuple of str
        Label sources for methods that learn from the meanings of names.
    knows_related : bool
        Whether related categories of WordNet are scored, too.
    """

    name: str
    title: str
    n_categories: int
    n_hidden: int
    n_queries: int
    n_seen_queries: int
    k: int
    labels: tuple[str, ...]
    knows_related: bool

    def hidden(self, split: int) -> list[int]:
        """Numbers of the categories that a split hides.

        >>> SOURCES["cifar10"].hidden(0)
        [1]
        """
        order = np.random.RandomState(SHUFFLE).permutation(self.n_categories)
        return sorted(order.reshape(N_SPLITS, self.n_hidden)[split].tolist())

    def protocol(self, split: int, n_train: int | None) -> Protocol:
        """The protocol of a split; None trains on all samples that are not hidden.

        Then no sample of a seen category is left for a query.
        """
        n_seen = 0 if n_train is None else self.n_seen_queries
        return Protocol(self.hidden(split), n_train, self.n_queries, self.k, n_seen_queries=n_seen)

    def load(self) -> Dataset:
        """Features and labels of the data set."""
        return _load(self.name)


SOURCES = {
    source.name: source
    for source in (
        Source("cifar10", "CIFAR-10", 10, 1, 500, 1000, 5000, (STANDARD["cifar10"].labels,), False),
        Source("tiny100", "Tiny-ImageNet-100", 100, 10, 500, 500, 1000, ("wordnet",), True),
        Source("digits", "digits", 10, 1, 50, 50, 100, ("wordnet",), True),  # small version
    )
}


@lru_cache(maxsize=2)
def _load(name: str) -> Dataset:
    return digits() if name == "digits" else load_standard(name)
