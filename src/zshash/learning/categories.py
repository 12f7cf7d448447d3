"""Categories of labelled data, found by the names that users write."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError
from zshash.datasets.data import Labels
from zshash.semantics.names import near_misses, normalise, synonyms

__all__ = [
    "Labelled",
    "LabelledFeatures",
    "categories",
    "find_categories",
    "find_unseen",
    "sample_counts",
]


class Labelled(Protocol):
    """Samples and their labels, as `Dataset` and `Pictures` have them."""

    @property
    def labels(self) -> Labels | None:
        """Category number of each sample, or a matrix of the categories of each sample."""

    @property
    def names(self) -> tuple[str, ...]:
        """Category names."""

    @property
    def synsets(self) -> tuple[str, ...]:
        """WordNet ids of the categories where the data has them, "" for others; or empty."""

    def __len__(self) -> int: ...

    def select(self, rows: NDArray[np.int64]) -> Self:
        """The samples `rows`, with all categories."""


class LabelledFeatures(Labelled, Protocol):
    """Labelled samples that are features, in memory or in shards."""

    @property
    def extractor(self) -> dict[str, Any] | None:
        """The network that made the features, None if unknown."""


def categories(data: Labelled) -> NDArray[np.int64]:
    """Numbers of the categories that have samples; empty if there are no labels."""
    if data.labels is None:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(sample_counts(data))


def sample_counts(data: Labelled) -> NDArray[np.int64]:
    """Number of samples of each category."""
    assert data.labels is not None
    if data.labels.ndim == 2:
        return np.asarray(data.labels.sum(axis=0), dtype=np.int64)
    return np.bincount(data.labels, minlength=len(data.names)).astype(np.int64)


def find_categories(dataset: Labelled, names: Sequence[str]) -> NDArray[np.int64]:
    """Numbers of the categories called `names`, by name, synonym or WordNet id.

    Raises
    ------
    DataError
        Lists all names that the data does not have.
    """
    if not names:
        return np.empty(0, dtype=np.int64)
    if dataset.labels is None:
        raise DataError("the data has no labels, so no category of it can be named")
    names = [str(name) for name in names]  # labels may be numbers
    exact = {name: [number] for number, name in enumerate(dataset.names)}
    known = _spellings(dataset)
    found = [exact.get(name) or known.get(normalise(name), []) for name in names]
    wrong = [
        _several(name, [dataset.names[number] for number in numbers])
        if numbers
        else _no_category(name, known)
        for name, numbers in zip(names, found, strict=True)
        if len(numbers) != 1
    ]
    if wrong:
        raise DataError("; ".join(wrong))
    return np.unique(np.array(found)).astype(np.int64)


def find_unseen(dataset: Labelled, names: Sequence[str]) -> Any:
    """Numbers of the categories called `names`, or an int: how many categories to draw.

    It is an int if `names` is a single number that is no category's name.
    """
    if len(names) == 1 and names[0].isdigit() and names[0] not in dataset.names:
        return int(names[0])
    return find_categories(dataset, names)


def _spellings(dataset: Labelled) -> dict[str, list[int]]:
    """Category numbers by id, name and synonym; a synonym of several categories is left out."""
    known: dict[str, list[int]] = {}
    for called in (dataset.synsets, dataset.names):
        for number, name in enumerate(called):
            numbers = known.setdefault(normalise(name), [])
            if number not in numbers:
                numbers.append(number)
    known.pop("", None)  # categories without an id
    several = Counter(
        form for name in dataset.names for form in set(map(normalise, synonyms(name)))
    )
    for number, name in enumerate(dataset.names):
        for form in map(normalise, synonyms(name)):
            if several[form] == 1:
                known.setdefault(form, [number])
    return known


def _several(name: str, meant: Sequence[str]) -> str:
    return f"{name!r} may mean {' or '.join(map(repr, meant))}: write one of them exactly so"


def _no_category(name: str, known: Iterable[str]) -> str:
    near = near_misses(name, known)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "zshash info lists them"
    return f"the data has no category {name!r} ({hint})"
