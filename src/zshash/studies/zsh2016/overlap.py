"""Find the categories that overlap no tag of another data set."""

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import Dataset
from zshash.semantics import WordNet
from zshash.semantics.names import as_names, normalise, singular_forms, synonyms
from zshash.semantics.nouns import nouns
from zshash.studies.data import Sources, as_pictures, some_categories

__all__ = ["apart", "load_training"]


def apart(names: Sequence[str], synsets: Sequence[str], tags: Sequence[str]) -> NDArray[np.int64]:
    """Numbers of the categories that overlap none of the tags.

    A category overlaps a tag that is its name or one of its synonyms, in the singular or in the
    plural, and a tag that WordNet puts above it, below it, or at the same place. In WordNet, a tag
    has only its first, most frequent sense: *banana* is below the second sense of *food*, and does
    not overlap it. Names that WordNet does not know are compared as words.

    Parameters
    ----------
    names : list of str
        Names of the categories, synonyms with commas between them.
    synsets : list of str
        WordNet ids of the categories; if empty, the names are looked up.
    tags : list of str

    Returns
    -------
    ndarray of int, ascending

    Examples
    --------
    >>> apart(["tabby, tabby cat", "vehicle", "teapot"], [], ["animals", "car", "plant_life"])
    array([2])
    """
    if len(synsets) not in (0, len(names)):
        raise ValueError(f"there are {len(names)} names of categories but {len(synsets)} synsets")
    categories = map(_Concept, as_names(names), synsets or [""] * len(names))
    others = [_Concept(tag) for tag in as_names(tags)]
    kept = [i for i, one in enumerate(categories) if not any(map(one.overlaps, others))]
    return np.array(kept, dtype=np.int64)


class _Concept:
    """The spellings of a name, and its place in WordNet, if it has one."""

    def __init__(self, name: str, synset: str = "") -> None:
        self.spellings = frozenset(_spellings(synonyms(name)))
        wordnet = WordNet()
        known = (text for text in (synset, name) if text in wordnet)
        self.synset = next(map(wordnet.synset, known), None)

    @cached_property
    def path(self) -> frozenset[str]:
        """The synset and all its ancestors; empty if the name has no synset."""
        if self.synset is None:
            return frozenset()
        return frozenset([self.synset, *WordNet().ancestors(self.synset)])

    def overlaps(self, other: "_Concept") -> bool:
        """Whether both share a spelling, or one is at or below the other in WordNet."""
        if not self.spellings.isdisjoint(other.spellings):
            return True
        return self.synset in other.path or other.synset in self.path


def _spellings(words: Iterable[str]) -> Iterable[str]:
    """Each word in its normal form, and its possible singulars."""
    for word in words:
        yield normalise(word)
        yield from singular_forms(word, nouns().irregular)


@lru_cache(maxsize=2)
def load_training(
    name: str,
    tags: tuple[str, ...],
    categories: int | None,
    pool: int | None,
    extractor: str | None,
    known_to: tuple[str, ...],
    sources: Sources,
) -> Dataset:
    """Features of the categories that no tag overlaps; at most `pool` samples are read."""
    data = sources.open(name)
    if isinstance(data, Dataset) and data.images is not None:
        data = as_pictures(data, name)  # both data sets need the same network
    free = apart(data.names, data.synsets, tags)
    data = some_categories(data, free, categories or len(data.names), known_to)
    if pool is not None and len(data) > pool:
        data = data.select(np.sort(np.random.RandomState(0).permutation(len(data))[:pool]))
    return sources.features(data, extractor)
