"""Locality-sensitive hashing by random hyperplanes.

Moses Charikar: *Similarity Estimation Techniques from Rounding Algorithms*, STOC 2002.

A bit is the side of a random hyperplane, so two vectors at angle θ differ in a share θ/π of
their bits on average.
"""

import numpy as np
from sklearn.utils import check_random_state

from zshash.hashing.base import check_choice
from zshash.hashing.linear import LinearHasher, mean_row
from zshash.hashing.rows import Rows


class LSH(LinearHasher):
    """Signs of random Gaussian projections: the floor that a learned method must beat.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    center : bool, default True
        Subtract the mean of the training samples first, without which features that are all
        positive share most of their bits.
    normalize : bool, default False
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

    def __init__(self, n_bits=64, *, center=True, normalize=False, random_state=None):
        self.n_bits = n_bits
        self.center = center
        self.normalize = normalize
        self.random_state = random_state

    def fit(self, X, y=None):  # noqa: ARG002
        """Draw the hyperplanes; only the mean of X is learned, labels are not looked at."""
        self._check_parameters()
        self._learn(Rows(self._training_features(X)))
        return self

    def _learn(self, rows):
        """Learn from sums over rows, wherever they are."""
        rng = check_random_state(self.random_state)
        mean = mean_row(rows) if self.center else np.zeros(rows.n_features)
        self._keep(mean, rng.standard_normal((rows.n_features, self.n_bits)))

    def _check_parameters(self):
        self._check_common()
        check_choice(self, "center", (True, False))
