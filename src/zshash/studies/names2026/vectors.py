"""Vectors of names from any label source: WordNet, word vectors, attributes of animals."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zshash.learning.categories import Labelled
from zshash.learning.targets import WORDNET, called_by, label_vectors
from zshash.semantics import UnknownNames, open_source
from zshash.studies.names2026.attributes import attribute_vectors, has_attributes
from zshash.studies.names2026.baselines.baseline import Integers

__all__ = ["known_to", "name_vectors", "says_yes"]


def name_vectors(
    data: Labelled, categories: Integers, sources: Sequence[str], seen: Integers | None = None
) -> NDArray[np.float32]:
    """Unit vectors of categories, as of `label_vectors`, also from files of attributes."""
    parts = [_part(data, categories, source, seen) for source in sources]
    return np.asarray(np.hstack(parts) / np.float32(np.sqrt(len(parts))))


def says_yes(data: Labelled, sources: Sequence[str], seen: Integers) -> NDArray[np.bool_]:
    """Which coordinates of the vectors (p,) say yes where they are not zero: WordNet's ancestors.

    All other coordinates are strengths.
    """
    parts = [_part(data, seen, source, None) for source in sources]
    yes = [source == WORDNET for source in sources]
    return np.repeat(yes, [part.shape[1] for part in parts])


def known_to(data: Labelled, sources: Sequence[str]) -> Integers:
    """Numbers of the categories that all these sources know.

    >>> from zshash.datasets import Dataset
    >>> data = Dataset(np.empty((0, 1)), names=("cat", "qqq", "dog"))
    >>> known_to(data, ["wordnet"])
    array([0, 2])
    """
    known = set(range(len(data.names)))
    for source in sources:
        called = _called(data, source)
        unknown = _unknown(source, called)
        known &= {number for number, name in enumerate(called) if name not in unknown}
    return np.array(sorted(known), dtype=np.int64)


def _part(
    data: Labelled, categories: Integers, source: str, seen: Integers | None
) -> NDArray[np.float32]:
    """Vectors of one source."""
    if has_attributes(source):
        called = _called(data, source)
        return attribute_vectors(source, [called[number] for number in categories])
    return label_vectors(data, categories, [source], seen)


def _called(data: Labelled, source: str) -> tuple[str, ...]:
    """Words to look up in a source; animals with attributes are found through WordNet."""
    return called_by(data, WORDNET if has_attributes(source) else source)


def _unknown(source: str, names: Sequence[str]) -> tuple[str, ...]:
    try:
        if has_attributes(source):
            attribute_vectors(source, names)
        else:
            open_source(source, only=names).embed(names)
    except UnknownNames as error:
        return error.names
    return ()
