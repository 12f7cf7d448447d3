"""Which categories have nothing to do with the tags of another data set."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zshash.semantics import WordNet
from zshash.semantics.names import as_names, normalise, singular_forms, synonyms
from zshash.semantics.nouns import nouns

__all__ = ["apart"]


def apart(names: Sequence[str], synsets: Sequence[str], tags: Sequence[str]) -> NDArray[np.int64]:
    """Numbers of the categories that overlap none of the tags.

    A category overlaps a tag that is its name or one of its synonyms, in the singular or in the
    plural, and a tag that WordNet puts above it, below it, or at the same place. A tag stands
    there for its first, most frequent sense only: *banana* is below the second sense of *food*,
    and does not overlap it. What WordNet does not know is compared by name alone.

    Parameters
    ----------
    names : list of str
        Names of the categories, synonyms with commas between them.
    synsets : list of str
        WordNet ids of the categories; empty where there are none, and the names tell.
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
    """What a name means: its spellings, and its place in WordNet, if it has one."""

    def __init__(self, name: str, synset: str = "") -> None:
        self.spellings = frozenset(_spellings(synonyms(name)))
        wordnet = WordNet()
        known = (text for text in (synset, name) if text in wordnet)
        self.synset = next(map(wordnet.synset, known), None)

    @cached_property
    def path(self) -> frozenset[str]:
        """Its synset and all those above; nothing where it has none."""
        if self.synset is None:
            return frozenset()
        return frozenset([self.synset, *WordNet().ancestors(self.synset)])

    def overlaps(self, other: "_Concept") -> bool:
        """Whether both have a name in common, or one is at or below the other."""
        if not self.spellings.isdisjoint(other.spellings):
            return True
        return self.synset in other.path or other.synset in self.path


def _spellings(words: Iterable[str]) -> Iterable[str]:
    """Each word in its normal form, and the singulars that it may have."""
    for word in words:
        yield normalise(word)
        yield from singular_forms(word, nouns().irregular)
