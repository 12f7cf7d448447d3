"""Learn from one data set, search another one whose pictures have several labels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from zshash import metrics
from zshash.datasets import DataError, Dataset, Split, conventional_split
from zshash.datasets.splits import draw_training
from zshash.experiments.protocol import checksum, encode_split
from zshash.experiments.reproduction.data import (
    Sources,
    label_paths,
    load_mosaics,
    load_training,
)
from zshash.experiments.reproduction.tasks.base import Record, Task, chance
from zshash.experiments.training import fit_timed

__all__ = ["Transfer"]


@dataclass(frozen=True, kw_only=True)
class Transfer(Task):
    """Learn from categories that overlap no tag of the searched data, and search that.

    Attributes
    ----------
    data : str
        Data with several labels each; or pictures with one each, of which mosaics are made.
    tags : tuple of str
        The categories that mosaics are made of.
    n_mosaics : int
        How many mosaics.
    training : str
        Data to learn from.
    pool : int or None
        Read no more than so many samples of it, from which each seed draws its own.
    shared : int
        Tags that two neighbours share at least.
    n_queries, k, radius : int
        As elsewhere.
    """

    training: str
    tags: tuple[str, ...] = ()
    n_mosaics: int = 0
    pool: int | None = None
    shared: int = 2
    n_queries: int = 1000
    k: int = 5000
    radius: int = 2

    kind: ClassVar[str] = "transfer"

    @property
    def searched(self) -> str:
        """The data that is searched, as a person reads it."""
        name = super().searched
        return f"{self.n_mosaics} mosaics of {name}" if self.tags else name

    def dataset(self, sources: Sources) -> Dataset:
        """The data that is searched."""
        return load_mosaics(self.data, self.tags, self.n_mosaics, self.extractor, sources)

    def training_data(self, sources: Sources) -> Dataset:
        """The data that is learned from, without what overlaps a tag."""
        tags, known_to = self.dataset(sources).names, label_paths(self.known_to)
        return load_training(
            self.training, tags, self.categories, self.pool, self.extractor, known_to, sources
        )

    def rehearse(self, sources: Sources) -> str:
        """Look at both data sets and the labels before the work."""
        searched, training = self.dataset(sources), self.training_data(sources)
        if searched.X.shape[1] != training.X.shape[1]:
            raise DataError(
                f"{self.data} has features of {searched.X.shape[1]} numbers and {self.training} of "
                f"{training.X.shape[1]}: both must come from the same network"
            )
        self.check_targets(training, np.arange(1), _seen(training))
        self._split(searched, 0)
        return checksum(searched, ()) + checksum(training, self.setup().labels)

    def run(self, seed: int, sources: Sources) -> Record:
        """MAP and precision of one seed's queries."""
        searched, training = self.dataset(sources), self.training_data(sources)
        rng = np.random.RandomState(seed)
        rows = draw_training(np.arange(len(training)), self.n_train, rng)
        seen = _seen(training)
        setup = self.setup()
        hasher = clone(setup.hasher).set_params(random_state=seed)
        seconds = fit_timed(hasher, training, rows, seen, setup.labels)
        split = self._split(searched, seed)
        assert searched.labels is not None
        relevance = metrics.share_labels(
            searched.labels[split.queries], searched.labels[split.database], self.shared
        )
        relevant, total = metrics.histograms(*encode_split(searched, hasher, split), relevance)
        return {
            "seed": seed,
            "map": metrics.mean_average_precision(relevant, total, self.k),
            "precision": metrics.precision_within(relevant, total, self.radius),
            "chance": chance(relevant, total, self.k),
            "seen": [training.names[number] for number in seen],
            "n_train": len(rows),
            "n_queries": len(split.queries),
            "n_database": len(split.database),
            "fit_seconds": seconds,
        }

    def _split(self, searched: Dataset, seed: int) -> Split:
        if searched.labels is None or searched.labels.ndim != 2:
            raise DataError(f"{self.data}: its pictures do not have several labels each")
        return conventional_split(searched.labels, n_queries=self.n_queries, random_state=seed)


def _seen(training: Dataset) -> NDArray[np.int64]:
    """Numbers of the categories that are learned from."""
    assert training.labels is not None
    return np.unique(training.labels).astype(np.int64)
