"""Sparse multi-modal hashing: coupled dictionaries for pictures and their tags.

Fei Wu, Zhou Yu, Yi Yang, Siliang Tang, Yin Zhang and Yueting Zhuang: *Sparse Multi-Modal Hashing*,
IEEE Transactions on Multimedia 16 (2), 2014.

Minimise, over dictionaries D and E with atoms of length 1 at most, and over sparse codes A and B,

    ‖X − AD‖² + ω‖Y − BE‖² + γ tr(ZᵀLZ) + λ‖Z‖₁,   Z = [A; B]

in turn. L = I − V^−½ M W N⁻¹ Mᵀ V^−½ is the Laplacian of a hypergraph on the 2n views of n samples:
views of an edge should have alike codes. There is an edge for each sample and its nearest ones by
features, for each tag and the samples that have it, and, of weight η, for both views of a sample.

======  ================================================  ==========================
symbol  meaning, rows are samples                          here
======  ================================================  ==========================
X, Y    features (n, d), targets (n, p), of unit length    ``X``, ``Y``
D, E    dictionaries, an atom for each bit (l, d), (l, p)  ``atoms_``, ``tag_atoms_``
A, B    sparse codes of features, of targets (n, l)        ``Z``, both together
M, W    which views are in which edge (2n, e), weights     ``members``, ``weights``
V, N    weighted edges of a view, views of an edge         ``degrees``, ``sizes``
K       V^−½ M (W/N)^½, so that L = I − KKᵀ                ``K``
======  ================================================  ==========================

A new sample has one view. Its sparse code minimises ‖x − aD‖² + λ‖a‖₁ and uses atom k where the
atom and what the others leave of x agree:

    c_k = (x − Σ_{j≠k} a_j d_j)·d_k > λ/2

From the paper are the hypergraph of both kinds of similarity, the dictionaries learned jointly by
Laplacian sparse coding, and codes that say which atoms are used. The weights, the edges for tags,
codes without negative entries, and the bits at the median of c_k are of this package. The paper
compares the sets of used atoms by a Jaccard measure of its own, which Hamming distance replaces.
"""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from zshash.hashing.hasher import Projector, SupervisedHasher, check_choice, check_number
from zshash.hashing.steps.hypergraphs import hypergraph, smoother
from zshash.hashing.steps.linear import mean_row
from zshash.hashing.steps.rows import unit_rows
from zshash.hashing.steps.samples import Samples
from zshash.hashing.steps.sparse_coding import Coding, agreements, sparse_codes, update_atoms
from zshash.hashing.steps.targets import matrix_targets

STILL = 1e-4  # a round that lowers the objective by a smaller share than this is the last one


