"""Rows of features as a fit sees them: a few of them by number, and sums over all of them.

`Rows` has them in memory. A fit that asks for no more than this can be given anything with the same
methods, wherever its rows are: see `zshash.scale`.
"""

import numpy as np
from sklearn.utils import gen_batches

from zshash._threads import add_up, map_blocks, run_blocks

BLOCK_ROWS = 1024  # rows handled at a time: 4 MB of φ at 1,000 anchors, enough work for BLAS


class Rows:
    """Rows of an array X (n, d)."""

    def __init__(self, X):
        self.X = X

    def __len__(self):
        return len(self.X)

    @property
    def n_features(self):
        """d."""
        return self.X.shape[1]

    def parts(self):
        """Slices that cover the rows in order."""
        return gen_batches(len(self), BLOCK_ROWS)

    def take(self, numbers):
        """Rows by their numbers, which ascend."""
        return self.X[numbers]

    def draw(self, most, rng):  # noqa: ARG002, rows in memory are all used
        """All rows, or where they are not at hand `most` of them at random."""
        return self.X

    def total(self, step, *args):
        """The sum of ``step(block, *args)`` over blocks of rows, in float64."""
        return add_up(map_blocks(lambda part: step(self.X[part], *args), self.parts()))

    def squares_from(self, center):
        """Σ‖x − center‖² over all rows."""
        return self.total(squared_length, center)

    def mapped(self, step, *args):
        """Rows ``step(block, *args)``, float32, as many as there are."""
        first = step(self.X[:1], *args)
        V = np.empty((len(self), first.shape[1]), dtype=np.float32)

        def fill(part):
            V[part] = step(self.X[part], *args)

        run_blocks(fill, self.parts())
        return Rows(V)


def squared_length(block, center):
    """Σ‖x − center‖² over a block, float64."""
    return np.square(block - center).sum()


def as_rows(X):
    """X itself where it has the methods of `Rows`, else the rows of an array."""
    return X if hasattr(X, "squares_from") else Rows(X)
