"""Iterative quantization, unsupervised (PCA) and supervised (CCA).

Yunchao Gong and Svetlana Lazebnik: *Iterative Quantization: A Procrustean Approach to Learning
Binary Codes*, CVPR 2011.

Minimise, over B in {−1, 1} and R with RᵀR = I,

    ‖B − VR‖²,    V = (X − mean) W

======  ==================================================  =================================
symbol  meaning, rows are samples                            here
======  ==================================================  =================================
W       the leading axes of the features (d, l)              ``axes``
V       features along these axes (n, l)                     ``V``
R       rotation of the axes (l, l)                          ``R``
WR      hash function: bits are sgn((x − mean) WR), (d, l)   ``projection_``
======  ==================================================  =================================
"""

from numbers import Integral, Real

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from zshash._threads import all_cores
from zshash.hashing.base import SupervisedHasher, check_number
from zshash.hashing.linear import (
    LinearHasher,
    centred_axes,
    cross,
    gram,
    mean_row,
    top_eigenvectors,
)
from zshash.hashing.quantization import rotate_to_signs
from zshash.hashing.rows import Rows


class RotatedAxes(LinearHasher):
    """What both forms share: the rotation of given axes."""

    def _rotate(self, rows, mean, axes):
        V = rows.mapped(centred_axes, mean, axes.astype(np.float32))
        R, losses = rotate_to_signs(V, self.n_iter, check_random_state(self.random_state))
        self._keep(mean, axes @ R)
        self.objective_ = np.array(losses)

    def _check_parameters(self):
        self._check_common()
        check_number(self, "n_iter", Integral, minimum=1)


class ITQ(RotatedAxes):
    """Principal axes, rotated until their signs say as much as possible.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024, and no more than the features have dimensions.
    n_iter : int, default 50
        Rounds of new codes and new rotation, at most.
    normalize : bool, default False
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Of the rotation at the start. Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    projection_ : ndarray of shape (d, n_bits)
        WR.
    objective_ : ndarray
        ‖B − VR‖² after each round; it never rises. Shorter than `n_iter` where the codes came
        to rest.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import ITQ
    >>> X, _ = load_digits(return_X_y=True)
    >>> ITQ(n_bits=32, random_state=0).fit(X).encode(X[:3]).shape
    (3, 4)
    """

    def __init__(self, n_bits=64, *, n_iter=50, normalize=False, random_state=None):
        self.n_bits = n_bits
        self.n_iter = n_iter
        self.normalize = normalize
        self.random_state = random_state

    def fit(self, X, y=None):  # noqa: ARG002
        """Learn the axes and their rotation from X (n, d); labels are not looked at."""
        self._check_parameters()
        with all_cores():
            self._learn(Rows(self._training_features(X)))
        return self

    def _learn(self, rows):
        """Learn from sums over rows, wherever they are."""
        self._check_axes(rows.n_features)
        mean = mean_row(rows)
        _, axes = top_eigenvectors(gram(rows, mean), self.n_bits)
        self._rotate(rows, mean, axes)


class CCAITQ(RotatedAxes, SupervisedHasher):
    """ITQ along the axes that agree best with the labels (canonical correlations).

    Labels span fewer directions than bits are asked for: the others get no weight, and the
    rotation spreads the ones there are over all bits.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024, and no more than the features have dimensions.
    n_iter : int, default 50
        Rounds of new codes and new rotation, at most.
    regularization : float, default 1e-4
        Added to the diagonals of XᵀX and YᵀY, as a share of their mean, so that it means the
        same at every scale of the features.
    normalize : bool, default False
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Of the rotation at the start. Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    projection_ : ndarray of shape (d, n_bits)
        WR.
    correlations_ : ndarray of shape (n_bits,)
        Canonical correlations γ of the axes before the rotation, descending.
    objective_ : ndarray
        ‖B − VR‖² after each round; it never rises. Shorter than `n_iter` where the codes came
        to rest.
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import CCAITQ
    >>> X, y = load_digits(return_X_y=True)
    >>> CCAITQ(n_bits=32, random_state=0).fit(X, y).encode(X[:3]).shape
    (3, 4)
    """

    def __init__(
        self, n_bits=64, *, n_iter=50, regularization=1e-4, normalize=False, random_state=None
    ):
        self.n_bits = n_bits
        self.n_iter = n_iter
        self.regularization = regularization
        self.normalize = normalize
        self.random_state = random_state

    def fit(self, X, y):
        """Learn the axes from X (n, d) and labels or targets y, then their rotation."""
        self._check_parameters()
        X = self._training_features(X)
        targets = self._targets(y, len(X))
        self._check_axes(X.shape[1])
        with all_cores():
            mean = mean_row(X)
            Y = centred_targets(targets)
            self.correlations_, axes = canonical_axes(
                gram(X, mean), cross(X, mean, Y), gram(Y, 0), self.n_bits, self.regularization
            )
            self._rotate(Rows(X), mean, axes * np.sqrt(len(X)))
        return self

    def _check_parameters(self):
        super()._check_parameters()
        check_number(self, "regularization", Real, above=0)


def centred_targets(targets):
    """Y − mean (n, p), float32."""
    weights = np.bincount(targets.rows, minlength=len(targets.vectors)) / len(targets)
    return (targets.vectors - weights @ targets.vectors).astype(np.float32)[targets.rows]


def canonical_axes(XtX, XtY, YtY, count, regularization):
    """Canonical correlations γ and the axes γ_k w_k (d, count).

    XᵀY (YᵀY + ρI)⁻¹ YᵀX w = γ² (XᵀX + ρI) w, with wᵀ(XᵀX + ρI)w = 1. An axis thus weighs as
    much as it agrees with the labels.
    """
    Sx, Sy = (S + regularization * shift(S) * np.eye(len(S)) for S in (XtX, YtY))
    try:
        M = XtY @ linalg.cho_solve(linalg.cho_factor(Sy), XtY.T)
        squares, axes = top_eigenvectors((M + M.T) / 2, count, Sx)
    except linalg.LinAlgError:
        raise ValueError(
            f"regularization={regularization} is too small for these features: raise it"
        ) from None
    correlations = np.sqrt(np.clip(squares, 0, None))
    return correlations, axes * correlations


def shift(S):
    """Mean of the diagonal of S; 1 where that is zero, so that S + shift can be inverted."""
    return np.trace(S) / len(S) or 1.0
