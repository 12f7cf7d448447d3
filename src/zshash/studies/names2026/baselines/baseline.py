"""The interface of all baselines, and the steps that several of them share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orth
from scipy.optimize import minimize

__all__ = ["Baseline", "Floats", "Integers", "descend", "one_against_others", "span"]

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]
N_CORRECTIONS = 20  # pairs that L-BFGS remembers; problems here are badly scaled


class Baseline(ABC):
    """Zero-shot recognition: learns from labelled pictures, scores pictures by any name.

    The caller prepares the features: unit length, centred on the labelled pictures, reduced to
    their first principal components, unit length again (`zshash.studies.names2026.features`).

    Attributes
    ----------
    grid : mapping of str to sequence
        Values of the parameters to choose among.
    """

    grid: ClassVar[Mapping[str, Sequence[Any]]] = {}

    @abstractmethod
    def fit(self, X: Floats, y: Integers, vectors: Floats) -> Self:
        """Learn from labelled pictures of seen categories.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Prepared features.
        y : ndarray of shape (n,)
            Row of each picture's category in `vectors`.
        vectors : ndarray of shape (c, p)
            Unit vectors of the names of the seen categories.
        """

    @abstractmethod
    def scores(self, X: Floats, names: Floats) -> Floats:
        """Scores (m, n) of pictures (n, d) for the vectors (m, p) of names; higher is better."""


def one_against_others(y: Integers, n_categories: int) -> NDArray[np.float32]:
    """Targets (n, c): 1 for the category of a sample, −1 for all others.

    >>> one_against_others(np.array([1, 0]), 3)
    array([[-1.,  1., -1.],
           [ 1., -1., -1.]], dtype=float32)
    """
    return np.where(y[:, None] == np.arange(n_categories), np.float32(1), np.float32(-1))


def span(vectors: Floats) -> NDArray[np.float32]:
    """Orthonormal basis (p, r) of the space that the rows of `vectors` span.

    A model that meets names only through products with the seen vectors learns nothing outside
    this space, so it can be trained on r coordinates instead of p, with the same result.

    >>> span(np.array([[0.0, 2.0, 0.0], [0.0, 1.0, 0.0]])).shape
    (3, 1)
    """
    return np.asarray(orth(np.asarray(vectors, dtype=np.float64).T), dtype=np.float32)


def descend(
    value_and_gradient: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    start: Floats,
    max_iter: int,
    tolerance: float = 1e-5,
) -> NDArray[np.float64]:
    """Minimise a smooth function by L-BFGS, from `start` (of any shape).

    >>> descend(lambda w: (float((w - 2) @ (w - 2)), 2 * (w - 2)), np.zeros(3), 10)
    array([2., 2., 2.])
    """
    options: Any = {"maxiter": max_iter, "maxcor": N_CORRECTIONS, "gtol": tolerance, "ftol": 0}
    start = np.asarray(start, dtype=np.float64).ravel()
    found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x)
