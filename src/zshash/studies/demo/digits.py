"""The second part of the demonstration: learn from eight digits, and find two unlabelled ones."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection import Collection
from zshash.datasets import Dataset, Pictures, Split
from zshash.datasets import digits as read_digits
from zshash.evaluation.protocol import Protocol, Setup, fit_setup, run, summarize
from zshash.hashing import LSH, MTH, ZSH
from zshash.images import PictureReader
from zshash.index import HammingIndex
from zshash.learning import Model, fit

__all__ = ["Digits", "Retrieval", "make_collection", "setups"]

N_QUERIES = 4
N_SHOWN = 12
EXTRACTOR, OPTIONS = "pixels:8", {"margins": "cut"}
ENLARGED = 16


@dataclass(frozen=True)
class Retrieval:
    """One query and its nearest neighbours, as row numbers of the data set."""

    query: int
    neighbors: NDArray[np.int64]
    distances: NDArray[np.int64]


@dataclass
class Digits:
    """Scores of methods over several seeds, and pictures from the first one.

    Attributes
    ----------
    n_bits : int
    n_seeds : int
        Each seed hides two digits drawn at random.
    records : list of dict
        A record for each seed and method; `scores` fills the list.
    """

    n_bits: int = 64
    n_seeds: int = 5
    dataset: Dataset = field(default_factory=read_digits)
    protocol: Protocol = field(
        default_factory=lambda: Protocol(
            unseen=2, n_queries=100, k=100, n_seen_queries=100, unlabelled=True
        )
    )
    records: list[dict[str, Any]] = field(default_factory=list)

    def scores(self) -> Iterator[dict[str, Any]]:
        """Run every method on every seed; yields one record at a time."""
        for record in run(self.dataset, setups(self.n_bits), self.protocol, range(self.n_seeds)):
            self.records.append(record)
            yield record

    def summary(self) -> list[dict[str, Any]]:
        """Mean and deviation of each method."""
        return summarize(self.records)

    def split(self) -> Split:
        """The split of the first seed, whose pictures are shown."""
        return self.protocol.split(self.dataset, seed=0)

    def retrievals(self) -> list[Retrieval]:
        """A few queries of the first seed, with what the first method finds for them."""
        split = self.split()
        queries = np.random.RandomState(0).permutation(split.queries)[:N_QUERIES]
        hasher, _ = fit_setup(self.dataset, setups(self.n_bits)[0], split, seed=0, unlabelled=True)
        index = HammingIndex(self.n_bits)
        index.add(hasher.encode(self.dataset.X[split.database]), split.database)
        distances, neighbors = index.search(hasher.encode(self.dataset.X[queries]), k=N_SHOWN)
        return [
            Retrieval(int(query), found, away.astype(np.int64))
            for query, found, away in zip(queries, neighbors, distances, strict=True)
        ]


def setups(n_bits: int) -> list[Setup]:
    """The three methods shown."""
    return [
        Setup("MTH", MTH(n_bits, effort="fast"), ("wordnet",)),
        Setup("ZSH", ZSH(n_bits, n_anchors=300, normalize=True), ("wordnet",)),
        Setup("LSH, no labels", LSH(n_bits, normalize=True)),
    ]


def make_collection(folder: str | Path, n_bits: int = 64) -> Collection:
    """Make a collection of all digits; its model never saw two of them, as in the first split.

    Parameters
    ----------
    folder : path-like
        Folder of the collection: it must not exist, or must be empty.
    n_bits : int

    Returns
    -------
    Collection
        The open collection. Search it by pictures of digits, white on black or black on white, or
        by names of digits. The notes of its model list the ``unseen`` digits. Each item has a word
        as its label, and in its metadata ``row``, its row in `zshash.datasets.digits`.

    Raises
    ------
    CollectionError
        If the folder is not empty.
    """
    digits = Digits(n_bits)
    reader = PictureReader(EXTRACTOR, OPTIONS, cache=False)
    metadata: list[dict[str, Any] | None] = [{"row": row} for row in range(len(digits.dataset))]
    with Collection.create(folder, _fit(digits, reader), reader=reader) as collection:
        collection.add(_pictures(digits.dataset), metadata=metadata)
    return Collection.open(folder)


def _fit(digits: Digits, reader: PictureReader) -> Model:
    """The model of the first method and seed, which knows the network of its features."""
    setup = setups(digits.n_bits)[0]
    return fit(
        replace(digits.dataset, extractor=reader.facts()),
        method=setup.hasher.set_params(random_state=0),
        semantics=setup.labels,
        unseen=[digits.dataset.names[number] for number in digits.split().unseen],
    )


def _pictures(dataset: Dataset) -> Pictures:
    """The digits, enlarged for viewing: every pixel becomes a square."""
    assert dataset.images is not None
    large = dataset.images.repeat(ENLARGED, axis=1).repeat(ENLARGED, axis=2)
    return Pictures(large, dataset.labels, dataset.names)
