"""How unlike a sample is to every category that was seen.

The distance |z − m|² of a sample z to the mean m of the category nearest to it says how well it
fits into what is known. Half of |z|², which tells how far it is from the mean of all samples, is
taken off: members of remote categories are far from their means, too.
"""

import numpy as np
from sklearn.utils import gen_batches

BLOCK_ROWS = 2**16  # that are compared with all means at a time
FEWEST = 10  # samples of a category that has a mean worth the name
MOST = 3.0  # standard deviations that count


class Novelty:
    """A score of rows: standard deviations by which they are more novel than the samples are.

    Parameters
    ----------
    Z : ndarray of shape (n, d), float32
        Samples, their mean at 0.
    categories : ndarray of shape (n,)
        Which category each sample belongs to, 0, 1, ….
    means : ndarray of shape (c, d), float32
        Of the categories.

    Attributes
    ----------
    means, lengths : ndarray of shape (c', d) and (c',)
        Means that samples are compared with, and their squared lengths: those of categories with
        ten samples, and that of all samples.
    centre, spread : float32
        Mean and deviation of the samples before scores are standardised.
    """

    def __init__(self, Z, categories, means):
        common = means[np.bincount(categories, minlength=len(means)) >= FEWEST]
        self.means = np.vstack([np.zeros_like(means[:1]), common])
        self.lengths = np.square(self.means).sum(axis=1)
        raw = np.concatenate([self._raw(Z[part]) for part in gen_batches(len(Z), BLOCK_ROWS)])
        self.centre, self.spread = raw.mean(), max(raw.std(), np.float32(1e-12))

    def __call__(self, rows):
        """The score of each row, at most three deviations from 0."""
        return np.clip((self._raw(rows) - self.centre) / self.spread, -MOST, MOST)

    def _raw(self, rows):
        nearest = (2 * rows @ self.means.T - self.lengths).max(axis=1)  # |z|² − |z − m|²
        return np.square(rows).sum(axis=1) / 2 - nearest
