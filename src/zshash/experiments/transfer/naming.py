"""Search by the name of a hidden category, with codes alone."""

import numpy as np
from numpy.typing import NDArray

from zshash import metrics
from zshash.collection.naming import OTHERS, SAME
from zshash.datasets import Dataset, Split
from zshash.experiments.reproduction.tasks.naming import accuracy
from zshash.experiments.training import label_vectors

__all__ = ["score_names"]

Matrix = NDArray[np.float64]


def score_names(
    dataset: Dataset, split: Split, meanings: Matrix, labels: tuple[str, ...], k: int
) -> dict[str, float]:
    """MAP of the hidden names, and how often the right one of them is told.

    Parameters
    ----------
    meanings : ndarray of shape (n, p)
        Where the codes of the split's database stand among label vectors: BA.
    labels : tuple of str
        Sources of the label vectors.
    """
    assert dataset.labels is not None
    seen = label_vectors(dataset, split.seen, labels)
    names = label_vectors(dataset, split.unseen, labels, split.seen)
    found = dataset.labels[split.database]
    cosines, by_rule = rankings(meanings, names, seen)

    def average_precision(ranking: Matrix) -> float:
        relevant, total = metrics.scored(ranking, metrics.same_label(split.unseen, found))
        return metrics.mean_average_precision(relevant, total, k)

    return {
        "map": average_precision(cosines),
        "map_rule": average_precision(by_rule),
        "accuracy": accuracy(cosines, split.unseen, found),
    }


def rankings(
    meanings: Matrix, names: NDArray[np.float32], seen: NDArray[np.float32]
) -> list[Matrix]:
    """Scores (names, n) by cosine alone, and by the rule of `zshash.collection.naming`.

    >>> meanings, names, seen = np.array([[3.0, 4.0]]), np.array([[0.0, 1.0]]), np.array([[1.0, 0]])
    >>> [float(scores.round(2)[0, 0]) for scores in rankings(meanings, names, seen)]
    [0.8, 0.44]
    """
    lengths = np.linalg.norm(meanings, axis=1, keepdims=True)
    places = meanings / np.maximum(lengths, 1e-12)
    cosines, others = names @ places.T, seen @ places.T
    is_other = names @ seen.T <= SAME
    best = np.stack([others[rows].max(axis=0) for rows in is_other])
    return [cosines, cosines - OTHERS * best]
