"""DeViSE: a deep visual-semantic embedding model.

A. Frome, G. S. Corrado, J. Shlens, S. Bengio, J. Dean, M. Ranzato, T. Mikolov: DeViSE: A Deep
Visual-Semantic Embedding Model. NIPS 2013.

A linear map M takes the features v of a picture, of unit length, to the vectors t of names, of
unit length. Its own name is to have a larger product than any other name j, by a margin:

    minimise  Σ over pictures Σ_{j ≠ label} max(0, margin − t_label M v + t_j M v)

by stochastic gradient descent with the paper's shortcut: of a picture's terms, only one that is not
zero is taken, the first in a random order of the other names. The score of a picture for a name is
t M v. The paper also trains the network below; here the features stay as they are.

=======  ==============  ================================================
symbol   variable        meaning
=======  ==============  ================================================
v        X (n, d)        features of unit length
t        T (c, r)        vectors of names, in the space the seen ones span
M        M (d, r)        the map, with samples in rows
=======  ==============  ================================================
"""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from zshash.studies.names2026.baselines.baseline import Baseline, Floats, Integers, span

__all__ = ["DeViSE", "gradient", "hinges", "loss", "one_of_each"]

MARGIN = 0.1


class DeViSE(Baseline):
    """DeViSE's map from given features.

    Parameters
    ----------
    learning_rate : float
        Length of a step, against the mean gradient over a batch.
    n_epochs : int
        How often each picture is used.
    batch_size : int
        Pictures in each step.
    random_state : int
        Seed of the order of pictures and names.
    """

    grid: ClassVar = {"learning_rate": (0.1, 1.0, 10.0), "n_epochs": (5, 20)}

    def __init__(
        self,
        learning_rate: float = 1.0,
        n_epochs: int = 10,
        batch_size: int = 100,
        random_state: int = 0,
    ) -> None:
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.random_state = random_state

    def fit(self, X: Floats, y: Integers, vectors: Floats) -> Self:
        """Stochastic gradient descent from M = 0; the loss is convex."""
        rng = np.random.RandomState(self.random_state)
        self.basis_ = span(vectors)
        T = vectors @ self.basis_
        M = np.zeros((X.shape[1], T.shape[1]), dtype=X.dtype)
        for _ in range(self.n_epochs):
            order = rng.permutation(len(X))
            for start in range(0, len(X), self.batch_size):
                rows = order[start : start + self.batch_size]
                chosen = one_of_each(hinges(M, X[rows], y[rows], T) > 0, rng)
                M -= self.learning_rate / len(rows) * gradient(chosen, X[rows], y[rows], T)
        self.M_ = M
        return self

    def scores(self, X: Floats, names: Floats) -> Floats:
        """The products t M v, (names, pictures)."""
        return np.asarray((names @ self.basis_ @ self.M_.T) @ X.T)


def hinges(M: Floats, X: Floats, y: Integers, T: Floats) -> Floats:
    """Terms of the loss (n, c), equation (1): zero where the margin is kept, and for the label."""
    products = X @ (M @ T.T)
    rows = np.arange(len(X))
    terms = np.maximum(0, MARGIN - products[rows, y][:, None] + products)
    terms[rows, y] = 0
    return np.asarray(terms)


def one_of_each(violated: NDArray[np.bool_], rng: np.random.RandomState) -> NDArray[np.bool_]:
    """One violated term of each row at random, if there is any.

    >>> one_of_each(np.array([[True, False], [False, False]]), np.random.RandomState(0))
    array([[ True, False],
           [False, False]])
    """
    first = np.where(violated, rng.rand(*violated.shape), -1).argmax(axis=1)
    chosen = np.zeros_like(violated)
    rows = np.arange(len(violated))
    chosen[rows, first] = violated[rows, first]
    return chosen


def gradient(chosen: NDArray[np.bool_], X: Floats, y: Integers, T: Floats) -> Floats:
    """Gradient (d, r) of the sum of the chosen terms (n, c)."""
    pulls = chosen.astype(X.dtype)
    pulls[np.arange(len(X)), y] = -chosen.sum(axis=1)
    return np.asarray(X.T @ (pulls @ T))


def loss(M: Floats, X: Floats, y: Integers, T: Floats) -> float:
    """Value of the loss over all pictures and names."""
    return float(hinges(M, X, y, T).sum(dtype=np.float64))
