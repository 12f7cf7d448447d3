"""Tasks that search with pictures of categories that nobody labelled."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zshash import metrics
from zshash.datasets import Dataset, Split
from zshash.evaluation.protocol import (
    Codes,
    Protocol,
    checksum,
    encode_split,
    fit_setup,
    score_codes,
)
from zshash.evaluation.tasks import Record
from zshash.learning.categories import find_categories
from zshash.learning.targets import WORDNET, called_by, label_vectors
from zshash.semantics import WordNet
from zshash.studies.data import Sources
from zshash.studies.tasks.base import MethodTask

__all__ = ["Retrieval", "ZeroShot", "related_histograms", "relation"]


@dataclass(frozen=True, kw_only=True)
class ZeroShot(MethodTask):
    """A task that hides categories.

    Attributes
    ----------
    unseen : tuple of str, or int
        Categories to hide, or the number of categories that each seed draws.
    n_queries : int or None
        Number of queries, all of unseen categories.
    k, radius : int
        MAP counts the first `k` ranks, precision the neighbours within `radius`.
    """

    unseen: tuple[str, ...] | int
    n_queries: int | None = None
    k: int = 5000
    radius: int = 2

    def protocol(self, dataset: Dataset) -> Protocol:
        """The protocol of the task, with the numbers of the hidden categories."""
        unseen: Any = self.unseen
        if not isinstance(unseen, int):
            unseen = find_categories(dataset, unseen)
        return Protocol(unseen, self.n_train, self.n_queries, self.k, self.radius)

    def rehearse(self, sources: Sources) -> str:
        """Draw a split and look up the labels; returns the checksum."""
        dataset = self.dataset(sources)
        split = self.protocol(dataset).split(dataset, 0)
        self.check_targets(dataset, split.train, split.seen)
        return checksum(dataset, self.setup().labels)


@dataclass(frozen=True, kw_only=True)
class Retrieval(ZeroShot):
    """Learn from seen categories, search with pictures of the unseen ones, and score the results.

    Attributes
    ----------
    related_hops : int or None
        Also score related categories: other categories within this many hops in WordNet.
    related_k : int or None
        Number of ranks of the mean precision of related categories.
    """

    related_hops: int | None = None
    related_k: int | None = None

    kind: ClassVar[str] = "retrieval"

    def run(self, seed: int, sources: Sources) -> Record:
        """MAP and precision of one seed's split."""
        dataset = self.dataset(sources)
        protocol = self.protocol(dataset)
        split = protocol.split(dataset, seed)
        hasher, seconds = fit_setup(dataset, self.setup(), split, seed)
        codes = encode_split(dataset, hasher, split)
        scores = score_codes(dataset, codes, split, protocol)
        record = {"seed": seed, "map": scores["map"], "precision": scores["precision"]}
        if self.related_hops is not None:
            record |= self._score_related(dataset, codes, split, self.related_hops)
        if self.has_vectors:
            record["similarity"] = mean_similarity(dataset, split, self.setup().labels)
        return record | {
            "unseen": [dataset.names[number] for number in split.unseen],
            "n_categories": len(split.seen) + len(split.unseen),
            "n_train": len(split.train),
            "n_queries": len(split.queries),
            "n_database": len(split.database),
            "fit_seconds": seconds,
        }

    def _score_related(
        self, dataset: Dataset, codes: tuple[Codes, Codes], split: Split, hops: int
    ) -> Record:
        relevant, total = related_histograms(dataset, codes, split, hops)
        return {
            "map_related": metrics.mean_precision(relevant, total, self.related_k or self.k),
            "precision_related": metrics.precision_within(relevant, total, self.radius),
        }


def related_histograms(
    dataset: Dataset, codes: tuple[Codes, Codes], split: Split, hops: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Histograms, as of `metrics.histograms`, with related categories as the relevant ones."""
    assert dataset.labels is not None
    related = metrics.related_labels(
        dataset.labels[split.queries],
        dataset.labels[split.database],
        relation(called_by(dataset, WORDNET), hops),
    )
    return metrics.histograms(*codes, related)


@lru_cache(maxsize=4)
def relation(names: tuple[str, ...], hops: int) -> NDArray[np.bool_]:
    """Matrix of related categories: different ones, at most `hops` apart in WordNet.

    Paths go up to a common ancestor and down again.

    >>> relation(("cat", "dog", "truck"), 5).astype(int)
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 0]])
    """
    near = WordNet().hops_matrix(names) <= hops
    return np.asarray(near & ~np.eye(len(names), dtype=np.bool_))


def mean_similarity(dataset: Dataset, split: Split, labels: tuple[str, ...]) -> float:
    """Average cosine between the vectors of unseen and seen names."""
    both = np.concatenate([split.unseen, split.seen])
    vectors = label_vectors(dataset, both, labels).astype(np.float64)
    unseen, seen = vectors[: len(split.unseen)], vectors[len(split.unseen) :]
    return float((unseen @ seen.T).mean())
