"""Discrete graph hashing.

Wei Liu, Cun Mu, Sanjiv Kumar and Shih-Fu Chang: *Discrete Graph Hashing*, NIPS 2014.

Maximise, over codes B in {−1, 1} and Y with 1ᵀY = 0 and YᵀY = nI,

    tr(BᵀAB) + ρ tr(BᵀY),    A = ZΛ⁻¹Zᵀ

Neighbours should get the same bits, and B be near to bits that are balanced and uncorrelated.

======  ==================================================  ============================
symbol  meaning, rows are samples                            here
======  ==================================================  ============================
Z       weights of samples on their nearest anchors (n, m)   ``Z``
Λ       diag(Zᵀ1), how much the samples use each anchor      ``totals``
B       codes of the training samples (n, r)                 ``B``, ``codes_`` (packed)
Y       balanced, uncorrelated real codes (n, r)             ``Y``
ZᵀB     codes summed up at the anchors (m, r)                ``sums``
Λ⁻¹ZᵀB  bits of the anchors: the hash is sgn(z(x)Λ⁻¹ZᵀB)     ``embedding_``
======  ==================================================  ============================
"""

from numbers import Integral, Real

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state, gen_batches

from zshash import codes
from zshash._compiled import compiled
from zshash._threads import map_blocks
from zshash.hashing.agh import smooth_functions
from zshash.hashing.hasher import check_choice, check_number
from zshash.hashing.steps.anchor_graph import mass
from zshash.hashing.steps.kinds import AnchorGraphHasher
from zshash.hashing.steps.linear import along, gram, top_eigenvectors
from zshash.hashing.steps.rotations import rotate_to_signs
from zshash.hashing.steps.samples import Samples

BITS = 16  # bits that one thread works on: a cache line of float32
ROUNDS = 100  # at most, of the rotation that DGH-R starts from


class DGH(AnchorGraphHasher):
    """Discrete graph hashing: bits that neighbours share, found without relaxing them.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    rho : float, default 0.1
        ρ, the weight of balanced and uncorrelated bits.
    n_anchors : int, default 300
        Number of cluster centres through which samples are neighbours.
    n_nearest : int, default 3
        Anchors that a sample is tied to.
    init : {"agh", "rotated"}, default "agh"
        Start from the eigenvectors of `AGH` (the paper's DGH-I), or from these rotated towards
        signs (DGH-R).
    max_iter_codes : int, default 300
        Updates at most of the codes in an iteration.
    max_iter : int, default 20
        Iterations at most; the fit stops before that when the codes no longer change.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    anchors_ : ndarray of shape (m, d)
    sigma_ : float
        Width of the weights on anchors: mean distance to the last anchor that a sample keeps.
    embedding_ : ndarray of shape (m, n_bits)
        Λ⁻¹ZᵀB.
    codes_ : ndarray of shape (n, ceil(n_bits / 8))
        B, the codes learned for the training samples, packed. A database is hashed with
        ``encode``, its training samples too.
    objective_ : ndarray of shape (n_iter_,)
        Value of the objective after each iteration; it never falls.
    n_iter_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import DGH
    >>> X, _ = load_digits(return_X_y=True)
    >>> DGH(n_bits=32, n_anchors=100, random_state=0).fit(X).encode(X[:3]).shape
    (3, 4)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        rho=0.1,
        n_anchors=300,
        n_nearest=3,
        init="agh",
        max_iter_codes=300,
        max_iter=20,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.rho = rho
        self.n_anchors = n_anchors
        self.n_nearest = n_nearest
        self.init = init
        self.max_iter_codes = max_iter_codes
        self.max_iter = max_iter
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Alternate between codes and real targets on the graph of the samples."""
        rng = check_random_state(self.random_state)
        Z = self._fit_graph(samples.X, rng)
        self._alternate(Z, initialize(Z, self.n_bits, self.init, rng), rng)

    def _alternate(self, Z, Y, rng):
        """Update B and Y in turn until the codes stay as they are."""
        totals = mass(Z)[:, None]
        B = np.where(Y >= 0, 1, -1).astype(np.int8)
        values: list[float] = []
        for _ in range(self.max_iter):
            sums, flips = update_codes(B, Y, Z, totals, self.rho, self.max_iter_codes)
            if values and flips == 0:
                break
            Y = update_targets(B, rng)
            values.append(objective(B, Y, sums, totals, self.rho))
        self.embedding_ = (sums / totals).astype(np.float32, order="C")
        self.codes_ = codes.pack(B > 0)
        self.objective_, self.n_iter_ = np.array(values), len(values)

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_number(self, "rho", Real, minimum=0)
        for name in ("max_iter_codes", "max_iter"):
            check_number(self, name, Integral, minimum=1)
        check_choice(self, "init", ("agh", "rotated"))


