"""What samples teach that nobody labelled: a sample is like its neighbours.

The pictures of a category lie close together, whether anybody named it or not. So the teacher of
metric-transfer hashing moves every sample towards the samples next to it: t = z/|z| becomes the
direction of its sum with its k nearest neighbours, four times. What is peculiar to one picture
averages out, and what a category shares stays. A labelled sample is moved to the mean of its
category first, so labels spread to the neighbours.

This pays as far as the categories that are searched for are among the samples. Labelled samples say
nothing about other categories; samples without a label do. So the weight of the averages grows with
the share of samples without a label, and so does the pull of the labels.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

from zshash._threads import run_blocks
from zshash.hashing.steps.graphs import nearest_neighbors
from zshash.hashing.steps.imagination import category_means
from zshash.hashing.steps.rows import BLOCK_ROWS, Rows, unit_rows

TIMES = 4  # how often samples are averaged with their neighbours
MOST_NEIGHBORS, NEIGHBORS_PER_ROOT = 20, 2 / 3  # k = 2/3 √n, 20 at the most
PER_SHARE = 1.5  # weight of the averages for each share of samples without a label, among many
MORE_FOR_FEW = 2.0  # where samples are few, this many times PER_SHARE is added to it
FOR_FEATURES = 0.25  # weight of the averages where features are many, whatever is labelled
FEW, SMALL, MANY = 1000, 4096, 10_000  # numbers of samples that choices depend on
NARROWER = 1 / 3  # neighbourhood of averages among many samples, as a share of the usual one
PLENTY, SCARCE = 8.0, 1.0  # samples for each feature that tell its variance well, and badly
SHRINKAGES = 0.02, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0  # candidates for ε
MUCH = 0.25  # gain in average precision, as a share of it, that speaks for other categories, too
MOST_ROWS, MOST_QUERIES, FEWEST_QUERIES = 6000, 500, 100  # of the choice of ε


@dataclass(frozen=True)
class Lessons:
    """How the teacher sees the samples.

    Attributes
    ----------
    averaging : float
        Weight of the averages with neighbours, 0 to 1.
    n_neighbors : int
        Number of neighbours that a sample is averaged with.
    shrinkage : float
        ε of the whitening.
    neighborhood : float
        Share of the other samples that counts as a sample's neighbours.
    certainty : float
        How far the labelled categories are all that is known, 0 to 1: the factor of what is
        learned from them alone.
    """

    averaging: float
    n_neighbors: int
    shrinkage: float
    neighborhood: float
    certainty: float


def averaging_weight(is_labelled, d):
    """Weight of the averages, from the share of samples without a label.

    Each share counts more where samples are few. Where there are many features for each sample,
    single samples tell little, and averages count in any case.
    """
    n = len(is_labelled)
    alone = FOR_FEATURES * scarcity_for_features(n, d) ** 2
    per_share = PER_SHARE * (1 + MORE_FOR_FEW * scarcity_in_all(n))
    return min(1.0, max(alone, per_share * float(1 - is_labelled.mean())))


def scarcity(n, d):
    """How few n samples of d features are, from 0 (many) to 1: in all, or for each feature."""
    return max(scarcity_in_all(n), scarcity_for_features(n, d))


def scarcity_in_all(n):
    """How few n samples are, from 0 (4,096) to 1 (1,000)."""
    return float(np.clip((SMALL - n) / (SMALL - FEW), 0, 1))


def scarcity_for_features(n, d):
    """How few samples there are for each feature, from 0 (eight) to 1 (one)."""
    return float(np.clip((PLENTY - n / d) / (PLENTY - SCARCE), 0, 1))


def label_pull(share, n):
    """How far labels pull, from the share of n samples that have none: less where n is small."""
    return float(share ** (0.5 + 0.25 * scarcity_in_all(n)))


def n_neighbors(n):
    """Number of neighbours k that a sample among n is averaged with."""
    return int(min(MOST_NEIGHBORS, max(2, NEIGHBORS_PER_ROOT * np.sqrt(n)), n - 1))


def narrowing(n, weight):
    """Factor of the neighbourhood for averages of this weight among n samples."""
    share = np.clip(np.log(n / FEW) / np.log(MANY / FEW), 0, 1)
    return float(NARROWER ** (weight * share))


def safe_shrinkage(n, d, n_before=0):
    """ε where no label tells which is best: the worse the variances are known, the larger.

    `n_before` samples were seen before these n.
    """
    return max(1.0, 20.0 * d / (n + n_before))


def between(first, second, weight):
    """The number between two positive ones, on a logarithmic scale."""
    return float(first ** (1 - weight) * second**weight)


def teacher(Z, categories, weight, k):
    """Looks of the samples Z (n, d) as the teacher sees them, unit rows.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
    categories : ndarray of shape (n,)
        Category of each sample, −1 if nobody labelled it.
    weight : float
        From the samples themselves (0) to averages with neighbours and categories (1).
    k : int
        Number of neighbours.
    """
    own = T = unit_rows(Z)
    _, neighbors = nearest_neighbors(own, k)
    pull = weight * label_pull((categories < 0).mean(), len(Z))
    for _ in range(TIMES):
        T = averaged(gathered(T, categories, pull), neighbors)
    if weight < 1:
        T = unit_rows(np.float32(1 - weight) * own + np.float32(weight) * T)
    return gathered(T, categories, pull)


def averaged(T, neighbors):
    """Each row of T (n, d), averaged with the rows whose numbers are in `neighbors` (n, k)."""
    means = np.empty_like(T)

    def fill(part):
        means[part] = unit_rows(T[part] + T[neighbors[part]].sum(axis=1))

    run_blocks(fill, gen_batches(len(T), BLOCK_ROWS))
    return means


def gathered(T, categories, weight):
    """Rows of T (n, d); labelled ones are moved to the mean of their category by this weight."""
    labelled = np.flatnonzero(categories >= 0)
    if not labelled.size or not weight:
        return T
    own = categories[labelled]
    means = unit_rows(category_means(T[labelled], own))
    T = T.copy()
    moved = np.float32(1 - weight) * T[labelled] + np.float32(weight) * means[own]
    T[labelled] = unit_rows(moved)
    return T


def choose_shrinkage(spectrum, X, categories, weight, safe, rng):
    """The ε with which the teacher ranks labelled samples best, or `safe` if labels do not tell.

    Other categories may want another ε. Where all samples are labelled, none of these is among the
    samples, so it goes all the way to the best ε only if that ranks much better.

    Parameters
    ----------
    spectrum : Spectrum
    X : ndarray of shape (n, d)
    categories : ndarray of shape (n,)
        Category of each sample, −1 if nobody labelled it.
    weight : float
        Weight of the averages.
    safe : float
        Taken unless another ε is better by more than its standard error.
    rng : RandomState
    """
    rows = _some(np.flatnonzero(categories >= 0), MOST_ROWS // 2, rng)
    others = _some(np.flatnonzero(categories < 0), MOST_ROWS - len(rows), rng)
    same = categories[rows[:MOST_QUERIES], None] == categories[rows]
    np.fill_diagonal(same, val=False)
    asked = np.flatnonzero(same.any(axis=1) & ~same.all(axis=1))
    if len(asked) < FEWEST_QUERIES or len(np.unique(categories[rows])) < 2:
        return safe
    part = Rows(X[np.concatenate([rows, others])])
    k, nobody = n_neighbors(len(part)), np.full(len(part), -1)  # labels must not teach here

    def precisions(shrinkage):
        Z = spectrum.whitening(shrinkage)(part).X
        T = teacher(Z, nobody, weight, k)[: len(rows)] if weight else unit_rows(Z[: len(rows)])
        near = T[asked] @ T.T
        near[np.arange(len(asked)), asked] = -np.inf
        return average_precisions(near, same[asked])

    usual = precisions(safe)
    best, gain = safe, 0.0
    for shrinkage in SHRINKAGES:
        gains = precisions(shrinkage) - usual
        if gains.mean() > max(gain, gains.std() / np.sqrt(len(gains))):
            best, gain = shrinkage, gains.mean()
    if gain and (categories >= 0).all():
        return between(safe, best, min(1.0, gain / usual.mean() / MUCH))
    return best


def _some(numbers, most, rng):
    """All numbers, or `most` random ones, in random order."""
    return rng.permutation(numbers)[:most]


def average_precisions(near, is_relevant):
    """Average precision of each row's ranking by falling closeness (q, n)."""
    order = np.argsort(-near, axis=1, kind="stable")
    hits = np.take_along_axis(is_relevant, order, axis=1)
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return (precision * hits).sum(axis=1) / np.maximum(hits.sum(axis=1), 1)
