"""What is done to features before a quantiser stores them: nothing, a mild whitening, a novelty.

Features of a network vary most in few directions. A mild whitening lets the others count, and the
novelty of metric-transfer hashing tells samples of new categories from samples of labelled ones.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from zshash.hashing.registry import METHODS
from zshash.hashing.steps.imagination import Novelty, category_means
from zshash.hashing.steps.linear import whiten
from zshash.hashing.steps.rows import Rows, unit_rows
from zshash.studies.rivals2026.quantisers import Codes, Quantiser, Vectors

__all__ = ["PREPARATIONS", "Preparation", "Prepared"]

MILD = 2.0  # ε: what is added to all variances, as a share of their mean
WEIGHT: float = METHODS["MTH"].parameters["novelty"]


@dataclass
class Preparation:
    """A function of features, learned from training samples; features get unit length first.

    Parameters
    ----------
    shrinkage : float or None
        ε of a whitening, with unit length afterwards; None leaves the features as they are.
    novelty : float
        Weight of the novelty in squared distances; with 0, there is none.
    """

    shrinkage: float | None = None
    novelty: float = 0.0

    def fit(self, X: Vectors, labels: NDArray[np.int64]) -> Self:
        """Learn from features X (n, d) of samples of these categories; labels may be any numbers.

        Only novelty looks at the labels.
        """
        if self.shrinkage is not None:
            self.whitening_ = whiten(Rows(unit_rows(X)), self.shrinkage)
        if self.novelty:
            rows = self._whitened(X)
            _, own = np.unique(labels, return_inverse=True)
            self.novelty_ = Novelty(rows, own, category_means(rows, own))
        return self

    def __call__(self, X: Vectors) -> Vectors:
        """Vectors of features X (n, d): d numbers, and one more for novelty."""
        rows = self._whitened(X)
        if not self.novelty:
            return unit_rows(rows)
        new = np.float32(np.sqrt(self.novelty)) * self.novelty_(rows)
        return np.hstack([unit_rows(rows), new[:, None]])

    def _whitened(self, X: Vectors) -> Vectors:
        unit: Vectors = unit_rows(X)
        return unit if self.shrinkage is None else self.whitening_(Rows(unit)).X


PREPARATIONS = {
    "as they are": Preparation(),
    "whitened": Preparation(MILD),
    "whitened, with novelty": Preparation(MILD, WEIGHT),
}
"""Preparations by the names that tables show."""


@dataclass
class Prepared:
    """A preparation of features and a quantiser, which together rank features.

    Examples
    --------
    >>> from zshash.datasets import digits
    >>> from zshash.studies.rivals2026.quantisers import PCASigns
    >>> data = digits()
    >>> rival = Prepared(Preparation(2.0), PCASigns(4)).fit(data.X, data.labels, seed=0)
    >>> rival.encode(data.X[:3]).shape
    (3, 4)
    """

    preparation: Preparation
    quantiser: Quantiser

    def __post_init__(self) -> None:
        self.preparation = replace(self.preparation)  # fitted apart from that of others
        self.n_bytes, self.is_binary = self.quantiser.n_bytes, self.quantiser.is_binary

    def fit(self, X: Vectors, labels: NDArray[np.int64], seed: int) -> Self:
        """Learn from features X (n, d) of samples with these labels."""
        self.preparation.fit(X, labels)
        self.quantiser.fit(self.preparation(X), seed)
        return self

    def encode(self, X: Vectors) -> Codes:
        """Codes (n, n_bytes) of features X (n, d)."""
        return self.quantiser.encode(self.preparation(X))

    def similarities(self, queries: Vectors, stored: Codes) -> Vectors:
        """Similarity (q, n) of the features of queries to codes: higher is better."""
        return self.quantiser.similarities(self.preparation(queries), stored)
