"""Targets of a fit: what a method learns from, made from labels and the meanings of their names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError
from zshash.hashing import methods
from zshash.hashing.hasher import Hasher
from zshash.hashing.registry import LABEL, PAIRWISE, SEMANTIC, UNSUPERVISED
from zshash.learning.categories import Labelled
from zshash.semantics import UnknownNames, open_source
from zshash.semantics.names import unit

__all__ = [
    "ONE_HOT",
    "WORDNET",
    "SourceError",
    "called_by",
    "label_names",
    "label_sources",
    "label_vectors",
    "make_targets",
    "shared_targets",
    "usable_sources",
]

ONE_HOT, WORDNET = "onehot", "wordnet"
# Default sources of the labels' meanings for each kind of method.
OWN_LABELS = {UNSUPERVISED: [], PAIRWISE: [ONE_HOT], LABEL: [ONE_HOT], SEMANTIC: [WORDNET]}


class SourceError(DataError):
    """A source of the meanings of labels that can not be used; the message says why."""


def called_by(dataset: Labelled, source: str) -> tuple[str, ...]:
    """Words to look up in a source, one for each category: WordNet ids if known, else names."""
    return dataset.synsets if source == WORDNET and dataset.synsets else dataset.names


def label_vectors(
    dataset: Labelled,
    categories: NDArray[np.int64],
    sources: Sequence[str],
    seen: NDArray[np.int64] | None = None,
) -> NDArray[np.float32]:
    """Unit vectors (len(categories), p) of some categories, in the space the seen ones span.

    Without `seen`, these categories are the seen ones.
    """
    parts = []
    for source in sources:
        called = called_by(dataset, source)
        names = [called[number] for number in categories]
        basis = names if seen is None else [called[number] for number in seen]
        try:
            parts.append(open_source(source, seen=basis, only=names).embed(names))
        except UnknownNames as error:
            raise SourceError(
                f"{error}; rename these categories, or take their meanings from onehot or from a "
                "file of word vectors"
            ) from error
    return np.hstack(parts) / np.float32(np.sqrt(len(parts)))


def label_sources(hasher: Hasher, sources: Sequence[str]) -> list[str]:
    """Sources of the label vectors of a method: `sources`, or the default of its kind.

    Raises
    ------
    DataError
        If `sources` are given to a method that has no use for vectors.
    """
    name = type(hasher).__name__
    kind = methods()[name].kind
    if not sources:
        return list(OWN_LABELS[kind])
    if kind == UNSUPERVISED:
        raise SourceError(f"{name} does not look at labels: it takes no source of their meanings")
    if kind == PAIRWISE and list(sources) != [ONE_HOT]:
        raise SourceError(
            f"{name} learns which samples share a category, not what its name means: it takes no "
            "source of meanings"
        )
    return list(sources)


def usable_sources(hasher: Hasher, dataset: Labelled, sources: Sequence[str]) -> list[str]:
    """The sources that `label_sources` returns, if the data has the labels that they need."""
    sources = label_sources(hasher, sources)
    if sources and dataset.labels is None and hasher.needs_labels:
        raise DataError(
            "the data has no labels to learn from: put pictures into a folder for each category "
            "and labels of tables into y of .npz and .parquet files or into NAME.labels.npy beside "
            "NAME.npy, or choose a method that learns without labels, such as MTH"
        )
    if ONE_HOT in sources and len(sources) > 1:
        raise SourceError("onehot can not be combined with other label sources")
    return sources


def label_names(hasher: Hasher, sources: Sequence[str]) -> list[str]:
    """Names of the label sources for a model's notes: files without their folders."""
    return [Path(source).name for source in label_sources(hasher, sources)]


def make_targets(
    hasher: Hasher,
    dataset: Labelled,
    rows: NDArray[np.int64] | slice,
    seen: NDArray[np.int64],
    sources: Sequence[str],
) -> NDArray[Any] | None:
    """Targets that `hasher` learns from, for the samples `rows`.

    Class labels where `sources` is ``["onehot"]``; the vectors of the labels' names where it lists
    sources as in `open_source`; None for a method that does not look at labels. Without `sources`,
    the kind of the method decides, as in `label_sources`. A sample of several categories has a 0/1
    row, or the mean direction of their vectors; a sample without a label (−1) has −1 or a row of
    zeros.
    """
    sources = usable_sources(hasher, dataset, sources)
    if not sources or dataset.labels is None or not len(seen):
        return None
    own: NDArray[Any] = dataset.labels[rows]
    if own.ndim == 2:
        own = own[:, seen]
    if ONE_HOT in sources:
        return own
    vectors = label_vectors(dataset, seen, sources)
    labelled = own >= 0 if own.ndim == 1 else own.any(axis=1)
    known = own[labelled]
    targets = np.zeros((len(own), vectors.shape[1]), dtype=np.float32)
    targets[labelled] = (
        vectors[np.searchsorted(seen, known)] if own.ndim == 1 else unit(known @ vectors)
    )
    return targets


def shared_targets(
    hasher: Hasher, data: Labelled, seen: NDArray[np.int64], sources: Sequence[str]
) -> tuple[NDArray[np.int64] | None, NDArray[Any] | None]:
    """Targets of all samples as `make_targets` makes them, but each vector once.

    `zshash.scale.fit` takes both parts.

    Returns
    -------
    targets : ndarray of shape (n,) or None
        Class labels, or the row of each sample among the vectors.
    vectors : ndarray of shape (c, p) or None
        None where there are class labels, or nothing to learn from.
    """
    sources = usable_sources(hasher, data, sources)
    if not sources or data.labels is None:
        return None, None
    own: NDArray[Any] = data.labels
    vectors = None if ONE_HOT in sources else label_vectors(data, seen, sources)
    if own.ndim == 1:
        return (own, None) if vectors is None else (np.searchsorted(seen, own), vectors)
    packed, places = np.unique(np.packbits(own[:, seen], axis=1), axis=0, return_inverse=True)
    sets = np.unpackbits(packed, axis=1, count=len(seen))
    return places.ravel(), sets if vectors is None else unit(sets @ vectors)
