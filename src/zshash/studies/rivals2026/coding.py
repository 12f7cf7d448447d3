"""A method or a quantiser at a number of bytes, scored for three kinds of queries."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError, Dataset, Split
from zshash.evaluation.protocol import OTHERS, Protocol, fit_setup, learned_from, score
from zshash.evaluation.standard import SETTINGS
from zshash.evaluation.tasks import Record
from zshash.hashing.hasher import Hasher
from zshash.hashing.registry import LABEL, METHODS, UNSUPERVISED
from zshash.hashing.steps.linear import along, spectrum
from zshash.hashing.steps.looks import BITS, LooksHasher
from zshash.hashing.steps.rows import Rows
from zshash.studies.data import Sources
from zshash.studies.rivals2026.coders import CODERS, score_coder
from zshash.studies.rivals2026.quantisers import Vectors
from zshash.studies.rivals2026.scoring import score_similarities
from zshash.studies.tasks import ZeroShot

__all__ = ["EqualBytes", "rounded"]

TOLD = "effort", "codes"  # parameters that tables tell without their names
SCORES = ("map", "map_real", "precision", *OTHERS, "bytes", "fit_seconds")


@dataclass(frozen=True, kw_only=True)
class EqualBytes(ZeroShot):
    """Learn codes of ``bits / 8`` bytes a picture, and score how well they retrieve.

    Attributes
    ----------
    coder : str
        Name of a quantiser in `CODERS`; empty for the method that `method` names.
    in_turn : bool
        Whether each seed hides one of the categories `unseen`, in turn.
    n_seen_queries : int
        Number of queries of seen categories.
    unlabelled : bool
        Whether all pictures of the database may be learned from, without their labels.
    reduced : int
        Number of principal axes of the training samples that features are reduced to; 0 keeps them.
    """

    coder: str = ""
    in_turn: bool = False
    n_seen_queries: int = 0
    unlabelled: bool = False
    reduced: int = 0

    kind: ClassVar[str] = "equal-bytes"

    def __post_init__(self) -> None:
        if self.coder and self.coder not in CODERS:
            raise DataError(f"{self.coder!r} is no quantiser: there are {', '.join(CODERS)}")

    @property
    def name(self) -> str:
        """Name of the coder in tables: the quantiser, or the method with changed parameters."""
        if self.coder:
            return self.coder
        usual = SETTINGS.get(self.method, {})
        changed = {key: own for key, own in self.parameters.items() if usual.get(key) != own}
        told = [str(own) if key in TOLD else f"{key}={own}" for key, own in changed.items()]
        return " ".join([self.method, *told])

    @property
    def label(self) -> str:
        """Coder and bytes."""
        return f"{self.name}, {self.bits // 8} bytes"

    @property
    def is_binary(self) -> bool:
        """Whether codes are compared by Hamming distance."""
        if self.coder:
            return CODERS[self.coder].is_binary
        return bool(self.parameters.get("codes", BITS) == BITS)

    @property
    def learns_from(self) -> str:
        """What the coder is told of its training pictures: a kind of method."""
        if self.coder:
            return LABEL if CODERS[self.coder].needs_labels else UNSUPERVISED
        kind = METHODS[self.method].kind
        return UNSUPERVISED if self.parameters.get("supervised") is False else kind

    def facts(self) -> Record:
        """All fields that decide the scores; a quantiser has no method and no label sources."""
        facts = super().facts()
        unused = ("method", "parameters", "labels", "known_to") if self.coder else ("coder",)
        return {key: own for key, own in facts.items() if key not in unused}

    def path(self) -> Any:
        """Path of the file of runs, below the folder of all runs."""
        usual = super().path()
        digest = usual.stem.rsplit("-", 1)[1]
        name = self.name.replace(" ", "_").replace(",", "")
        return usual.with_name(f"{name}-{self.bits}-{digest}.json")

    def protocol(self, dataset: Dataset) -> Protocol:
        """The protocol of the first seed."""
        return self.protocol_of(dataset, 0)

    def protocol_of(self, dataset: Dataset, seed: int) -> Protocol:
        """The protocol of one seed, with the numbers of the hidden categories."""
        whole = super().protocol(dataset)
        hidden = whole.unseen
        if self.in_turn:
            hidden = [int(hidden[seed % len(hidden)])]
        n_seen = self.n_seen_queries
        return replace(whole, unseen=hidden, n_seen_queries=n_seen, unlabelled=self.unlabelled)

    def run(self, seed: int, sources: Sources) -> Record:
        """MAP of one seed's split, for all kinds of queries."""
        dataset = self.dataset(sources)
        protocol = self.protocol_of(dataset, seed)
        split = protocol.split(dataset, seed)
        if self.reduced:
            dataset = replace(dataset, X=reduced(dataset.X, split.train, self.reduced))
        return {
            "seed": seed,
            **self._scores(dataset, split, protocol, seed),
            "unseen": [dataset.names[number] for number in split.unseen],
            "n_train": len(split.train),
            "n_pool": len(split.pool) if self.unlabelled else 0,
            "n_database": len(split.database),
        }

    def _scores(self, dataset: Dataset, split: Split, protocol: Protocol, seed: int) -> Record:
        if self.coder:
            coder, n_bytes = CODERS[self.coder], self.bits // 8
            return rounded(score_coder(coder, dataset, split, protocol, n_bytes, seed))
        hasher, seconds = fit_setup(dataset, self.setup(), split, seed, unlabelled=self.unlabelled)
        found = (score if hasher.is_binary else score_parts)(dataset, hasher, split, protocol)
        return rounded({**found, "bytes": self.bits // 8, "fit_seconds": seconds})


def score_parts(
    dataset: Dataset, hasher: Hasher, split: Split, protocol: Protocol
) -> dict[str, Any]:
    """Scores of a method that keeps parts of vectors; training samples have their own codes."""
    assert isinstance(hasher, LooksHasher)
    rows = learned_from(hasher, dataset, split, unlabelled=protocol.unlabelled)[1]
    codes = hasher.encode(dataset.X)
    codes[rows] = hasher.codes_
    different, places = np.unique(codes, axis=0, return_inverse=True)
    vectors, places = hasher.decode(different), places.ravel()

    def near(queries: NDArray[np.int64], database: NDArray[np.int64]) -> Vectors:
        found: Vectors = hasher.project(dataset.X[queries]) @ vectors.T
        return found[:, places[database]]

    return score_similarities(dataset, near, split, protocol)


def reduced(X: Vectors, rows: NDArray[np.int64], n: int) -> Vectors:
    """Features along the first `n` principal axes of some rows."""
    found = spectrum(Rows(X[rows]))
    places: Vectors = along(X, found.mean, found.axes[:, :n])
    return places


def rounded(scores: Mapping[str, float]) -> dict[str, float]:
    """The scores that are kept, to six digits."""
    return {key: round(float(scores[key]), 6) for key in SCORES if key in scores}
