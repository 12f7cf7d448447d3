"""Methods of every index, wherever its codes lie."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.index._engine import Distances
from zshash.index._runs import Codes, Ids
from zshash.index.memory import HammingIndex

__all__ = ["CodeIndex"]


class CodeIndex(Protocol):
    """Packed codes under integer ids, searched exactly: the methods of `HammingIndex`."""

    @property
    def n_bits(self) -> int:
        """Length of the codes in bits."""

    @property
    def ids(self) -> Ids:
        """All ids in ascending order."""

    @property
    def codes(self) -> Codes:
        """All codes in the order of `ids`."""

    def __len__(self) -> int: ...

    def __contains__(self, item: object) -> bool: ...

    def get(self, ids: ArrayLike) -> Codes:
        """Codes under the given ids, a row each."""

    def subset(self, ids: ArrayLike) -> "CodeIndex":
        """Index of the codes under the given ids, with the same ids."""

    def in_memory(self) -> HammingIndex:
        """All codes in an index in memory, which stays as it is when this one changes."""

    def prepare(self) -> None:
        """Do now what makes later searches faster."""

    def search(self, queries: ArrayLike, k: int) -> tuple[Distances, Ids]:
        """Find the `k` nearest codes of each query."""

    def radius(self, queries: ArrayLike, r: int) -> tuple[Ids, Distances, Ids]:
        """Find all codes within distance `r` of each query, `r` included."""

    def search_real(self, vectors: ArrayLike, k: int) -> tuple[NDArray[np.float64], Ids]:
        """Find the `k` codes of the largest inner product with each vector."""
