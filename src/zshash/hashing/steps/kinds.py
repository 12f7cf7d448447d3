"""The four kinds of hash function that several methods share.

==================  ========================================================================
kind                bits are the signs of
==================  ========================================================================
`LinearHasher`      (x − mean) W
`KernelHasher`      φ(x) P, φ(x) the similarities of x to anchors
`AnchorGraphHasher` z(x) E, z(x) the weights of x on its nearest anchors
`NetworkHasher`     u(x), a linear map and a hidden layer of units
==================  ========================================================================
"""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.hashing.hasher import Hasher, Projector, SupervisedHasher, check_choice, check_number
from zshash.hashing.steps.anchor_graph import Anchors, nearest_anchors, weigh, width
from zshash.hashing.steps.anchors import AnchorKernel, choose_anchors, mean_squared_distance
from zshash.hashing.steps.networks import Weights

WITHOUT_LIMIT = "a method without this limit such as LSH, SpectralHashing or AGH"


class LinearHasher(Hasher):
    """A method whose fit ends in ``mean_`` (d,) and ``projection_`` (d, n_bits), float32."""

    mean_: NDArray[np.float32]
    projection_: NDArray[np.float32]

    def projector(self) -> Projector:
        """The function from a block of prepared features to (x − mean) W."""

        def project(X: NDArray[np.float32]) -> NDArray[np.float32]:
            centred: NDArray[np.float32] = X - self.mean_
            return centred @ self.projection_

        return project

    def _keep(self, mean, projection):
        """Set the fitted state."""
        self._check_finite(projection)
        self.mean_ = np.asarray(mean, dtype=np.float32)
        self.projection_ = np.asarray(projection, dtype=np.float32, order="C")

    def _check_axes(self, n_features, cure=WITHOUT_LIMIT):
        """Refuse more bits than X has dimensions, where every bit needs an axis of its own."""
        if self.n_bits > n_features:
            raise ValueError(
                f"n_bits={self.n_bits} is more than the dimension of X (n_features={n_features}), "
                f"and {type(self).__name__} needs an axis for every bit: use n_bits of at most "
                f"{n_features}, or {cure}"
            )


class KernelHasher(SupervisedHasher):
    """A method whose parameters include ``n_anchors``, ``anchors`` and ``bandwidth``.

    Its fit ends in ``anchors_``, ``bandwidth_`` and ``projection_``, P (m + 1, n_bits) float32.
    """

    n_anchors: int
    anchors: str
    bandwidth: float | None
    anchors_: NDArray[np.float32]
    bandwidth_: float
    projection_: NDArray[np.float32]

    def projector(self) -> Projector:
        """The function from a block of prepared features to φ(x) P."""
        kernel = AnchorKernel(self.anchors_, self.bandwidth_)
        return lambda X: kernel(X) @ self.projection_

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_number(self, "n_anchors", Integral, minimum=1)
        check_choice(self, "anchors", ("random", "kmeans"))
        if self.bandwidth is not None:
            check_number(self, "bandwidth", Real, above=0)

    def _fit_kernel(self, X: Any, rng: np.random.RandomState, width: float = 1) -> AnchorKernel:
        """Choose the anchors and δ: by default `width` mean squared distances to the anchors."""
        self.anchors_ = choose_anchors(X, self.n_anchors, method=self.anchors, rng=rng)
        self.bandwidth_ = float(self.bandwidth or width * mean_squared_distance(X, self.anchors_))
        return AnchorKernel(self.anchors_, self.bandwidth_)

    def _keep(self, P):
        """Set the fitted hash function."""
        self._check_finite(P)
        self.projection_ = P.astype(np.float32, order="C")


class AnchorGraphHasher(Hasher):
    """A method whose parameters include ``n_anchors`` and ``n_nearest``.

    Its fit ends in ``anchors_`` (m, d), ``sigma_`` and ``embedding_``, E (m, n_bits) float32.
    """

    refuses_fewer = True  # a graph of fewer nodes has too few eigenvectors
    n_anchors: int
    n_nearest: int
    anchors_: NDArray[np.float32]
    sigma_: float
    embedding_: NDArray[np.float32]

    def least_samples(self) -> int:
        """Number of different samples that the method needs: a bit is an eigenvector."""
        return self.n_bits + 1

    def projector(self) -> Projector:
        """The function from a block of prepared features to z(x) E."""
        anchors = Anchors(self.anchors_)

        def project(X: NDArray[np.float32]) -> NDArray[np.float32]:
            distances, indices = anchors.nearest(X, self.n_nearest)
            return weigh(distances, indices, len(self.anchors_), self.sigma_) @ self.embedding_

        return project

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_number(self, "n_anchors", Integral, minimum=2)
        check_number(self, "n_nearest", Integral, minimum=1, maximum=self.n_anchors - 1)

    def _fit_graph(self, X, rng):
        """Choose the anchors and σ; returns Z, in which every anchor has some weight."""
        anchors = choose_anchors(X, self.n_anchors, method="kmeans", rng=rng)
        distances, indices = nearest_anchors(X, anchors, self.n_nearest)
        used, indices = np.unique(indices, return_inverse=True)
        self.anchors_, self.sigma_ = anchors[used], width(distances)
        return weigh(distances, indices.reshape(distances.shape), len(used), self.sigma_)


class NetworkHasher(Hasher):
    """A method whose fit ends in the weights of a network (see `networks`), float32.

    They are ``linear_`` (d, n_bits), ``bias_``, ``units_`` (d, h), ``unit_bias_`` and ``outputs_``
    (h, n_bits).
    """

    is_soft = True  # whether projections are soft bits, tanh u(x), or u(x)
    linear_: NDArray[np.float32]
    bias_: NDArray[np.float32]
    units_: NDArray[np.float32]
    unit_bias_: NDArray[np.float32]
    outputs_: NDArray[np.float32]

    def weights(self) -> Weights:
        """The fitted network."""
        return Weights(self.linear_, self.bias_, self.units_, self.unit_bias_, self.outputs_)

    def projector(self) -> Projector:
        """The function from a block of prepared features to u(x), or to soft bits tanh u(x)."""
        weights = self.weights()

        def project(X: NDArray[np.float32]) -> NDArray[np.float32]:
            U: NDArray[np.float32] = weights.outputs(X, weights.hidden(X))
            return np.tanh(U, out=U) if self.is_soft else U

        return project

    def _keep(self, weights):
        """Set the fitted hash function."""
        names = ("linear_", "bias_", "units_", "unit_bias_", "outputs_")
        for name, array in zip(names, weights, strict=True):
            self._check_finite(array)
            setattr(self, name, np.ascontiguousarray(array, dtype=np.float32))
