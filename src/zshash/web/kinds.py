"""Everyday words for groups of labels: sedans, trucks and trams are *vehicle*."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from zshash.semantics.known import Known
from zshash.semantics.senses import senses
from zshash.web.recognising import EVERYDAY, RARE

__all__ = ["Kinds"]

LEAST = 0.5  # share of the labels of a group that are kinds of its word
CLEAR = 0.2  # score from which a word tells a group from the others


class Kinds:
    """Finds words for groups of items by their labels, as `Recogniser` does by their codes.

    Parameters
    ----------
    labels : iterable of str or None
        First labels of all items; groups are told from these.

    Examples
    --------
    >>> kinds = Kinds(["poodle", "beagle", "teapot", "bucket", "sedan", "tram"])
    >>> kinds.word(["poodle", "beagle"]), kinds.word(["poodle", "teapot", "tram"])
    ('dog', None)
    """

    def __init__(self, labels: Iterable[str | None]) -> None:
        counts = Counter(label for label in labels if label is not None)
        names = list(counts)
        known = Known([next((sense.synset for sense in senses(name)), "") for name in names])
        self._words: dict[str, set[str]] = {}
        for word in EVERYDAY:
            below = {names[i] for sense in senses(word)[:1] for i in known.below(sense.synset)}
            if len(below) > 1:
                self._words[word] = below
        self._usual = {
            word: max(_share(counts, below), RARE) for word, below in self._words.items()
        }

    def word(self, labels: Sequence[str | None]) -> str | None:
        """The word for a group of items with these labels; None if none fits."""
        counts = Counter(labels)
        best, most = None, CLEAR
        for word, below in self._words.items():
            share = _share(counts, below)
            score = share * float(np.log(max(share, RARE) / self._usual[word]))
            if share >= LEAST and score >= most:
                best, most = word, score
        return best


def _share(counts: "Counter[str] | Counter[str | None]", below: set[str]) -> float:
    return sum(counts[label] for label in below) / max(1, counts.total())
