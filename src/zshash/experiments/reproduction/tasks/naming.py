"""Search by the name of a category that nobody labelled, with no picture at all."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zshash import codes, metrics
from zshash.datasets import DataError, Dataset, Split
from zshash.experiments.protocol import fit_setup
from zshash.experiments.reproduction.data import Sources
from zshash.experiments.reproduction.tasks.base import Record, chance
from zshash.experiments.reproduction.tasks.retrieval import ZeroShot
from zshash.experiments.training import label_vectors

__all__ = ["Naming"]

Scores = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Naming(ZeroShot):
    """Rank all pictures of the database by the name of each unseen category."""

    kind: ClassVar[str] = "naming"

    def rehearse(self, sources: Sources) -> str:
        """As always; and there must be names to search by."""
        if not self.has_vectors:
            raise DataError("searching by name needs label sources that know what names mean")
        return super().rehearse(sources)

    def run(self, seed: int, sources: Sources) -> Record:
        """MAP of the unseen names, and how often the right one of them is told."""
        dataset = self.dataset(sources)
        split = self.protocol(dataset).split(dataset, seed)
        hasher, seconds = fit_setup(dataset, self.setup(), split, seed)
        assert dataset.labels is not None
        found = dataset.labels[split.database]
        relevance = metrics.same_label(split.unseen, found)
        record: Record = {"seed": seed}
        for way, scores in self._rankings(dataset, hasher, split).items():
            relevant, total = metrics.scored(scores, relevance)
            record[f"map_{way}"] = metrics.mean_average_precision(relevant, total, self.k)
            record[f"accuracy_{way}"] = accuracy(scores, split.unseen, found)
        return record | {
            "chance": chance(relevant, total, self.k),
            "unseen": [dataset.names[number] for number in split.unseen],
            "fit_seconds": seconds,
        }

    def _rankings(self, dataset: Dataset, hasher: Any, split: Split) -> dict[str, Scores]:
        """Scores (names, database) in three ways."""
        labels = self.setup().labels
        seen = label_vectors(dataset, split.seen, labels)
        names = label_vectors(dataset, split.unseen, labels, split.seen)
        packed = hasher.encode(dataset.X[split.database])
        bits = codes.unpack(packed, self.bits).astype(np.float64) * 2 - 1
        meaning = hasher.directions(np.eye(names.shape[1])).T  # A, (bits, p)
        centred = hasher.directions(names, seen.mean(axis=0))
        lengths = np.linalg.norm(bits @ meaning, axis=1)
        return {
            "centred": centred @ bits.T,
            "cosine": hasher.directions(names) @ bits.T / np.maximum(lengths, 1e-12),
            "hamming": np.where(centred > 0, 1.0, -1.0) @ bits.T,
        }


def accuracy(scores: Scores, names: NDArray[Any], found: NDArray[Any]) -> float:
    """How often the name with the highest score is that of an unseen picture.

    >>> scores = np.array([[2.0, 1.0, 9.0], [1.0, 3.0, 0.0]])
    >>> accuracy(scores, names=np.array([5, 7]), found=np.array([5, 5, 1]))
    0.5
    """
    unseen = np.isin(found, names)
    return float((names[scores[:, unseen].argmax(axis=0)] == found[unseen]).mean())
