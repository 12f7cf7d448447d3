"""Supervised discrete hashing.

Fumin Shen, Chunhua Shen, Wei Liu and Heng Tao Shen: *Supervised Discrete Hashing*, CVPR 2015.

Minimise, over P, B in {−1, 1} and W,

    ‖Y − BW‖² + λ‖W‖² + ν(‖B − ΦP‖² + μ‖P‖²)

The paper leaves the ridge μ of its F-step out of the objective; with it, no step raises the value.
With the hinge loss, the first term is Σᵢ max(0, max_{c≠yᵢ} 1 − bᵢ·(w_{yᵢ} − w_c)).

======  ================================================  ==========================
symbol  meaning, rows are samples                          here
======  ================================================  ==========================
Φ       kernel features (n, m + 1)                         ``features``
Y       label vectors (n, p)                               ``targets``
P       hash function: bits are sgn(φ(x) P), (m + 1, l)    ``P``, ``projection_``
B       codes of the training samples (n, l)               ``B``, ``codes_`` (packed)
W       codes to label vectors (l, p)                      ``W``, ``mapping_``
======  ================================================  ==========================
"""

import warnings
from functools import reduce
from numbers import Integral, Real
from operator import add

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from zshash import codes
from zshash._threads import map_blocks
from zshash.hashing.hasher import SumHasher, check_choice, check_number
from zshash.hashing.steps.dcc import descend, measure_block
from zshash.hashing.steps.kinds import KernelHasher
from zshash.hashing.steps.linear import inner, ridge
from zshash.hashing.steps.samples import SampleSource

TOLERANCE = 1e-5  # relative change of P at which the authors stop


