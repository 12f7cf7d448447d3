"""Zero-shot hashing.

Yang Yang, Weilun Chen, Yadan Luo, Fumin Shen, Jie Shao and Heng Tao Shen: *Zero-Shot Hashing
via Transferring Supervised Knowledge*, ACM Multimedia 2016.

Minimise, over P, B in {−1, 1}, R with RᵀR = I, and W,

    ‖YR − BW‖² + λ‖W‖² + α‖ΦP − B‖² + β‖P‖² + γ tr(PᵀΦᵀLΦP)

======  ================================================  ==========================
symbol  meaning, rows are samples                          here
======  ================================================  ==========================
Φ       kernel features (n, m + 1)                         ``features``
L       Laplacian of the samples' graph (n, n)             ``laplacian``
Y       label vectors (n, p)                               ``targets``
P       hash function: bits are sgn(φ(x) P), (m + 1, l)    ``P``, ``projection_``
B       codes of the training samples (n, l)               ``B``, ``codes_`` (packed)
W       codes to label vectors (l, p)                      ``W``, ``mapping_``
R       rotation of the label vectors (p, p)               ``R``, ``rotation_``
M       ΦᵀΦ + β/α I + γ/α ΦᵀLΦ, the matrix of the P-step   ``M``
======  ================================================  ==========================

R is a gauge: the objective knows W and R only through A = WRᵀ, and the W-step gives
A = (BᵀB + λI)⁻¹BᵀY whatever R is. From the same start, the codes do not depend on R.
"""

from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from zshash.hashing.hasher import SemanticHasher, SumHasher, check_choice, check_number
from zshash.hashing.steps.anchor_graph import anchor_gram
from zshash.hashing.steps.graphs import neighbor_gram, neighbor_laplacian
from zshash.hashing.steps.kinds import KernelHasher
from zshash.hashing.steps.linear import inner, ridge
from zshash.hashing.steps.rotations import Rotation
from zshash.hashing.steps.samples import SampleSource


