"""Kernel ridge from the names of known categories to anything that is known about them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zshash.semantics import WordNet

__all__ = ["NameRidge"]

NAME_RIDGE = 0.05  # λ
MOST = 4000  # names that others are predicted from: the ridge costs the cube of this number
Matrix = NDArray[np.float64]


class NameRidge:
    """WordNet vectors of the known names, and the weights of known names for any other one.

    Parameters
    ----------
    ids : sequence of str
        WordNet ids of the known categories; "" for one that WordNet does not have.

    Attributes
    ----------
    places : ndarray of int
        Indices of the categories that have an id; the first 4,000 if there are more.
    inverse : ndarray
        (K + λI)⁻¹, where K holds the cosines of their names.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self._n = len(ids)
        self.places = np.array([i for i, id_ in enumerate(ids) if id_], dtype=np.int64)[:MOST]
        named = [ids[place] for place in self.places]
        self._source = WordNet(basis=named) if named else None
        self._vectors = (
            np.zeros((0, 0)) if self._source is None else self._source.embed(named).astype(float)
        )
        kernel = self._vectors @ self._vectors.T
        self.inverse = np.linalg.inv(kernel + NAME_RIDGE * np.eye(len(kernel)))

    def cosines(self, synset: str) -> Matrix | None:
        """Cosines (c,) of known names with a synset; None if WordNet has nothing to compare."""
        if self._source is None or not synset:
            return None
        try:
            vector = self._source.embed([synset])[0].astype(float)
        except ValueError:
            return None
        near = np.zeros(self._n)
        near[self.places] = self._vectors @ vector
        return near

    def weights(self, synset: str) -> Matrix | None:
        """α (c,), the weights of known categories for a synset."""
        near = self.cosines(synset)
        if near is None:
            return None
        weights = np.zeros(self._n)
        weights[self.places] = self.inverse @ near[self.places]
        return weights

    def left_out(self, values: Matrix) -> Matrix:
        """Predictions of the rows `values` of known categories, each from all others."""
        solved = self.inverse @ values[self.places]
        own: Matrix = values[self.places] - solved / np.diag(self.inverse)[:, None]
        return own
