"""What parameters are chosen by, here and in scikit-learn's own loops."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zshash import metrics
from zshash.datasets import Dataset, PseudoUnseenSplit, Split
from zshash.experiments.protocol import Protocol, encode_split, relevance, score_codes

__all__ = ["SCORES", "TITLES", "RetrievalScorer", "check_score"]

Score = Callable[[Dataset, Any, Split, Protocol], float]


def _by_codes(name: str) -> Score:
    def score(dataset: Dataset, hasher: Any, split: Split, protocol: Protocol) -> float:
        codes = encode_split(dataset, hasher, split)
        return float(score_codes(dataset, codes, split, protocol)[name])

    return score


def _asymmetric(dataset: Dataset, hasher: Any, split: Split, protocol: Protocol) -> float:
    scores = metrics.evaluate_asymmetric(
        hasher.project(dataset.X[split.queries]),
        hasher.encode(dataset.X[split.database]),
        relevance(dataset, split),
        k=protocol.k,
    )
    return float(scores["map_asymmetric"])


SCORES: dict[str, Score] = {
    "map": _by_codes("map"),
    "precision": _by_codes("precision"),
    "asymmetric": _asymmetric,
}
"""What to choose by, each a number of which more is better."""
TITLES = {
    "map": "MAP@{k}",
    "precision": "precision, radius {radius}",
    "asymmetric": "asymmetric MAP@{k}",
}


@dataclass(frozen=True)
class RetrievalScorer:
    """A score for scikit-learn's ``cross_validate`` and its kin, by folds that hold out categories.

    The first samples of a test part search all others of it, as `PseudoUnseenSplit.split` orders
    them; how many they are is its ``n_queries``, which must be given.

    Parameters
    ----------
    splitter : PseudoUnseenSplit
        What is given as ``cv``, too.
    score, k, radius
        As for `select`.

    Examples
    --------
    >>> import zshash
    >>> from sklearn.model_selection import cross_validate
    >>> from zshash.datasets import digits
    >>> data = digits()
    >>> cv = PseudoUnseenSplit(n_splits=2, n_queries=50, random_state=0)
    >>> found = cross_validate(
    ...     zshash.ITQ(16, random_state=0), data.X, data.labels, cv=cv, scoring=RetrievalScorer(cv)
    ... )
    >>> bool((found["test_score"] > 0.2).all())
    True
    """

    splitter: PseudoUnseenSplit
    score: str = "map"
    k: int = 5000
    radius: int = 2

    def __post_init__(self) -> None:
        check_score(self.score)
        if self.splitter.n_queries is None:
            raise ValueError(
                "the splitter needs n_queries: without it nobody knows where the queries end"
            )

    def __call__(self, hasher: Any, X: ArrayLike, y: ArrayLike) -> float:
        """The score of a fitted hasher on a test part."""
        rows = np.arange(len(y := np.asarray(y)))
        queries, database = rows[: self.splitter.n_queries], rows[self.splitter.n_queries :]
        split = Split(rows[:0], queries, database, rows[:0], rows[:0])
        protocol = Protocol(None, k=self.k, radius=self.radius)
        return SCORES[self.score](Dataset(np.asarray(X), y), hasher, split, protocol)


def check_score(score: str) -> None:
    """Refuse a score that nobody knows."""
    if score not in SCORES:
        raise ValueError(f"score must be one of {', '.join(map(repr, SCORES))}, got {score!r}")
