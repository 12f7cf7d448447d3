"""ConSE: convex combination of semantic embeddings.

M. Norouzi, T. Mikolov, S. Bengio, Y. Singer, J. Shlens, A. Frome, G. S. Corrado, J. Dean: Zero-Shot
Learning by Convex Combination of Semantic Embeddings. ICLR 2014.

A classifier of the known categories gives probabilities p(y | x). The picture stands at the mean of
the vectors s(y) of its T most probable categories, and is scored by the cosine to a name:

    f(x) = 1/Z Σ_{t ≤ T} p(ŷ_t | x) s(ŷ_t),    Z = Σ_{t ≤ T} p(ŷ_t | x)

The classifier is learned from labelled pictures, or it is the network's own (`combined`).

=========  ======================  ========================================================
symbol     variable                meaning
=========  ======================  ========================================================
p(y | x)   probabilities (n, c)    softmax of a linear classifier
s(y)       vectors (c, p)          vectors of the names of the known categories
T          n_best                  most probable categories that count
f(x)       combined(…) (n, p)      places of the pictures among the names
=========  ======================  ========================================================
"""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from zshash.studies.names2026.baselines.baseline import Baseline, Floats, Integers, descend

__all__ = ["ConSE", "combined", "cosines", "loss_and_gradient", "n_best_only"]

N_BEST = 10


class ConSE(Baseline):
    """ConSE with a multinomial logistic regression that is learned from the labelled pictures.

    Parameters
    ----------
    weight_decay : float
        Weight of the squared norm of the classifier, against the mean loss over pictures.
    n_best : int
        Most probable categories that count, T; 10 in the paper.
    max_iter : int
        Most iterations of L-BFGS.
    """

    grid: ClassVar = {"weight_decay": (1e-6, 1e-5, 1e-4, 1e-3)}

    def __init__(
        self, weight_decay: float = 1e-4, n_best: int = N_BEST, max_iter: int = 60
    ) -> None:
        self.weight_decay = weight_decay
        self.n_best = n_best
        self.max_iter = max_iter

    def fit(self, X: Floats, y: Integers, vectors: Floats) -> Self:
        """Train the classifier of the seen categories."""
        self.vectors_ = vectors
        shape = X.shape[1] + 1, len(vectors)

        def evaluate(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, gradient = loss_and_gradient(flat.reshape(shape), X, y, self.weight_decay)
            return value, gradient.ravel()

        found = descend(evaluate, np.zeros(shape), self.max_iter).reshape(shape).astype(X.dtype)
        self.weights_, self.biases_ = found[:-1], found[-1]
        return self

    def scores(self, X: Floats, names: Floats) -> Floats:
        """Cosines of f(x) with the names, (names, pictures)."""
        probabilities = softmax(X @ self.weights_ + self.biases_, axis=1)
        return cosines(names, combined(probabilities, self.vectors_, self.n_best))


def loss_and_gradient(
    parameters: Floats, X: Floats, y: Integers, weight_decay: float
) -> tuple[float, NDArray[np.float64]]:
    """Mean of −log p(y | x) with weight decay, and its gradient (d + 1, c).

    The last row of `parameters` holds the biases, which do not decay.
    """
    weights, biases = parameters[:-1].astype(X.dtype), parameters[-1].astype(X.dtype)
    errors = softmax(X @ weights + biases, axis=1)
    rows = np.arange(len(X))
    value = -np.log(np.maximum(errors[rows, y], np.finfo(X.dtype).tiny)).mean(dtype=np.float64)
    value += weight_decay / 2 * np.sum(weights**2, dtype=np.float64)
    errors[rows, y] -= 1
    errors /= len(X)
    gradient = np.vstack([X.T @ errors + weight_decay * weights, errors.sum(axis=0)])
    return float(value), gradient.astype(np.float64)


def combined(probabilities: Floats, vectors: Floats, n_best: int = N_BEST) -> Floats:
    """Places f(x) of the pictures, (n, p)."""
    kept = n_best_only(probabilities, n_best)
    return np.asarray((kept / kept.sum(axis=1, keepdims=True)) @ vectors)


def n_best_only(probabilities: Floats, n_best: int) -> Floats:
    """Probabilities (n, c) with zeros for all but the largest of each row.

    >>> n_best_only(np.array([[0.2, 0.5, 0.3]]), 2)
    array([[0. , 0.5, 0.3]])
    """
    n_others = max(probabilities.shape[1] - n_best, 0)
    others = np.argpartition(probabilities, n_others, axis=1)[:, :n_others]
    kept = probabilities.copy()
    np.put_along_axis(kept, others, 0, axis=1)
    return kept


def cosines(names: Floats, places: Floats) -> Floats:
    """Cosines (m, n) of names (m, p) with places (n, p)."""
    lengths = np.linalg.norm(names, axis=1)[:, None] * np.linalg.norm(places, axis=1)
    return np.asarray(names @ places.T / np.maximum(lengths, np.finfo(np.float32).tiny))
