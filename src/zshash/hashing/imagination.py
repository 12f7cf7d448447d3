"""Batches to learn from: real samples, and some of categories that nobody has seen.

A category that is yet to come may lie anywhere among the samples, and its members will scatter as
those of the seen categories do. So an imaginary one is centred half way between the mean of all
samples and one of them, and its members are this centre plus what sets real samples apart from the
mean of their own category.
"""

from dataclasses import dataclass

import numpy as np

from zshash.hashing.base import unit_rows
from zshash.hashing.novelty import Novelty

MEMBERS = 8  # of an imaginary category in a batch
CLOSENESS = 0.5  # of its centre to a sample, where the mean of all samples is at 0


@dataclass(frozen=True)
class Draw:
    """A batch by numbers of samples: centre and deviation of imagined rows, then real rows."""

    centres: np.ndarray
    deviations: np.ndarray
    samples: np.ndarray


class Batches:
    """Rows of Z (n, d), in random order and each in its turn, a share of them imagined.

    Parameters
    ----------
    Z : ndarray of shape (n, d), float32
        Samples, their mean at 0.
    categories : ndarray of shape (n,)
        Which category each sample belongs to, 0, 1, ….
    meanings : ndarray of shape (c, p), float32
        What the teacher knows of each category beside what its samples look like; p may be 0.
    novelty : float
        How much it counts for the teacher that two rows are alike in being novel, or not.
    size : int
        Rows of a batch, at most n.
    imaginary : float
        Share of them that belongs to imaginary categories; none where no category has two samples.
    rng : RandomState
    """

    def __init__(self, Z, categories, meanings, *, novelty, size, imaginary, rng):
        self.Z, self.meanings, self.size = Z, meanings[categories], min(size, len(Z))
        means = category_means(Z, categories)
        self.deviations = Z - means[categories]
        self.novelty = Novelty(Z, categories, means)
        self.novelty_scale = np.float32(np.sqrt(novelty))
        self._scattered = np.flatnonzero(np.bincount(categories)[categories] > 1)
        self._n_imaginary = int(imaginary * self.size) // MEMBERS if len(self._scattered) else 0
        self._order, self._rng = np.empty(0, dtype=np.int64), rng

    def draw(self):
        """The next batch."""
        centres = self._rng.randint(len(self.Z), size=self._n_imaginary).repeat(MEMBERS)
        others = self._rng.randint(max(1, len(self._scattered)), size=len(centres))
        return Draw(centres, self._scattered[others], self._next(self.size - len(centres)))

    def rows(self, draw):
        """The rows of a batch (size, d)."""
        imagined = np.float32(CLOSENESS) * self.Z[draw.centres] + self.deviations[draw.deviations]
        return np.concatenate([imagined, self.Z[draw.samples]])

    def lesson(self, draw, rows):
        """What the teacher compares: rows of unit length, how novel they are, what they mean."""
        meanings = np.zeros((len(rows), self.meanings.shape[1]), dtype=np.float32)
        meanings[len(draw.centres) :] = self.meanings[draw.samples]
        novelty = self.novelty_scale * self.novelty(rows)
        return np.hstack([unit_rows(rows), novelty[:, None], meanings])

    def _next(self, count):
        """Numbers of the samples whose turn it is."""
        if len(self._order) < count:
            self._order = np.concatenate([self._order, self._rng.permutation(len(self.Z))])
        now, self._order = self._order[:count], self._order[count:]
        return now


def category_means(Z, categories):
    """Mean of the samples of each category (c, d), float32; 0 where it has none."""
    counts = np.bincount(categories)
    present = np.flatnonzero(counts)
    order = np.argsort(categories, kind="stable")
    starts = (np.cumsum(counts) - counts)[present]
    sums = np.add.reduceat(Z[order], starts, axis=0, dtype=np.float64)
    means = np.zeros((len(counts), Z.shape[1]), dtype=np.float32)
    means[present] = sums / counts[present, None]
    return means
