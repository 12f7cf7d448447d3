"""Supervised hashing with latent factor models.

Peichao Zhang, Wei Zhang, Wu-Jun Li and Minyi Guo: *Supervised Hashing with Latent Factor Models*,
SIGIR 2014.

Samples i and j share a label with probability σ(Θ_ij), where Θ_ij = ½ u_i·u_j. Maximise, over U,

    Σ_{i≠j} [s_ij Θ_ij − log(1 + exp Θ_ij)] − ‖U‖²/2β

======  ================================================  ===============================
symbol  meaning, rows are samples                          here
======  ================================================  ===============================
S       1 where two samples share a label, 0 elsewhere     ``shared``: samples with the
                                                           same labels share their row
U       real-valued codes (n, r)                           ``U``; signs in ``codes_``
V       rows of U that one step looks at                   ``V``
H       a bound below the Hessian in u_i, for all i        ``curvature``, which is −H
W       hash function: bits are sgn((x − mean) W), (d, r)  ``projection_``
======  ================================================  ===============================

Near any u the objective in u_i lies above the parabola with the slope g of the objective and the
curvature H = −⅛VᵀV − I/β. A step goes to its top, u_i − gH⁻¹, and can not lower the objective.
"""

from numbers import Integral, Real

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state, gen_batches

from zshash import codes
from zshash._threads import run_blocks
from zshash._warnings import warn_user
from zshash.hashing.hasher import SupervisedHasher, check_choice, check_number
from zshash.hashing.steps.kinds import LinearHasher
from zshash.hashing.steps.linear import along, cross, gram, mean_row, ridge, top_eigenvectors
from zshash.hashing.steps.rows import BLOCK_ROWS
from zshash.hashing.steps.samples import Samples
from zshash.hashing.steps.similarity import similarity


