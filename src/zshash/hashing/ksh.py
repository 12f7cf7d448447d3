"""Supervised hashing with kernels.

Wei Liu, Jun Wang, Rongrong Ji, Yu-Gang Jiang and Shih-Fu Chang: *Supervised Hashing with
Kernels*, CVPR 2012.

Minimise, over A, the difference between inner products of codes and the similarities S of pairs

    ‖rS − Σₖ hₖhₖᵀ‖²,   hₖ = sgn(K̄aₖ),   S_ij = 1 if i and j share a label, else −1;  S_ii = 1

greedily, one bit after the other: with the residual R = rS − Σ hhᵀ of the bits before it, a bit
should have a large hᵀRh.

======  ================================================  ==========================
symbol  meaning                                            here
======  ================================================  ==========================
r       number of bits                                     ``n_bits``
l, m    labelled samples, anchors                          ``n_labeled``, ``n_anchors``
k(x)    exp(−‖x − aⱼ‖²/2σ) for each anchor, (m,)           φ(x) without its bias, δ = 2σ
μ       mean of k(x) over all training samples             ``mean``
K̄       k(x) − μ of the labelled samples, (l, m)           ``K``, transposed, see below
A       hash function: bits are sgn((k(x) − μ)A), (m, r)   ``projection_``, the last row −μA
R       residual (l, l), never formed                      ``Residual``
======  ================================================  ==========================

The steps work in the principal axes V of K̄: K = (K̄V)ᵀ (p, l) has orthogonal rows, whose squared
lengths are the ``variances``. A rotation changes neither the spectral start nor the gradient
steps. Axes with next to no variance are left out, as they would make K̄ᵀK̄ singular.
"""

import math
from numbers import Integral, Real

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from zshash._threads import map_blocks
from zshash.hashing.hasher import check_number
from zshash.hashing.steps.anchors import KernelFeatures
from zshash.hashing.steps.kinds import KernelHasher
from zshash.hashing.steps.linear import top_eigenvectors
from zshash.hashing.steps.samples import Samples
from zshash.hashing.steps.similarity import draw_rows, similarity

NEGLIGIBLE = 1e-6  # share of the largest variance below which an axis of K̄ is left out
MAX_DOUBLINGS = 50  # of β in one line search


class KSH(KernelHasher):
    """Supervised hashing with kernels: inner products of codes that follow the labels.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    n_anchors : int, default 300
        Number of anchors of the kernel features.
    n_labeled : int, default 2000
        Training samples whose labels are used, drawn at random; all where there are fewer.
    anchors : {"random", "kmeans"}, default "random"
        Training samples drawn at random, or cluster centres.
    bandwidth : float or None, default None
        δ of the kernel exp(−‖x − a‖²/δ), 2σ in the paper; None takes twice the mean squared
        distance of samples to anchors.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    max_iter : int, default 500
        Gradient steps for a bit at most; 0 keeps the spectral start.
    tolerance : float, default 1e-2
        A bit is done when a step changes its smooth objective by less than this for each
        labelled sample.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    anchors_ : ndarray of shape (m, d)
    bandwidth_ : float
    projection_ : ndarray of shape (m + 1, n_bits)
        A; the last row is the bias −μA.
    objective_ : ndarray of shape (n_bits,)
        ‖R‖² after each bit.
    n_iter_ : int
        Gradient steps of all bits together.
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import KSH
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = KSH(n_bits=16, n_anchors=100, n_labeled=500, random_state=0).fit(X, y)
    >>> hasher.encode(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        n_anchors=300,
        n_labeled=2000,
        anchors="random",
        bandwidth=None,
        normalize=True,
        max_iter=500,
        tolerance=1e-2,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.n_labeled = n_labeled
        self.anchors = anchors
        self.bandwidth = bandwidth
        self.normalize = normalize
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Learn one bit after the other from the labelled samples."""
        pairs, X = similarity(samples.targets, "KSH"), samples.X
        rng = check_random_state(self.random_state)
        features = KernelFeatures(X, self._fit_kernel(X, rng, width=2))
        mean = mean_features(features)
        rows = draw_rows(np.arange(len(X)), self.n_labeled, rng)
        K, V, variances = principal_axes(features[rows][:, :-1] - mean)
        A = V @ self._learn_bits(K, variances, pairs[rows])
        self._keep(np.vstack([A, -mean @ A]))

    def _learn_bits(self, K, variances, pairs):
        """The directions of all bits in the principal axes, (p, r)."""
        n_labeled = K.shape[1]
        R, W = Residual(pairs, self.n_bits), whiten(K, variances)
        C = seen_through(R, W)
        A, gains, n_iter = np.empty((len(K), self.n_bits)), np.empty(self.n_bits), 0
        for k in range(self.n_bits):
            start = spectral_start(C, variances, n_labeled)
            smooth, n_steps = descend(K, R, start, self.max_iter, self.tolerance)
            A[:, k], h, gains[k] = better(K, R, start, smooth)
            R.subtract(h)
            q = (W @ h).astype(np.float64)
            C -= np.outer(q, q)
            n_iter += n_steps
        self.objective_, self.n_iter_ = objective(gains, n_labeled), n_iter
        return A

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_number(self, "n_labeled", Integral, minimum=2)
        check_number(self, "max_iter", Integral, minimum=0)
        check_number(self, "tolerance", Real, minimum=0)


