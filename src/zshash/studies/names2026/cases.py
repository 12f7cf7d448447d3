"""Cases: some categories hidden, pictures of the others labelled, every picture searched."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import Dataset
from zshash.datasets.splits import draw_training
from zshash.studies.names2026.baselines.baseline import Floats, Integers
from zshash.studies.names2026.vectors import name_vectors

__all__ = ["Answer", "Case", "Rule", "deal"]


@dataclass(frozen=True)
class Case:
    """All that a rule may use to rank the pictures of a data set by the names of hidden categories.

    Attributes
    ----------
    dataset : Dataset
        All pictures are searched. Only the labels of the rows `labelled` may be used.
    labelled : ndarray
        Rows of the labelled pictures.
    seen, hidden : ndarray
        Numbers of the categories that are labelled, and of those to search for.
    sources : tuple of str
        Label sources, with full paths.
    k : int
        MAP counts the first `k` ranks.
    seed : int
        Seed of everything random.
    bits : int
        Length of codes, for rules that rank codes.
    method : str
        Hash method, for rules that rank codes.
    parameters : mapping
        Parameters of the hash method.
    pool : ndarray or None
        Rows of pictures that may be learned from without labels.
    """

    dataset: Dataset
    labelled: Integers
    seen: Integers
    hidden: Integers
    sources: tuple[str, ...]
    k: int = 1000
    seed: int = 0
    bits: int = 64
    method: str = "MTH"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    pool: Integers | None = None

    @property
    def learned(self) -> Integers:
        """Rows of all pictures that may be learned from, with labels or without."""
        return self.labelled if self.pool is None else np.union1d(self.labelled, self.pool)

    @property
    def y(self) -> Integers:
        """Row of each labelled picture's category in `seen`."""
        assert self.dataset.labels is not None
        return np.searchsorted(self.seen, self.dataset.labels[self.labelled])

    def vectors(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Vectors of the names of seen and of hidden categories."""
        seen = name_vectors(self.dataset, self.seen, self.sources)
        return seen, name_vectors(self.dataset, self.hidden, self.sources, self.seen)


class Answer(NamedTuple):
    """Scores (hidden names, all pictures), higher is better, and the chosen parameters."""

    scores: Floats
    parameters: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Rule:
    """A way to rank pictures by names.

    Attributes
    ----------
    title : str
        Name in the tables.
    rank : callable
        Case → answer.
    uses_codes : bool
        Whether the rule ranks codes, so that method and bits are part of its facts.
    """

    title: str
    rank: Callable[[Case], Answer] = field(repr=False)
    uses_codes: bool = False


def deal(
    dataset: Dataset, known: Integers, groups: int, n_train: int | None, seed: int
) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Deal categories into groups at random, and hide each group in its turn.

    Parameters
    ----------
    dataset : Dataset
    known : ndarray
        Numbers of the categories that are dealt; pictures of others are never labelled.
    groups : int
    n_train : int or None
        Number of labelled pictures, None for all of the seen categories, 0 for none.
    seed : int

    Yields
    ------
    labelled, seen, hidden : ndarray
        As in `Case`.

    Examples
    --------
    >>> data = Dataset(np.zeros((6, 2)), np.array([0, 0, 1, 1, 2, 2]), ("a", "b", "c"))
    >>> for labelled, seen, hidden in deal(data, np.arange(3), 3, None, seed=0):
    ...     labelled.tolist(), seen.tolist(), hidden.tolist()
    ([0, 1, 2, 3], [0, 1], [2])
    ([0, 1, 4, 5], [0, 2], [1])
    ([2, 3, 4, 5], [1, 2], [0])
    """
    assert dataset.labels is not None
    rng = np.random.RandomState(seed)
    for group in np.array_split(rng.permutation(known), groups):
        hidden, seen = np.sort(group), np.setdiff1d(known, group)
        candidates = np.flatnonzero(np.isin(dataset.labels, seen))
        own = candidates[:0] if n_train == 0 else draw_training(candidates, n_train, rng)
        yield own, seen, hidden
