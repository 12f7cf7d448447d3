"""What a model knows of names: how the bits of its codes tell categories apart.

The network that makes the features was trained with named categories, and its last layer says how
likely a picture shows each of them. Labels of the user are certain. Both together are memberships
P (n, c) of the pictures that a model learns from. With their codes B (n, n_bits) of −1 and 1,

    D = (BᵀB + ρI)⁻¹ Bᵀ(P − P̄)

has a direction for each known category: b·Dₖ is the part of the probability of category k that can
be read from a code b. So a name becomes a real-valued query, which an index answers as it is:

- a name at or above known categories: the sum of their directions, as probabilities add up;
- any other name y: kernel ridge from names to directions, Σₖ αₖ Dₖ/σₖ with α = (K + λI)⁻¹ k(y).
  K holds the cosines of the WordNet vectors of known names, k(y) those of y, and σₖ the deviation
  of b·Dₖ.

For a known name, the score of an item is the probability itself, as far as a code tells it. For a
predicted one, predictions of known categories from all others, which ridge gives in closed form,
say what a score is worth, and how well a name is found on whose direction known categories agree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.utils import gen_batches

from zshash.semantics import WordNet
from zshash.semantics.known import Known
from zshash.semantics.nouns import nouns
from zshash.semantics.senses import synset_row

__all__ = ["Direction", "Knowledge", "Membership", "learn_knowledge"]

RIDGE, NAME_RIDGE = 10.0, 0.05  # ρ and λ
FLOOR = 0.25  # of the median deviation: categories that no picture shows are not blown up
DOUBT = 0.1  # what a label leaves of the network's opinion that it contradicts
ROWS_AT_ONCE = 8192
CHECKED, CHECKED_ITEMS = 200, 2000  # categories and items that scores are calibrated with
PRESENT, ABSENT = 0.5, 0.1  # largest probability of a category that pictures show, or do not
FEWEST = 20  # categories that a calibration needs
QUANTILES = 33

Matrix = NDArray[np.float64]


class Membership(NamedTuple):
    """Which pictures the user has labelled with what.

    Attributes
    ----------
    names : list of str
        Labels.
    ids : list of str
        WordNet ids of the labels; "" for a label that nobody knows.
    labels : ndarray of shape (n, c), bool
        The labels of each picture.
    """

    names: Sequence[str]
    ids: Sequence[str]
    labels: NDArray[np.bool_]


class Direction(NamedTuple):
    """A name as a real-valued query.

    Attributes
    ----------
    values : ndarray of shape (n_bits,)
        Of unit length.
    categories : list of int
        Known categories that the name is, or is above; empty if the direction is predicted.
    certainty : float
        Length of the predicted direction: how far known categories agree on it. 1 for a known one.
    """

    values: Matrix
    categories: list[int]
    certainty: float = 1.0


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Known categories, and how the bits of codes tell them apart.

    Attributes
    ----------
    names, ids : tuple of str
        Names and WordNet ids ("" if unknown) of the known categories: those of the network, then
        other labels of the user.
    counts : ndarray of shape (c,), int64
        Number of labelled pictures that each category was learned from.
    directions : ndarray of shape (c, n_bits), float32
        D, see the module.
    deviations : ndarray of shape (c,), float32
        σ, the deviation of the scores of each category.
    intercepts : ndarray of shape (c,), float32
        Probability of each category for a code of zeros: b·Dₖ is added to it.
    curve : ndarray of shape (2,), float32
        Intercept and slope of the logistic curve from the cosine of an item with a predicted
        direction to the probability; zeros if unknown.
    chance : ndarray of shape (1,), float32
        Probability of the best item for 99 of 100 known categories that no picture shows; −1 if
        there are too few of these.
    agreement : ndarray of shape (33,), float32
        Quantiles of the certainty of known categories, each predicted from all others.
    decoder : ndarray of shape (n_bits, d), float32
        Ridge regression from codes to features, for a network that reads texts itself; d = 0 for
        other networks.
    network : str
        Fingerprint of the network's categories, or "".
    labels : dict of str to int
        Index of the category that each label of the user is: one of the network's if both mean
        the same.
    """

    names: tuple[str, ...]
    ids: tuple[str, ...]
    counts: NDArray[np.int64]
    directions: NDArray[np.float32]
    deviations: NDArray[np.float32]
    intercepts: NDArray[np.float32]
    curve: NDArray[np.float32]
    chance: NDArray[np.float32]
    agreement: NDArray[np.float32]
    decoder: NDArray[np.float32]
    network: str = ""
    labels: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def known(self) -> Known:
        """The known categories in WordNet's hierarchy."""
        return Known(self.ids)

    @cached_property
    def _scaled(self) -> Matrix:
        return _scaled(self.directions, self.deviations)

    @cached_property
    def _space(self) -> "_Space":
        return _Space(self.ids)

    def direction(self, synset: str, name: str = "") -> Direction | None:
        """Query for a synset, or for a label with this name; None if nothing is known about it."""
        known = [i for i, own in enumerate(self.names) if name and own == name]
        return self.among(known or self.known.below(synset)) or self.predicted(synset)

    def among(self, categories: Sequence[int]) -> Direction | None:
        """Query for pictures of any of these known categories."""
        total = self.directions[list(categories)].astype(np.float64).sum(axis=0)
        length = float(np.linalg.norm(total))
        return Direction(total / length, list(categories)) if length else None

    def predicted(self, synset: str) -> Direction | None:
        """Query for a synset, predicted from the known categories that are near to it."""
        weights = self._space.weights(synset)
        if weights is None:
            return None
        values = weights @ self._scaled
        length = float(np.linalg.norm(values))
        return Direction(values / length, [], length) if length else None

    def nearest(self, synset: str, n: int = 10) -> list[tuple[int, float]]:
        """Known categories by the cosine of their meaning with a synset, nearest first."""
        near = self._space.cosines(synset)
        if near is None:
            return []
        order = np.argsort(-near, kind="stable")[:n]
        return [(int(i), float(near[i])) for i in order]

    def likely(self, signs: Matrix, n: int = 10) -> list[tuple[int, float]]:
        """Known categories that a code of −1 and 1 fits best, and the cosines."""
        lengths = np.linalg.norm(self._scaled, axis=1) * np.sqrt(len(signs))
        near = self._scaled @ signs / np.where(lengths, lengths, 1.0)
        order = np.argsort(-near, kind="stable")[:n]
        return [(int(i), float(near[i])) for i in order]

    def probabilities(self, direction: Direction, cosines: Matrix) -> Matrix:
        """How likely items show what a name means, by their cosines; NaN if nobody can tell."""
        known = direction.categories
        if known:
            total = self.directions[known].astype(np.float64).sum(axis=0)
            products = np.asarray(cosines) * np.linalg.norm(total) * np.sqrt(len(total))
            return np.asarray(np.clip(float(self.intercepts[known].sum()) + products, 0.0, 1.0))
        intercept, slope = self.curve.tolist()
        if slope <= 0:
            return np.full(np.shape(cosines), np.nan)
        return np.asarray(expit(intercept + slope * np.asarray(cosines)))

    def is_nothing(self, direction: Direction, best: float) -> bool:
        """Whether the best item is no more likely than the best one for names of other things."""
        chance = float(self.chance[0])
        known = direction.categories
        return bool(known) and bool(best < chance * np.sqrt(len(known)))

    def rank(self, certainty: float) -> float:
        """Share of the known categories on whose direction others agree less; NaN if unknown."""
        if not self.agreement.any():
            return float("nan")
        return float(np.interp(certainty, self.agreement, np.linspace(0, 1, QUANTILES)))

    def to_parts(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and facts for the file of a model."""
        arrays = {name: getattr(self, name) for name in ARRAYS}
        facts = {"names": self.names, "ids": self.ids, "network": self.network}
        return arrays, facts | {"labels": dict(self.labels)}

    @classmethod
    def from_parts(cls, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> "Knowledge":
        """The inverse of `to_parts`; raises ValueError if the parts do not fit together."""
        try:
            names, ids = tuple(map(str, facts["names"])), tuple(map(str, facts["ids"]))
            labels = {
                str(name): int(place) for name, place in dict(facts.get("labels", {})).items()
            }
            parts, network = {key: arrays[key] for key in ARRAYS}, str(facts["network"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"what it knows of names is not complete ({error})") from error
        has_places = all(0 <= place < len(names) for place in labels.values())
        if len(ids) != len(names) or not _fit(parts, len(names)) or not has_places:
            raise ValueError("what it knows of names does not fit together")
        if not all(np.isfinite(part).all() for part in parts.values()):
            raise ValueError("what it knows of names holds NaN or infinity: fit it again")
        return cls(names, ids, **parts, network=network, labels=labels)


ARRAYS = (
    "counts",
    "directions",
    "deviations",
    "intercepts",
    "curve",
    "chance",
    "agreement",
    "decoder",
)


def _fit(parts: Mapping[str, NDArray[Any]], c: int) -> bool:
    """Whether arrays are of the shapes that `Knowledge` says, for c categories."""
    width, dimension = parts["directions"].shape[-1:], parts["decoder"].shape[-1:]
    shapes = {"directions": (c, *width), "decoder": (*width, *dimension)}
    shapes |= dict.fromkeys(("counts", "deviations", "intercepts"), (c,))
    shapes |= {"curve": (2,), "chance": (1,), "agreement": (QUANTILES,)}
    has_counts = parts["counts"].dtype.kind in "iu"
    return has_counts and all(parts[key].shape == shape for key, shape in shapes.items())


class _Space:
    """WordNet vectors of the known names, and ridge from names to anything known about them."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._n = len(ids)
        self.places = np.array([i for i, id_ in enumerate(ids) if id_], dtype=np.int64)
        named = [ids[place] for place in self.places]
        self._source = WordNet(basis=named) if named else None
        self._vectors = (
            np.zeros((0, 0)) if self._source is None else self._source.embed(named).astype(float)
        )
        kernel = self._vectors @ self._vectors.T
        self.inverse = np.linalg.inv(kernel + NAME_RIDGE * np.eye(len(kernel)))

    def cosines(self, synset: str) -> Matrix | None:
        """Cosines (c,) of known names with a synset; None if WordNet has nothing to compare."""
        if self._source is None or not synset:
            return None
        try:
            vector = self._source.embed([synset])[0].astype(float)
        except ValueError:
            return None
        near = np.zeros(self._n)
        near[self.places] = self._vectors @ vector
        return near

    def weights(self, synset: str) -> Matrix | None:
        """α (c,), the weights of known categories for a synset."""
        near = self.cosines(synset)
        if near is None:
            return None
        weights = np.zeros(self._n)
        weights[self.places] = self.inverse @ near[self.places]
        return weights

    def left_out(self, values: Matrix) -> Matrix:
        """Predictions of the rows `values` of known categories, each from all others."""
        solved = self.inverse @ values[self.places]
        own: Matrix = values[self.places] - solved / np.diag(self.inverse)[:, None]
        return own


def learn_knowledge(
    X: NDArray[np.float32],
    codes: NDArray[np.float32],
    categories: Any = None,
    labelled: Membership | None = None,
    reads_texts: bool = False,
) -> Knowledge | None:
    """Learn how bits tell categories apart.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features as the network makes them.
    codes : ndarray of shape (n, n_bits)
        Codes of −1 and 1.
    categories : Categories, optional
        What the network knows, see `zshash.images.Categories`.
    labelled : Membership, optional
        Labels of the user.
    reads_texts : bool
        Whether the network itself turns texts into vectors beside its features.

    Returns
    -------
    Knowledge or None
        None if neither the network nor the user has named anything.
    """
    columns = _Columns(categories, labelled)
    if not columns.names and not reads_texts:
        return None
    n, n_bits = codes.shape
    products, total = np.zeros((n_bits, len(columns.names))), np.zeros(len(columns.names))
    largest = np.zeros(len(columns.names))
    for rows, part in columns.blocks(X):
        products += codes[rows].T.astype(np.float64) @ part
        total += part.sum(axis=0)
        np.maximum(largest, part.max(axis=0), out=largest)
    products -= np.outer(codes.sum(axis=0, dtype=np.float64), total / n)
    signs = codes.astype(np.float64)
    gram = signs.T @ signs
    directions = np.linalg.solve(gram + RIDGE * np.eye(n_bits), products).T
    mean = signs.mean(axis=0)
    spread = gram / n - np.outer(mean, mean)
    deviations = np.sqrt(np.maximum(np.einsum("ij,ij->i", directions @ spread, directions), 0))
    space = _Space(columns.ids)
    predicted = space.left_out(_scaled(directions, deviations))
    intercepts = total / n - directions @ mean
    checks = _Checks(codes, columns, X, largest)
    lengths = np.linalg.norm(predicted, axis=1)
    is_present = largest[space.places] >= PRESENT
    usual = lengths[is_present] if is_present.sum() >= FEWEST else np.zeros(1)
    return Knowledge(
        columns.names,
        columns.ids,
        columns.counts,
        directions.astype(np.float32),
        deviations.astype(np.float32),
        intercepts.astype(np.float32),
        np.array(checks.curve(predicted, space.places), dtype=np.float32),
        np.array([checks.chance(directions, intercepts)], dtype=np.float32),
        np.quantile(usual, np.linspace(0, 1, QUANTILES)).astype(np.float32),
        _decoder(X if reads_texts else X[:, :0], signs, gram),
        "" if categories is None else categories.fingerprint,
        columns.labels,
    )


def _decoder(X: NDArray[np.float32], signs: Matrix, gram: Matrix) -> NDArray[np.float32]:
    """Ridge regression from codes to features less their mean, (n_bits, d)."""
    products = signs.T @ (X - X.mean(axis=0))
    return np.linalg.solve(gram + RIDGE * np.eye(len(gram)), products).astype(np.float32)


def _scaled(directions: NDArray[Any], deviations: NDArray[Any]) -> Matrix:
    """Directions (c, n_bits), divided by how far their scores spread."""
    seen = deviations[deviations > 0]
    floor = FLOOR * float(np.median(seen)) if seen.size else 1.0
    return np.asarray(directions, dtype=np.float64) / (deviations + floor)[:, None]


class _Columns:
    """Memberships of pictures in known categories, a block of rows at a time."""

    def __init__(self, categories: Any, labelled: Membership | None) -> None:
        self._head = categories
        names = list(categories.names) if categories is not None else []
        ids = list(categories.ids) if categories is not None else []
        self._n_network = len(names)
        self._labels = None if labelled is None else labelled.labels
        known = Known(ids)
        self._places, self._agrees = [], []
        for name, id_ in zip(labelled.names, labelled.ids, strict=True) if labelled else ():
            if id_ and id_ in ids:
                self._places.append(ids.index(id_))
            else:
                self._places.append(len(names))
                names, ids = [*names, name], [*ids, id_]
            self._agrees.append(_agreeing(known, id_))
        own = labelled.names if labelled else ()
        self.labels = dict(zip(own, self._places, strict=True))
        self.names, self.ids = tuple(names), tuple(ids)
        self.counts = np.zeros(len(names), dtype=np.int64)
        if self._labels is not None:
            np.add.at(self.counts, self._places, self._labels.sum(axis=0))

    def blocks(self, X: NDArray[np.float32]) -> Iterator[tuple[slice, Matrix]]:
        """Slices of rows, and memberships (rows, c) of their pictures."""
        for rows in gen_batches(len(X), ROWS_AT_ONCE):
            yield rows, self.of(X, rows)

    def of(self, X: NDArray[np.float32], rows: Any) -> Matrix:
        """Memberships (rows, c) of the pictures `rows`."""
        part = np.zeros((len(X[rows]), len(self.names)))
        if self._head is not None:
            outputs = X[rows] @ self._head.directions.T + self._head.biases
            part[:, : self._n_network] = softmax(outputs, axis=1)
        if self._labels is not None:
            self._correct(part, self._labels[rows])
        return part

    def _correct(self, part: Matrix, labels: NDArray[np.bool_]) -> None:
        """Make the labels certain, and doubt what the network says against them."""
        weights = np.ones((len(part), self._n_network))
        told = [column for column, agrees in enumerate(self._agrees) if agrees is not None]
        weights[labels[:, told].any(axis=1)] = DOUBT
        for column in told:  # of several labels, one that agrees is enough
            agreeing = np.array(self._agrees[column], dtype=np.int64)
            weights[np.ix_(labels[:, column], agreeing)] = 1.0
        part[:, : self._n_network] *= weights
        for column, place in enumerate(self._places):
            part[labels[:, column], place] = 1.0


def _agreeing(known: Known, synset: str) -> list[int] | None:
    """Network's categories that a label does not contradict; None for a label nobody knows.

    These are all kinds of it, and what it is a kind of.
    """
    row = synset_row(synset)
    if row is None:
        return None
    above = {f"n{nouns().offsets[place]:08d}" for place in nouns().above(row)}
    return known.below(synset) + [i for i, id_ in enumerate(known.ids) if id_ in above]


class _Checks:
    """Known categories and pictures that tell what scores are worth."""

    def __init__(
        self, codes: NDArray[np.float32], columns: _Columns, X: NDArray[np.float32], largest: Matrix
    ) -> None:
        step = max(1, len(codes) // CHECKED_ITEMS)
        self._codes = codes[::step].astype(np.float64)
        self._memberships = columns.of(X, slice(None, None, step))
        self._largest = largest

    def curve(self, directions: Matrix, places: NDArray[np.int64]) -> tuple[float, float]:
        """Logistic curve from cosines with predicted directions to memberships."""
        lengths = np.linalg.norm(directions, axis=1)
        largest = np.where(lengths > 0, self._largest[places], 0.0)
        present = np.flatnonzero(largest >= PRESENT)
        chosen = present[np.argsort(-largest[present], kind="stable")][:CHECKED]
        if len(chosen) < FEWEST:
            return 0.0, 0.0
        near = self._codes @ (directions[chosen] / lengths[chosen, None]).T
        near /= np.sqrt(directions.shape[1])
        return _logistic(near.ravel(), self._memberships[:, places[chosen]].ravel())

    def chance(self, directions: NDArray[Any], intercepts: NDArray[Any]) -> float:
        """Probability of the best item, for categories that no picture shows."""
        absent = np.flatnonzero(self._largest < ABSENT)
        if len(absent) < FEWEST:
            return -1.0
        best = (self._codes @ directions[absent].T + intercepts[absent]).max(axis=0)
        return float(np.quantile(best, 0.99))


def _logistic(x: Matrix, targets: Matrix) -> tuple[float, float]:
    """Intercept and slope of the logistic curve that fits targets between 0 and 1, by Newton."""
    columns = np.stack([np.ones_like(x), x])
    beta = np.array([np.log(max(targets.mean(), 1e-9)), 0.0])
    for _ in range(50):
        fitted = expit(beta @ columns)
        slope = columns @ (targets - fitted) - 1e-6 * beta
        curvature = (columns * (fitted * (1 - fitted) + 1e-12)) @ columns.T + 1e-6 * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        beta += np.clip(step, -5, 5)
        if np.abs(step).max() < 1e-8:
            break
    return float(beta[0]), float(beta[1])
