"""CMT: zero-shot learning through cross-modal transfer.

R. Socher, M. Ganjoo, C. D. Manning, A. Y. Ng: Zero-Shot Learning Through Cross-Modal Transfer.
NIPS 2013.

A network of two layers maps a picture x to the vector of its category's name:

    minimise  1/n Σᵢ ‖w_yᵢ − f(xᵢ)‖² + α(‖A‖² + ‖B‖²),    f(x) = B tanh(Ax + a) + b

Names have isometric Gaussians around their vectors, so the score of x for the name w is
−‖f(x) − w‖². A picture is novel if it is an outlier of every seen category: f(x) is farther from
each vector w_y than most pictures of y are (the paper's thresholds T_y on Gaussian densities, which
fall with that distance). A picture that is not novel can not belong to an unseen category, so it
comes after all novel ones. The formula of the paper has no biases a and b, and no weight decay α.

========  =============================  ===============================================
symbol    variable                       meaning
========  =============================  ===============================================
x         X (n, d)                       features
w_y       targets (n, r), places (c, r)  vectors of names, in the space the seen ones span
A, a      layers.A (d, h), layers.a      first layer
B, b      layers.B (h, r), layers.b      second layer
T_y       radii (c,)                     distance from w_y beyond which a picture is an outlier
========  =============================  ===============================================
"""

from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from zshash.studies.names2026.baselines.baseline import (
    Baseline,
    Floats,
    Integers,
    descend,
    span,
)

__all__ = ["CMT", "Layers", "loss_and_gradient", "radii", "random_layers"]


class Layers(NamedTuple):
    """The parameters of the network, with samples in rows: tanh(XA + a)B + b."""

    A: Floats
    a: Floats
    B: Floats
    b: Floats

    def flat(self) -> NDArray[np.float64]:
        """All parameters in one array."""
        return np.concatenate([part.ravel() for part in self]).astype(np.float64)

    def like(self, flat: Floats) -> "Layers":
        """Parameters of the same shapes and precision from one array."""
        parts = np.split(flat, np.cumsum([part.size for part in self])[:-1])
        shaped = (new.reshape(old.shape) for new, old in zip(parts, self, strict=True))
        return Layers(*(part.astype(self.A.dtype) for part in shaped))

    def output(self, X: Floats) -> Floats:
        """Places f(x) of pictures among the vectors of names."""
        return np.asarray(np.tanh(X @ self.A + self.a) @ self.B + self.b)


class CMT(Baseline):
    """Cross-modal transfer.

    Parameters
    ----------
    weight_decay : float
        Weight α of the squares of both matrices.
    outliers : float
        Share of a seen category's pictures that count as its outliers; 1 makes every picture
        novel.
    n_hidden : int
        Hidden units, h.
    max_iter : int
        Most iterations of L-BFGS.
    random_state : int
        Seed of the start.
    """

    grid: ClassVar = {"weight_decay": (0.0003, 0.003), "outliers": (0.5, 1.0)}

    def __init__(
        self,
        weight_decay: float = 0.0003,
        outliers: float = 1.0,
        n_hidden: int = 100,
        max_iter: int = 100,
        random_state: int = 0,
    ) -> None:
        self.weight_decay = weight_decay
        self.outliers = outliers
        self.n_hidden = n_hidden
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Floats, y: Integers, vectors: Floats) -> Self:
        """Train the network by L-BFGS, and measure how far each category's pictures are spread."""
        self.basis_ = span(vectors)
        self.places_ = vectors @ self.basis_
        targets = self.places_[y]
        sizes = X.shape[1], self.n_hidden, targets.shape[1]
        start = random_layers(*sizes, np.random.RandomState(self.random_state))

        def evaluate(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, gradient = loss_and_gradient(start.like(flat), X, targets, self.weight_decay)
            return value, gradient.flat()

        self.layers_ = start.like(descend(evaluate, start.flat(), self.max_iter))
        distances = squared_distances(self.layers_.output(X), self.places_)
        self.radii_ = radii(distances, y, self.outliers)
        return self

    def scores(self, X: Floats, names: Floats) -> Floats:
        """−‖f(x) − w‖², (names, pictures); pictures that are not novel come last."""
        found = self.layers_.output(X)
        # the part of a name outside the span is as far from every picture
        outside = np.sum(names**2, axis=1) - np.sum((names @ self.basis_) ** 2, axis=1)
        distances = squared_distances(found, names @ self.basis_).T + outside[:, None]
        known = (squared_distances(found, self.places_) <= self.radii_).any(axis=1)
        return np.asarray(-distances - np.where(known, np.ptp(distances) + 1, 0))


def random_layers(d: int, h: int, r: int, rng: np.random.RandomState) -> Layers:
    """Layers to start from: normal weights that keep the variance of unit inputs, no biases."""
    A = rng.randn(d, h).astype(np.float32)
    B = rng.randn(h, r).astype(np.float32) / np.float32(h)
    return Layers(A, np.zeros(h, np.float32), B, np.zeros(r, np.float32))


def loss_and_gradient(
    layers: Layers, X: Floats, targets: Floats, weight_decay: float
) -> tuple[float, Layers]:
    """Value of the objective, and its gradient by back-propagation."""
    hidden = np.tanh(X @ layers.A + layers.a)
    errors = hidden @ layers.B + layers.b - targets
    slopes = 2 * errors / len(X)
    inner = (slopes @ layers.B.T) * (1 - hidden**2)
    value = np.sum(errors**2, dtype=np.float64) / len(X)
    value += weight_decay * (np.sum(layers.A**2) + np.sum(layers.B**2))
    return float(value), Layers(
        X.T @ inner + 2 * weight_decay * layers.A,
        inner.sum(axis=0),
        hidden.T @ slopes + 2 * weight_decay * layers.B,
        slopes.sum(axis=0),
    )


def squared_distances(points: Floats, places: Floats) -> Floats:
    """Squared distances (n, c) between rows."""
    squares = np.sum(points**2, axis=1)[:, None] + np.sum(places**2, axis=1)
    return np.asarray(np.maximum(squares - 2 * points @ places.T, 0))


def radii(distances: Floats, y: Integers, outliers: float) -> NDArray[np.float64]:
    """Squared distances (c,) that the share `outliers` of each category's pictures exceeds."""
    if outliers >= 1:
        return np.full(distances.shape[1], -1.0)  # no picture is that near
    own = [distances[y == category, category] for category in range(distances.shape[1])]
    return np.array([np.quantile(part, 1 - outliers) for part in own])
