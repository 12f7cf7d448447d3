"""Targets of a fit: what a method learns from, made from labels and the meanings of their names."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError
from zshash.hashing import methods
from zshash.hashing.hasher import Hasher
from zshash.hashing.registry import LABEL, PAIRWISE, SEMANTIC, UNSUPERVISED
from zshash.learning.aliases import AliasError
from zshash.learning.categories import Labelled
from zshash.learning.meanings import Meant, meanings
from zshash.learning.vectors import WORDNET, place
from zshash.semantics.known import Known
from zshash.semantics.names import unit

__all__ = [
    "ONE_HOT",
    "WORDNET",
    "SourceError",
    "called_by",
    "label_meanings",
    "label_names",
    "label_sources",
    "label_vectors",
    "make_targets",
    "shared_targets",
    "usable_sources",
]

ONE_HOT = "onehot"
# Default sources of the labels' meanings for each kind of method.
OWN_LABELS = {UNSUPERVISED: [], PAIRWISE: [ONE_HOT], LABEL: [ONE_HOT], SEMANTIC: [WORDNET]}


class SourceError(DataError):
    """A source of the meanings of labels that can not be used; the message says why."""


def called_by(dataset: Labelled, source: str) -> tuple[str, ...]:
    """Words to look up in a source, one for each category: WordNet ids if known, else names."""
    if source != WORDNET or not dataset.synsets:
        return dataset.names
    pairs = zip(dataset.synsets, dataset.names, strict=True)
    return tuple(synset or name for synset, name in pairs)


def label_vectors(
    dataset: Labelled,
    categories: NDArray[np.int64],
    sources: Sequence[str],
    seen: NDArray[np.int64] | None = None,
    meant: Sequence[Meant] | None = None,
) -> NDArray[np.float32]:
    """Unit vectors (len(categories), p) of some categories, in the space the seen ones span.

    A category that a source does not know has a coordinate of its own behind those of the source;
    see `zshash.learning.vectors`.

    Parameters
    ----------
    dataset : Labelled
    categories : ndarray of int
        Numbers of the categories.
    sources : list of str
        "wordnet" and files of word vectors, whose vectors stand side by side.
    seen : ndarray of int, optional
        Numbers of the seen categories; by default `categories`.
    meant : list of Meant, optional
        What the names of all categories mean; by default what `meanings` finds.
    """
    seen = categories if seen is None else seen
    others = categories[~np.isin(categories, seen)]
    rows = {number: row for row, number in enumerate([*seen, *others])}
    wanted = [rows[number] for number in categories]
    parts = []
    for source in sources:
        words = [_words(dataset, numbers, source, meant) for numbers in (seen, others)]
        parts.append(place(source, *words).vectors[wanted])
    return np.hstack(parts) / np.float32(np.sqrt(len(parts)))


def _words(
    dataset: Labelled, categories: Iterable[int], source: str, meant: Sequence[Meant] | None
) -> list[str]:
    """Words to look up in a source for some categories; "" if WordNet does not know a name."""
    if meant is not None:
        own = [meant[number] for number in categories]
        return [one.synset if source == WORDNET else one.word for one in own]
    names = [dataset.names[number] for number in categories]
    if source != WORDNET:
        return names
    synsets = [dataset.synsets[number] for number in categories] if dataset.synsets else []
    return [one.synset for one in meanings(names, synsets)]


def label_meanings(
    data: Labelled,
    seen: NDArray[np.int64],
    sources: Sequence[str],
    aliases: Mapping[str, str] | None = None,
    known: Iterable[str] | Known = (),
) -> list[Meant]:
    """What the names of all categories mean.

    Parameters
    ----------
    data : Labelled
    seen : ndarray of int
        Numbers of the categories to look up in files of word vectors.
    sources : list of str
        As `label_sources` returns them.
    aliases, known
        As for `zshash.learning.meanings.meanings`. With files of word vectors alone, an alias is
        any word that a file knows.

    Raises
    ------
    AliasError
        If no source knows an alias.
    """
    files = [source for source in sources if source not in (ONE_HOT, WORDNET)]
    alone = bool(files) and WORDNET not in sources
    meant = meanings(data.names, data.synsets, aliases, known, strict=not alone)
    if not files or not len(seen):
        return meant
    words = [meant[number].word for number in seen]
    is_known = np.any([place(file, words).is_known for file in files], axis=0)
    for number, word, in_file in zip(seen, words, is_known, strict=True):
        if alone or (in_file and not meant[number].text):
            meant[number] = _by_files(meant[number], word if in_file else "")
    return meant


def _by_files(meant: Meant, text: str) -> Meant:
    """Meaning of a label that files of word vectors decide about; text is "" if unknown."""
    if meant.alias and not text:
        raise AliasError(f"no source knows {meant.alias!r}, the alias of {meant.label!r}")
    return meant._replace(text=text, is_plain=bool(text))


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
    meant: Sequence[Meant] | None = None,
) -> NDArray[Any] | None:
    """Targets that `hasher` learns from, for the samples `rows`.

    Class labels where `sources` is ``["onehot"]``; the vectors of the labels' names where it lists
    sources as in `open_source`; None for a method that does not look at labels. Without `sources`,
    the kind of the method decides, as in `label_sources`. A sample of several categories has a 0/1
    row, or the mean direction of their vectors; a sample without a label (−1) has −1 or a row of
    zeros. `meant` is as for `label_vectors`.
    """
    sources = usable_sources(hasher, dataset, sources)
    if not sources or dataset.labels is None or not len(seen):
        return None
    own: NDArray[Any] = dataset.labels[rows]
    if own.ndim == 2:
        own = own[:, seen]
    if ONE_HOT in sources:
        return own
    vectors = label_vectors(dataset, seen, sources, meant=meant)
    labelled = own >= 0 if own.ndim == 1 else own.any(axis=1)
    known = own[labelled]
    targets = np.zeros((len(own), vectors.shape[1]), dtype=np.float32)
    targets[labelled] = (
        vectors[np.searchsorted(seen, known)] if own.ndim == 1 else unit(known @ vectors)
    )
    return targets


def shared_targets(
    hasher: Hasher,
    data: Labelled,
    seen: NDArray[np.int64],
    sources: Sequence[str],
    meant: Sequence[Meant] | None = None,
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
    vectors = None if ONE_HOT in sources else label_vectors(data, seen, sources, meant=meant)
    if own.ndim == 1:
        return (own, None) if vectors is None else (np.searchsorted(seen, own), vectors)
    packed, places = np.unique(np.packbits(own[:, seen], axis=1), axis=0, return_inverse=True)
    sets = np.unpackbits(packed, axis=1, count=len(seen))
    return places.ravel(), sets if vectors is None else unit(sets @ vectors)
