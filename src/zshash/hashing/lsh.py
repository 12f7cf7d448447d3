"""Locality-sensitive hashing by random hyperplanes.

Moses Charikar: *Similarity Estimation Techniques from Rounding Algorithms*, STOC 2002.

A bit is the side of a random hyperplane, so two vectors at angle θ differ in a share θ/π of
their bits on average.
"""

import numpy as np
from sklearn.utils import check_random_state

from zshash.hashing.hasher import SumHasher, check_choice
from zshash.hashing.steps.kinds import LinearHasher
from zshash.hashing.steps.linear import mean_row
from zshash.hashing.steps.samples import SampleSource


class LSH(SumHasher, LinearHasher):
    """Signs of random Gaussian projections: the floor that a learned method must beat.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    center : bool, default True
        Subtract the mean of the training samples first. Without this, the codes of features that
        are all positive share most of their bits.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    projection_ : ndarray of shape (d, n_bits)

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import LSH
    >>> X, _ = load_digits(return_X_y=True)
    >>> LSH(n_bits=32, random_state=0).fit(X).encode(X[:3]).shape
    (3, 4)
    """

    def __init__(self, n_bits=64, *, center=True, normalize=True, random_state=None) -> None:
        self.n_bits = n_bits
        self.center = center
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: SampleSource) -> None:
        """Draw the hyperplanes; only the mean of the samples is learned."""
        rng, d = check_random_state(self.random_state), samples.n_features
        mean = mean_row(samples) if self.center else np.zeros(d)
        self._keep(mean, rng.standard_normal((d, self.n_bits)))

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "center", (True, False))
