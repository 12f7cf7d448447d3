"""Scores by which parameters are chosen, here and in scikit-learn's own loops."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zshash.datasets import Dataset, PseudoUnseenSplit, Split
from zshash.evaluation.protocol import Protocol, encode_split, score_codes, score_real
from zshash.hashing.hasher import Hasher

__all__ = ["SCORES", "TITLES", "RetrievalScorer", "check_score"]

Score = Callable[[Dataset, Any, Split, Protocol], float]


def _by_codes(name: str) -> Score:
    def score(dataset: Dataset, hasher: Hasher, split: Split, protocol: Protocol) -> float:
        codes = encode_split(dataset, hasher, split)
        return float(score_codes(dataset, codes, split, protocol)[name])

    return score


def _by_real_values(dataset: Dataset, hasher: Hasher, split: Split, protocol: Protocol) -> float:
    database = hasher.encode(dataset.X[split.database])
    return float(score_real(dataset, hasher, database, split, protocol)["map_real"])


SCORES: dict[str, Score] = {
    "map": _by_codes("map"),
    "precision": _by_codes("precision"),
    "real": _by_real_values,
}
"""Scores to choose by; higher is better."""
TITLES = {
    "map": "MAP@{k}",
    "precision": "precision, radius {radius}",
    "real": "real-valued MAP@{k}",
}


@dataclass(frozen=True)
class RetrievalScorer:
    """A scorer for scikit-learn's ``cross_validate`` and similar, where folds hold out categories.

    The first ``n_queries`` samples of a test part are the queries, and they search the other
    samples of it: `PseudoUnseenSplit.split` orders them so. The splitter must have ``n_queries``.

    Parameters
    ----------
    splitter : PseudoUnseenSplit
        The splitter that is also given as ``cv``.
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
                "the splitter needs n_queries: the scorer must know how many samples are queries"
            )

    def __call__(self, hasher: Hasher, X: ArrayLike, y: ArrayLike) -> float:
        """The score of a fitted hasher on a test part."""
        rows = np.arange(len(y := np.asarray(y)))
        queries, database = rows[: self.splitter.n_queries], rows[self.splitter.n_queries :]
        split = Split(rows[:0], queries, database, rows[:0], rows[:0])
        protocol = Protocol(None, k=self.k, radius=self.radius)
        return SCORES[self.score](Dataset(np.asarray(X), y), hasher, split, protocol)


def check_score(score: str) -> None:
    """Refuse the name of an unknown score."""
    if score not in SCORES:
        raise ValueError(f"score must be one of {', '.join(map(repr, SCORES))}, got {score!r}")
