"""Metric-transfer hashing, the method of this package.

Carry over the metric learned on seen categories, not their labels.

1. Whiten the features: z = (x − mean) T, so that directions in which the seen samples vary little,
   where new categories may stand out, count as much as those that separate seen categories.
2. Average each sample with its neighbours, as far as there are samples without a label (`pool`).
3. Imagine categories (`imagination`): the scatter of seen categories around new centres, so that
   bits are not spent on the seen categories alone.
4. Teach a network u the neighbourhoods of z (`distillation`). Two samples are nearer if both are
   unlike all seen categories, or both are like them (`novelty`). The signs of u are the bits.
5. Read meaning from the codes B of the training samples: A = (BᵀB + λI)⁻¹BᵀY (VᵀV + μI)⁻¹ maps
   codes to label vectors. V holds the label vectors of the seen categories; the last factor lowers
   the weight of directions that many of them share.

With ``codes="pq"``, steps 3 and 4 are left out: what the teacher compares is kept in parts of
vectors (`looks`), and codes stand for these vectors in step 5.

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

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from zshash.hashing.hasher import Projector, SemanticHasher, check_choice, check_number
from zshash.hashing.steps import pool
from zshash.hashing.steps.dcc import sum_by_class
from zshash.hashing.steps.distillation import Distillation, Training
from zshash.hashing.steps.imagination import Batches
from zshash.hashing.steps.kinds import NetworkHasher
from zshash.hashing.steps.linear import ridge, spectrum
from zshash.hashing.steps.looks import BITS, LooksHasher
from zshash.hashing.steps.networks import random_units
from zshash.hashing.steps.rotations import rotate_to_signs
from zshash.hashing.steps.samples import Samples
from zshash.hashing.steps.statistics import open_statistics
from zshash.hashing.steps.targets import Targets, merge_rows, no_targets

SHRINKAGE, NEIGHBORHOOD = 0.02, 0.03  # with many labelled samples; with others they are adapted
LOOKUP_BITS = 24  # bits that tell samples apart with lookup=1
FIRST_SHRINKAGE = 2.0  # of the whitening whose axes give the first bits
TEMPERATURE, SEMANTIC_TEMPERATURE = 0.57, 1.27  # of the student, with semantics=0 and 1
LAMBDA = 1e-2  # λ of the map to label vectors


@dataclass(frozen=True)
class Effort:
    """Amount of work in a fit."""

    batch: int
    units: int
    steps: int
    rate: float
    rounds: int  # of the rotation that gives the first bits

    def for_samples(self, n: int, averaging: float) -> "Effort":
        """The work that n samples are worth: a small network for few, more steps for averages."""
        if n < pool.SMALL:
            units = max(32, min(n, self.units // 2))  # hardly more than a linear map for very few
            return replace(self, batch=512, units=units, steps=max(100, self.steps // 3))
        more = averaging * np.clip((n - USUAL) / (LARGE - USUAL), 0, 1)
        return replace(self, steps=round(self.steps * (1 + more)))


USUAL, LARGE = 10_000, 50_000  # numbers of samples between which steps grow
EFFORTS = {"best": Effort(1024, 2048, 600, 1e-3, 50), "fast": Effort(512, 1024, 100, 3e-3, 20)}


class MTH(LooksHasher, NetworkHasher, SemanticHasher):
    """Metric-transfer hashing: codes whose neighbourhoods also hold for unseen categories.

    It learns from labelled samples and from samples that nobody labelled (−1, None, "" or a row of
    zeros in y), or from samples without any labels at all (y=None).

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    effort : {"best", "fast"}, default "best"
        A network of 2,048 units trained for 600 steps, or one of 1,024 units trained for 100. Fewer
        than 4,096 samples get a unit for each sample, at most half as many as otherwise, and at
        most 200 steps; more than 10,000 samples without labels get up to twice the steps.
    lookup : float, default 0
        From codes for ranking (0) to codes for look-up (1). With 0, every bit carries information
        of its own, and hardly any two codes lie within two bits of each other. With 1, at most 24
        bits tell samples apart, and all other bits are 1 for every sample.
    semantics : float, default 0
        Weight of the meaning of names beside the features, 0 to 1, where y holds label vectors.
        It brings related categories nearer, at the expense of the query's own category.
    averaging : float or None, default None
        How far the teacher averages a sample with its neighbours and with its category, 0 to 1.
        None decides from the samples: 0 if they are many and all labelled, 1 if two thirds of
        them or more have no label.
    prior : str, path, Statistics or None, default None
        Statistics of the features of the network that made X, over other pictures: the name of a
        network ("efficientnet-lite0"), or a file. They make up for few samples, and need
        ``normalize=True``.
    novelty : float, default 0.03
        Weight of novelty where all samples are labelled: samples that are both unlike, or both
        like, the seen categories come nearer. New categories are then found more easily among
        seen ones, and seen categories a little less well. Averaging lowers the weight, down to 0.
    shrinkage : float, default 0.02
        ε of the whitening: the amount added to all variances, as a share of their mean. A larger ε
        changes the features less. The default is for many labelled samples. Where samples are few
        or have no label, another ε is chosen in its place: the one with which labelled samples
        are ranked best, or a safe one, which ``codes="pq"`` takes for many labelled samples, too.
        Other values are used as they are.
    imaginary : float, default 0.25
        Share of the training rows that belong to imaginary categories where all samples are
        labelled. Averaging lowers the share, down to 0.
    neighborhood : float, default 0.03
        Share of the other samples that counts as a sample's neighbours. The default falls to a
        third of this value for averages over many samples; other values are used as they are.
    alignment : float, default 1
        μ of the map from codes to label vectors.
    n_units, n_steps : int or None, default None
        Units of the network and steps of its training; None takes the numbers of `effort`.
    codes : {"bits", "pq"}, default "bits"
        What the bytes of a code hold: bits of the network, or numbers of parts of a vector. Parts
        ("pq", product quantisation) need no network: they keep the vectors that the teacher
        compares. They rank better at the same number of bytes, and are no bits: `project` gives
        vectors, `zshash.index.ProductIndex` with ``centres_`` searches, and Hamming distances,
        collections and search by name are not to be had. A byte counts as 8 bits of `n_bits`.
    normalize : bool, default True
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
    averaging_, shrinkage_ : float
        The values that were used.
    centres_ : ndarray of shape (n_bytes, 256, width)
        Parts of vectors, with ``codes="pq"``. There is no network then, but ``mean_``,
        ``whitening_``, ``familiar_``, ``novelty_``, ``rotation_`` and ``references_``.
    codes_ : ndarray of shape (n, n_bytes)
        Codes of the training samples as the teacher sees them, with ``codes="pq"``. Search these
        in place of what `encode` returns for the same samples.
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

    needs_labels = False
    learns_unlabelled = True

    def __init__(
        self,
        n_bits=64,
        *,
        effort="best",
        lookup=0.0,
        semantics=0.0,
        novelty=0.03,
        shrinkage=SHRINKAGE,
        imaginary=0.25,
        neighborhood=NEIGHBORHOOD,
        averaging=None,
        prior=None,
        alignment=1.0,
        n_units=None,
        n_steps=None,
        codes=BITS,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.effort = effort
        self.lookup = lookup
        self.semantics = semantics
        self.novelty = novelty
        self.shrinkage = shrinkage
        self.imaginary = imaginary
        self.neighborhood = neighborhood
        self.averaging = averaging
        self.prior = prior
        self.alignment = alignment
        self.n_units = n_units
        self.n_steps = n_steps
        self.codes = codes
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples, distillation: Callable[..., Training] = Distillation) -> None:
        """Train the network by `distillation`, then read the meaning of the codes."""
        rng = check_random_state(self.random_state)
        n, d = samples.X.shape
        vectors, categories = categories_of(samples.targets)
        prior = self._open_prior(d)
        variances = spectrum(samples, prior)
        lessons = self._lessons(samples.X, categories, variances, prior, rng)
        effort = EFFORTS[self.effort].for_samples(n, lessons.averaging)
        whitening = variances.whitening(lessons.shrinkage)
        Z = whitening(samples)
        self.averaging_, self.shrinkage_ = lessons.averaging, lessons.shrinkage
        if not self.is_binary:
            self._keep_looks(Z.X, categories, whitening, lessons, rng)
            self._read_meaning(self.decode, self.codes_, samples.targets)
            return
        axes = whitening.milder(FIRST_SHRINKAGE)
        first = first_bits(Z, axes, self._n_live, effort.rounds, rng)
        weights = random_units(first, self.n_units or effort.units, rng)
        batches = self._batches(Z.X, vectors, categories, lessons, effort.batch, rng)
        self.loss_ = distillation(
            weights,
            batches,
            perplexity=min(max(2.0, lessons.neighborhood * batches.size), batches.size - 1.0),
            temperature=TEMPERATURE + self.semantics * (SEMANTIC_TEMPERATURE - TEMPERATURE),
            rate=effort.rate,
            n_steps=self.n_steps or effort.steps,
        ).run()
        self._keep(weights.after(whitening.mean, whitening.T.astype(np.float32)))
        self._read_meaning(self._signs, samples.X, samples.targets)

    def _signs(self, X):
        return np.where(self._project(X, self.projector()) >= 0, np.int8(1), np.int8(-1))

    def _open_prior(self, n_features):
        """Statistics of the network's features, or None."""
        if self.prior is None:
            return None
        known = open_statistics(self.prior)
        if known.n_features != n_features:
            raise ValueError(
                f"the prior has statistics of {known.n_features} features, and X has {n_features}: "
                "give statistics of the network that made X, or none"
            )
        return known

    def _lessons(self, X, categories, variances, prior, rng):
        """Decide from the samples how the teacher sees them."""
        n, d = X.shape
        weight = self.averaging
        if weight is None:
            weight = pool.averaging_weight(categories >= 0, d)
        shrinkage, neighborhood = self.shrinkage, self.neighborhood
        doubt = max(weight, pool.scarcity(n, d))
        safe = pool.safe_shrinkage(n, d, 0 if prior is None else prior.weight)
        if shrinkage == SHRINKAGE and not doubt and not self.is_binary:
            shrinkage = safe
        elif shrinkage == SHRINKAGE and doubt:
            chosen = pool.choose_shrinkage(variances, X, categories, weight, safe, rng)
            shrinkage = pool.between(shrinkage, chosen, doubt)
        if neighborhood == NEIGHBORHOOD:
            neighborhood *= pool.narrowing(n, weight)
        return pool.Lessons(weight, pool.n_neighbors(n), shrinkage, neighborhood, 1 - weight**2)

    def _batches(self, Z, vectors, categories, lessons, size, rng):
        meanings = (np.sqrt(self.semantics) * vectors).astype(np.float32)
        looks = None
        if lessons.averaging:
            looks = pool.teacher(Z, categories, lessons.averaging, lessons.n_neighbors)
        return Batches(
            Z,
            categories,
            meanings if self.semantics else meanings[:, :0],
            looks=looks,
            novelty=self.novelty * lessons.certainty,
            size=size,
            imaginary=self.imaginary * lessons.certainty,
            rng=rng,
        )

    def read_targets(self, y: Any, n_samples: int) -> Targets:
        """Read labels y of `n_samples` samples; None means that nobody labelled them."""
        if y is None:
            self.forget_classes()
            return no_targets(n_samples)
        return super().read_targets(y, n_samples)

    @property
    def _n_live(self):
        """Number of bits that tell samples apart."""
        return round(self.n_bits - self.lookup * max(0, self.n_bits - LOOKUP_BITS))

    def projector(self) -> Projector:
        """The function from a block of prepared features to its projections."""
        if not self.is_binary:
            return self._looks().function()
        project_live = super().projector()
        n_set = self.n_bits - len(self.bias_)

        def project(X):
            V = project_live(X)
            return np.pad(V, ((0, 0), (0, n_set)), constant_values=1) if n_set else V

        return project

    def _read_meaning(self, stand_for, X, targets):
        """Fit A to what codes of labelled samples `stand_for`; X has a row for each sample."""
        V, is_labelled = targets.vectors, targets.is_labelled
        if not is_labelled.any():
            self.mapping_ = np.zeros((self.n_outputs, 0))
            return
        B = stand_for(X if is_labelled.all() else X[is_labelled])
        sums = sum_by_class(B, targets.rows[is_labelled], len(V))
        B = B.astype(np.float32)
        A = ridge((B.T @ B).astype(np.float64), sums.T @ V, LAMBDA)
        self.mapping_ = ridge(V.T @ V, A.T, self.alignment).T

    def code_meanings(self) -> NDArray[np.float64]:
        """A, the map from codes of −1 and 1, or from vectors, to label vectors, (n_bits, p)."""
        check_is_fitted(self)
        return self.mapping_

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "effort", tuple(EFFORTS))
        if self.averaging is not None:
            check_number(self, "averaging", Real, minimum=0, maximum=1)
        if self.prior is not None:
            if not self.normalize:
                raise ValueError("a prior is for features of unit length: set normalize=True")
            open_statistics(self.prior)
        for name in ("lookup", "semantics", "novelty", "imaginary"):
            check_number(self, name, Real, minimum=0, maximum=1)
        check_number(self, "neighborhood", Real, above=0, maximum=1)
        check_number(self, "shrinkage", Real, minimum=0)
        check_number(self, "alignment", Real, above=0)
        for name in ("n_units", "n_steps"):
            if getattr(self, name) is not None:
                check_number(self, name, Integral, minimum=1)


def categories_of(targets):
    """Vectors of the categories (c, p), and the category of each sample, −1 if it has none."""
    vectors, places = merge_rows(targets.vectors)
    is_category = vectors.any(axis=1)
    numbers = np.where(is_category, np.cumsum(is_category) - 1, -1)
    return vectors[is_category], numbers[places[targets.rows]]


def first_bits(Z, axes, n_bits, rounds, rng):
    """Linear bits W (d, n_bits) at the start of training: the first axes, rotated to signs.

    Z W has a mean square of 1. W is Gaussian where there are more bits than axes.
    """
    if n_bits > Z.n_features:
        W = rng.standard_normal((Z.n_features, n_bits))
    else:
        axes = axes[:, :n_bits]
        R, _ = rotate_to_signs(Z.mapped(np.matmul, axes.astype(np.float32)), rounds, rng)
        W = axes @ R
    return W / np.sqrt(np.square(Z.X @ W.astype(np.float32)).mean())
