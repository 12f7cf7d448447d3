"""Scores by which parameters are chosen, here and in scikit-learn's own loops."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from zshash.datasets import Dataset, PseudoUnseenSplit, Split
from zshash.evaluation.protocol import Codes, Protocol, by_kind, score_codes, score_real
from zshash.hashing.hasher import Hasher, check_binary

__all__ = ["SCORES", "TITLES", "RetrievalScorer", "check_score", "score_by"]

SCORES = {"map": "map", "precision": "precision", "real": "map_real"}
"""Scores to choose by, higher is better, and their names in records."""
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

    def __call__(self, hasher: Hasher | Pipeline, X: ArrayLike, y: ArrayLike) -> float:
        """The score of a fitted hasher, or of a pipeline that ends with one, on a test part."""
        if isinstance(hasher, Pipeline):
            X = hasher[:-1].transform(X) if len(hasher) > 1 else X
            hasher = hasher[-1]
        rows = np.arange(len(y := np.asarray(y)))
        queries, database = rows[: self.splitter.n_queries], rows[self.splitter.n_queries :]
        split = Split(rows[:0], queries, database, rows[:0], rows[:0])
        protocol = Protocol(None, k=self.k, radius=self.radius)
        return score_by(self.score, Dataset(np.asarray(X), y), hasher, split, protocol)["score"]


def score_by(
    name: str, dataset: Dataset, hasher: Hasher, split: Split, protocol: Protocol
) -> dict[str, float]:
    """The score called `name`, as "score"; other kinds of queries have a suffix, see `kinds`."""
    check_binary(hasher, "a score")

    def score_kind(own: Split, database: Codes) -> float:
        if name == "real":
            scores = score_real(dataset, hasher, database, own, protocol)
        else:
            codes = hasher.encode(dataset.X[own.queries]), database
            scores = score_codes(dataset, codes, own, protocol)
        return float(scores[SCORES[name]])

    found = by_kind(dataset, hasher, split, score_kind)
    return {f"score{suffix}": value for suffix, value in found.items()}


def check_score(score: str) -> None:
    """Refuse the name of an unknown score."""
    if score not in SCORES:
        raise ValueError(f"score must be one of {', '.join(map(repr, SCORES))}, got {score!r}")
