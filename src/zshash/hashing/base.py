"""The face that every hash function shows."""

from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from zshash import codes
from zshash._threads import run_blocks
from zshash.hashing.rows import BLOCK_ROWS
from zshash.hashing.targets import as_targets

MAX_SQUARE = 1e36  # of a row's length: sums of a few such numbers still fit in float32


class Hasher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all methods: real-valued projections, their signs, and packed codes.

    A method implements ``fit`` and ``_projector``; its parameters include ``n_bits`` and
    ``normalize``.
    """

    def project(self, X):
        """Real-valued projections (n, n_bits) float32 whose signs are the bits."""
        check_is_fitted(self)
        return self._project(self._features(X, reset=False), self._projector())

    def _project(self, X, project_block):
        projections = np.empty((len(X), self._n_features_out), dtype=np.float32)

        def fill(part):
            projections[part] = project_block(self._prepare(X[part]))

        run_blocks(fill, gen_batches(len(X), BLOCK_ROWS))
        return projections

    def transform(self, X):
        """Bits (n, n_bits) uint8, 0 or 1."""
        return (self.project(X) >= 0).view(np.uint8)

    def encode(self, X):
        """Packed codes (n, ceil(n_bits / 8)) uint8 in the order of ``numpy.packbits``."""
        return self.quantize(self.project(X))

    @staticmethod
    def quantize(projections):
        """Packed codes of projections: what `encode` gives for that of which they are."""
        return codes.pack(projections >= 0)

    def frozen(self):
        """A function that gives what `encode` gives, for many calls with few rows.

        What such calls need is made once, here: what is done to the hasher later, other than
        fitting another one, does not reach it.

        >>> from zshash import LSH
        >>> X = np.random.RandomState(0).randn(50, 8)
        >>> hasher = LSH(n_bits=16, random_state=0).fit(X)
        >>> encode = hasher.frozen()
        >>> bool((encode(X[:2]) == hasher.encode(X[:2])).all())
        True
        """
        project = self.frozen_project()
        return lambda X: self.quantize(project(X))

    def frozen_project(self):
        """A function that gives what `project` gives, as `frozen` does for `encode`."""
        check_is_fitted(self)
        project_block = self._projector()

        def project(X):
            is_plain = isinstance(X, np.ndarray) and X.dtype == np.float32 and X.ndim == 2
            if is_plain and len(X) and X.shape[1] == self.n_features_in_:
                check_values(X)
            else:
                X = self._features(X, reset=False)
            return self._project(X, project_block)

        return project

    def _projector(self):
        """The function from a block of prepared features to its projections."""
        raise NotImplementedError("abstract: a method says how it projects")

    def _features(self, X, *, reset):
        """Validate X; all arithmetic on features is in float32."""
        with np.errstate(over="ignore"):  # what does not fit is reported below
            X = validate_data(
                self,
                X,
                reset=reset,
                dtype=np.float32,
                ensure_all_finite=False,
                ensure_min_samples=2 if reset else 1,
            )
        check_values(X)
        return X

    def _training_features(self, X):
        """Validate and prepare the X of a fit, which must hold at least two different rows."""
        X = self._prepare(self._features(X, reset=True))
        if (X[-1] == X[0]).all() and (X[0] == X).all():
            raise ValueError(
                f"all rows of X are equal (n_features={X.shape[1]}, normalize={self.normalize}): "
                "there is nothing to learn from them"
            )
        return X

    def _check_finite(self, projection):
        """Refuse a hash function that numbers too large or too small have spoilt."""
        if not np.isfinite(projection).all():
            raise ValueError(
                f"the fit of {type(self).__name__} did not stay finite: rescale X, or choose "
                "parameters nearer to the defaults"
            )

    def _prepare(self, X):
        """Features as the method sees them: of unit length where ``normalize`` is set."""
        return unit_rows(X) if self.normalize else X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # bits are uint8 whatever the features are
        return tags

    def _check_parameters(self):
        """Raise one sentence on the first parameter that has no meaning."""
        self._check_common()

    def _check_sums(self):
        """Raise one sentence on a parameter for which sums over rows are not enough."""

    def _check_common(self):
        check_number(self, "n_bits", Integral, minimum=codes.MIN_BITS, maximum=codes.MAX_BITS)
        check_choice(self, "normalize", (True, False))

    @property
    def _n_features_out(self):
        return int(self.n_bits)


class SupervisedHasher(Hasher):
    """Base of the methods that need labels."""

    def _targets(self, y, n_samples):
        """Read y, and remember the class labels in it."""
        targets, classes = as_targets(y, n_samples, method=type(self).__name__)
        if classes is not None:
            self.classes_ = classes
        elif hasattr(self, "classes_"):
            del self.classes_  # of an earlier fit
        return targets

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def unit_rows(X):
    """Rows of unit length, those of no length as they are.

    To the last bit what scikit-learn's ``normalize`` gives, whose checks take longer than the work
    where rows are few.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    lengths[lengths < 10 * np.finfo(lengths.dtype).eps] = 1
    return X / lengths[:, None]


def check_values(X, numbers=None):
    """Refuse rows that hold NaN or infinity, or whose squared length float32 can not hold.

    `numbers` are those that messages give the rows, by default 0, 1, ….
    """
    with np.errstate(over="ignore", invalid="ignore"):
        bad = np.flatnonzero(~(np.einsum("ij,ij->i", X, X) < MAX_SQUARE))
    if bad.size:
        first = bad[0] if numbers is None else numbers[bad[0]]
        where = f"in {bad.size} of {len(X)} rows, the first is row {first}"
        if np.isfinite(X[bad]).all():
            raise ValueError(f"X holds values too large for float32 {where}: rescale X")
        raise ValueError(
            f"X contains NaN or infinity (inf), or values too large for float32, {where}: "
            "remove or repair these rows"
        )


def check_number(estimator, name, kind, *, minimum=None, maximum=None, above=None):
    """Raise one sentence that says what the parameter `name` may be, unless it is."""
    value = getattr(estimator, name)
    good = isinstance(value, kind) and not isinstance(value, bool) and np.isfinite(value)
    good = good and (minimum is None or value >= minimum) and (maximum is None or value <= maximum)
    if not (good and (above is None or value > above)):
        what = "a whole number" if kind is Integral else "a number"
        limits = ((minimum, "of at least"), (maximum, "of at most"), (above, "above"))
        bounds = " and ".join(f"{words} {limit}" for limit, words in limits if limit is not None)
        raise ValueError(f"{name} must be {what} {bounds}, got {value!r}")


def check_choice(estimator, name, choices):
    """Raise one sentence that lists the values the parameter `name` may have, unless it is one."""
    value = getattr(estimator, name)
    value = bool(value) if isinstance(value, np.bool_) else value
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")
