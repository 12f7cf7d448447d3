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

from zshash.hashing.hasher import SumHasher, SupervisedHasher, check_number
from zshash.hashing.steps.few_samples import warn_of_noise
from zshash.hashing.steps.kinds import LinearHasher
from zshash.hashing.steps.linear import centred_axes, cross, gram, mean_row, top_eigenvectors
from zshash.hashing.steps.rotations import rotate_to_signs
from zshash.hashing.steps.samples import Samples, SampleSource

STRONG = 0.03  # regularization that is enough for any number of samples


class RotatedAxes(LinearHasher):
    """Base of both forms: the rotation of given axes."""

    def _rotate(self, rows, mean, axes):
        V = rows.mapped(centred_axes, mean, axes.astype(np.float32))
        R, losses = rotate_to_signs(V, self.n_iter, check_random_state(self.random_state))
        self._keep(mean, axes @ R)
        self.objective_ = np.array(losses)

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_number(self, "n_iter", Integral, minimum=1)


class ITQ(SumHasher, RotatedAxes):
    """Principal axes, rotated so that their signs lose as little as possible.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024, and no more than the features have dimensions.
    n_iter : int, default 50
        Rounds of new codes and new rotation, at most.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Source of the rotation at the start. Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    projection_ : ndarray of shape (d, n_bits)
        WR.
    objective_ : ndarray
        ‖B − VR‖² after each round; it never rises. Shorter than `n_iter` where the codes
        stopped changing.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import ITQ
    >>> X, _ = load_digits(return_X_y=True)
    >>> ITQ(n_bits=32, random_state=0).fit(X).encode(X[:3]).shape
    (3, 4)
    """

    def __init__(self, n_bits=64, *, n_iter=50, normalize=True, random_state=None) -> None:
        self.n_bits = n_bits
        self.n_iter = n_iter
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: SampleSource) -> None:
        """Learn the principal axes and their rotation."""
        self._check_axes(samples.n_features)
        mean = mean_row(samples)
        _, axes = top_eigenvectors(gram(samples, mean), self.n_bits)
        self._rotate(samples, mean, axes)


class CCAITQ(RotatedAxes, SupervisedHasher):
    """ITQ along the axes that agree best with the labels (canonical correlations).

    Labels usually span fewer directions than there are bits. Other directions get no weight, and
    the rotation spreads the directions of the labels over all bits.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024, and no more than the features have dimensions.
    n_iter : int, default 50
        Rounds of new codes and new rotation, at most.
    regularization : float, default 1e-4
        Added to the diagonals of XᵀX and YᵀY, as a share of their mean, so that it means the
        same at every scale of the features.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Source of the rotation at the start. Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    projection_ : ndarray of shape (d, n_bits)
        WR.
    correlations_ : ndarray of shape (n_bits,)
        Canonical correlations γ of the axes before the rotation, descending.
    objective_ : ndarray
        ‖B − VR‖² after each round; it never rises. Shorter than `n_iter` where the codes
        stopped changing.
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
        self, n_bits=64, *, n_iter=50, regularization=1e-4, normalize=True, random_state=None
    ) -> None:
        self.n_bits = n_bits
        self.n_iter = n_iter
        self.regularization = regularization
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Learn the axes from features and targets, then the rotation of the axes."""
        self._check_axes(samples.n_features)
        if self.regularization < STRONG:
            warn_of_noise(*samples.X.shape, method="CCAITQ", parameter="regularization")
        X, mean = samples.X, mean_row(samples)
        Y = centred_targets(samples.targets)
        self.correlations_, axes = canonical_axes(
            gram(X, mean), cross(X, mean, Y), gram(Y, 0), self.n_bits, self.regularization
        )
        self._rotate(samples, mean, axes * np.sqrt(len(X)))

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
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
