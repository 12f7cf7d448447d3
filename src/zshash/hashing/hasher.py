"""The face of every hash function: what all methods can do, and what each of them implements.

=================  ==============================================================================
class              a method of this class
=================  ==============================================================================
`Hasher`           is any method
`SupervisedHasher` needs labels
`SemanticHasher`   also learns what the names of categories mean
`SumHasher`        learns from a few rows and sums over all rows, so features need not fit in memory
=================  ==============================================================================
"""

from collections.abc import Callable
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from zshash import codes
from zshash._threads import all_cores, run_blocks
from zshash._warnings import warn_user
from zshash.hashing.steps.few_samples import ENOUGH, check_amount
from zshash.hashing.steps.rows import BLOCK_ROWS, check_values, unit_rows
from zshash.hashing.steps.samples import Samples, SampleSource
from zshash.hashing.steps.targets import Targets, as_targets

__all__ = [
    "Hasher",
    "Projector",
    "SemanticHasher",
    "SumHasher",
    "SupervisedHasher",
    "check_binary",
    "check_choice",
    "check_number",
]

Projector = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""A function from prepared features (n, d) to their projections (n, n_bits)."""


class Hasher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all methods: real-valued projections, their signs, and packed codes.

    A method implements `learn` and `projector`, and checks its own parameters in
    `check_parameters`.

    Attributes
    ----------
    needs_labels : bool
        Whether the method can not learn where no sample has a label.
    learns_unlabelled : bool
        Whether the method learns from samples without a label.
    """

    needs_labels = False
    learns_unlabelled = True
    refuses_fewer = False  # whether a fit to fewer than `least_samples` is an error, or a warning
    n_bits: int
    normalize: bool
    random_state: int | np.random.RandomState | None
    n_features_in_: int

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn the hash function from features and, where the method needs them, labels.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, a row for each sample.
        y : array of shape (n,), (n, c) or (n, p), optional
            Class labels, a 0/1 matrix with several labels for each sample, or semantic targets
            (floats, of unit length as the sources in `zshash.semantics` give them). Pairwise
            methods call samples similar that share a label or have equal targets. Unsupervised
            methods do not look at y. −1, None, "" and rows of zeros mean that nobody labelled the
            sample: MTH and SSH learn from such samples, too, other methods leave them out.
        """
        self.check_parameters()
        features = self.training_features(X)
        samples = self.usable_samples(features, self.read_targets(y, len(features)))
        self.check_amount(samples)
        with all_cores():  # blocks of rows share the cores, and small matrices need just one
            self.learn(samples)
        return self

    def usable_samples(self, features: NDArray[np.float32], targets: Targets | None) -> Samples:
        """The samples that the method can learn from; methods that need labels override it."""
        return Samples(features, targets)

    def least_samples(self) -> int:
        """Number of different samples that the method needs; two where it works with any."""
        return 2

    def check_amount(self, samples: SampleSource) -> None:
        """Warn where there are too few samples for the method, or raise ValueError."""
        least, refuse = self.least_samples(), self.refuses_fewer
        if least > 2:
            check_amount(
                samples, least, method=type(self).__name__, n_bits=self.n_bits, refuse=refuse
            )

    def learn(self, samples: Samples) -> None:
        """Set the fitted state from prepared samples; parameters and features are checked."""
        raise NotImplementedError("abstract: a method says how it learns")

    def projector(self) -> Projector:
        """The function from a block of prepared features to its projections."""
        raise NotImplementedError("abstract: a method says how it projects")

    def read_targets(self, y: Any, n_samples: int) -> Targets | None:  # noqa: ARG002
        """Read labels y of `n_samples` samples; None from methods that do not look at labels."""
        return None

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        check_number(self, "n_bits", Integral, minimum=codes.MIN_BITS, maximum=codes.MAX_BITS)
        check_choice(self, "normalize", (True, False))

    def project(self, X: ArrayLike) -> NDArray[np.float32]:
        """Real-valued projections (n, n_bits) float32 whose signs are the bits."""
        check_is_fitted(self)
        return self._project(self.check_features(X, reset=False), self.projector())

    def _project(self, X: NDArray[np.float32], project_block: Projector) -> NDArray[np.float32]:
        projections = np.empty((len(X), self.n_outputs), dtype=np.float32)

        def fill(part: slice) -> None:
            projections[part] = project_block(self._prepare(X[part]))

        # For few rows, the checks of gen_batches would take longer than the work.
        is_small = len(X) <= BLOCK_ROWS
        run_blocks(fill, [slice(len(X))] if is_small else gen_batches(len(X), BLOCK_ROWS))
        return projections

    def transform(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Bits (n, n_bits) uint8, 0 or 1."""
        return (self.project(X) >= 0).view(np.uint8)

    def encode(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Packed codes (n, ceil(n_bits / 8)) uint8 in the order of ``numpy.packbits``."""
        return self.quantize(self.project(X))

    def quantize(self, projections: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
        """Packed codes of samples from their projections, as `encode` returns them."""
        return codes.pack(projections >= 0)

    def frozen(self) -> Callable[[ArrayLike], NDArray[np.uint8]]:
        """A fast function that returns what `encode` returns, for many calls with few rows.

        Everything that such calls need is prepared once, here. Later changes to the hasher do not
        reach the function.

        >>> from zshash import LSH
        >>> X = np.random.RandomState(0).randn(50, 8)
        >>> hasher = LSH(n_bits=16, random_state=0).fit(X)
        >>> encode = hasher.frozen()
        >>> bool((encode(X[:2]) == hasher.encode(X[:2])).all())
        True
        """
        project = self.frozen_project()
        return lambda X: self.quantize(project(X))

    def frozen_project(self) -> Callable[[ArrayLike], NDArray[np.float32]]:
        """A fast function that returns what `project` returns, for many calls with few rows."""
        check_is_fitted(self)
        project_block = self.projector()

        def project(X: ArrayLike) -> NDArray[np.float32]:
            if isinstance(X, np.ndarray) and X.dtype == np.float32 and self._fits(X):
                check_values(X)
                return self._project(X, project_block)
            return self._project(self.check_features(X, reset=False), project_block)

        return project

    def _fits(self, X: NDArray[Any]) -> bool:
        return X.ndim == 2 and len(X) > 0 and X.shape[1] == self.n_features_in_

    def check_features(self, X: ArrayLike, *, reset: bool) -> NDArray[np.float32]:
        """Features as float32, or an error that names the first bad row.

        With `reset`, X belongs to a fit: its width is remembered, and it needs two rows.
        """
        with np.errstate(over="ignore"):  # values too large for float32 are reported below
            features: NDArray[np.float32] = validate_data(
                self,
                X,
                reset=reset,
                dtype=np.float32,
                ensure_all_finite=False,
                ensure_min_samples=2 if reset else 1,
            )
        check_values(features)
        return features

    def training_features(self, X: ArrayLike) -> NDArray[np.float32]:
        """Check and prepare the X of a fit, which must hold at least two different rows."""
        features = self._prepare(self.check_features(X, reset=True))
        if (features[-1] == features[0]).all() and (features[0] == features).all():
            raise ValueError(
                f"all rows of X are equal (n_features={features.shape[1]}, "
                f"normalize={self.normalize}): there is nothing to learn from them"
            )
        return features

    def _check_finite(self, projection: NDArray[Any]) -> None:
        """Raise ValueError if the learned hash function holds NaN or infinity."""
        if not np.isfinite(projection).all():
            raise ValueError(
                f"the fit of {type(self).__name__} did not stay finite: rescale X, or choose "
                "parameters nearer to the defaults"
            )

    def _prepare(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features as the method sees them: of unit length where ``normalize`` is set."""
        return unit_rows(X) if self.normalize else X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # bits are uint8 whatever the features are
        return tags

    @property
    def is_binary(self) -> bool:
        """Whether codes are bits, compared by their Hamming distance."""
        return True

    @property
    def n_outputs(self) -> int:
        """Number of columns of what `project` returns."""
        return int(self.n_bits)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_bits)


