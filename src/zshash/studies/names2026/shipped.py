"""The rule that zshash ships: what the network and the labels know, read from codes or features."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError, Dataset
from zshash.datasets.data import number_labels
from zshash.hashing.registry import METHODS
from zshash.images import Categories, extractor
from zshash.learning.categories import categories
from zshash.learning.fitting import fit_timed, membership
from zshash.learning.knowledge import RIDGE, Direction, Knowledge, learn_knowledge
from zshash.learning.name_ridge import NameRidge
from zshash.learning.targets import WORDNET, label_meanings
from zshash.semantics import WordNet
from zshash.semantics.known import Known
from zshash.studies.names2026.cases import Answer, Case

__all__ = [
    "decoded_scores",
    "directions",
    "known_besides",
    "learn",
    "learned_codes",
    "network",
    "rank_codes",
    "rank_features",
    "scores_of",
    "synsets",
    "whitened",
]

NETWORK = "efficientnet-lite0"
N_COMPONENTS = 256
Features = NDArray[np.float32]


@cache
def network() -> Categories:
    """What the network of the features knows."""
    known = extractor(NETWORK).categories
    assert known is not None
    return known


def synsets(dataset: Dataset) -> list[str]:
    """WordNet ids of all categories of a data set."""
    given = dataset.synsets or [""] * len(dataset.names)
    pairs = zip(given, dataset.names, strict=True)
    return [own or WordNet().synset(name) for own, name in pairs]


def known_besides(case: Case) -> Categories:
    """The network's categories without the hidden ones and all kinds of them.

    Raises
    ------
    DataError
        If the features are not those of the network's last layer.
    """
    known = network()
    if case.dataset.X.shape[1] != known.directions.shape[1]:
        raise DataError(f"only features of {NETWORK}, in all dimensions, have its categories")
    below = Known(known.ids)
    ids = synsets(case.dataset)
    hidden = {place for number in case.hidden for place in below.below(ids[number])}
    return known.without([known.ids[place] for place in hidden])


def learned_codes(case: Case) -> Features:
    """Codes of −1 and 1 of all pictures, learned from the labelled ones and those of the pool."""
    own = _training(case).select(case.learned)
    hasher = METHODS[case.method].estimator(
        n_bits=case.bits, normalize=True, random_state=case.seed, **case.parameters
    )
    fit_timed(hasher, own, slice(None), categories(own), [WORDNET])
    return np.where(hasher.project(case.dataset.X) >= 0, np.float32(1), np.float32(-1))


def whitened(case: Case) -> Features:
    """Features instead of codes: unit length, centred, first components with equal variance."""
    X = np.asarray(case.dataset.X, dtype=np.float32)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    own = X[case.learned]
    mean = own.mean(axis=0)
    values, components = np.linalg.eigh((own - mean).T @ (own - mean) / len(own))  # ascending
    kept = slice(-min(N_COMPONENTS, len(own) - 1), None)
    white = (X - mean) @ (components[:, kept] / np.sqrt(np.maximum(values[kept], 1e-12)))
    lengths = np.linalg.norm(white, axis=1, keepdims=True) / np.sqrt(white.shape[1])
    return np.asarray(white / np.maximum(lengths, 1e-12), dtype=np.float32)


def learn(case: Case, places: Features) -> Knowledge:
    """What is known of names, with codes or features of all pictures."""
    rows, own = case.learned, _training(case).select(case.learned)
    meant = label_meanings(own, categories(own), [WORDNET])
    known = learn_knowledge(own.X, places[rows], known_besides(case), membership(own, meant))
    assert known is not None
    return known


def directions(known: Knowledge, ids: Sequence[str]) -> list[Direction]:
    """Queries for synsets."""
    found = [known.direction(synset) for synset in ids]
    return [own for own in found if own is not None]


def rank_codes(case: Case) -> Answer:
    """Rank codes that the labelled pictures have taught."""
    return _rank(case, learned_codes(case))


def rank_features(case: Case) -> Answer:
    """Rank features by the same rule."""
    return _rank(case, whitened(case))


def _rank(case: Case, places: Features) -> Answer:
    ids = synsets(case.dataset)
    asked = directions(learn(case, places), [ids[number] for number in case.hidden])
    return Answer(scores_of(asked, places))


def scores_of(asked: Sequence[Direction], places: Features) -> NDArray[np.float64]:
    """Scores (queries, pictures)."""
    return np.stack([own.values for own in asked]) @ places.T.astype(np.float64)


def decoded_scores(case: Case, codes: Features, ids: Sequence[str]) -> NDArray[np.float64]:
    """Scores (queries, pictures) of decoded codes, for comparison with the rule above.

    Features x̃ = bA are read from a code b by ridge regression, and the score is their cosine with
    the mean direction, less that of all, of the network's categories at or below a synset. For any
    other synset, ridge from names predicts the direction.
    """
    known = known_besides(case)
    X = case.dataset.X[case.learned].astype(np.float64)
    signs = codes[case.learned].astype(np.float64)
    gram = signs.T @ signs + RIDGE * np.eye(signs.shape[1])
    decoder = np.linalg.solve(gram, signs.T @ (X - X.mean(axis=0)))
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", codes, decoder @ decoder.T, codes))
    head = known.directions - known.directions.mean(axis=0)
    below, ridge = Known(known.ids), NameRidge(known.ids)
    asked = []
    for synset in ids:
        weights, own = ridge.weights(synset), below.below(synset)
        assert weights is not None
        direction = head[own].mean(axis=0) if own else weights @ head
        asked.append(decoder @ direction / np.linalg.norm(direction))
    return np.asarray(np.stack(asked) @ codes.T / np.maximum(lengths, np.finfo(float).tiny))


def _training(case: Case) -> Dataset:
    """The data set with the labels of the labelled pictures alone."""
    labels = np.full(len(case.dataset), -1)
    assert case.dataset.labels is not None
    labels[case.labelled] = case.dataset.labels[case.labelled]
    return replace(case.dataset, labels=number_labels(labels, len(case.dataset.names)))
