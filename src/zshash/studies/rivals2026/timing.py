"""How long a search takes with each coding, at each number of bytes: a task."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zshash.codes import pack
from zshash.datasets import DataError
from zshash.evaluation.tasks import Record
from zshash.index import HammingIndex, ProductIndex
from zshash.studies.data import Sources
from zshash.studies.rivals2026.quantisers import Vectors, open_faiss
from zshash.studies.tasks import MethodTask

__all__ = ["CODINGS", "SearchTime"]

N_CENTRES, SPREAD = 1000, 0.7
N_TRAIN, N_QUERIES, K = 20_000, 64, 100
BLOCK = 50_000  # vectors at a time
ROUNDS = 3

Search = Callable[[Vectors], Any]


@dataclass(frozen=True, kw_only=True)
class SearchTime(MethodTask):
    """Search codes of clustered vectors, which have a number for each bit, with one thread.

    Attributes
    ----------
    coding : str
        One of `CODINGS`.
    n : int
        Number of vectors.
    """

    data: str = "vectors"
    coding: str = "bits"
    n: int = 1_000_000

    kind: ClassVar[str] = "search-time"

    def __post_init__(self) -> None:
        if self.coding not in CODINGS:
            raise DataError(f"{self.coding!r} is no coding: there are {', '.join(CODINGS)}")

    @property
    def label(self) -> str:
        """Coding and bytes."""
        return f"search of {self.coding}, {self.bits // 8} bytes"

    def facts(self) -> Record:
        """All fields but those of methods."""
        names = ("data", "coding", "bits", "n")
        return {"task": self.kind, "format": self.format} | {
            name: getattr(self, name) for name in names
        }

    def path(self) -> Path:
        """Path of the file of runs, below the folder of all runs."""
        return Path(self.data) / f"{self.kind}-{self.coding}-{self.bits}-{self.n}.json"

    def rehearse(self, sources: Sources) -> str:  # noqa: ARG002
        """Check that faiss is there."""
        with open_faiss():
            return ""

    def run(self, seed: int, sources: Sources) -> Record:  # noqa: ARG002
        """Milliseconds of a query: the least of some rounds, in which the queries are others."""
        with open_faiss() as faiss:
            vectors = Clusters(self.bits, seed)
            search = CODINGS[self.coding](faiss, vectors, self.n)
            search(vectors.draw(N_QUERIES))
            rounds = (_seconds(search, vectors.draw(N_QUERIES)) for _ in range(ROUNDS))
            return {"seed": seed, "milliseconds": round(1000 * min(rounds) / N_QUERIES, 4)}


class Clusters:
    """Vectors of `d` numbers around centres."""

    def __init__(self, d: int, seed: int) -> None:
        self.d = d
        self._rng = np.random.default_rng(seed)
        self._centres = self._rng.standard_normal((N_CENTRES, d), dtype=np.float32)

    def draw(self, n: int) -> Vectors:
        """New vectors (n, d)."""
        scatter = self._rng.standard_normal((n, self.d), dtype=np.float32)
        scatter *= np.float32(SPREAD)
        return self._centres[self._rng.integers(0, N_CENTRES, n)] + scatter

    def blocks(self, n: int) -> Iterator[Vectors]:
        """`n` new vectors, some at a time."""
        for start in range(0, n, BLOCK):
            yield self.draw(min(BLOCK, n - start))


def _bits(faiss: Any, vectors: Clusters, n: int) -> Search:  # noqa: ARG001
    index = _signs(vectors, n)
    return lambda queries: index.search_real(queries, K)


def _bits_alone(faiss: Any, vectors: Clusters, n: int) -> Search:  # noqa: ARG001
    index = _signs(vectors, n)
    return lambda queries: index.search(pack(queries >= 0), K)


def _signs(vectors: Clusters, n: int) -> HammingIndex:
    index = HammingIndex(vectors.d)
    for block in vectors.blocks(n):
        index.add(pack(block >= 0))
    index.prepare()
    return index


def _parts(faiss: Any, vectors: Clusters, n: int) -> Search:
    return _filled(faiss.IndexPQ(vectors.d, vectors.d // 8, 8), vectors, n)


def _own_parts(faiss: Any, vectors: Clusters, n: int) -> Search:
    quantiser = faiss.IndexPQ(vectors.d, vectors.d // 8, 8)
    quantiser.train(vectors.draw(min(n, N_TRAIN)))
    index = ProductIndex(faiss.vector_to_array(quantiser.pq.centroids).reshape(-1, 256, 8))
    for block in vectors.blocks(n):
        index.add(quantiser.sa_encode(block))
    return lambda queries: index.search_real(queries, K)


def _floats(faiss: Any, vectors: Clusters, n: int) -> Search:
    return _filled(faiss.IndexFlatIP(vectors.d), vectors, n)


def _filled(index: Any, vectors: Clusters, n: int) -> Search:
    index.train(vectors.draw(min(n, N_TRAIN)))
    for block in vectors.blocks(n):
        index.add(block)
    return lambda queries: index.search(queries, K)


def _seconds(search: Search, queries: Vectors) -> float:
    """Time of the processor, so that other programs do not count."""
    start = time.process_time()
    search(queries)
    return time.process_time() - start


CODINGS = {
    "bits": _bits,
    "bits by bits": _bits_alone,
    "parts": _own_parts,
    "PQ": _parts,
    "floats": _floats,
}
"""Functions that fill an index, by the names of codings."""
