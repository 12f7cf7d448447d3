"""Batches of training rows: real samples, and imagined samples of unseen categories.

An unseen category may lie anywhere among the samples, and its members scatter as members of seen
categories do. So an imaginary category is centred half way between the mean of all samples and one
sample, and its members are this centre plus deviations of real samples from the mean of their own
category.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

from zshash.hashing.steps.rows import unit_rows

MEMBERS = 8  # members of an imaginary category in a batch
CLOSENESS = 0.5  # its centre is this factor times a sample; the mean of all samples is 0
BLOCK_ROWS = 2**16  # rows that are compared with all means at a time
FEWEST = 10  # samples that a category needs for its mean to be used
MOST = 3.0  # largest novelty, in standard deviations


@dataclass(frozen=True)
class Draw:
    """A batch by numbers: centre and deviation of imagined rows, then samples that are real rows.

    Deviations are numbered among the labelled samples.
    """

    centres: np.ndarray
    deviations: np.ndarray
    samples: np.ndarray


class Batches:
    """Batches of rows of Z (n, d) in random order, each row in its turn, a share of them imagined.

    Parameters
    ----------
    Z : ndarray of shape (n, d), float32
        Samples, their mean at 0.
    categories : ndarray of shape (n,)
        Which category each sample belongs to, 0, 1, …; −1 if nobody labelled it.
    meanings : ndarray of shape (c, p), float32
        Meaning of each category, which the teacher compares beside the features; p may be 0.
    looks : ndarray of shape (n, d), float32, optional
        What the teacher compares of the samples, by default Z at unit length.
    novelty : float
        Weight of novelty: for the teacher, rows are nearer if both are novel, or both are not.
    size : int
        Rows of a batch, at most n.
    imaginary : float
        Share of rows that belong to imaginary categories; 0 where no category has two samples.
    rng : RandomState
    """

    def __init__(self, Z, categories, meanings, *, novelty, size, imaginary, rng, looks=None):
        self.Z, self.size = Z, min(size, len(Z))
        self.looks = looks
        labelled = np.flatnonzero(categories >= 0)
        own = categories[labelled]
        self.meanings = np.zeros((len(Z), meanings.shape[1]), dtype=np.float32)
        self.meanings[labelled] = meanings[own]
        means = category_means(Z[labelled], own)
        self.deviations = Z[labelled] - means[own]
        self.novelty = Novelty(Z, own, means)
        self.novelty_scale = np.float32(np.sqrt(novelty))
        self._scattered = np.flatnonzero(np.bincount(own)[own] > 1)
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
        """Rows that the teacher compares: looks, novelty, meaning."""
        looks, n_imagined = unit_rows(rows), len(draw.centres)
        if self.looks is not None:
            looks[n_imagined:] = self.looks[draw.samples]
        meanings = np.zeros((len(rows), self.meanings.shape[1]), dtype=np.float32)
        meanings[n_imagined:] = self.meanings[draw.samples]
        novelty = self.novelty_scale * self.novelty(rows)
        return np.hstack([looks, novelty[:, None], meanings])

    def _next(self, count):
        """Numbers of the next `count` samples."""
        if len(self._order) < count:
            self._order = np.concatenate([self._order, self._rng.permutation(len(self.Z))])
        now, self._order = self._order[:count], self._order[count:]
        return now


def category_means(Z, categories):
    """Mean of the samples of each category (c, d), float32; 0 where it has none."""
    counts = np.bincount(categories)
    present = np.flatnonzero(counts)
    if not present.size:
        return np.zeros((0, Z.shape[1]), dtype=np.float32)
    order = np.argsort(categories, kind="stable")
    starts = (np.cumsum(counts) - counts)[present]
    sums = np.add.reduceat(Z[order], starts, axis=0, dtype=np.float64)
    means = np.zeros((len(counts), Z.shape[1]), dtype=np.float32)
    means[present] = sums / counts[present, None]
    return means


class Novelty:
    """How much a row differs from all seen categories, in standard deviations of the samples.

    The distance |z − m|² of a row z to the mean m of the nearest category says how well z fits
    into what is known. Half of |z|², the squared distance from the mean of all samples, is taken
    off: members of remote categories are far from their means, too.

    Parameters
    ----------
    Z : ndarray of shape (n, d), float32
        Samples, their mean at 0.
    categories : ndarray of shape (m,)
        Categories 0, 1, … of the labelled samples.
    means : ndarray of shape (c, d), float32
        Means of the categories.

    Attributes
    ----------
    means, lengths : ndarray of shape (c', d) and (c',)
        Means that rows are compared with, and their squared lengths: the mean of all samples, and
        of each category with at least ten samples.
    centre, spread : float32
        Mean and standard deviation of the samples' scores before they are standardised.
    """

    def __init__(self, Z, categories, means):
        common = means[np.bincount(categories, minlength=len(means)) >= FEWEST]
        self.means = np.vstack([np.zeros_like(Z[:1]), common])
        self.lengths = np.square(self.means).sum(axis=1)
        raw = np.concatenate([self._raw(Z[part]) for part in gen_batches(len(Z), BLOCK_ROWS)])
        self.centre, self.spread = raw.mean(), max(raw.std(), np.float32(1e-12))

    @classmethod
    def of(cls, means, centre, spread):
        """Novelty as it was learned before, from its attributes."""
        known = cls.__new__(cls)
        known.means, known.centre, known.spread = means, centre, spread
        known.lengths = np.square(means).sum(axis=1)
        return known

    def __call__(self, rows):
        """The score of each row, at most three deviations from 0."""
        return np.clip((self._raw(rows) - self.centre) / self.spread, -MOST, MOST)

    def _raw(self, rows):
        nearest = (2 * rows @ self.means.T - self.lengths).max(axis=1)  # |z|² − |z − m|²
        return np.square(rows).sum(axis=1) / 2 - nearest
