"""Senses that are likely because a network knows how they look."""

from collections.abc import Iterable, Sequence

from zshash.semantics.nouns import nouns
from zshash.semantics.senses import Sense, synset_row

__all__ = ["Known"]


class Known:
    """Synsets that are known by sight, and everything above them.

    A name with several senses more likely means one that a network was trained to see: *lolly* is
    also a word for money, but nobody labels pictures with it.

    Parameters
    ----------
    ids : iterable of str
        Ids of the known synsets. "" and ids that WordNet does not have stand for nothing, but
        count where synsets are numbered.

    Attributes
    ----------
    ids : tuple of str
        As given.

    Examples
    --------
    >>> from zshash.semantics.senses import senses
    >>> known = Known(["n02123045", "n07615774"])  # tabby, ice lolly
    >>> known.below("n02084071"), known.below("n02121620")  # dog, cat
    ([], [0])
    >>> [sense.text for sense in known.order(senses("lolly"))]
    ['lolly (frozen dessert)', 'lolly (money)']
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self.ids = tuple(ids)
        self._below: dict[int, list[int]] = {}
        for index, synset in enumerate(self.ids):
            row = synset_row(synset)
            for place in () if row is None else (row, *nouns().above(row)):
                self._below.setdefault(place, []).append(index)

    def __repr__(self) -> str:
        return f"Known(<{len(self.ids)} synsets>)"

    def below(self, synset: str) -> list[int]:
        """Indices in `ids` of the known synsets at or below a synset, ascending."""
        row = synset_row(synset)
        return [] if row is None else list(self._below.get(row, ()))

    def order(self, found: Sequence[Sense]) -> list[Sense]:
        """Senses at or above a known synset first; otherwise the order stays."""
        return sorted(found, key=lambda sense: not self.below(sense.synset))
