"""Training samples that lie in shards, with the face that fits know from samples in memory.

Each method is one pass over the shards: what a shard contributes is found by the very steps that
`zshash.hashing.samples` takes in memory, and added up in a fixed order.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash import codes
from zshash.hashing.anchors import KernelFeatures, product_of_features
from zshash.hashing.dcc import Sums, codes_from, measure, split_stream, update_codes
from zshash.hashing.mersenne import choose
from zshash.hashing.rows import Rows
from zshash.hashing.samples import Samples
from zshash.hashing.targets import Targets
from zshash.scale.shards import Shard, ShardRows, rows_by_shard
from zshash.scale.targets import targets_of
from zshash.scale.workers import Workers, itself

__all__ = ["Preparation", "ShardedSamples"]


@dataclass(frozen=True)
class Preparation:
    """How a method sees the rows of shards."""

    normalize: bool = False
    steps: tuple[tuple[Any, Any], ...] = ()

    def rows(self, shard: Shard) -> ShardRows:
        """Open a shard."""
        return ShardRows(shard, self.normalize, self.steps)


class ShardedSamples:
    """Samples in shards.

    Parameters
    ----------
    shards : list of Shard
        Looked at, and all of the same width.
    workers : Workers
    normalize : bool
        Bring every row to unit length.
    own, vectors
        What the samples are learned with, as `read_targets` gives it; nothing for methods that do
        not look at labels.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        workers: Workers,
        *,
        normalize: bool = False,
        own: list[Any] | None = None,
        vectors: NDArray[np.float64] | None = None,
    ) -> None:
        self._workers, self._own = workers, own or []
        self._shards = [
            workers.keep(shard) if isinstance(shard.source, np.ndarray) else shard
            for shard in shards
        ]
        self._preparation = Preparation(normalize)
        self._prepared = workers.keep(self._preparation)
        self._sizes = np.array([shard.shape[0] for shard in shards if shard.shape])
        self.n_features = shards[0].shape[1] if shards[0].shape else 0
        self._vectors = None if vectors is None else workers.keep(vectors)
        self._shared = vectors
        self._found: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return int(self._sizes.sum())

    def take(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Rows by their numbers, which ascend."""
        own = rows_by_shard(numbers, self._sizes)
        used = [place for place, part in enumerate(own) if len(part)]
        pieces = self._workers.map(
            take_rows,
            [self._shards[place] for place in used],
            [own[place] for place in used],
            prepared=self._prepared,
        )
        return np.concatenate(list(pieces))

    def draw(self, most: int, rng: np.random.RandomState) -> NDArray[np.float32]:
        """All rows, or `most` of them at random where there are more."""
        n = len(self)
        numbers = np.sort(choose(n, most, rng)) if n > most else np.arange(n)
        return self.take(numbers)

    def total(self, step: Callable[..., Any], *args: Any) -> Any:
        """The sum of ``step(block, *args)`` over blocks of rows, in float64."""
        return self._workers.fold(
            total_of_rows, self._shards, prepared=self._prepared, step=step, args=self._keep(args)
        )

    squares_from = Rows.squares_from

    def mapped(self, step: Callable[..., Any], *args: Any) -> "ShardedSamples":
        """Rows ``step(block, *args)``, made anew whenever they are looked at."""
        other = copy(self)
        steps = (*self._preparation.steps, (step, args))
        other._preparation = replace(self._preparation, steps=steps)
        other._prepared = self._workers.keep(other._preparation)
        other.n_features = step(np.zeros((1, self.n_features), dtype=np.float32), *args).shape[1]
        return other

    @property
    def targets(self) -> Targets:
        """All targets at once, where samples share their vectors."""
        if self._shared is None:
            raise ValueError("this method learns from shards with class labels: give these")
        return Targets(self._shared, np.concatenate(self._own).astype(np.intp))

    @property
    def n_targets(self) -> int:
        """p."""
        return int(self._norms()[1])

    def squared_norm(self) -> float:
        """‖Y‖²."""
        return float(self._norms()[0])

    def _norms(self) -> NDArray[np.float64]:
        """‖Y‖² and p; found once."""
        if self._found is None:
            sums = self._workers.fold(norm_of_targets, self._own, vectors=self._vectors)
            self._found = sums / [1, len(self._sizes)]
        return self._found

    def use(self, kernel: Any) -> None:
        """Let φ be this kernel from now on."""
        self._kernel = self._workers.keep(kernel)

    def gram(self, dtype: Any = np.float32) -> NDArray[np.float64]:
        """ΦᵀΦ (m + 1, m + 1): products of blocks in `dtype`, added up in float64."""
        product: NDArray[np.float64] = self.total_of_features(product_of_features, dtype)
        return product

    def total_of_features(self, step: Callable[..., Any], *args: Any) -> Any:
        """The sum of ``step(block of X, block of Φ, *args)`` over blocks of rows, in float64."""
        return self._workers.fold(
            total_of_features,
            self._shards,
            prepared=self._prepared,
            kernel=self._kernel,
            step=step,
            args=self._keep(args),
        )

    def start(self, n_bits: int, rng: np.random.RandomState) -> None:
        """Begin with random codes, those that as many samples in memory would begin with."""
        self._n_bits = n_bits
        places = split_stream(self._sizes.tolist(), n_bits, rng)
        _, self._codes = self._workers.fold_and_keep(
            begin, self._sizes.tolist(), places, n_bits=n_bits
        )

    def measure(self) -> Sums:
        """The sums of the codes as they are."""
        sums: Sums = self._workers.fold(
            measure_shard,
            self._shards,
            self._own,
            self._codes,
            prepared=self._prepared,
            vectors=self._vectors,
            kernel=self._kernel,
            n_bits=self._n_bits,
        )
        return sums

    def update(self, P: NDArray[Any], A: NDArray[Any], *, alpha: float, n_sweeps: int) -> Sums:
        """The B-step; returns the sums of the new codes, which stay where their shards are."""
        sums: Sums
        sums, self._codes = self._workers.fold_and_keep(
            update_shard,
            self._shards,
            self._own,
            self._codes,
            prepared=self._prepared,
            vectors=self._vectors,
            kernel=self._kernel,
            step=self._workers.keep((P, A)),
            n_bits=self._n_bits,
            alpha=alpha,
            n_sweeps=n_sweeps,
        )
        return sums

    solver = Samples.solver
    fetch = Samples.fetch

    def codes(self) -> NDArray[np.uint8]:
        """B, packed (n, ceil(n_bits / 8))."""
        return np.concatenate(list(self._workers.map(itself, self._codes)))

    def _keep(self, args: tuple[Any, ...]) -> Any:
        return self._workers.keep(args) if args else args


def take_rows(
    shard: Shard, numbers: NDArray[np.int64], *, prepared: Preparation
) -> NDArray[np.float32]:
    """Some rows of a shard."""
    return prepared.rows(shard)[numbers]


def total_of_rows(
    shard: Shard, *, prepared: Preparation, step: Callable[..., Any], args: tuple[Any, ...]
) -> Any:
    """A shard's part in `ShardedSamples.total`."""
    return Rows(prepared.rows(shard)).total(step, *args)


def total_of_features(
    shard: Shard,
    *,
    prepared: Preparation,
    kernel: Any,
    step: Callable[..., Any],
    args: tuple[Any, ...],
) -> Any:
    """A shard's part in `ShardedSamples.total_of_features`."""
    return KernelFeatures(prepared.rows(shard), kernel, keep=False).total(step, *args)


def norm_of_targets(own: Any, *, vectors: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """‖Y‖² and p of a shard."""
    targets = targets_of(own, vectors)
    return np.array([targets.squared_norm(), targets.vectors.shape[1]])


def begin(n: int, place: Any, *, n_bits: int) -> tuple[int, NDArray[np.uint8]]:
    """The number of a shard's samples, and random codes for them, packed."""
    return n, codes.pack(codes_from(place, n, n_bits) > 0)


def measure_shard(
    shard: Shard,
    own: Any,
    packed: NDArray[np.uint8],
    *,
    prepared: Preparation,
    vectors: NDArray[np.float64] | None,
    kernel: Any,
    n_bits: int,
) -> Sums:
    """The sums of a shard's codes."""
    features = KernelFeatures(prepared.rows(shard), kernel, keep=False)
    sums: Sums = measure(signs(packed, n_bits), features, targets_of(own, vectors))
    return sums


def update_shard(
    shard: Shard,
    own: Any,
    packed: NDArray[np.uint8],
    *,
    prepared: Preparation,
    vectors: NDArray[np.float64] | None,
    kernel: Any,
    step: tuple[NDArray[Any], NDArray[Any]],
    n_bits: int,
    alpha: float,
    n_sweeps: int,
) -> tuple[Sums, NDArray[np.uint8]]:
    """The sums of a shard's new codes, and these codes, packed."""
    P, A = step
    B, features = signs(packed, n_bits), KernelFeatures(prepared.rows(shard), kernel, keep=False)
    targets = targets_of(own, vectors)
    sums = update_codes(B, features, targets, P, A, alpha=alpha, n_sweeps=n_sweeps)
    return sums, codes.pack(B > 0)


def signs(packed: NDArray[np.uint8], n_bits: int) -> NDArray[np.int8]:
    """Codes (n, n_bits) of −1 and 1."""
    return 2 * codes.unpack(packed, n_bits).astype(np.int8) - 1