def initialize(Z, n_bits, init, rng):
    """Y (n, r), float32: the smoothest vectors on the graph, rotated to signs if `init` says so."""
    Y = Z @ smooth_functions(Z, n_bits).astype(np.float32)
    if init == "rotated":
        R, _ = rotate_to_signs(Y, ROUNDS, rng)
        Y = Y @ R.astype(np.float32)
    return Y


def update_codes(B, Y, Z, totals, rho, max_iter):
    """B-step, in place: repeat B = sgn(2AB + ρY) until B stays the same. Bits are independent.

    A is positive semidefinite, so the objective lies above its tangent at B, which sgn
    maximises: no update lowers it.

    Returns
    -------
    sums : ndarray of shape (m, r)
        ZᵀB of the new codes.
    flips : int
        Number of bits changed on the way.
    """
    weights, indices = (entries.reshape(len(B), -1) for entries in (Z.data, Z.indices))

    def update(bits):
        own = B[:, bits].astype(np.float32)
        wanted = np.float32(rho) * Y[:, bits]
        sums, flips = climb(own, wanted, weights, indices, totals, max_iter)
        B[:, bits] = own
        return sums, flips

    parts = map_blocks(update, gen_batches(B.shape[1], BITS))
    sums, flips = zip(*parts, strict=True)
    return np.hstack(sums), sum(flips)


@compiled
def climb(B, wanted, weights, indices, totals, max_iter):
    """Repeat B = sgn(2AB + wanted) in place, where 0 keeps the old bit; B is float32.

    Sample i has the weights[i] on the anchors indices[i]. A product with A goes through the
    sums ZᵀB, which follow the bits that flip.
    """
    n, n_bits = B.shape
    sums = np.zeros((len(totals), n_bits))
    for i in range(n):
        for j in range(weights.shape[1]):
            for k in range(n_bits):
                sums[indices[i, j], k] += weights[i, j] * B[i, k]
    G = np.empty(n_bits, dtype=np.float32)
    flips = 0
    for _ in range(max_iter):
        pull = (2 * sums / totals).astype(np.float32)
        before = flips
        for i in range(n):
            for k in range(n_bits):
                G[k] = wanted[i, k]
            for j in range(weights.shape[1]):
                for k in range(n_bits):
                    G[k] += weights[i, j] * pull[indices[i, j], k]
            wrong = 0
            for k in range(n_bits):
                wrong += G[k] * B[i, k] < 0
            if wrong:
                flips += wrong
                for k in range(n_bits):
                    if G[k] * B[i, k] < 0:
                        B[i, k] = -B[i, k]
                        for j in range(weights.shape[1]):
                            sums[indices[i, j], k] += 2 * weights[i, j] * B[i, k]
        if flips == before:
            break
    return sums, flips


def update_targets(B, rng):
    """Y-step: Y = √n UVᵀ from the singular value decomposition UΣVᵀ of the centred B.

    V and Σ² are eigenpairs of the small BᵀB − B̄ᵀB̄/n with B̄ = 1ᵀB, whose entries are exact;
    U = (B − 1B̄/n)VΣ⁻¹ is never held unless columns of it are missing.
    """
    n = len(B)
    column_sums = B.sum(axis=0, dtype=np.float64)
    mean = (column_sums / n).astype(np.float32)
    products = gram(B, np.float32(0)) - np.outer(column_sums, column_sums) / n
    squares, V = top_eigenvectors(products, B.shape[1])
    rank = np.count_nonzero(squares > 1e-12 * squares[0])  # Σ relative to its largest: 1e-6
    inverse = V[:, :rank] / np.sqrt(squares[:rank])
    if rank < B.shape[1]:
        U = complete((B - mean) @ inverse, B.shape[1], rng)
        return (np.sqrt(n) * U @ V.T).astype(np.float32)
    return along(B, mean, np.sqrt(n) * inverse @ V.T)


def complete(U, r, rng):
    """U with random columns added, up to r, that are orthonormal and orthogonal to 1 and U."""
    n, rank = U.shape
    known = np.hstack([np.full((n, 1), 1 / np.sqrt(n)), U])
    extra = rng.standard_normal((n, r - rank))
    for _ in range(2):  # the second time removes what rounding left
        extra -= known @ (known.T @ extra)
    extra, _ = linalg.qr(extra, mode="economic")
    return np.hstack([U, extra])


def objective(B, Y, sums, totals, rho):
    """tr(BᵀAB) + ρ tr(BᵀY)."""
    return np.sum(sums**2 / totals) + rho * np.einsum("ij,ij->", B, Y, dtype=np.float64)
