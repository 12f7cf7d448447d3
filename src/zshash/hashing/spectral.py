"""Spectral hashing.

Yair Weiss, Antonio Torralba and Rob Fergus: *Spectral Hashing*, NIPS 2008.

Codes whose neighbours stay near in Hamming space are eigenvectors of a graph Laplacian. For
samples spread evenly over a box, its eigenfunctions are known: along axis j of range ρ, the k-th
is

    Ψ(x) = sin(π/2 + kπ (x_j − low_j)/ρ_j),    with an eigenvalue that grows with k/ρ_j

so the n_bits smallest over all axes and modes are picked, and a bit is the sign of one of them.

======  =========================================  ====================
symbol  meaning                                     here
======  =========================================  ====================
x_j     a sample along principal axis j             one column of ``V``
low_j   least x_j of the training samples           ``lows_``, for each bit
kπ/ρ_j  frequency of an eigenfunction               ``frequencies_``, for each bit
======  =========================================  ====================
"""

import numpy as np

from zshash.hashing.hasher import Projector
from zshash.hashing.steps.few_samples import ENOUGH
from zshash.hashing.steps.kinds import LinearHasher
from zshash.hashing.steps.linear import along, gram, mean_row, top_eigenvectors
from zshash.hashing.steps.samples import Samples


class SpectralHashing(LinearHasher):
    """Signs of sinusoids along the principal axes, longer axes more often.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024; more bits than dimensions are possible.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Not used: nothing is random here.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    projection_ : ndarray of shape (d, n_bits)
        The principal axis of each bit; one axis may serve several bits.
    lows_ : ndarray of shape (n_bits,)
        Where the training samples begin along the axis of each bit.
    frequencies_ : ndarray of shape (n_bits,)
        kπ/ρ_j of each bit, ascending.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import SpectralHashing
    >>> X, _ = load_digits(return_X_y=True)
    >>> SpectralHashing(n_bits=32).fit(X).encode(X[:3]).shape
    (3, 4)
    """

    def __init__(self, n_bits=64, *, normalize=True, random_state=None) -> None:
        self.n_bits = n_bits
        self.normalize = normalize
        self.random_state = random_state

    def least_samples(self) -> int:
        """Number of different samples that the method needs: no axis is longer than they are."""
        return min(self.n_bits, ENOUGH)

    def learn(self, samples: Samples) -> None:
        """Find the box of the samples and its slowest sinusoids."""
        mean = mean_row(samples)
        _, axes = top_eigenvectors(gram(samples, mean), min(self.n_bits, samples.n_features))
        V = along(samples, mean, axes)
        lows, ranges = V.min(axis=0), np.ptp(V, axis=0).astype(np.float64)
        chosen, modes = slowest(ranges, self.n_bits)
        self._keep(mean, axes[:, chosen])
        self.lows_ = lows[chosen]
        self.frequencies_ = (modes * np.pi / ranges[chosen]).astype(np.float32)

    def projector(self) -> Projector:
        """The function from a block of prepared features to its projections."""
        along_axes = super().projector()
        return lambda X: np.cos((along_axes(X) - self.lows_) * self.frequencies_)


def slowest(ranges, count):
    """Axis j and mode k ≥ 1 of the `count` lowest frequencies k/ρ_j, the longest axis first.

    Axis j offers as many modes as could be among the lowest, ⌈(count + 1) ρ_j/ρ_max⌉ − 1.
    """
    offers = np.maximum(np.ceil((count + 1) * ranges / ranges.max()).astype(int) - 1, 0)
    axes = np.repeat(np.arange(len(ranges)), offers)
    modes = np.concatenate([np.arange(1, offer + 1) for offer in offers])
    order = np.argsort(modes / ranges[axes], kind="stable")[:count]
    return axes[order], modes[order]
