"""Codes that know what names mean: the map A from codes to label vectors."""

import numpy as np


class Meaning:
    """Of a method whose ``_meaning`` gives A (n_bits, p), with BA near the label vectors Y."""

    def directions(self, vectors, center=0.0):
        """How much each bit speaks for label vectors (n, p): (vectors − center) Aᵀ, (n, n_bits).

        Codes whose product with a direction is large fit its name. With the mean of the seen
        label vectors as `center`, bits that all categories share do not count.
        """
        return (np.asarray(vectors, dtype=np.float64) - center) @ self._meaning().T

    def meanings(self, codes):
        """Where codes (n, n_bits) of −1 and 1 stand among the label vectors: BA, (n, p)."""
        return np.asarray(codes, dtype=np.float64) @ self._meaning()

    def _meaning(self):
        """A, (n_bits, p)."""
        raise NotImplementedError("abstract: a method says how codes become label vectors")
