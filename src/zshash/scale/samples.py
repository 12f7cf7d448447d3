"""Training samples in shards, with the same methods as samples in memory.

Each method is one pass over the shards: the part of a shard is computed by the same steps as in
`zshash.hashing.steps.samples`, and the parts are added up in a fixed order.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash import codes
from zshash.hashing.steps.anchors import AnchorKernel, KernelFeatures, product_of_features
from zshash.hashing.steps.dcc import Sums, codes_from, measure, split_stream, update_codes
from zshash.hashing.steps.mersenne import choose
from zshash.hashing.steps.rows import Rows
from zshash.hashing.steps.samples import Samples
from zshash.hashing.steps.targets import Targets
from zshash.scale.shards import Shard, ShardRows, rows_by_shard
from zshash.scale.targets import targets_of
from zshash.scale.workers import Workers, itself

__all__ = ["Preparation", "ShardedSamples"]


@dataclass(frozen=True)
class Preparation:
    """Preparation of rows: brought to unit length if wanted, then passed through steps."""

    normalize: bool = False
    steps: tuple[tuple[Any, Any], ...] = ()

    def rows(self, shard: Shard) -> ShardRows:
        """Open a shard."""
        return ShardRows(shard, self.normalize, self.steps)


@dataclass(frozen=True)
class Seen:
    """Kernel features φ of prepared rows."""

    prepared: Preparation
    kernel: AnchorKernel

    def features(self, shard: Shard) -> KernelFeatures:
        """Kernel features of a shard, computed block by block."""
        return KernelFeatures(self.prepared.rows(shard), self.kernel, keep=False)


@dataclass(frozen=True)
class Step:
    """Arguments of a B-step: the hash function P, the map A of codes to targets, and weights."""

    P: NDArray[Any]
    A: NDArray[Any]
    alpha: float
    n_sweeps: int


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
        Targets of the samples, as `read_targets` returns them; None for methods that do not look at
        labels.
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
        """Rows ``step(block, *args)``, computed again whenever they are read."""
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
        """Length p of a target."""
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

    def use(self, kernel: AnchorKernel) -> None:
        """Let φ be this kernel from now on."""
        self._seen = self._workers.keep(Seen(self._preparation, kernel))

    def gram(self, dtype: Any = np.float32) -> NDArray[np.float64]:
        """ΦᵀΦ (m + 1, m + 1): products of blocks in `dtype`, added up in float64."""
        product: NDArray[np.float64] = self.total_of_features(product_of_features, dtype)
        return product

    def total_of_features(self, step: Callable[..., Any], *args: Any) -> Any:
        """The sum of ``step(block of X, block of Φ, *args)`` over blocks of rows, in float64."""
        return self._workers.fold(
            total_of_features, self._shards, seen=self._seen, step=step, args=self._keep(args)
        )

    def start(self, n_bits: int, rng: np.random.RandomState) -> None:
        """Begin with random codes, the same as for as many samples in memory."""
        self._n_bits = n_bits
        places = split_stream(self._sizes.tolist(), n_bits, rng)
        _, self._codes = self._workers.fold_and_keep(
            begin, self._sizes.tolist(), places, n_bits=n_bits
        )

    def measure(self) -> Sums:
        """The sums of the present codes."""
        sums: Sums = self._workers.fold(
            measure_shard, self._shards, self._own, self._codes, **self._shared_by_all()
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
            step=self._workers.keep(Step(P, A, alpha, n_sweeps)),
            **self._shared_by_all(),
        )
        return sums

    def _shared_by_all(self) -> dict[str, Any]:
        return {"seen": self._seen, "vectors": self._vectors, "n_bits": self._n_bits}

    solver = staticmethod(Samples.solver)
    fetch = staticmethod(Samples.fetch)

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
    shard: Shard, *, seen: Seen, step: Callable[..., Any], args: tuple[Any, ...]
) -> Any:
    """A shard's part in `ShardedSamples.total_of_features`."""
    return seen.features(shard).total(step, *args)


def norm_of_targets(own: Any, *, vectors: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """‖Y‖² and p of a shard."""
    targets = targets_of(own, vectors)
    return np.array([targets.squared_norm(), targets.vectors.shape[1]])


def begin(n: int, place: Any, *, n_bits: int) -> tuple[int, NDArray[np.uint8]]:
    """The number of a shard's samples, and random codes for them, packed."""
    return n, codes.pack(codes_from(place, n, n_bits) > 0)


def update_shard(
    shard: Shard,
    own: Any,
    packed: NDArray[np.uint8],
    *,
    seen: Seen,
    vectors: NDArray[np.float64] | None,
    n_bits: int,
    step: Step | None = None,
) -> tuple[Sums, NDArray[np.uint8]]:
    """The sums of a shard's codes, and the codes, packed; after a B-step if `step` is given."""
    B, features, targets = signs(packed, n_bits), seen.features(shard), targets_of(own, vectors)
    if step is None:
        return measure(B, features, targets), packed
    sums = update_codes(
        B, features, targets, step.P, step.A, alpha=step.alpha, n_sweeps=step.n_sweeps
    )
    return sums, codes.pack(B > 0)


def measure_shard(*columns: Any, **shared: Any) -> Sums:
    """The sums of a shard's codes, by `update_shard` without a step."""
    return update_shard(*columns, **shared)[0]


def signs(packed: NDArray[np.uint8], n_bits: int) -> NDArray[np.int8]:
    """Codes (n, n_bits) of −1 and 1."""
    return 2 * codes.unpack(packed, n_bits).astype(np.int8) - 1
