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
  of b·Dₖ. What this shares with a labelled category is mostly taken away: pictures that a label
  calls something else are not what is asked for.

For a known name, the score of an item is the probability itself, as far as a code tells it. For a
predicted one, predictions of known categories from all others, which ridge gives in closed form,
say what a score is worth, and how well a name is found on whose direction known categories agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from zshash.codes import code_bytes, pack, unpack
from zshash.learning.calibration import ABSENT, QUANTILES, calibrate, fit_curve, prominence
from zshash.learning.memberships import Membership, Memberships
from zshash.learning.name_ridge import NameRidge
from zshash.semantics.known import Known
from zshash.semantics.nouns import nouns
from zshash.semantics.senses import synset_row
from zshash.semantics.young import grown_up

__all__ = ["Direction", "Knowledge", "Membership", "learn_knowledge"]

RIDGE = 10.0  # ρ
FLOOR = 0.25  # of the median deviation: categories that no picture shows are not blown up
RARE = 0.05  # share of the known categories that stand out less than a thing that is not there
OUTSTANDING = 3.0  # deviations above the mean: what chance alone rarely makes of the best items
LABELLED = 0.6  # part of what a predicted direction shares with labelled things that is taken away
SAMPLE = 4000  # codes that say what scores are worth, and how well a name will be found
MOST_NUMBERS = 2**24  # of a table with a row for each of these codes

Matrix = NDArray[np.float64]


class Direction(NamedTuple):
    """A name as a real-valued query.

    Attributes
    ----------
    values : ndarray of shape (n_bits,)
        Of unit length.
    categories : list of int
        Known categories that the name is, or is above; empty if the direction is predicted.
    """

    values: Matrix
    categories: list[int]


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
    sample : ndarray of shape (m, bytes), uint8
        Packed codes of some pictures that the model was learned from, at most 4,000.
    shown : ndarray of shape (m,), int32
        Index of the category that each of these pictures shows.
    curves, usual, chance : ndarray, float32
        What scores are worth, see `zshash.learning.calibration.Calibration`.
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
    sample: NDArray[np.uint8]
    shown: NDArray[np.int32]
    curves: NDArray[np.float32]
    usual: NDArray[np.float32]
    chance: NDArray[np.float32]
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
    def _ridge(self) -> NameRidge:
        return NameRidge(self.ids)

    @cached_property
    def _signs(self) -> Matrix:
        return 2.0 * unpack(self.sample, self.directions.shape[1]).astype(np.float64) - 1.0

    def direction(self, synset: str, name: str = "") -> Direction | None:
        """Query for a synset, or for a label with this name; None if nothing is known about it."""
        known = [i for i, own in enumerate(self.names) if name and own == name]
        below = self.known.below(synset) or self.known.below(grown_up(synset))
        return self.among(known or below) or self.predicted(synset)

    def among(self, categories: Sequence[int]) -> Direction | None:
        """Query for pictures of any of these known categories."""
        total = self.directions[list(categories)].astype(np.float64).sum(axis=0)
        length = float(np.linalg.norm(total))
        return Direction(total / length, list(categories)) if length else None

    def predicted(self, synset: str) -> Direction | None:
        """Query for a synset, predicted from the known categories that are near to it."""
        weights = self._ridge.weights(synset)
        if weights is None:
            return None
        values = self._without_labelled(_unit(weights @ self._scaled), synset)
        return Direction(values, []) if values.any() else None

    def _without_labelled(self, values: Matrix, synset: str) -> Matrix:
        """A predicted direction, less what it shares with labelled things that it is no kind of."""
        row = synset_row(synset)
        above = set() if row is None else set(nouns().above(row))
        named = [place for place in np.flatnonzero(self.counts) if self.ids[place]]
        others = [place for place in named if synset_row(self.ids[place]) not in above]
        directions = np.array([_unit(self.directions[place]) for place in others])
        if not others:
            return values
        return _unit(values - LABELLED * np.maximum(directions @ values, 0) @ directions)

    def nearest(self, synset: str, n: int = 10) -> list[tuple[int, float]]:
        """Known categories by the cosine of their meaning with a synset, nearest first."""
        near = self._ridge.cosines(synset)
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
        intercept, slope = self._curve(tuple(direction.categories))
        if slope <= 0:
            return np.full(np.shape(cosines), np.nan)
        return np.asarray(expit(intercept + slope * np.asarray(cosines)))

    def _curve(self, categories: tuple[int, ...]) -> tuple[float, float]:
        """Curve from cosines to probabilities, of known categories or of a predicted name."""
        predicted, known = self.curves.astype(np.float64)
        direction = self.among(categories) if known.any() else None
        if direction is None:
            return float(predicted[0]), float(predicted[1])
        if categories not in self._curves:
            is_right = np.isin(self.shown, categories)
            self._curves[categories] = fit_curve(self._cosines(direction), is_right, known)
        return self._curves[categories]

    @cached_property
    def _curves(self) -> dict[tuple[int, ...], tuple[float, float]]:
        return {}

    def is_nothing(self, direction: Direction, best: float) -> bool:
        """Whether nothing shows what a name means, by the cosine of the best item.

        For a known name, the best item more likely shows something else, and scores no higher than
        the best one for things that no picture shows. For a predicted name, the best items stand
        out less than those of 19 of 20 known things do. Where the network recognises too few things
        for a check of the scores, as in drawings, the best items must not stand out, either.
        """
        known = direction.categories
        if not known:
            return bool(self.rank(direction) < RARE)
        if not self.curves.any() and self.prominence(direction) >= OUTSTANDING:
            return False
        total = self.directions[known].astype(np.float64).sum(axis=0)
        score = float(self.intercepts[known].sum())
        score += best * float(np.linalg.norm(total)) * np.sqrt(len(total))
        is_likely = float(self.probabilities(direction, np.array(best))) >= 0.5
        return not is_likely and bool(score < float(self.chance[0]) * np.sqrt(len(known)))

    def rank(self, direction: Direction) -> float:
        """Share of the known categories that stand out less, each predicted; NaN if unknown."""
        if not self.usual.any():
            return float("nan")
        own = self.prominence(direction)
        return float(np.interp(own, self.usual, np.linspace(0, 1, QUANTILES)))

    def prominence(self, direction: Direction) -> float:
        """How far the best pictures of the sample stand out from all others."""
        return float(prominence(self._cosines(direction)[:, None])[0])

    def _cosines(self, direction: Direction) -> Matrix:
        return np.asarray(self._signs @ direction.values / np.sqrt(len(direction.values)))

    def spread(self, values: NDArray[Any]) -> float:
        """Deviation of the scores of items for a query; 1 if nothing is known of it."""
        deviation = float((self._signs @ values).std()) if len(self.sample) else 0.0
        return deviation or 1.0

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
    "sample",
    "shown",
    "curves",
    "usual",
    "chance",
    "decoder",
)