class SumHasher(Hasher):
    """A method that learns from a few rows and sums over all rows.

    Its samples may lie in memory, in files, on other machines or on a GPU.
    """

    def learn(self, samples: SampleSource) -> None:
        """Set the fitted state from sums over samples, wherever their rows are."""
        raise NotImplementedError("abstract: a method says how it learns")

    def check_sums(self) -> None:
        """Raise ValueError if a parameter needs all rows in memory."""


class SupervisedHasher(Hasher):
    """A method that learns from labels."""

    needs_labels = True
    learns_unlabelled = False
    classes_: NDArray[Any]

    def read_targets(self, y: Any, n_samples: int) -> Targets:
        """Read labels y of `n_samples` samples, and remember the class labels in them."""
        targets, classes = as_targets(y, n_samples, method=type(self).__name__)
        self.forget_classes()
        if classes is not None:
            self.classes_ = classes
        return targets

    def usable_samples(self, features: NDArray[np.float32], targets: Targets | None) -> Samples:
        """The labelled samples; a method that can also use others has `learns_unlabelled` set."""
        assert targets is not None
        is_labelled = targets.is_labelled
        if self.learns_unlabelled or is_labelled.all():
            return Samples(features, targets)
        name, n = type(self).__name__, int(is_labelled.sum())
        if n < 2:
            raise ValueError(
                f"{name} learns from labelled samples, and {n} of {len(features)} are labelled: "
                "label more, or use MTH, which also learns from samples without a label"
            )
        warn_user(
            f"{len(features) - n} of {len(features)} samples have no label: {name} can not use "
            "them and learns from the others"
        )
        return Samples(features[is_labelled], Targets(targets.vectors, targets.rows[is_labelled]))

    def least_samples(self) -> int:
        """Number of different samples that the method needs; two where it needs no labels."""
        return ENOUGH if self.needs_labels else 2

    def forget_classes(self) -> None:
        """Remove the class labels of an earlier fit."""
        if hasattr(self, "classes_"):
            del self.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_labels
        tags.target_tags.multi_output = True
        return tags


