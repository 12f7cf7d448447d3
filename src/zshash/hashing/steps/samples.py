"""Training samples as a discrete method sees them: through sums over rows.

`Samples` holds features, targets and codes in memory. `zshash.scale` has the same methods for
samples in files, on other machines or on a GPU.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from zshash import codes
from zshash.hashing.steps.anchors import AnchorKernel, KernelFeatures
from zshash.hashing.steps.dcc import Sums, measure, random_codes, update_codes
from zshash.hashing.steps.linear import add_to_diagonal, factorize, solve
from zshash.hashing.steps.rows import Rows, RowSource, Step
from zshash.hashing.steps.targets import Targets


class SampleSource(RowSource, Protocol):
    """Samples as a fit uses them: features X (n, d), targets Y (n, p), and codes B (n, l).

    P (m + 1, l) and ΦᵀB are arrays of NumPy, or of the GPU that holds the samples.
    """

    @property
    def targets(self) -> Any:
        """All targets at once, as `Targets`."""

    @property
    def n_targets(self) -> int:
        """Length p of a target."""

    def squared_norm(self) -> float:
        """‖Y‖²."""

    def use(self, kernel: AnchorKernel) -> None:
        """Let φ be this kernel from now on."""

    def gram(self, dtype: DTypeLike = np.float32) -> Any:
        """ΦᵀΦ (m + 1, m + 1): products of blocks in `dtype`, added up in float64."""

    def total_of_features(self, step: Step, *args: Any) -> Any:
        """The sum of ``step(block of X, block of Φ, *args)`` over blocks of rows, in float64."""

    def start(self, n_bits: int, rng: np.random.RandomState) -> None:
        """Begin with random codes; `rng` must not be used until the codes have been measured."""

    def measure(self) -> Sums:
        """The sums of the present codes."""

    def update(self, P: Any, A: NDArray[Any], *, alpha: float, n_sweeps: int) -> Sums:
        """The B-step, as in `update_codes`; returns the sums of the new codes."""

    def solver(self, M: Any, penalty: float) -> Callable[[Any], Any]:
        """The function from ΦᵀB to P = (M + μI)⁻¹ΦᵀB; M is overwritten."""

    def fetch(self, P: Any) -> NDArray[Any]:
        """P as an array of NumPy."""

    def codes(self) -> NDArray[np.uint8]:
        """B, packed (n, ceil(n_bits / 8))."""


class Samples(Rows):
    """Samples in memory: features X, targets Y, then φ(X), then codes B that are learned.

    `targets` is None for methods that do not look at labels.
    """

    def __init__(self, X: NDArray[np.float32], targets: Targets | None) -> None:
        super().__init__(X)
        self.targets: Any = targets

    @property
    def n_targets(self) -> int:
        """Length p of a target."""
        return int(self.targets.vectors.shape[1])

    def squared_norm(self) -> float:
        """‖Y‖²."""
        return float(self.targets.squared_norm())

    def use(self, kernel: AnchorKernel) -> None:
        """Let φ be this kernel from now on."""
        self.features = KernelFeatures(self.X, kernel)

    def gram(self, dtype: DTypeLike = np.float32) -> NDArray[np.float64]:
        """ΦᵀΦ (m + 1, m + 1): products of blocks in `dtype`, added up in float64."""
        return self.features.gram(dtype)

    def total_of_features(self, step: Step, *args: Any) -> Any:
        """The sum of ``step(block of X, block of Φ, *args)`` over blocks of rows, in float64."""
        return self.features.total(step, *args)

    def start(self, n_bits: int, rng: np.random.RandomState) -> None:
        """Begin with random codes."""
        self.B = random_codes(len(self), n_bits, rng)

    def measure(self) -> Sums:
        """The sums of the present codes."""
        return measure(self.B, self.features, self.targets)

    def update(self, P: NDArray[Any], A: NDArray[Any], *, alpha: float, n_sweeps: int) -> Sums:
        """The B-step, as in `update_codes`; returns the sums of the new codes."""
        return update_codes(
            self.B, self.features, self.targets, P, A, alpha=alpha, n_sweeps=n_sweeps
        )

    @staticmethod
    def solver(M: NDArray[Any], penalty: float) -> Callable[[Any], Any]:
        """The function from ΦᵀB to P = (M + μI)⁻¹ΦᵀB; M is overwritten."""
        return partial(solve, factorize(add_to_diagonal(M, penalty)))

    @staticmethod
    def fetch(P: NDArray[Any]) -> NDArray[Any]:
        """P itself: it is an array of NumPy."""
        return P

    def codes(self) -> NDArray[np.uint8]:
        """B, packed (n, ceil(n_bits / 8))."""
        return codes.pack(self.B > 0)
