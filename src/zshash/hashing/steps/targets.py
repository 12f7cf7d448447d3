"""Targets of supervised methods: one vector for each sample, shared vectors kept once."""

from dataclasses import dataclass

import numpy as np

from zshash._warnings import warn_user

CURE = "give class labels (n,), a 0/1 label matrix (n, c) or semantic targets (n, p)"


@dataclass(frozen=True)
class Targets:
    """The matrix Y (n, p), where row i is ``vectors[rows[i]]``.

    Samples of a class share their vector, so products with Y cost c × p instead of n × p.
    Targets that are all different have ``rows = 0, 1, …, n - 1``. A vector of zeros means that
    nobody labelled the sample.
    """

    vectors: np.ndarray  # (c, p) float64
    rows: np.ndarray  # (n,) intp

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, part):
        """The targets of some samples (a slice)."""
        rows = self.rows[part]
        if len(self.vectors) <= len(rows):
            return Targets(self.vectors, rows)
        return Targets(self.vectors[rows], np.arange(len(rows)))

    @property
    def is_labelled(self):
        """Which samples have a label (n,)."""
        return np.asarray(self.vectors.any(axis=1))[self.rows]

    def squared_norm(self):
        """‖Y‖²."""
        counts = np.bincount(self.rows, minlength=len(self.vectors))
        return float(counts @ np.square(self.vectors).sum(axis=1))


def as_targets(y, n_samples, *, method):
    """Read `y` in any of its three forms.

    Returns
    -------
    targets : Targets
    classes : ndarray or None
        The class labels in order where `y` held labels.
    """
    if y is None:
        raise ValueError(f"{method} requires y to be passed, but the target y is None: {CURE}")
    y = np.asarray(y)
    if y.ndim not in (1, 2) or y.dtype.kind not in "biufOUS":
        raise ValueError(f"y has an unusable form (shape {y.shape}, type {y.dtype}): {CURE}")
    if len(y) != n_samples:
        raise ValueError(
            f"X and y have inconsistent numbers of samples: {n_samples} rows of X, {len(y)} of y"
        )
    targets, classes = _from_labels(y) if _holds_labels(y) else (matrix_targets(y), None)
    if targets.vectors.any(axis=1).sum() == 1:
        _warn_of_one_class(targets, classes, method)
    return targets, classes


def _warn_of_one_class(targets, classes, method):
    is_labelled = targets.is_labelled
    if is_labelled.all():
        warn_user(
            f"all training samples have the same label: {method} sees only 1 class "
            "and learns nothing that tells categories apart"
        )
    elif classes is not None and classes.dtype.kind in "iuf":
        warn_user(
            f"the only label beside -1 is {classes[0]}, and -1 means that nobody labelled the "
            "sample: if -1 is a class of its own, give it another number, such as 0"
        )
    else:
        warn_user(f"all {is_labelled.sum()} labelled samples have the same label")


def no_targets(n_samples):
    """Targets of samples that nobody labelled."""
    return Targets(np.zeros((1, 0)), np.zeros(n_samples, dtype=np.intp))


def _holds_labels(y):
    """Class labels are 1-D, or one column of words or of whole numbers."""
    return y.ndim == 1 or (y.shape[1] == 1 and y.dtype.kind in "OUSiu")


def _from_labels(y):
    y = np.char.decode(y.ravel()) if y.dtype.kind == "S" else y.ravel()
    if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
        raise ValueError(f"y is 1-D but not a class label: it holds fractions or NaN; {CURE}")
    is_labelled = _are_labels(y)
    try:
        classes, own = np.unique(y[is_labelled], return_inverse=True)
    except TypeError:
        raise ValueError("y mixes labels of different types: make them all strings") from None
    vectors = np.eye(len(classes))
    if is_labelled.all():
        return Targets(vectors, own.astype(np.intp)), classes
    rows = np.full(len(y), len(classes), dtype=np.intp)
    rows[is_labelled] = own
    return Targets(np.vstack([vectors, np.zeros_like(vectors, shape=len(classes))]), rows), classes


def _are_labels(y):
    """Which entries of y are class labels; −1, None and "" mean that nobody labelled a sample."""
    if y.dtype.kind in "if":
        return y != -1
    if y.dtype.kind == "U":
        return y != ""
    if y.dtype.kind == "O":
        return np.array([label is not None and label != "" and label != -1 for label in y], bool)
    return np.ones(len(y), dtype=bool)


def matrix_targets(y):
    """Targets of a matrix (n, c) of 0/1 or (n, p) of floats."""
    if y.dtype.kind in "OUS":
        raise ValueError(f"y is a matrix of words or objects: {CURE}")
    if y.shape[1] == 0:
        raise ValueError(f"y has no columns: {CURE}")
    if not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity (inf): every target must be finite")
    if y.dtype.kind in "iu" and not np.isin(y, (0, 1)).all():
        raise ValueError(
            "y is a matrix of whole numbers other than 0 and 1: "
            "a label matrix holds 0/1, semantic targets are floats"
        )
    return _share_rows(y.astype(np.float64))


def _share_rows(y):
    """Keep equal rows once, if that leaves at most half of the rows."""
    vectors, rows = merge_rows(y)
    if len(vectors) > len(y) // 2:
        return Targets(y, np.arange(len(y)))
    return Targets(vectors, rows)


def merge_rows(y):
    """The distinct rows of y (c, p), and the number of each row's equal among them (n,).

    Rows with the same random projection count as equal. Rounding can separate equal rows, so the
    remaining rows are then compared exactly. If different rows ever have the same projection, all
    rows count as distinct.
    """
    keys = y @ np.random.RandomState(0).standard_normal(y.shape[1])
    _, first, near = np.unique(keys, return_index=True, return_inverse=True)
    vectors, same = np.unique(y[first], axis=0, return_inverse=True)
    rows = same.ravel()[near].astype(np.intp)
    if np.array_equal(vectors[rows], y):
        return vectors, rows
    return y, np.arange(len(y))