class ZSH(SemanticHasher, SumHasher, KernelHasher):
    """Zero-shot hashing: codes for pictures of categories that nobody labelled.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    n_anchors : int, default 1000
        Number of anchors of the kernel features.
    anchors : {"random", "kmeans"}, default "random"
        Training samples drawn at random, or cluster centres.
    bandwidth : float or None, default None
        δ of the kernel; None takes the mean squared distance of samples to anchors.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    graph : {"knn", "anchor", None}, default "knn"
        Local structure to keep: exact neighbours (time grows with n²), neighbours through
        shared anchors (linear in n), or none.
    n_neighbors : int, default 5
        Neighbours of a sample in the graph, or anchors it is tied to.
    sigma : float or "auto", default 1.0
        Width of the heat weights of ``graph="knn"``. The paper's 1 is meant for features of
        unit length; "auto" takes it from the data.
    alpha, beta, gamma, lam : float
        Weights α, β, γ, λ of the objective, by default as in the paper.
    rotation : {"procrustes", "cayley", None}, default "procrustes"
        How R is found: in closed form, by the paper's curvilinear search, or not at all.
        The codes are the same.
    n_sweeps : int, default 1
        Sweeps over the bits in each update of the codes.
    max_iter : int, default 10
        Iterations at most; the fit stops before that when the codes no longer change.
    init_scale : float, default 35
        Scale of the random W at the start, which the paper leaves open: the length of a random
        code's label vector, where a true label vector has length 1. With a small value the first
        codes depend on the label alone; with a large value they ignore it.
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
    rotation_ : ndarray of shape (p, p)
        R.
    objective_ : ndarray of shape (n_iter_,)
        Value of the objective after each iteration; it never rises.
    n_iter_ : int
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import ZSH
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = ZSH(n_bits=16, n_anchors=100, normalize=True, random_state=0).fit(X, y)
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
        graph="knn",
        n_neighbors=5,
        sigma=1.0,
        alpha=1e-5,
        beta=1e-4,
        gamma=1e-6,
        lam=1e-2,
        rotation="procrustes",
        n_sweeps=1,
        max_iter=10,
        init_scale=35.0,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.anchors = anchors
        self.bandwidth = bandwidth
        self.normalize = normalize
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.lam = lam
        self.rotation = rotation
        self.n_sweeps = n_sweeps
        self.max_iter = max_iter
        self.init_scale = init_scale
        self.random_state = random_state

    def code_meanings(self) -> NDArray[np.float64]:
        """A = WRᵀ, the map from codes of −1 and 1 to label vectors, (n_bits, p)."""
        check_is_fitted(self)
        return self.mapping_.astype(np.float64) @ self.rotation_.astype(np.float64).T

    def learn(self, samples: SampleSource) -> None:
        """Choose anchors and random codes, then update P, B, R and W in turn."""
        rng = check_random_state(self.random_state)
        kernel = self._fit_kernel(samples, rng)
        samples.start(self.n_bits, rng)  # codes may be drawn while the kernel works
        samples.use(kernel)
        solver = samples.solver(self._system_matrix(samples), self.beta / self.alpha)
        self._alternate(samples, solver, rng)

    def _system_matrix(self, samples):
        """ΦᵀΦ + γ/α ΦᵀLΦ, the same in every iteration; adding β/α to its diagonal gives M."""
        weight = self.gamma / self.alpha
        if self.graph is None or weight == 0:
            return samples.gram()
        if self.graph == "knn":
            laplacian = neighbor_laplacian(samples.X, self.n_neighbors, self.sigma)
            return neighbor_gram(samples.features, laplacian, weight)
        return anchor_gram(samples, self.anchors_, self.n_neighbors, weight)

    def _alternate(self, samples, solve, rng):
        """Update P, B, R and W in turn until the codes stay as they are.

        The next codes need R and W only as A = WRᵀ, which does not depend on R: so R is found
        while the codes are updated.
        """
        sums, squared_norm, p = samples.measure(), samples.squared_norm(), samples.n_targets
        A = random_mapping(self.n_bits, p, self.init_scale, rng)
        rotation = Rotation(p, self.rotation, rng)
        values = []
        for _ in range(self.max_iter):
            P = solve(sums.PhitB)  # eq. (8): P = M⁻¹ΦᵀB
            before = sums
            sums = samples.update(P, A, alpha=self.alpha, n_sweeps=self.n_sweeps)  # eq. (15)
            rotation.follow(sums.YtB, A)  # eq. (16)
            A = update_mapping(sums, self.lam)
            values.append(objective(squared_norm, before, sums, P, A, self.alpha, self.lam))
            if sums.flips == 0:
                break
        self._keep(samples.fetch(solve(sums.PhitB)))
        self.codes_ = samples.codes()
        self.rotation_ = np.ascontiguousarray(rotation.result())
        self.mapping_ = A @ self.rotation_
        self.objective_, self.n_iter_ = np.array(values), len(values)

    def check_sums(self) -> None:
        """Raise ValueError if a parameter needs all rows in memory."""
        if self.graph == "knn" and self.gamma:
            raise ValueError(
                'graph="knn" compares all samples with each other: set graph="anchor", whose time '
                "grows with their number, or graph=None"
            )

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        for name in ("n_neighbors", "n_sweeps", "max_iter"):
            check_number(self, name, Integral, minimum=1)
        for name in ("alpha", "lam", "init_scale"):
            check_number(self, name, Real, above=0)
        for name in ("beta", "gamma"):
            check_number(self, name, Real, minimum=0)
        if not (isinstance(self.sigma, str) and self.sigma == "auto"):
            check_number(self, "sigma", Real, above=0)
        check_choice(self, "graph", ("knn", "anchor", None))
        check_choice(self, "rotation", ("procrustes", "cayley", None))


def random_mapping(n_bits, p, init_scale, rng):
    """A Gaussian A = WRᵀ to start with: for any rotation R, W = AR is Gaussian too.

    A random code's bA has the length `init_scale`, as a root mean square.
    """
    return rng.standard_normal((n_bits, p)) * (init_scale / np.sqrt(n_bits * p))


def update_mapping(sums, lam):
    """Eq. (18), W = (BᵀB + λI)⁻¹BᵀYR, as A = WRᵀ."""
    return ridge(sums.BtB, sums.YtB.T, lam)


def objective(squared_norm, before, sums, P, A, alpha, lam):
    """Eq. (5) from sums over rows; R being orthogonal, ‖YR − BW‖ = ‖Y − BA‖ and ‖W‖ = ‖A‖.

    With P from the P-step, MP = ΦᵀB for the codes `before`, which spares a product with M:
    α‖ΦP − B‖² + β‖P‖² + γ tr(PᵀΦᵀLΦP) = α(nl − 2 tr(PᵀΦᵀB) + tr(PᵀMP)).
    """
    semantic = squared_norm - 2 * np.vdot(sums.YtB.T, A) + np.vdot(A @ A.T, sums.BtB)
    bits = sums.n * len(A)
    visual = bits - 2 * inner(P, sums.PhitB) + inner(P, before.PhitB)
    return semantic + lam * np.square(A).sum() + alpha * visual
