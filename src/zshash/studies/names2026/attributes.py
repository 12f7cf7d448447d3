"""Vectors of animals from a table of attributes, found through WordNet.

A file of attributes has ``names`` of animals and ``attributes``, how strongly each applies, −1
where nobody said so: Animals with Attributes 2 has 50 mammals and 85 attributes (C. H. Lampert et
al., PAMI 2014; Y. Xian et al., PAMI 2018). A category is described by the animals whose synsets
are its own, above it (*gazelle* is an *antelope*) or below it (*cat* covers *Siamese cat*). Several
animals are averaged.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.semantics import UnknownNames, WordNet
from zshash.semantics.names import unit
from zshash.semantics.senses import senses

__all__ = ["Animals", "attribute_vectors", "has_attributes", "matching", "read_animals"]


class Animals(NamedTuple):
    """Animals with their attributes.

    Attributes
    ----------
    synsets : tuple of str
        WordNet ids.
    attributes : ndarray of shape (n, p)
        How strongly each attribute applies; values that nobody gave are the attribute's mean.
    """

    synsets: tuple[str, ...]
    attributes: NDArray[np.float64]


def has_attributes(source: str) -> bool:
    """Whether a label source is a file of attributes."""
    if Path(source).suffix != ".npz" or not Path(source).is_file():
        return False
    with np.load(source) as file:
        return {"names", "attributes"} <= set(file.files)


@lru_cache(maxsize=2)
def read_animals(path: str) -> Animals:
    """The animals of a file; a name means the mammal (*mole*, *seal*), not its first sense."""
    with np.load(path) as file:
        names, values = file["names"].tolist(), file["attributes"].astype(np.float64)
    means = np.nanmean(np.where(values < 0, np.nan, values), axis=0)
    synsets = tuple(senses(f"{name} (mammal)")[0].synset for name in names)
    return Animals(synsets, np.where(values < 0, means, values))


def matching(synset: str, animals: Sequence[str]) -> list[int]:
    """Rows of the animals that describe a category: the same, above it or below it.

    >>> animals = ["n02419796", "n02123597", "n02124075"]  # antelope, Siamese and Egyptian cat
    >>> matching("n02423022", animals), matching("n02121808", animals)  # gazelle, domestic cat
    ([0], [1, 2])
    """
    above = {synset, *WordNet().ancestors(synset)}
    return [
        row
        for row, animal in enumerate(animals)
        if animal in above or synset in WordNet().ancestors(animal)
    ]


def attribute_vectors(path: str, names: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors (len(names), p) of categories, which are WordNet ids or nouns.

    Raises
    ------
    UnknownNames
        If no animal describes some of the categories.
    """
    animals = read_animals(path)
    found = {name: _described_by(name, animals) for name in names}
    unknown = {name: () for name, rows in found.items() if not rows}
    if unknown:
        raise UnknownNames({Path(path).name: unknown})
    return unit(np.array([animals.attributes[found[name]].mean(axis=0) for name in names]))


def _described_by(name: str, animals: Animals) -> list[int]:
    return matching(WordNet().synset(name), animals.synsets) if name in WordNet() else []