class SMMH(SupervisedHasher):
    """Codes that say which parts of a learned dictionary a picture, or its tags, are made of.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024, and number of atoms.
    threshold : {"support", "median"}, default "support"
        Where a bit is 1. "support", as in the paper: where its atom is used, so that few bits are
        1. "median": for the half of the training samples that agree most with its atom.
    sparsity : float, default 0.5
        λ.
    smoothness : float, default 3
        γ, the weight of the hypergraph.
    tag_weight : float, default 10
        ω, the weight of the targets beside the features.
    agreement : float, default 30
        η, the weight of the edge between both views of a sample; an edge of neighbours has 1.
    n_neighbors : int, default 5
        Neighbours of a sample in the hypergraph.
    positive : bool, default True
        Whether sparse codes have no negative entries. Otherwise a bit tells only that an atom is
        used, not with which sign.
    max_iter : int, default 15
        Updates of codes and dictionaries at most.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
        Mean of the features, which is subtracted before they are brought to unit length.
    atoms_ : ndarray of shape (n_bits, d)
        D.
    tag_atoms_ : ndarray of shape (n_bits, p)
        E.
    thresholds_, tag_thresholds_ : ndarray of shape (n_bits,)
        What c_k must exceed for a bit to be 1, for features and for tags.
    objective_ : ndarray of shape (n_iter_,)
        Value of the objective after each round; it never rises.
    n_iter_ : int
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import SMMH
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = SMMH(n_bits=16, max_iter=3, random_state=0).fit(X, y)
    >>> hasher.encode(X[:3]).shape, hasher.encode_tags([4, 7]).shape
    ((3, 2), (2, 2))
    """

    def __init__(
        self,
        n_bits=64,
        *,
        threshold="support",
        sparsity=0.5,
        smoothness=3.0,
        tag_weight=10.0,
        agreement=30.0,
        n_neighbors=5,
        positive=True,
        max_iter=15,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.threshold = threshold
        self.sparsity = sparsity
        self.smoothness = smoothness
        self.tag_weight = tag_weight
        self.agreement = agreement
        self.n_neighbors = n_neighbors
        self.positive = positive
        self.max_iter = max_iter
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Update sparse codes and dictionaries in turn, then choose the thresholds."""
        self.mean_ = mean_row(samples).astype(np.float32)
        X, targets = unit_rows(samples.X - self.mean_), samples.targets
        Y = unit_rows(targets.vectors).astype(np.float32)[targets.rows]
        K = smoother(*hypergraph(X, targets, self.n_neighbors, self.agreement))
        rng = check_random_state(self.random_state)
        chosen = rng.choice(len(X), self.n_bits, replace=len(X) < self.n_bits)
        atoms = [X[chosen], Y[chosen]]
        self.objective_ = self._alternate([X, Y], atoms, K)
        self.n_iter_ = len(self.objective_)
        self._keep(atoms)
        self.thresholds_ = self._choose_thresholds(self._agreements(X, self.atoms_))
        self.tag_thresholds_ = self._choose_thresholds(self._agreements(Y, self.tag_atoms_))

    def _alternate(self, views, atoms, K):
        """Update Z and both dictionaries in turn; returns the objective after each round."""
        Z = np.zeros((2 * len(views[0]), self.n_bits), dtype=np.float32)
        weights, values = (1.0, self.tag_weight), []
        for _ in range(self.max_iter):
            problem = Coding(
                views, atoms, weights, K, self.smoothness, self.sparsity, self.positive
            )
            Z, value = sparse_codes(Z, problem)
            for own, X, D, weight in zip(np.split(Z, 2), views, atoms, weights, strict=True):
                value -= weight * update_atoms(D, own, X)
            values.append(value)
            if len(values) > 1 and values[-1] > (1 - STILL) * values[-2]:
                break
        return np.array(values)

    def _keep(self, atoms):
        """Set the fitted dictionaries."""
        for D in atoms:
            self._check_finite(D)
        self.atoms_, self.tag_atoms_ = (np.ascontiguousarray(D) for D in atoms)

    def _agreements(self, X, atoms):
        return agreements(X, atoms, atoms @ atoms.T, self.sparsity, self.positive)

    def _choose_thresholds(self, found):
        """Thresholds (l,) of the agreements c (n, l) of the training samples."""
        if self.threshold == "median":
            return np.median(found, axis=0).astype(np.float32)
        return np.full(self.n_bits, self.sparsity / 2, dtype=np.float32)

    def projector(self) -> Projector:
        """The function from a block of prepared features to c − thresholds."""

        def project(X: NDArray[np.float32]) -> NDArray[np.float32]:
            found: NDArray[np.float32] = self._agreements(unit_rows(X - self.mean_), self.atoms_)
            return found - self.thresholds_

        return project

    def project_tags(self, y: ArrayLike) -> NDArray[np.float32]:
        """Projections (n, n_bits) of the other view alone: labels or vectors as in `fit`."""
        check_is_fitted(self)
        Y = unit_rows(self._vectors(y)).astype(np.float32)
        return self._agreements(Y, self.tag_atoms_) - self.tag_thresholds_

    def encode_tags(self, y: ArrayLike) -> NDArray[np.uint8]:
        """Packed codes of the other view alone: labels or vectors as in `fit`."""
        return self.quantize(self.project_tags(y))

    def _vectors(self, y: Any) -> NDArray[np.float64]:
        """Target vectors (n, p) of labels that the fit knows, or of a matrix as wide as its own."""
        y, width = np.asarray(y), self.tag_atoms_.shape[1]
        if y.ndim == 1 and hasattr(self, "classes_"):
            unknown = ~np.isin(y, self.classes_)
            if unknown.any():
                raise ValueError(f"the label {y[unknown][0]} was not among those of the fit")
            return np.eye(width)[np.searchsorted(self.classes_, y)]
        if y.ndim != 2 or y.shape[1] != width:
            raise ValueError(f"y has shape {y.shape}, and the fit had rows of {width} numbers")
        targets = matrix_targets(y.astype(np.float64))
        return np.asarray(targets.vectors[targets.rows])

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "threshold", ("support", "median"))
        for name in ("sparsity", "smoothness", "tag_weight", "agreement"):
            check_number(self, name, Real, above=0)
        for name in ("n_neighbors", "max_iter"):
            check_number(self, name, Integral, minimum=1)
        check_choice(self, "positive", (True, False))