class SDH(SumHasher, KernelHasher):
    """Supervised discrete hashing: codes from which a linear classifier reads the label.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    n_anchors : int, default 1000
        Number of anchors of the kernel features.
    anchors : {"random", "kmeans"}, default "random"
        Training samples drawn at random, or cluster centres.
    bandwidth : float or None, default None
        δ of the kernel exp(−d²/δ); None takes the mean squared distance of samples to anchors.
        The authors' σ = 0.4 is δ = 2σ² = 0.32, meant for features of unit length.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    loss : {"l2", "hinge"}, default "l2"
        How the label is read from a code: by least squares, or by a multiclass support vector
        machine, for which y must hold class labels.
    lam, nu, mu : float
        Weights λ, ν, μ of the objective, by default the authors'.
    n_sweeps : int, default 10
        Sweeps over the bits at most in each update of the codes; the hinge loss needs one.
    max_iter : int, default 5
        Iterations at most; the fit stops before that when P no longer changes.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    anchors_ : ndarray of shape (m, d)
    bandwidth_ : float
    projection_ : ndarray of shape (m + 1, n_bits)
        P; the last row is the bias.
    codes_ : ndarray of shape (n, ceil(n_bits / 8))
        B, the codes learned for the training samples, packed. A database is hashed with
        ``encode``, its training samples too.
    mapping_ : ndarray of shape (n_bits, p)
        W.
    objective_ : ndarray of shape (n_iter_,)
        Value of the objective after each iteration; with ``loss="l2"`` it never rises.
    n_iter_ : int
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import SDH
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = SDH(n_bits=16, n_anchors=100, normalize=True, random_state=0).fit(X, y)
    >>> hasher.encode(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        n_anchors=1000,
        anchors="random",
        bandwidth=None,
        normalize=True,
        loss="l2",
        lam=1.0,
        nu=1e-5,
        mu=1e-2,
        n_sweeps=10,
        max_iter=5,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.anchors = anchors
        self.bandwidth = bandwidth
        self.normalize = normalize
        self.loss = loss
        self.lam = lam
        self.nu = nu
        self.mu = mu
        self.n_sweeps = n_sweeps
        self.max_iter = max_iter
        self.random_state = random_state

    def learn(self, samples: SampleSource) -> None:
        """Choose anchors and random codes, then update B, W and P in turn."""
        if self.loss == "hinge" and not hasattr(self, "classes_"):
            raise ValueError('loss="hinge" needs class labels y (n,): give these, or use loss="l2"')
        rng = check_random_state(self.random_state)
        kernel = self._fit_kernel(samples, rng)
        samples.start(self.n_bits, rng)
        samples.use(kernel)
        # In float64: the rounding of float32 products would drown a μ as small as the authors'.
        self._alternate(samples, samples.solver(samples.gram(np.float64), self.mu), rng)

    def _alternate(self, samples, solve, rng):
        """Update B, W and P in turn until P stays as it is."""
        sums, squared_norm = samples.measure(), samples.squared_norm()
        W = ridge(sums.BtB, sums.YtB.T, self.lam)
        P = solve(sums.PhitB)
        values = []
        for _ in range(self.max_iter):
            if self.loss == "l2":
                sums = samples.update(P, W, alpha=self.nu, n_sweeps=self.n_sweeps)
                W = ridge(sums.BtB, sums.YtB.T, self.lam)
                error = squared_error(squared_norm, sums, W)
            else:
                sums = separate_codes(samples.B, samples.features, samples.targets, P, W, self.nu)
                W, error = support_vectors(samples.B, samples.targets, self.lam, rng)
            before, P = P, solve(sums.PhitB)
            values.append(objective(error, sums, P, W, self.lam, self.nu))
            if inner(P - before, P - before) <= TOLERANCE**2 * inner(before, before):
                break
        self._keep(samples.fetch(P))
        self.codes_ = samples.codes()
        self.mapping_ = np.ascontiguousarray(W)
        self.objective_, self.n_iter_ = np.array(values), len(values)

    def check_sums(self) -> None:
        """Raise ValueError if a parameter needs all rows in memory."""
        if self.loss == "hinge":
            raise ValueError('loss="hinge" needs all codes in memory: set loss="l2"')

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        for name in ("n_sweeps", "max_iter"):
            check_number(self, name, Integral, minimum=1)
        for name in ("lam", "nu", "mu"):
            check_number(self, name, Real, above=0)
        check_choice(self, "loss", ("l2", "hinge"))


def separate_codes(B, features, targets, P, W, nu):
    """B-step of the hinge loss, in place: bᵢ = sgn(νφ(xᵢ)P + ½ Σ_c (w_{yᵢ} − w_c))."""
    P = P.astype(np.float32)
    margins = (W.shape[1] * W - W.sum(axis=1, keepdims=True)).T / 2  # (c, l)
    apart = np.zeros((len(W), len(W)), dtype=np.float32)  # no bit depends on another

    def update(part):
        Phi, own, block = features[part], targets[part], B[part]
        fixed, table = np.zeros(block.shape, dtype=np.float32), own.vectors @ margins
        flips = descend(block, fixed, table, own.rows, Phi @ P, nu, apart, 1)
        return measure_block(block, Phi, own, flips)

    return reduce(add, map_blocks(update, features.parts()))


def support_vectors(B, targets, lam, rng):
    """W-step of the hinge loss: the multiclass machine of Crammer and Singer, and its loss.

    Equal codes of a class are merged into one with a weight, because few codes differ.
    """
    n_classes = len(targets.vectors)
    _, first, counts = np.unique(
        np.column_stack([codes.pack(B > 0), targets.rows]),
        axis=0,
        return_index=True,
        return_counts=True,
    )
    B, rows = B[first].astype(np.float64), targets.rows[first]
    W = np.zeros((B.shape[1], n_classes))
    if n_classes > 1:
        machine = LinearSVC(
            C=1 / (2 * lam), multi_class="crammer_singer", fit_intercept=False, random_state=rng
        )
        with warnings.catch_warnings():  # the next iteration goes on from any W
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(B, rows, sample_weight=counts)
        W[:] = machine.coef_.T if n_classes > 2 else machine.coef_.T * [-0.5, 0.5]
    return W, counts @ hinge(B @ W, rows)


def hinge(scores, rows):
    """max(0, max_{c≠y} 1 − (score_y − score_c)) of each sample, its class y in `rows`."""
    own = np.arange(len(rows)), rows
    others = scores + 1
    others[own] = scores[own]
    return others.max(axis=1) - scores[own]


def squared_error(squared_norm, sums, W):
    """‖Y − BW‖² from sums over rows, and ‖Y‖²."""
    return squared_norm - 2 * np.vdot(sums.YtB.T, W) + np.vdot(W @ W.T, sums.BtB)


def objective(error, sums, P, W, lam, nu):
    """The whole objective, with the loss `error`.

    P solves (ΦᵀΦ + μI)P = ΦᵀB, so ‖B − ΦP‖² + μ‖P‖² = nl − tr(PᵀΦᵀB).
    """
    visual = sums.n * len(W) - inner(P, sums.PhitB)
    return error + lam * np.square(W).sum() + nu * visual
