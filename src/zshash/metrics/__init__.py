"""How well codes retrieve."""

from zshash.metrics.histograms import histograms, ranked, without_itself
from zshash.metrics.real import evaluate_real, real_histograms
from zshash.metrics.relevance import related_labels, same_label, share_labels
from zshash.metrics.scores import (
    average_precision,
    evaluate,
    mean_average_precision,
    mean_precision,
    precision_at,
    precision_recall,
    precision_within,
    recall_within,
)

__all__ = [
    "average_precision",
    "evaluate",
    "evaluate_real",
    "histograms",
    "mean_average_precision",
    "mean_precision",
    "precision_at",
    "precision_recall",
    "precision_within",
    "ranked",
    "real_histograms",
    "recall_within",
    "related_labels",
    "same_label",
    "share_labels",
    "without_itself",
]