def _fit(parts: Mapping[str, NDArray[Any]], c: int) -> bool:
    """Whether arrays are of the shapes that `Knowledge` says, for c categories."""
    width, dimension = parts["directions"].shape[-1:], parts["decoder"].shape[-1:]
    shapes = {"directions": (c, *width), "decoder": (*width, *dimension)}
    shapes |= dict.fromkeys(("counts", "deviations", "intercepts"), (c,))
    shapes |= {"curves": (2, 2), "usual": (QUANTILES,), "chance": (1,)}
    n = parts["shown"].shape[:1]
    shapes |= {"shown": n, "sample": (*n, *map(code_bytes, width))}
    kinds = {"counts": "iu", "shown": "i", "sample": "u"}
    has_kinds = all(parts[key].dtype.kind in kind for key, kind in kinds.items())
    return has_kinds and all(parts[key].shape == shape for key, shape in shapes.items())


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
    memberships = Memberships(categories, labelled)
    if not memberships.names and not reads_texts:
        return None
    signs = codes.astype(np.float64)
    gram = signs.T @ signs
    directions, intercepts = _directions(X, signs, gram, memberships)
    mean = signs.mean(axis=0)
    spread = gram / len(signs) - np.outer(mean, mean)
    deviations = np.sqrt(np.maximum(np.einsum("ij,ij->i", directions @ spread, directions), 0))
    rows = _sample(len(signs), len(memberships.names))
    members = memberships.of(X, rows)
    shown = members.argmax(axis=1) if members.shape[1] else np.zeros(len(rows), dtype=np.int64)
    ridge = NameRidge(memberships.ids)
    calibration = calibrate(
        signs[rows],
        shown,
        signs[rows] @ directions.T + intercepts,
        members.max(axis=0, initial=0.0) < ABSENT,
        directions,
        ridge.left_out(_scaled(directions, deviations)),
        ridge.places,
    )
    return Knowledge(
        memberships.names,
        memberships.ids,
        memberships.counts,
        directions.astype(np.float32),
        deviations.astype(np.float32),
        intercepts.astype(np.float32),
        pack(signs[rows] > 0),
        shown.astype(np.int32),
        *calibration,
        decoder=_decoder(X if reads_texts else X[:, :0], signs, gram),
        network="" if categories is None else categories.fingerprint,
        labels=memberships.labels,
    )


def _directions(
    X: NDArray[np.float32], signs: Matrix, gram: Matrix, memberships: Memberships
) -> tuple[Matrix, Matrix]:
    """D (c, n_bits), see the module, and the probabilities for a code of zeros (c,)."""
    n, n_bits = signs.shape
    products = np.zeros((n_bits, len(memberships.names)))
    total = np.zeros(len(memberships.names))
    for rows, part in memberships.blocks(X):
        products += signs[rows].T @ part
        total += part.sum(axis=0)
    products -= np.outer(signs.sum(axis=0), total / n)
    solved = np.linalg.solve(gram + RIDGE * np.eye(n_bits), products)
    directions = np.asarray(solved.T, dtype=np.float64)
    return directions, np.asarray(total / n - directions @ signs.mean(axis=0))


def _sample(n: int, c: int) -> NDArray[np.int64]:
    """Rows that are spread evenly over `n` of them, fewer for many categories."""
    most = max(1, min(n, SAMPLE, MOST_NUMBERS // max(c, 1)))
    return np.linspace(0, n - 1, most).astype(np.int64)


def _decoder(X: NDArray[np.float32], signs: Matrix, gram: Matrix) -> NDArray[np.float32]:
    """Ridge regression from codes to features less their mean, (n_bits, d)."""
    products = signs.T @ (X - X.mean(axis=0))
    return np.linalg.solve(gram + RIDGE * np.eye(len(gram)), products).astype(np.float32)


def _unit(values: NDArray[Any]) -> Matrix:
    """A direction of unit length; zeros stay zeros."""
    values = np.asarray(values, dtype=np.float64)
    return np.asarray(values / (np.linalg.norm(values) or 1.0))


def _scaled(directions: NDArray[Any], deviations: NDArray[Any]) -> Matrix:
    """Directions (c, n_bits), divided by how far their scores spread."""
    seen = deviations[deviations > 0]
    floor = FLOOR * float(np.median(seen)) if seen.size else 1.0
    return np.asarray(directions, dtype=np.float64) / (deviations + floor)[:, None]
