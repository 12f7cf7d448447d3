"""Metric-transfer hashing, the method of this package.

Carry over the metric learned on seen categories, not their labels.

1. Whiten the features: z = (x − mean) T, so that directions in which the seen samples vary little,
   where new categories may stand out, count as much as those that tell the seen ones apart.
2. Imagine categories: what scatters the members of a seen category, around centres of which there
   is no end (`imagination`), so that bits are not spent on the seen categories alone.
3. Teach a network u the neighbourhoods of z (`distillation`), in which samples are the nearer the
   more they have in common in being unlike all seen categories (`novelty`). Its signs are the bits.
4. Read meaning from the codes B of the training samples: A = (BᵀB + λI)⁻¹BᵀY (VᵀV + μI)⁻¹ maps
   codes to label vectors. V are those of the seen categories; the last factor lets directions that
   many of them share count less.

======  ==================================================  ============================
symbol  meaning, rows are samples                            here
======  ==================================================  ============================
T, Z    whitening, whitened features (n, d)                  ``whitening``, ``Z``
u       xW + b + max(0, xC + c) O                            ``weights``, ``linear_``, …
B       codes of the training samples (n, l)                 ``B``
Y, V    label vectors of samples (n, p), of categories       ``targets``
A       codes to label vectors (l, p)                        ``mapping_``
======  ==================================================  ============================
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from zshash._threads import all_cores
from zshash.hashing.base import SupervisedHasher, check_choice, check_number
from zshash.hashing.dcc import sum_by_class
from zshash.hashing.distillation import Distillation
from zshash.hashing.imagination import Batches
from zshash.hashing.meaning import Meaning
from zshash.hashing.networks import Weights, random_units
from zshash.hashing.quantization import rotate_to_signs
from zshash.hashing.ridge import ridge
from zshash.hashing.rows import Rows
from zshash.hashing.targets import merge_rows
from zshash.hashing.whitening import whiten

LOOKUP_BITS = 24  # that tell samples apart where look-up is all that counts
FIRST_SHRINKAGE = 2.0  # of the whitening whose axes the first bits are made of
TEMPERATURE, SEMANTIC_TEMPERATURE = 0.57, 1.27  # of the student, without and with names
LAMBDA = 1e-2  # of the map to label vectors


@dataclass(frozen=True)
class Effort:
    """How much work a fit is."""

    batch: int
    units: int
    steps: int
    rate: float
    rounds: int  # of the rotation that the first bits come from


EFFORTS = {"best": Effort(1024, 2048, 600, 1e-3, 50), "fast": Effort(512, 1024, 100, 3e-3, 20)}


class MTH(Meaning, SupervisedHasher):
    """Metric-transfer hashing: codes whose neighbourhoods hold for categories yet to come.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    effort : {"best", "fast"}, default "best"
        A network of 2,048 units trained for 600 steps, or one of 1,024 units trained for 100.
    lookup : float, default 0
        From ranking (0) to look-up (1). Ranking wants every bit to tell something of its own, and
        then hardly any two codes lie within two bits of each other. With 1, no more than 24 bits
        tell samples apart, and the others are set for all of them.
    semantics : float, default 0
        How much the names' meaning counts beside what samples look like, 0 to 1, where y holds
        label vectors: related categories come nearer, at the expense of the query's own.
    novelty : float, default 0.03
        How much it counts that two samples are both unlike, or both like, the seen categories. New
        categories are then found more easily among seen ones, which lose a little.
    shrinkage : float, default 0.02
        ε of the whitening: what is added to all variances, as a share of their mean. The larger it
        is, the less the features are changed.
    imaginary : float, default 0.25
        Share of imaginary categories' members in training.
    neighborhood : float, default 0.03
        Share of the other samples that counts as a sample's neighbours.
    alignment : float, default 1
        μ of the map from codes to label vectors.
    n_units, n_steps : int or None, default None
        Units of the network and steps of its training, where `effort` is not to choose them.
    normalize : bool, default False
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    linear_, bias_, units_, unit_bias_, outputs_ : ndarray
        The network: u(x) = x linear + bias + max(0, x units + unit_bias) outputs.
    mapping_ : ndarray of shape (n_bits, p)
        A.
    loss_ : ndarray
        The loss before each step of the training.
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import MTH
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = MTH(n_bits=16, effort="fast", normalize=True, random_state=0).fit(X, y)
    >>> hasher.encode(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        effort="best",
        lookup=0.0,
        semantics=0.0,
        novelty=0.03,
        shrinkage=0.02,
        imaginary=0.25,
        neighborhood=0.03,
        alignment=1.0,
        n_units=None,
        n_steps=None,
        normalize=False,
        random_state=None,
    ):
        self.n_bits = n_bits
        self.effort = effort
        self.lookup = lookup
        self.semantics = semantics
        self.novelty = novelty
        self.shrinkage = shrinkage
        self.imaginary = imaginary
        self.neighborhood = neighborhood
        self.alignment = alignment
        self.n_units = n_units
        self.n_steps = n_steps
        self.normalize = normalize
        self.random_state = random_state

    def fit(self, X, y):
        """Learn the hash function from features X (n, d) and labels or targets y.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,), (n, c) or (n, p)
            Class labels, a 0/1 matrix of several labels each, or semantic targets (floats, of
            unit length as the sources in `zshash.semantics` give them). Samples with the same
            target are of one category.
        """
        self._check_parameters()
        X = self._training_features(X)
        targets = self._targets(y, len(X))
        with all_cores():
            self._train(X, targets)
        return self

    def _train(self, X, targets, distillation=Distillation):
        """Learn from prepared features; `distillation` trains the network."""
        rng, rows, effort = check_random_state(self.random_state), Rows(X), EFFORTS[self.effort]
        whitening = whiten(rows, self.shrinkage)
        Z = whitening(rows)
        axes = whitening.milder(FIRST_SHRINKAGE)
        first = first_bits(Z, axes, self._n_live, effort.rounds, rng)
        weights = random_units(first, self.n_units or effort.units, rng)
        batches = self._batches(Z.X, targets, effort.batch, rng)
        self.loss_ = distillation(
            weights,
            batches,
            perplexity=min(max(2.0, self.neighborhood * batches.size), batches.size - 1.0),
            temperature=TEMPERATURE + self.semantics * (SEMANTIC_TEMPERATURE - TEMPERATURE),
            rate=effort.rate,
            n_steps=self.n_steps or effort.steps,
        ).run()
        self._keep(weights.after(whitening.mean, whitening.T.astype(np.float32)))
        self._read_meaning(X, targets)

    def _batches(self, Z, targets, size, rng):
        vectors, categories = merge_rows(targets.vectors)
        meanings = (np.sqrt(self.semantics) * vectors).astype(np.float32)
        return Batches(
            Z,
            categories[targets.rows],
            meanings if self.semantics else meanings[:, :0],
            novelty=self.novelty,
            size=size,
            imaginary=self.imaginary,
            rng=rng,
        )

    @property
    def _n_live(self):
        """Bits that tell samples apart."""
        return round(self.n_bits - self.lookup * max(0, self.n_bits - LOOKUP_BITS))

    def _keep(self, weights):
        """Set the fitted hash function."""
        names = ("linear_", "bias_", "units_", "unit_bias_", "outputs_")
        for name, array in zip(names, weights, strict=True):
            self._check_finite(array)
            setattr(self, name, np.ascontiguousarray(array, dtype=np.float32))

    def _weights(self):
        return Weights(self.linear_, self.bias_, self.units_, self.unit_bias_, self.outputs_)

    def _projector(self):
        weights = self._weights()
        n_set = self.n_bits - len(weights.b)

        def project(X):
            V = weights.outputs(X, weights.hidden(X))
            np.tanh(V, out=V)
            return np.pad(V, ((0, 0), (0, n_set)), constant_values=1) if n_set else V

        return project

    def _read_meaning(self, X, targets):
        """Fit A to the codes of the training samples."""
        B = np.where(self._project(X, self._projector()) >= 0, np.int8(1), np.int8(-1))
        V = targets.vectors
        sums = sum_by_class(B, targets.rows, len(V))
        B = B.astype(np.float32)
        A = ridge((B.T @ B).astype(np.float64), sums.T @ V, LAMBDA)
        self.mapping_ = ridge(V.T @ V, A.T, self.alignment).T

    def _meaning(self):
        """A, (n_bits, p)."""
        check_is_fitted(self)
        return self.mapping_

    def _check_parameters(self):
        self._check_common()
        check_choice(self, "effort", tuple(EFFORTS))
        for name in ("lookup", "semantics", "novelty", "imaginary"):
            check_number(self, name, Real, minimum=0, maximum=1)
        check_number(self, "neighborhood", Real, above=0, maximum=1)
        check_number(self, "shrinkage", Real, minimum=0)
        check_number(self, "alignment", Real, above=0)
        for name in ("n_units", "n_steps"):
            if getattr(self, name) is not None:
                check_number(self, name, Integral, minimum=1)


def first_bits(Z, axes, n_bits, rounds, rng):
    """Linear bits W (d, n_bits) to begin with: the first of these axes, rotated to signs.

    Z W has a mean square of 1. Where there are more bits than axes, they are Gaussian.
    """
    if n_bits > Z.n_features:
        W = rng.standard_normal((Z.n_features, n_bits))
    else:
        axes = axes[:, :n_bits]
        R, _ = rotate_to_signs(Z.mapped(np.matmul, axes.astype(np.float32)), rounds, rng)
        W = axes @ R
    return W / np.sqrt(np.square(Z.X @ W.astype(np.float32)).mean())
