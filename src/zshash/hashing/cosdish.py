"""Column sampling based discrete supervised hashing.

Wang-Cheng Kang, Wu-Jun Li and Zhi-Hua Zhou: *Column Sampling Based Discrete Supervised Hashing*,
AAAI 2016.

Draw m of the samples, Ω, at random; Γ is the rest. Lower, over B in {−1, 1},

    ‖qS_Γ − B_Γ B_Ωᵀ‖² + ‖qS_Ω − B_Ω B_Ωᵀ‖²

by turns in B_Ω and B_Γ, then draw others. S is 1 for samples that share a label and −ρ for others,
with ρ such that the m columns of S sum to zero.

======  ================================================  ===============================
symbol  meaning, rows are samples                          here
======  ================================================  ===============================
S       similarities of each group to Ω (g, m): samples    ``S``
        with the same labels share their row
B       codes of the training samples (n, q)               ``B``, ``codes_`` (packed)
B_Ω     codes of the m drawn samples                       ``B_Omega``
Q, p    a column b of B_Ω costs bᵀQb + pᵀb                 ``Q``, ``p``
W       hash function: bits are sgn((x − mean) W), (d, q)  ``W``, ``projection_``
======  ================================================  ===============================
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from zshash import codes
from zshash._compiled import compiled
from zshash._warnings import warn_user
from zshash.hashing.hasher import SupervisedHasher, check_choice, check_number
from zshash.hashing.steps.balanced import balanced_column, quadratic
from zshash.hashing.steps.dcc import random_codes, sum_by_class
from zshash.hashing.steps.few_samples import warn_of_noise
from zshash.hashing.steps.kinds import LinearHasher
from zshash.hashing.steps.linear import cross, gram, mean_row, ridge
from zshash.hashing.steps.samples import Samples
from zshash.hashing.steps.similarity import similarity

STRONG = 10.0  # ridge that is enough for any number of samples


class COSDISH(LinearHasher, SupervisedHasher):
    """Codes fitted to random columns of the similarity matrix, without relaxing the bits.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    n_columns : int or None, default None
        Samples drawn at a time, m; None takes as many as bits. Time grows with m³.
    n_resamplings : int, default 10
        How often columns are drawn.
    n_alternations : int, default 3
        Updates of B_Ω and B_Γ for each draw.
    ridge : float, default 1
        Penalty of the regression from standardised features to codes.
    solver : {"greedy", "exact"}, default "greedy"
        How B_Ω is updated, bit after bit. "greedy" builds all bits anew, each from the bits before
        it. "exact" starts from the present bits, takes all other bits into account, and keeps a
        bit's old values where the new ones are no better: an update never raises the objective.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    projection_ : ndarray of shape (d, n_bits)
        W, the standard deviations of the features divided out.
    codes_ : ndarray of shape (n, ceil(n_bits / 8))
        B, the codes learned for the training samples, packed. A database is hashed with
        ``encode``, its training samples too.
    objective_ : ndarray of shape (n_resamplings, n_alternations)
        Value of the objective after each alternation. Rows differ in the samples drawn.
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import COSDISH
    >>> X, y = load_digits(return_X_y=True)
    >>> COSDISH(n_bits=16, random_state=0).fit(X, y).encode(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        n_columns=None,
        n_resamplings=10,
        n_alternations=3,
        ridge=1.0,
        solver="greedy",
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.n_columns = n_columns
        self.n_resamplings = n_resamplings
        self.n_alternations = n_alternations
        self.ridge = ridge
        self.solver = solver
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Learn codes of the samples, then the regression from features to codes."""
        similar = similarity(samples.targets, method=type(self).__name__)
        B = self._learn_codes(similar, check_random_state(self.random_state))
        if self.ridge < STRONG:
            warn_of_noise(*samples.X.shape, method="COSDISH", parameter="ridge")
        X, mean = samples.X, mean_row(samples)
        self._keep(mean, regress(gram(X, mean), cross(X, mean, B), len(X), self.ridge))
        self.codes_ = codes.pack(B > 0)

    def _learn_codes(self, similar, rng):
        """Alternate between B_Ω and B_Γ for each draw of columns; sets the objective."""
        n, m = len(similar), self._count_columns(len(similar))
        B = random_codes(n, self.n_bits, rng)
        self.objective_ = np.empty((self.n_resamplings, self.n_alternations))
        for values in self.objective_:
            draw = draw_columns(similar, rng.choice(n, m, replace=False))
            sums = measure(B, draw)
            for step in range(self.n_alternations):
                B_Omega = update_columns(B[draw.columns], draw, sums, self.solver)
                B[draw.columns] = B_Omega
                update_rows(B, B_Omega, draw)
                sums = measure(B, draw)
                values[step] = objective(B_Omega, draw, sums)
        return B

    def _count_columns(self, n):
        """m, which the number of samples limits."""
        if self.n_columns is not None and self.n_columns > n:
            warn_user(
                f"n_columns={self.n_columns} is more than the {n} training samples: "
                f"all {n} of them are used"
            )
        return min(self.n_columns or max(self.n_bits, 2), n)

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        if self.n_columns is not None:
            check_number(self, "n_columns", Integral, minimum=2)
        for name in ("n_resamplings", "n_alternations"):
            check_number(self, name, Integral, minimum=1)
        check_number(self, "ridge", Real, above=0)
        check_choice(self, "solver", ("greedy", "exact"))


@dataclass(frozen=True)
class Draw:
    """Samples Ω and their similarities."""

    columns: np.ndarray  # (m,) rows of X that were drawn
    S: np.ndarray  # (g, m) float64: 1 or −ρ
    own: np.ndarray  # (m,) group of each drawn sample
    rows: np.ndarray  # (n,) group of each sample in Γ; g for samples in Ω


@dataclass(frozen=True)
class Sums:
    """Sums over B_Γ, which are all that the Ω-step needs."""

    by_group: np.ndarray  # (g, q)
    BtB: np.ndarray  # (q, q)


def draw_columns(similar, columns):
    """The columns of S for the samples Ω; ρ is the number of similar pairs per dissimilar one."""
    own, rows = similar.groups[columns], similar.groups.copy()
    shared = similar.with_groups(columns)
    n_similar = (np.bincount(rows, minlength=len(shared)) @ shared).sum()
    rho = n_similar / max(len(rows) * len(columns) - n_similar, 1)
    rows[columns] = len(shared)
    return Draw(columns, np.where(shared, 1.0, -rho), own, rows)


def measure(B, draw):
    """The sums over Γ; they are exact."""
    BtB = gram(B, np.float32(0))
    drawn = B[draw.columns].astype(np.float64)
    by_group = sum_by_class(B, draw.rows, len(draw.S) + 1)[:-1]
    return Sums(by_group, BtB - drawn.T @ drawn)


def update_columns(B_Omega, draw, sums, solver):
    """The Ω-step: B_Ω column by column, as int8."""
    q = B_Omega.shape[1]
    start = np.zeros(B_Omega.shape) if solver == "greedy" else B_Omega.astype(np.float64)
    linear = q * draw.S.T @ sums.by_group  # q S_Γᵀ B_Γ
    replace_columns(start, q * draw.S[draw.own], linear, sums.BtB, solver == "exact")
    return start.astype(np.int8)


@compiled
def replace_columns(B, qS, linear, BtB, only_better):
    """Replace each column of B_Ω (m, q) by a better one, in place; zero columns do not count."""
    agreement = B @ B.T
    for k in range(B.shape[1]):
        old = B[:, k].copy()
        B[:, k] = 0
        add_outer(agreement, old, -1)
        Q, p = column_cost(B, agreement, qS, linear[:, k], BtB[k])
        new = balanced_column(Q, p)
        if only_better and quadratic(Q, p, new) >= quadratic(Q, p, old):
            new = old
        for i in range(len(new)):
            B[i, k] = new[i]
        add_outer(agreement, new, 1)


@compiled
def add_outer(M, b, sign):
    """M ± bbᵀ, in place."""
    for i in range(len(b)):
        for j in range(len(b)):
            M[i, j] += sign * b[i] * b[j]


@compiled
def column_cost(B, agreement, qS, linear, products):
    """Q and p of a column that is zero in B = B_Ω: it adds bᵀQb + pᵀb to the objective.

    With the residuals R that the other columns leave, Q = −2 R_Ω without its diagonal, which
    adds a constant, and p = −2 R_Γᵀz, where z is the same column of B_Γ. `agreement` is
    B_Ω B_Ωᵀ (m, m), `linear` is q S_Γᵀz (m,), and `products` is B_Γᵀz (q,).
    """
    Q = 2 * (agreement - qS)
    for i in range(len(Q)):
        Q[i, i] = 0
    return Q, 2 * (B @ products - linear)


def update_rows(B, B_Omega, draw):
    """The Γ-step, in place: B_Γ = sgn(S_Γ B_Ω), where a tie keeps the old bit.

    It minimises Σ |s_ij| |q sgn(s_ij) − b_i·b_j|, not the sum of squares.
    """
    scores = draw.S @ B_Omega.astype(np.float64)
    signs = np.zeros((len(scores) + 1, B.shape[1]), dtype=np.int8)  # the last row is Ω's: all ties
    signs[:-1] = np.where(np.abs(scores) < 1e-5, 0, np.sign(scores))
    assign_signs(B, signs, draw.rows)


@compiled
def assign_signs(B, signs, rows):
    """Give each row of B the signs of its group; a sign of zero keeps the old bit."""
    for i in range(len(B)):
        own = signs[rows[i]]
        for k in range(B.shape[1]):
            B[i, k] = own[k] if own[k] != 0 else B[i, k]


def regress(XtX, XtB, n, penalty):
    """W = (X̂ᵀX̂ + μI)⁻¹X̂ᵀB for the standardised X̂ = XD⁻¹; returns D⁻¹W, to be used with X."""
    variances = np.diag(XtX) / n
    scale = np.sqrt(np.where(variances > 0, variances, 1))[:, None]
    return ridge(XtX / (scale * scale.T), XtB / scale, penalty) / scale


def objective(B_Omega, draw, sums):
    """‖qS_Γ − B_Γ B_Ωᵀ‖² + ‖qS_Ω − B_Ω B_Ωᵀ‖² from sums over rows."""
    B_Omega = B_Omega.astype(np.float64)
    q = B_Omega.shape[1]
    counts = np.bincount(draw.rows)[: len(draw.S)]
    rest = (
        q * q * (counts @ np.square(draw.S)).sum()
        - 2 * q * np.vdot(draw.S @ B_Omega, sums.by_group)
        + np.vdot(sums.BtB, B_Omega.T @ B_Omega)
    )
    return rest + np.square(q * draw.S[draw.own] - B_Omega @ B_Omega.T).sum()
