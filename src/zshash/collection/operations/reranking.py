"""Ranking the best matches of a query again, by the features that the collection keeps.

A code keeps a few bits of the features that it was made of. Codes find the candidates, and their
features tell more about the order of these few. Two cosines are taken between the query and a
candidate, and their mean is its score:

- of the real values before the sign, which the model gives for both. They know which features
  matter in this collection, as the codes do, and nothing is lost by rounding them to bits;
- of the features, less the mean of the collection's features, and with the directions damped in
  which all of them vary most (`Metric`). It knows what the model has left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from zshash.collection.errors import NoFeatures
from zshash.collection.operations.features import Vectors, features_of
from zshash.collection.operations.ranking import Asked, Ranking
from zshash.collection.storage.rows import Ids
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.hashing.steps.rows import unit_rows
from zshash.learning.model import Model

__all__ = ["Metric", "rerank"]

SAMPLE = 256  # items whose features tell how the features of all items vary
SHRINKAGE = 10.0  # ε of the whitening, as a share of the mean variance
METRIC = "\0metric"  # a key of `remembered`; no condition is spelled so

Table = NDArray[np.float32]


@dataclass(frozen=True)
class Metric:
    """How the features of a collection vary, so that they can be compared.

    Features of unit length are centred, and whitened with much shrinkage: a direction of variance
    v is scaled by 1 / √(1 + v / (ε · mean variance)).

    Attributes
    ----------
    mean : ndarray of shape (d,)
    axes : ndarray of shape (r, d)
        Directions, of unit length and orthogonal to each other.
    damping : ndarray of shape (r,)
        What is taken away in each direction, from 0 (nothing) to 1 (all).
    """

    mean: Table
    axes: Table
    damping: Table

    @classmethod
    def of(cls, features: Table) -> "Metric":
        """Metric that a sample of features (n, d) tells."""
        rows = unit_rows(features)
        mean = rows.mean(axis=0)
        _, lengths, axes = linalg.svd(rows - mean, full_matrices=False)
        variances = lengths**2 / len(rows)
        usual = SHRINKAGE * variances.sum() / rows.shape[1]
        damping = 1 - 1 / np.sqrt(1 + variances / usual) if usual else np.zeros_like(variances)
        return cls(mean, axes, damping.astype(np.float32))

    def __call__(self, features: Table) -> Table:
        """Features (n, d), each as a vector of unit length whose products are cosines."""
        centred = unit_rows(features) - self.mean
        centred -= (centred @ self.axes.T * self.damping) @ self.axes
        units: Table = unit_rows(centred)
        return units


def rerank(
    store: Store, state: State, asked: Asked, rankings: Sequence[Ranking]
) -> Sequence[Ranking]:
    """Pages of all queries; those with `rerank` are ranked again first, inside `reading`.

    Raises
    ------
    NoFeatures
        If the collection keeps no features, or none of an item that is searched for.
    """
    rows = [
        row for row, own in enumerate(asked.queries) if own.rerank and row not in asked.failures
    ]
    if not rows:
        return rankings
    if not state.features.n:
        raise NoFeatures(
            f"{store.folder}: it keeps no features, so matches can not be ranked again by them: "
            "make a collection that keeps them"
        )
    metric, pages = _metric(store, state, asked.model), list(rankings)
    for row in rows:
        query, ranking = asked.queries[row], rankings[row]
        first = ranking.ids[: min(query.rerank or 0, ranking.total)]
        there = features_of(store, asked.model, first.tolist())
        scores = _scores(asked.model, metric, _features_of(store, asked, row), there)
        pages[row] = _again(ranking, first, scores).page(query)
    return pages


def _metric(store: Store, state: State, model: Model) -> Metric:
    """Metric of the features of evenly spaced items, remembered until items change."""
    known: Metric | None = store.remembered.get(state.generation, METRIC)
    if known is None:
        known = Metric.of(np.stack(list(_sample(store, state, model).values())))
        store.remembered.put(state.generation, METRIC, known)
    return known


def _sample(store: Store, state: State, model: Model) -> Vectors:
    """Features of evenly spaced items among those that have some."""
    nearest = "SELECT id FROM features WHERE id >= ? ORDER BY id LIMIT 1"
    places = np.unique(np.linspace(0, state.next_id - 1, SAMPLE).astype(np.int64))
    with store.looking() as connection:
        found = {row for at in places.tolist() for row in connection.execute(nearest, [at])}
    sample = features_of(store, model, sorted(number for (number,) in found))
    if not sample:
        raise NoFeatures(
            f"{store.folder}: its features have another length than those that its model reads: "
            "encode its items again"
        )
    return sample


def _features_of(store: Store, asked: Asked, row: int) -> Table:
    """Features of a query; those of an item come from the collection."""
    number = asked.queries[row].item
    if number is None:
        return asked.features[row]
    if row not in asked.features:
        raise NoFeatures(
            f"{store.folder}: it keeps no features of item {number}, so matches can not be ranked "
            "again by them"
        )
    return asked.features[row]


def _scores(model: Model, metric: Metric, query: Table, items: Vectors) -> dict[int, float]:
    """Mean of two cosines of each item with the query, by id: of real values, and of features."""
    table = np.stack([np.asarray(query, dtype=np.float32), *items.values()])
    values, features = unit_rows(model.project(table)), metric(table)
    means = (values[1:] @ values[0] + features[1:] @ features[0]) / 2
    return dict(zip(items, means.tolist(), strict=True))


def _again(ranking: Ranking, first: Ids, scores: dict[int, float]) -> Ranking:
    """A ranking whose `first` items are ordered by their scores.

    First items without a score follow those that have one. They and all other items keep their
    scores and their order.
    """
    ids, n = first.tolist(), len(first)
    scored = [place for place in range(n) if ids[place] in scores]
    scored.sort(key=lambda place: (-scores[ids[place]], ids[place]))
    others = [place for place in range(n) if ids[place] not in scores]
    order = np.array([*scored, *others, *range(n, len(ranking.ids))], dtype=np.int64)
    new = ranking.scores[order]
    new[: len(scored)] = [scores[ids[place]] for place in scored]
    bits = None if ranking.bits is None else ranking.bits[order]
    return ranking._replace(ids=ranking.ids[order], scores=new, bits=bits)
