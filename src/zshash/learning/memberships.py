"""Which pictures show which known categories: the network's opinion, and the user's labels.

The network's last layer says how likely a picture shows each of its categories. Labels are certain,
and what the network says against a label is doubted.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils import gen_batches

from zshash.semantics.known import Known
from zshash.semantics.nouns import nouns
from zshash.semantics.senses import synset_row

__all__ = ["Membership", "Memberships"]

DOUBT = 0.1  # what a label leaves of the network's opinion that it contradicts
NUMBERS_AT_ONCE = 2**23
Matrix = NDArray[np.float64]


class Membership(NamedTuple):
    """Which pictures the user has labelled with what.

    Attributes
    ----------
    names : list of str
        Labels.
    ids : list of str
        WordNet ids of the labels; "" for a label that nobody knows.
    labels : ndarray of shape (n, c), bool
        The labels of each picture.
    """

    names: Sequence[str]
    ids: Sequence[str]
    labels: NDArray[np.bool_]


class Memberships:
    """Memberships of pictures in known categories: those of the network, then other labels.

    Parameters
    ----------
    categories : Categories or None
        What the network knows.
    labelled : Membership or None
        Labels of the user.

    Attributes
    ----------
    names, ids : tuple of str
        Names and WordNet ids of the known categories.
    labels : dict of str to int
        Index of the category that each label is.
    counts : ndarray of shape (c,), int64
        Number of pictures with a label for each category.
    """

    def __init__(self, categories: Any, labelled: Membership | None) -> None:
        self._head = categories
        names = list(categories.names) if categories is not None else []
        ids = list(categories.ids) if categories is not None else []
        self._n_network = len(names)
        self._labels = None if labelled is None else labelled.labels
        known, places = Known(ids), {id_: place for place, id_ in enumerate(ids) if id_}
        self._places, self._agrees = [], []
        for name, id_ in zip(labelled.names, labelled.ids, strict=True) if labelled else ():
            self._places.append(places.get(id_, len(names)))
            if id_ not in places:
                names.append(name)
                ids.append(id_)
                places |= {id_: self._places[-1]} if id_ else {}
            self._agrees.append(_agreeing(known, id_))
        own = labelled.names if labelled else ()
        self.labels = dict(zip(own, self._places, strict=True))
        self.names, self.ids = tuple(names), tuple(ids)
        self.counts = np.zeros(len(names), dtype=np.int64)
        if self._labels is not None:
            np.add.at(self.counts, self._places, self._labels.sum(axis=0))

    def blocks(self, X: NDArray[np.float32]) -> Iterator[tuple[slice, Matrix]]:
        """Slices of rows, and memberships (rows, c) of their pictures."""
        for rows in gen_batches(len(X), max(1, NUMBERS_AT_ONCE // max(1, len(self.names)))):
            yield rows, self.of(X, rows)

    def of(self, X: NDArray[np.float32], rows: Any) -> Matrix:
        """Memberships (rows, c) of the pictures `rows`."""
        part = np.zeros((len(X[rows]), len(self.names)))
        if self._head is not None:
            outputs = X[rows] @ self._head.directions.T + self._head.biases
            part[:, : self._n_network] = softmax(outputs, axis=1)
        if self._labels is not None:
            self._correct(part, self._labels[rows])
        return part

    def _correct(self, part: Matrix, labels: NDArray[np.bool_]) -> None:
        """Make the labels certain, and doubt what the network says against them."""
        weights = np.ones((len(part), self._n_network))
        told = [column for column, agrees in enumerate(self._agrees) if agrees is not None]
        weights[labels[:, told].any(axis=1)] = DOUBT
        for column in told:  # of several labels, one that agrees is enough
            agreeing = np.array(self._agrees[column], dtype=np.int64)
            weights[np.ix_(labels[:, column], agreeing)] = 1.0
        part[:, : self._n_network] *= weights
        for column, place in enumerate(self._places):
            part[labels[:, column], place] = 1.0


def _agreeing(known: Known, synset: str) -> list[int] | None:
    """Network's categories that a label does not contradict; None for a label nobody knows.

    These are all kinds of it, and what it is a kind of.
    """
    row = synset_row(synset)
    if row is None:
        return None
    above = {f"n{nouns().offsets[place]:08d}" for place in nouns().above(row)}
    return known.below(synset) + [i for i, id_ in enumerate(known.ids) if id_ in above]
