"""Retrieved pictures to look at."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zshash import metrics
from zshash.datasets import DataError, Dataset, Pictures
from zshash.experiments.protocol import encode_split, fit_setup
from zshash.experiments.reproduction.data import Sources, open_pictures
from zshash.experiments.reproduction.tasks.base import Record
from zshash.experiments.reproduction.tasks.retrieval import ZeroShot
from zshash.index import HammingIndex

__all__ = ["Exemplars"]


@dataclass(frozen=True, kw_only=True)
class Exemplars(ZeroShot):
    """The nearest pictures of a few queries, and the share of right ones over all queries.

    Attributes
    ----------
    pictures : str
        The pictures that the features of `data` were made of, in the same order.
    n_shown : int
        Queries to show.
    """

    pictures: str
    n_shown: int = 3

    kind: ClassVar[str] = "exemplars"

    def rehearse(self, sources: Sources) -> str:
        """As always; and the pictures must be there and belong to the features."""
        pictures = open_pictures(self.pictures, sources)
        if not belongs(pictures, self.dataset(sources)):
            raise DataError(f"{self.pictures}: not the pictures that {self.data} was made of")
        return super().rehearse(sources)

    def run(self, seed: int, sources: Sources) -> Record:
        """Rows of the first `k` neighbours of each query that is shown."""
        dataset = self.dataset(sources)
        split = self.protocol(dataset).split(dataset, seed)
        hasher, seconds = fit_setup(dataset, self.setup(), split, seed)
        codes = encode_split(dataset, hasher, split)
        index = HammingIndex(self.bits)
        index.add(codes[1], split.database)
        shown = np.random.RandomState(seed).permutation(len(split.queries))[: self.n_shown]
        queries = split.queries[shown]
        distances, found = index.search(codes[0][shown], k=self.k)
        assert dataset.labels is not None
        relevance = metrics.same_label(
            dataset.labels[split.queries], dataset.labels[split.database]
        )
        return {
            "seed": seed,
            "precision_at": metrics.precision_at(*metrics.histograms(*codes, relevance), self.k),
            "queries": queries.tolist(),
            "found": found.tolist(),
            "distances": distances.tolist(),
            "right": (dataset.labels[found] == dataset.labels[queries, None]).tolist(),
            "names": [dataset.names[label] for label in dataset.labels[queries]],
            "found_names": [[dataset.names[n] for n in row] for row in dataset.labels[found]],
            "fit_seconds": seconds,
        }


def belongs(pictures: Pictures, dataset: Dataset) -> bool:
    """Whether pictures and features have the same labels in the same order."""
    if pictures.labels is None or dataset.labels is None or pictures.names != dataset.names:
        return False
    return np.array_equal(pictures.labels, dataset.labels)
