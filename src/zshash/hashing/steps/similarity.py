"""Similar samples, which share a label: the pairwise methods learn from them."""

from dataclasses import dataclass

import numpy as np

from zshash.hashing.steps.targets import merge_rows


@dataclass(frozen=True)
class Similarity:
    """Pairs of samples that share a label, never held as a matrix of all pairs.

    Samples with the same labels form a group. Two samples are similar if some label is in both
    groups' ``labels``; a sample without any label is similar to none.
    """

    labels: np.ndarray  # (g, c) 0/1, float32: the labels of each group
    groups: np.ndarray  # (n,) intp: the group of each sample

    def __len__(self):
        return len(self.groups)

    def __getitem__(self, rows):
        """The similarity of some samples to each other: a slice or an array of row numbers."""
        used, groups = np.unique(self.groups[rows], return_inverse=True)
        return Similarity(self.labels[used], groups)

    def block(self, rows, columns):
        """Whether each of the samples `rows` is similar to each of `columns`, bool."""
        used, places = np.unique(self.groups[columns], return_inverse=True)
        shared = self.labels[self.groups[rows]] @ self.labels[used].T
        return shared[:, places] > 0

    def with_groups(self, columns):
        """Whether the samples of each group are similar to each of `columns`, bool (g, c)."""
        return self.labels @ self.labels[self.groups[columns]].T > 0

    def between_groups(self):
        """Whether the samples of two groups are similar, for all pairs of groups, bool (g, g)."""
        return self.labels @ self.labels.T > 0

    def sum_by_group(self, F):
        """Sum of the rows of F (n, f) within each group, (g, f)."""
        sums = np.zeros((len(self.labels), F.shape[1]), dtype=F.dtype)
        np.add.at(sums, self.groups, F)
        return sums


def similarity(targets, method):
    """The pairs that `targets` calls similar: samples that share a label (see `label_sets`)."""
    vectors, groups = label_sets(targets)
    if (np.bincount(groups) @ vectors).max(initial=0) < 2:
        raise ValueError(
            f"{method} learns from samples that share a label, and no two samples of y do: give "
            "class labels (n,) or a 0/1 label matrix (n, c)"
        )
    return Similarity(vectors, groups)


def label_sets(targets):
    """The labels of each group of samples, 0/1 (g, c) float32, and the group of each sample (n,).

    Samples with equal targets form a group. Label vectors that are not 0/1 stand for a class each,
    so samples with equal vectors share their label.
    """
    vectors, places = merge_rows(targets.vectors)
    groups = places[targets.rows]
    if not np.isin(vectors, (0, 1)).all():
        vectors = np.eye(len(vectors)) * vectors.any(axis=1)[:, None]
    return vectors.astype(np.float32), groups


def draw_rows(rows, count, rng):
    """`count` of the rows whose labels are used, in ascending order; all where there are fewer."""
    return np.sort(rng.choice(rows, count, replace=False)) if count < len(rows) else rows