class LFH(LinearHasher, SupervisedHasher):
    """Codes whose inner products predict which samples share a label.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    beta : float or None, default None
        Variance of the prior of U; None takes 30 / n_bits.
    lam : float, default 1
        Weight of the ridge of the regression from features to U, in units of the mean eigenvalue
        of XᵀX, which is the authors' n/d for rows of unit length.
    max_iter : int, default 50
        Updates of U.
    variant : {"stochastic", "full"}, default "stochastic"
        "stochastic" looks at a few random samples in each update and moves all others at once,
        in time linear in n. "full" moves one sample after the other and looks at all others,
        in time n² for each update.
    n_columns : int or None, default None
        Samples that a stochastic update looks at; None takes as many as bits. It is never more
        than half of the samples.
    center : bool, default True
        Subtract the mean of the training samples first. The authors do not, but then the codes
        depend on the origin of the features, and unseen categories leak into the codes if the
        origin is the mean of data that holds them.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
        Zeros where ``center=False``.
    projection_ : ndarray of shape (d, n_bits)
        W.
    codes_ : ndarray of shape (n, ceil(n_bits / 8))
        Signs of U, the codes learned for the training samples, packed. A database is hashed with
        ``encode``, its training samples too.
    n_iter_ : int
        Always ``max_iter``.
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import LFH
    >>> X, y = load_digits(return_X_y=True)
    >>> LFH(n_bits=16, normalize=True, random_state=0).fit(X, y).encode(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        beta=None,
        lam=1.0,
        max_iter=50,
        variant="stochastic",
        n_columns=None,
        center=True,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.beta = beta
        self.lam = lam
        self.max_iter = max_iter
        self.variant = variant
        self.n_columns = n_columns
        self.center = center
        self.normalize = normalize
        self.random_state = random_state

    def least_samples(self) -> int:
        """Number of different samples that the method needs: else factors of U are random."""
        return max(self.n_bits, super().least_samples())

    def learn(self, samples: Samples) -> None:
        """Learn latent factors U of the samples, then the regression from features to U."""
        similar = similarity(samples.targets, method=type(self).__name__)
        rng, X = check_random_state(self.random_state), samples.X
        mean = mean_row(X) if self.center else np.zeros(X.shape[1], dtype=np.float32)
        XtX = gram(X, mean)
        U = initialize(X, mean, XtX, self.n_bits, rng)
        self._ascend(U, similar, rng)
        penalty = self.lam * np.trace(XtX) / len(XtX)
        self._keep(mean, ridge(XtX, cross(X, mean, U), penalty))
        self.codes_, self.n_iter_ = codes.pack(U >= 0), int(self.max_iter)
        warn_of_collapse(self.codes_, len(similar.labels))

    def _ascend(self, U, similar, rng):
        """Raise the objective over U, in place."""
        n = len(U)
        beta = 30 / self.n_bits if self.beta is None else self.beta
        n_columns = min(self.n_columns or self.n_bits, n // 2)
        for _ in range(self.max_iter):
            if self.variant == "full":
                update_one_by_one(U, similar, beta)
            else:
                update_at_once(U, similar, rng.choice(n, n_columns, replace=False), beta)

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        if self.beta is not None:
            check_number(self, "beta", Real, above=0)
        if self.n_columns is not None:
            check_number(self, "n_columns", Integral, minimum=1)
        check_number(self, "lam", Real, above=0)
        check_number(self, "max_iter", Integral, minimum=1)
        check_choice(self, "variant", ("stochastic", "full"))
        check_choice(self, "center", (True, False))


def initialize(X, mean, XtX, n_bits, rng):
    """Scores of X on its principal axes, and on random directions beyond its rank.

    X is scaled first so that the mean square of its rows' lengths is 1. Beyond the rank, scores
    would be zeros or copies of each other, and stay so.
    """
    values, axes = top_eigenvectors(XtX, min(n_bits, len(XtX)))
    axes = axes[:, values > 1e-6 * values[0]]
    random = rng.standard_normal((len(XtX), n_bits - axes.shape[1]))
    axes = np.hstack([axes, random / linalg.norm(random, axis=0)])
    length = np.sqrt(np.trace(XtX) / len(X))
    return along(X, mean, axes / length)


def update_at_once(U, similar, columns, beta):
    """Move every row of U but V = U[columns] to the top of its parabola, in place.

    With K = −H⁻¹ and σ(Θ) = ½ + ½ tanh(Θ/2), that is
    u ← u + gK = u (I − K/β) + (s − ½) VK − ½ tanh(¼ uVᵀ) VK.
    """
    V = U[columns].astype(np.float64)
    K = linalg.inv(curvature(V.T @ V, beta))
    shared = similar.with_groups(columns)  # (g, |columns|)
    table = ((shared - 0.5) @ V @ K).astype(np.float32)
    shrink = (np.eye(len(K)) - K / beta).astype(np.float32)
    quarter, half = (V.T / 4).astype(np.float32), (V @ K / 2).astype(np.float32)

    def update(part):
        predicted = U[part] @ quarter
        np.tanh(predicted, out=predicted)
        U[part] = U[part] @ shrink + table[similar.groups[part]] - predicted @ half

    run_blocks(update, gen_batches(len(U), BLOCK_ROWS))
    U[columns] = V


def update_one_by_one(U, similar, beta):
    """Move one row of U after the other to the top of its parabola, given all others, in place."""
    sums = similar.sum_by_group(U.astype(np.float64))
    UtU = U.T.astype(np.float64) @ U
    for i, own in enumerate(similar.groups):
        old = U[i].astype(np.float64)
        sums[own] -= old
        UtU -= np.outer(old, old)
        predicted = np.tanh(U @ (U[i] / 4))
        predicted[i] = 0  # a sample is no pair with itself
        shared = similar.labels @ similar.labels[own] > 0
        g = (shared - 0.5) @ sums - predicted @ U / 2 - old / beta
        U[i] = old + linalg.solve(curvature(UtU, beta), g, assume_a="pos", check_finite=False)
        new = U[i].astype(np.float64)
        sums[own] += new
        UtU += np.outer(new, new)


def warn_of_collapse(packed, n_groups):
    """Warn where codes no longer tell groups apart.

    With many classes nearly all pairs are dissimilar, and a step that only pushes rows of U away
    from a few others can leave two codes, each the opposite of the other.
    """
    n_codes = len(np.unique(packed, axis=0))
    if n_codes < n_groups / 4:
        warn_user(
            f"LFH learned only {n_codes} different codes for {n_groups} sets of labels: raise beta "
            "(30 / n_bits unless given) or n_columns"
        )


def curvature(VtV, beta):
    """−H = ⅛VᵀV + I/β: the ⅛ is σ' ≤ ¼ times (½)² from Θ, times two for both orders of a pair."""
    return VtV / 8 + np.eye(len(VtV)) / beta


def objective(U, similar, columns, beta):
    """The part of the objective that a step with the fixed rows `columns` of U can raise.

    Pairs of another row with a fixed row count twice, once in each order.
    """
    rows = np.setdiff1d(np.arange(len(U)), columns)
    U = U.astype(np.float64)
    Theta = U[rows] @ U[columns].T / 2
    likelihood = np.where(similar.block(rows, columns), Theta, 0) - np.logaddexp(0, Theta)
    return 2 * likelihood.sum() - np.square(U[rows]).sum() / (2 * beta)
