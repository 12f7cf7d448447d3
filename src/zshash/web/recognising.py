"""What a network recognises in groups of items, in words that people use every day.

A model's knowledge has a direction for each category that its network was trained to tell apart.
The mean of the codes of a group, times these directions, is the mean probability of each category
in the group. Many categories are too special for a map, so their probabilities are also added up
under everyday words: 118 breeds are *dog*. A group gets the word that tells it best from others:

    share × log(share / share in the whole collection)
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.learning.knowledge import Knowledge
from zshash.semantics.senses import senses
from zshash.web.about import plain_names

__all__ = ["Recogniser"]

# fmt: off
EVERYDAY = [
    "person", "animal", "bird", "fish", "insect", "spider", "snake", "lizard", "turtle", "frog",
    "shark", "dog", "cat", "bear", "monkey", "crab", "butterfly", "beetle", "fox", "wolf",
    "rabbit", "elephant", "fungus", "flower", "fruit", "vegetable", "food", "bread", "dessert",
    "beverage", "clothing", "hat", "footwear", "bag", "furniture", "chair", "table", "building",
    "bridge", "boat", "ship", "car", "truck", "bus", "train", "aircraft", "bicycle", "vehicle",
    "tool", "weapon", "musical instrument", "computer", "telephone", "bottle", "container",
    "ball", "toy", "mountain", "clock", "lamp", "machine", "cup", "fence",
]
# fmt: on
LEAST = 0.25  # expected share of the items of a group that show what its word says
LEAST_OF_ITEM = 0.2  # the same for a single item, whose code tells less
CLEAR = 0.25  # score from which a word tells a group from the others
RARE = 1e-3  # share in the collection below which a word is not rarer still
SAME = 0.9  # a special word whose score is so near to the best is taken: it says more
AT_ONCE = 10_000  # codes that are compared with all words together

Matrix = NDArray[np.float64]
Bits = NDArray[np.uint8]


class _Words(NamedTuple):
    """Words, and which known categories each of them covers."""

    texts: list[str]
    covers: list[list[int]]
    n_special: int


class Recogniser:
    """Finds words for groups of items by their codes.

    Parameters
    ----------
    knowledge : Knowledge
        What the model knows of names.
    bits : ndarray of shape (n, n_bits), uint8
        All codes of the collection, of 0 and 1; groups are told from these.

    Attributes
    ----------
    words : list of str
        Names of the known categories, then everyday words for several of them.
    """

    def __init__(self, knowledge: Knowledge, bits: Bits) -> None:
        self.words, covers, self._n_special = _words(knowledge)
        directions = knowledge.directions.astype(np.float64)
        intercepts = knowledge.intercepts.astype(np.float64)
        self._directions = np.array([directions[places].sum(axis=0) for places in covers])
        self._intercepts = np.array([intercepts[places].sum() for places in covers])
        self._usual = np.maximum(self._shares(_mean(bits))[0], RARE)

    def word(self, bits: Bits) -> int | None:
        """Index in `words` of the word for a group of codes; None if none fits."""
        scores = self._scores(_mean(bits), np.arange(len(self.words)), LEAST)[0]
        best = scores.max(initial=0.0)
        if best < CLEAR:
            return None
        special = scores[: self._n_special]
        return int(special.argmax() if special.max(initial=0.0) >= SAME * best else scores.argmax())

    def choose(self, bits: Bits, among: Sequence[int]) -> NDArray[np.int64]:
        """For each code, the place in `among` of the word that fits best, or −1 if none does."""
        chosen = np.full(len(bits), -1)
        for start in range(0, len(bits) if len(among) else 0, AT_ONCE):
            signs = 2.0 * bits[start : start + AT_ONCE].astype(np.float64) - 1.0
            scores = self._scores(signs, np.asarray(among), LEAST_OF_ITEM)
            best = np.where(scores.max(axis=1) > 0, scores.argmax(axis=1), -1)
            chosen[start : start + AT_ONCE] = best
        return chosen

    def _scores(self, signs: Matrix, words: NDArray[np.int64], least: float) -> Matrix:
        """How well words tell codes from the collection; 0 where their share is below `least`."""
        shares, usual = self._shares(signs, words), self._usual[words]
        scores = shares * np.log(np.maximum(shares, RARE) / usual)
        return np.where(shares >= least, np.maximum(scores, 0.0), 0.0)

    def _shares(self, signs: Matrix, words: NDArray[np.int64] | slice = slice(None)) -> Matrix:
        return np.asarray(signs @ self._directions[words].T + self._intercepts[words])


def _words(knowledge: Knowledge) -> _Words:
    plain = plain_names(knowledge.names)
    texts = [plain.get(name, name) for name in knowledge.names]
    covers = [[place] for place in range(len(texts))]
    for word in EVERYDAY:
        below = max(
            (knowledge.known.below(sense.synset) for sense in senses(word)),
            key=len,
            default=[],
        )
        if len(below) > 1:
            texts.append(word)
            covers.append(below)
    return _Words(texts, covers, len(knowledge.names))


def _mean(bits: Bits) -> Matrix:
    """Mean of codes as −1 and 1, in a matrix of one row."""
    return np.asarray(2.0 * bits.mean(axis=0, keepdims=True) - 1.0, dtype=np.float64)
