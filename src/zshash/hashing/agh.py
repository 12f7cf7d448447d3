"""Anchor graph hashing.

Wei Liu, Jun Wang, Sanjiv Kumar and Shih-Fu Chang: *Hashing with Graphs*, ICML 2011.

Neighbours should get the same bits. Relaxed to real numbers, minimise over Y

    tr(Yᵀ(I − A)Y)    subject to 1ᵀY = 0 and YᵀY = nI,    A = ZΛ⁻¹Zᵀ

whose solution are eigenvectors of A; a small matrix has the same eigenvalues.

======  ==================================================  =============================
symbol  meaning, rows are samples                            here
======  ==================================================  =============================
Z       weights of samples on their nearest anchors (n, m)   ``Z``
Λ       diag(Zᵀ1), how much the samples use each anchor      ``mass(Z)``
V, Σ    eigenpairs of Λ^(−½)ZᵀZΛ^(−½)                        ``vectors``, ``values``
W       √n Λ^(−½)VΣ^(−½), from weights to eigenvectors       ``W``, ``embedding_``
Y       ZW, eigenvectors of A (n, k)                         ``Y``
b₊, b₋  where the second layer cuts Y above and below 0      ``upper``, ``lower``,
                                                             ``thresholds_``
======  ==================================================  =============================
"""

import numpy as np
from sklearn.utils import check_random_state, gen_batches

from zshash._threads import add_up, map_blocks
from zshash.hashing.hasher import Projector, check_choice
from zshash.hashing.steps.anchor_graph import check_eigenvectors, mass
from zshash.hashing.steps.kinds import AnchorGraphHasher
from zshash.hashing.steps.linear import top_eigenvectors
from zshash.hashing.steps.rows import BLOCK_ROWS
from zshash.hashing.steps.samples import Samples

ALIKE = 1 - 1e-3  # eigenvalues from here on belong to vectors that are constant on a component
NOISE = 1e-6  # eigenvalues up to here belong to no eigenvector that float32 weights can give


class AGH(AnchorGraphHasher):
    """Anchor graph hashing: signs of the smoothest functions on a graph of the samples.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024; even where there are two layers.
    n_anchors : int, default 300
        Number of cluster centres through which samples are neighbours.
    n_nearest : int, default 2
        Anchors that a sample is tied to.
    n_layers : {1, 2}, default 2
        Bits for each eigenvector: its sign and, with two layers, the side of a learned threshold
        on which it lies. The authors advise two bits of each of the smoothest eigenvectors, because
        later eigenvectors are worse.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    anchors_ : ndarray of shape (m, d)
    sigma_ : float
        Width of the weights on anchors: mean distance to the last anchor that a sample keeps.
    embedding_ : ndarray of shape (m, n_bits / n_layers)
        W.
    thresholds_ : ndarray of shape (2, n_bits / 2)
        b₊ and b₋; of shape (2, 0) where there is one layer.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import AGH
    >>> X, _ = load_digits(return_X_y=True)
    >>> AGH(n_bits=32, n_anchors=100, random_state=0).fit(X).encode(X[:3]).shape
    (3, 4)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        n_anchors=300,
        n_nearest=2,
        n_layers=2,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.n_nearest = n_nearest
        self.n_layers = n_layers
        self.normalize = normalize
        self.random_state = random_state

    def least_samples(self) -> int:
        """Number of different samples that the method needs: a bit of a layer is an eigenvector."""
        return self.n_bits // self.n_layers + 1

    def learn(self, samples: Samples) -> None:
        """Embed the anchors by the smoothest functions on the graph."""
        Z = self._fit_graph(samples.X, check_random_state(self.random_state))
        W = smooth_functions(Z, self.n_bits // self.n_layers)
        self.embedding_ = W.astype(np.float32, order="C")
        self.thresholds_ = np.empty((2, 0), dtype=np.float32)
        if self.n_layers == 2:
            self.thresholds_ = second_layer(Z, self.embedding_).astype(np.float32)

    def projector(self) -> Projector:
        """The function from a block of prepared features to its projections."""
        first_layer = super().projector()
        upper, lower = self.thresholds_

        def project(X):
            Y = first_layer(X)
            twice = Y[:, : len(upper)]
            return np.hstack([Y, np.where(twice >= 0, twice - upper, lower - twice)])

        return project

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "n_layers", (1, 2))
        if self.n_bits % self.n_layers:
            raise ValueError(
                f"n_bits={self.n_bits} is odd, and two layers give bits in pairs: "
                "use an even n_bits or n_layers=1"
            )


def smooth_functions(Z, count):
    """W (m, count), float64, such that the columns of Y = ZW are the smoothest on the graph.

    Eigenvectors with eigenvalues near 1, the constant vector among them, only tell which component
    of the graph a sample belongs to, and are left out.
    """
    n, m = Z.shape
    scale = 1 / np.sqrt(mass(Z))
    exact = Z.astype(np.float64)
    M = (exact.T @ exact).toarray() * scale * scale[:, None]
    values, vectors = top_eigenvectors(M, m)
    kept = np.flatnonzero((values < ALIKE) & (values > NOISE))[:count]
    check_eigenvectors(len(kept), count, m)
    return np.sqrt(n) * scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])


def second_layer(Z, W):
    """The thresholds b₊ and b₋ (2, k) of each eigenvector y, a column of ZW.

    With the samples P where y ≥ 0 and N where not, they minimise uᵀ(I − A)u for
    u = |y| − b₊1_P + b₋1_N, subject to 1ᵀu = 0. This constraint leaves t = b₊ + b₋ free, and
    t = 1_Pᵀ(I − A)|y| / 1_Pᵀ(I − A)1_P is the minimum.
    """
    n_above, total, above, sizes = half_sums(Z, W)
    n, weights = Z.shape[0], mass(Z)[:, None]
    cut = (above * (weights - above) / weights).sum(axis=0)  # 1_Pᵀ(I − A)1_P = 1_PᵀA1_N
    slope = total - (above * sizes / weights).sum(axis=0)
    t = slope / np.maximum(cut, NOISE)  # a vector that is orthogonal to 1 cuts some link
    return np.stack([2 * total + (n - n_above) * t, n_above * t - 2 * total]) / n


def half_sums(Z, W):
    """Sums over rows: |P|, Σ_P y, Zᵀ1_P and Zᵀ|y|, the latter two (m, k)."""

    def sums(part):
        own = Z[part]
        Y = own @ W
        above = (Y >= 0).astype(np.float32)
        ends = np.stack([above.sum(axis=0), (above * Y).sum(axis=0)])
        return np.concatenate([ends, own.T @ above, own.T @ np.abs(Y)])

    total = add_up(map_blocks(sums, gen_batches(Z.shape[0], BLOCK_ROWS)))
    return total[0], total[1], *np.split(total[2:], 2)