class SemanticHasher(SupervisedHasher):
    """A method that maps codes B to label vectors Y: BA is near Y, A (n_bits, p)."""

    def code_meanings(self) -> NDArray[np.float64]:
        """A, the map from codes of −1 and 1 to label vectors, (n_bits, p)."""
        raise NotImplementedError("abstract: a method says how codes become label vectors")

    def directions(
        self, vectors: ArrayLike, center: NDArray[Any] | float = 0.0
    ) -> NDArray[np.float64]:
        """Weight of each bit for label vectors (n, p): (vectors − center) Aᵀ, (n, n_bits).

        A code fits a name where its product with the direction of the name is large. With the
        mean of the seen label vectors as `center`, bits that all categories share do not count.
        """
        offsets: NDArray[np.float64] = np.asarray(vectors, dtype=np.float64) - center
        return offsets @ self.code_meanings().T

    def meanings(self, codes: ArrayLike) -> NDArray[np.float64]:
        """Label vectors BA (n, p) that codes B (n, n_bits) of −1 and 1 stand for."""
        signs: NDArray[np.float64] = np.asarray(codes, dtype=np.float64)
        return signs @ self.code_meanings()


def check_binary(hasher: Hasher, what: str) -> None:
    """Raise ValueError if the codes of a method are no bits, which `what` works with."""
    if not hasher.is_binary:
        raise ValueError(
            f"{what} works with bits, and {type(hasher).__name__} with codes='pq' keeps parts of "
            "vectors: use codes='bits' here, or search its codes with zshash.index.ProductIndex"
        )


def check_number(
    estimator: object,
    name: str,
    kind: type[Any],
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
) -> None:
    """Raise ValueError unless the parameter `name` is a number of this kind within the limits."""
    value: Any = getattr(estimator, name)
    good = isinstance(value, kind) and not isinstance(value, bool) and np.isfinite(value)
    good = good and (minimum is None or value >= minimum) and (maximum is None or value <= maximum)
    if not (good and (above is None or value > above)):
        what = "a whole number" if kind is Integral else "a number"
        limits = ((minimum, "of at least"), (maximum, "of at most"), (above, "above"))
        bounds = " and ".join(f"{words} {limit}" for limit, words in limits if limit is not None)
        raise ValueError(f"{name} must be {what} {bounds}, got {value!r}")


def check_choice(estimator: object, name: str, choices: tuple[Any, ...]) -> None:
    """Raise ValueError unless the parameter `name` has one of the given values."""
    value = getattr(estimator, name)
    value = bool(value) if isinstance(value, np.bool_) else value
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")
