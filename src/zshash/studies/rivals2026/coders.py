"""The quantisers that are compared with hash functions, and features without codes."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import Dataset, Split
from zshash.evaluation.protocol import Protocol
from zshash.studies.rivals2026.preparations import PREPARATIONS, Prepared
from zshash.studies.rivals2026.quantisers import QUANTISERS, Codes, Vectors
from zshash.studies.rivals2026.scoring import score

__all__ = ["CODERS", "Coder", "score_coder"]

MOST_ROWS = 20_000  # that a quantiser learns from: more take minutes, and change little
AS_THEY_ARE, WHITENED, NOVELTY = PREPARATIONS


@dataclass
class Floats:
    """Features as 32-bit numbers, compared by their cosine: what codes are measured by."""

    preparation: str
    is_binary = False

    def fit(self, X: Vectors, labels: NDArray[np.int64], seed: int) -> Self:  # noqa: ARG002
        """Learn the whitening, if there is one."""
        self._prepare = replace(PREPARATIONS[self.preparation]).fit(X, labels)
        return self

    def encode(self, X: Vectors) -> Codes:
        """Bytes of the prepared features (n, 4 d)."""
        return np.ascontiguousarray(self._prepare(X)).view(np.uint8)

    def similarities(self, queries: Vectors, stored: Codes) -> Vectors:
        """Cosines (q, n) of features of queries and stored ones."""
        return self._prepare(queries) @ np.ascontiguousarray(stored).view(np.float32).T


@dataclass(frozen=True)
class Coder:
    """A quantiser with its preparation of features.

    Attributes
    ----------
    make : callable
        Number of bytes → what learns, encodes and compares.
    is_binary : bool
        Whether its codes can be compared by Hamming distance, too.
    needs_labels : bool
        Whether it looks at labels.
    """

    make: Callable[[int], Any]
    is_binary: bool = False
    needs_labels: bool = False


def _prepared(quantiser: str, preparation: str, n_bytes: int) -> Prepared:
    return Prepared(PREPARATIONS[preparation], QUANTISERS[quantiser](n_bytes))


def _coder(quantiser: str, preparation: str) -> Coder:
    make = partial(_prepared, quantiser, preparation)
    return Coder(make, QUANTISERS[quantiser].is_binary, preparation == NOVELTY)


CODERS = {
    "floats": Coder(lambda _: Floats(AS_THEY_ARE)),
    "floats, whitened": Coder(lambda _: Floats(WHITENED)),
    "PQ": _coder("PQ", AS_THEY_ARE),
    "PQ, whitened": _coder("PQ", WHITENED),
    "OPQ": _coder("OPQ", AS_THEY_ARE),
    "OPQ, whitened": _coder("OPQ", WHITENED),
    "OPQ, whitened, novelty": _coder("OPQ", NOVELTY),
    "LSQ, whitened": _coder("LSQ", WHITENED),
    "RaBitQ, whitened": _coder("RaBitQ", WHITENED),
    "PCA signs": _coder("PCA signs", AS_THEY_ARE),
    "PCA signs, whitened": _coder("PCA signs", WHITENED),
}
"""Coders by the names that tables show."""


def score_coder(
    coder: Coder, dataset: Dataset, split: Split, protocol: Protocol, n_bytes: int, seed: int
) -> dict[str, float]:
    """Fit a coder, and score it for all kinds of queries; its bytes and the seconds of the fit."""
    assert dataset.labels is not None
    rows = split.pool if protocol.unlabelled and not coder.needs_labels else split.train
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.RandomState(seed).permutation(rows)[:MOST_ROWS])
    start = time.perf_counter()
    made = coder.make(n_bytes).fit(dataset.X[rows], dataset.labels[rows], seed)
    seconds = time.perf_counter() - start
    found = score(dataset, made, split, protocol)
    stored = made.encode(dataset.X[:1]).shape[1]
    return {**found, "bytes": stored, "fit_seconds": seconds}