def mean_features(features):
    """μ (m,): the mean of the kernel features over all training samples, without the bias."""
    sums = map_blocks(lambda part: features[part].sum(axis=0, dtype=np.float64), features.parts())
    return sum(sums)[:-1] / len(features)


def principal_axes(K):
    """K̄ (l, m) as K = (K̄V)ᵀ (p, l) float32, the axes V (m, p), and the variances of K (p,)."""
    variances, V = linalg.eigh(K.T @ K)
    if variances[-1] <= 0:
        raise ValueError(
            "the kernel features of all labelled samples are equal: choose a smaller bandwidth or "
            "a larger n_labeled"
        )
    kept = variances > NEGLIGIBLE * variances[-1]
    V = V[:, kept]
    return (V.T @ K.T).astype(np.float32), V, variances[kept]


class Residual:
    """R = rS − Σ hhᵀ as a product with vectors.

    Samples of a group share their row of S, so Sφ comes from the sums of φ within groups. For
    signs h, R @ h is exact while r·l is below 2²⁴.
    """

    def __init__(self, pairs, n_bits) -> None:
        self._groups = pairs.groups
        similar = pairs.between_groups()
        self._table = n_bits * np.where(similar, 1, -1).astype(np.float32)  # (g, g) of rS
        apart = ~similar.diagonal()  # a sample without labels is still similar to itself
        self._own = (2 * n_bits * apart[pairs.groups]).astype(np.float32)
        self._H = np.empty((n_bits, len(pairs)), dtype=np.float32)
        self._count = 0

    def __matmul__(self, phi):
        """Rφ (l,) for a vector φ."""
        H = self._H[: self._count]
        sums = np.bincount(self._groups, weights=phi, minlength=len(self._table))
        shared = self._table @ sums.astype(phi.dtype)
        return shared[self._groups] + self._own * phi - (H @ phi) @ H

    def subtract(self, h):
        """R ← R − hhᵀ."""
        self._H[self._count] = h
        self._count += 1


def whiten(K, variances):
    """K with rows of unit length, (p, l): its K̄ᵀK̄ is the identity."""
    return K / np.sqrt(variances, dtype=np.float32)[:, None]


def seen_through(R, W):
    """WRWᵀ (p, p) for whitened features W."""
    return (W @ np.column_stack([R @ row for row in W])).astype(np.float64)


def spectral_start(C, variances, n_labeled):
    """The top solution of K̄ᵀRK̄ a = γ K̄ᵀK̄ a with aᵀK̄ᵀK̄a = l, from C = WRWᵀ."""
    _, top = top_eigenvectors(C, 1)
    return top[:, 0] * np.sqrt(n_labeled / variances)


def descend(K, R, start, max_iter, tolerance):
    """Lower g(a) = −φᵀRφ with φ = 2/(1 + exp(−K̄a)) − 1 by Nesterov's gradient method.

    Two products with K a step: K̄v follows from the K̄a of the two points before it, and K̄z of
    every step length that is tried from K̄v and K̄∇g(v). Returns the last point and the number
    of steps.
    """
    a = a_before = start
    Ka = Ka_before = start.astype(K.dtype) @ K
    g, _ = smooth_value(R, Ka)
    delta_before, delta, beta = 0.0, 1.0, 1.0
    for step in range(max_iter):
        momentum = (delta_before - 1) / delta
        v, Kv = a + momentum * (a - a_before), Ka + momentum * (Ka - Ka_before)
        g_v, slope = smooth_value(R, Kv)
        gradient = K @ slope
        found = search_line(R, Kv, g_v, gradient, gradient @ K, beta)
        if found is None:
            return a, step
        a_before, Ka_before, g_before = a, Ka, g
        beta, Ka, g = found
        a = v - gradient / beta
        delta_before, delta = delta, (1 + math.sqrt(1 + 4 * delta**2)) / 2
        if abs(g - g_before) <= tolerance * len(Ka):
            return a, step + 1
    return a, max_iter


def smooth_value(R, Ka):
    """g, and its slope −(Rφ)⊙(1 − φ⊙φ) along each K̄a (l,): ∇g = K̄ᵀ slope."""
    phi = np.tanh(Ka / 2)
    Rphi = R @ phi
    return -float(phi.astype(np.float64) @ Rphi.astype(np.float64)), -Rphi * (1 - phi * phi)


def search_line(R, Kv, g_v, gradient, K_gradient, beta):
    """The smallest β·2ʲ for which z = v − ∇g(v)/β lies below the quadratic bound at v.

    Returns this β, K̄z and g(z), or None if no such j is found.
    """
    square = float(gradient @ gradient)
    for _ in range(MAX_DOUBLINGS + 1):
        Kz = Kv - K_gradient / beta
        g, _ = smooth_value(R, Kz)
        if g <= g_v - square / (2 * beta):
            return beta, Kz, g
        beta *= 2
    return None


def better(K, R, *directions):
    """The direction with the largest hᵀRh, the first of equal ones; its signs h; and this hᵀRh."""
    best = None
    for a in directions:
        h = np.where(a.astype(K.dtype) @ K >= 0, 1, -1).astype(K.dtype)
        gain = float(h.astype(np.float64) @ (R @ h))
        if best is None or gain > best[2]:
            best = a, h, gain
    return best


def objective(gains, n_labeled):
    """‖R‖² after each bit, from hᵀRh: ‖R − hhᵀ‖² = ‖R‖² − 2hᵀRh + l²."""
    l2 = float(n_labeled) ** 2
    return len(gains) ** 2 * l2 + np.cumsum(l2 - 2 * gains)
