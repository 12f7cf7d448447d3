"""Rows of features as a fit sees them: a few rows by their numbers, and sums over all rows.

`Rows` holds them in memory. A fit that asks for no more than `RowSource` offers can learn from rows
that lie anywhere: see `zshash.scale`.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches

from zshash._threads import add_up, map_blocks, run_blocks

BLOCK_ROWS = 1024  # rows handled at a time: 4 MB of φ at 1,000 anchors, enough work for BLAS
MAX_SQUARE = 1e36  # largest squared length of a row: sums of a few such numbers fit in float32

Step = Callable[..., Any]
"""A function of a block of rows, and of further arguments."""


class RowSource(Protocol):
    """Rows of features (n, d) as a fit uses them, wherever they are stored."""

    def __len__(self) -> int: ...

    @property
    def n_features(self) -> int:
        """Number of features d."""

    def take(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Rows with the given numbers, which must ascend."""

    def draw(self, most: int, rng: np.random.RandomState) -> NDArray[np.float32]:
        """All rows, or `most` random rows where the rows are not in memory."""

    def total(self, step: Step, *args: Any) -> Any:
        """The sum of ``step(block, *args)`` over blocks of rows, in float64."""

    def squares_from(self, center: NDArray[np.float64]) -> Any:
        """Σ‖x − center‖² over all rows."""

    def mapped(self, step: Step, *args: Any) -> "RowSource":
        """The rows ``step(block, *args)``, one for each row here."""


class Rows:
    """Rows of an array X (n, d)."""

    def __init__(self, X: Any) -> None:
        self.X = X

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.X.shape[1])

    def parts(self) -> Iterator[slice]:
        """Slices that cover the rows in order."""
        return gen_batches(len(self), BLOCK_ROWS)

    def take(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Rows with the given numbers, which must ascend."""
        return self.X[numbers]

    def draw(self, most: int, rng: np.random.RandomState) -> NDArray[np.float32]:  # noqa: ARG002
        """All rows: rows in memory are all used."""
        return self.X

    def total(self, step: Step, *args: Any) -> Any:
        """The sum of ``step(block, *args)`` over blocks of rows, in float64."""
        return add_up(map_blocks(lambda part: step(self.X[part], *args), self.parts()))

    def squares_from(self, center: NDArray[np.float64]) -> Any:
        """Σ‖x − center‖² over all rows."""
        return self.total(squared_length, center)

    def mapped(self, step: Step, *args: Any) -> "Rows":
        """The rows ``step(block, *args)``, float32, one for each row here."""
        first = step(self.X[:1], *args)
        V = np.empty((len(self), first.shape[1]), dtype=np.float32)

        def fill(part: slice) -> None:
            V[part] = step(self.X[part], *args)

        run_blocks(fill, self.parts())
        return Rows(V)


def squared_length(block, center):
    """Σ‖x − center‖² over a block, float64."""
    return np.square(block - center).sum()


def as_rows(X: Any) -> RowSource:
    """X itself where it has the methods of `RowSource`, else the rows of an array."""
    return X if hasattr(X, "squares_from") else Rows(X)


def unit_rows(X: NDArray[Any]) -> NDArray[Any]:
    """The rows of X brought to unit length; rows of length zero stay as they are.

    The result equals that of scikit-learn's ``normalize`` to the last bit. The checks of that
    function take longer than the work where rows are few.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    lengths[lengths < 10 * np.finfo(lengths.dtype).eps] = 1
    return X / lengths[:, None]


def check_values(X: NDArray[Any], numbers: ArrayLike | None = None) -> None:
    """Refuse rows that hold NaN or infinity, or whose squared length float32 can not hold.

    `numbers` are the row numbers that messages name, by default 0, 1, ….
    """
    with np.errstate(over="ignore", invalid="ignore"):
        bad = np.flatnonzero(~(np.einsum("ij,ij->i", X, X) < MAX_SQUARE))
    if bad.size:
        first = bad[0] if numbers is None else np.asarray(numbers)[bad[0]]
        where = f"in {bad.size} of {len(X)} rows, the first is row {first}"
        if np.isfinite(X[bad]).all():
            raise ValueError(f"X holds values too large for float32 {where}: rescale X")
        raise ValueError(
            f"X contains NaN or infinity (inf), or values too large for float32, {where}: "
            "remove or repair these rows"
        )
