"""Training samples on a device, with the same methods as samples in memory."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
import torch

from zshash.hashing.steps.dcc import measure, update_codes
from zshash.hashing.steps.linear import TOO_ALIKE
from zshash.hashing.steps.mersenne import PackedSigns
from zshash.hashing.steps.rows import unit_rows
from zshash.scale.device.arrays import ROWS, gram, padded
from zshash.scale.device.blocks import (
    Classes,
    Codes,
    DeviceBlocks,
    DeviceKernel,
    DeviceTargets,
    as_words,
    operations,
)
from zshash.scale.samples import ShardedSamples

__all__ = ["DeviceSamples"]

ROUNDING = 1e-6  # relative distance of rows that differ by rounding only
CANCELLED = 1e-4  # share of the sums below which their difference is not exact


class DeviceSamples:
    """Samples whose kernel features and codes are held on a device.

    Parameters
    ----------
    rows : TensorRows or ShardBlocks
        Features, block by block.
    targets : Targets
    device : torch.device
    normalize : bool
        Bring every row to unit length.
    """

    def __init__(self, rows, targets, device, normalize):
        self._rows, self._targets = rows, targets
        self._device, self._normalize = device, normalize

    def __len__(self):
        return len(self._rows)

    @property
    def n_features(self):
        """Number of features d."""
        return self._rows.n_features

    def take(self, numbers):
        """Rows by their numbers, which ascend; on the host."""
        X = self._rows.take(numbers)
        return unit_rows(X) if self._normalize else X

    draw = ShardedSamples.draw

    def squares_from(self, center):
        """Σ‖x − center‖²."""
        center = torch.as_tensor(center, device=self._device)
        total = sum(self._squares_from(X, center) for X in self._rows.blocks())
        rounding = len(self) * float(center @ center) * ROUNDING**2
        if not rounding < total < np.inf:
            raise ValueError(
                "all rows of X are equal: there is nothing to learn from them"
                if total <= rounding
                else "X contains NaN or infinity: remove or repair such rows"
            )
        return total

    def _squares_from(self, X, center):
        direction = center.float()
        if X.dtype == torch.float16:
            squares, _, along = operations(self._device).moments(X, direction, self._normalize)
            length = len(X) * center @ center
            total = squares.double().sum() - 2 * along.double().sum() + length
            if not total < CANCELLED * length:
                return float(total)
            X = X.float()  # what is left of large sums is mostly rounding
        X = torch.nn.functional.normalize(X, dim=1, eps=1e-30) if self._normalize else X
        return float((X - direction).square().sum(dim=1).double().sum())

    @property
    def n_targets(self):
        """Length p of a target."""
        return self._targets.vectors.shape[1]

    def squared_norm(self):
        """‖Y‖²."""
        return self._targets.squared_norm()

    def use(self, kernel):
        """Let φ be this kernel from now on, and hold it for all samples."""
        kernel = DeviceKernel(
            kernel.anchors,
            kernel.bandwidth,
            self._device,
            is_half=self._rows.is_half,
            normalize=self._normalize,
        )
        self._kernel, self._blocks = kernel, DeviceBlocks(kernel, self._device)
        self._features = Parts([kernel(X) for X in self._rows.blocks()])
        self._own = Parts(self._targets_of_blocks())

    def _targets_of_blocks(self):
        """The targets of each block, beside its features."""
        ends = np.cumsum([0, *self._rows.sizes()])
        parts = (slice(first, last) for first, last in pairwise(ends))
        return [self._beside(self._targets[part]) for part in parts]

    def _beside(self, targets):
        vectors = torch.as_tensor(targets.vectors, device=self._device)
        labels = torch.as_tensor(targets.rows.astype(np.int32), device=self._device)
        return DeviceTargets(vectors, Classes(labels, len(vectors)))

    def gram(self, dtype=np.float32):
        """ΦᵀΦ (m + 1, m + 1), float64 on the device."""
        dtype = torch.float64 if dtype == np.float64 else torch.float16
        return self._kernel.gram(sum(gram(Psi, dtype) for Psi in self._features))

    def start(self, n_bits, rng):
        """Begin with random codes, the same as for as many samples in memory.

        A thread draws the codes while the device works; `measure` waits for them.
        """
        signs, sizes, thread = PackedSigns(rng), self._rows.sizes(), ThreadPoolExecutor(1)
        self._drawn = thread.submit(lambda: [signs.draw(n, n_bits) for n in sizes])
        self._n_bits, self._codes = n_bits, Parts()
        thread.shutdown(wait=False)

    def _begin(self):
        """Bring the codes that were drawn to the device."""
        do = operations(self._device)
        for packed in self._drawn.result():
            words = as_words(packed, padded(len(packed), ROWS), self._device)
            self._codes.append(Codes(len(packed), self._n_bits, words, do))

    def measure(self):
        """The sums of the present codes."""
        if not self._codes:
            self._begin()
        return measure(self._codes, self._features, self._own, self._blocks)

    def update(self, P, A, *, alpha, n_sweeps):
        """The B-step; returns the sums of the new codes."""
        return update_codes(
            self._codes,
            self._features,
            self._own,
            P,
            A,
            alpha=alpha,
            n_sweeps=n_sweeps,
            blocks=self._blocks,
        )

    def solver(self, M, penalty):
        """The function from ΦᵀB to P = (M + μI)⁻¹ΦᵀB."""
        M = torch.as_tensor(M, device=self._device).clone()
        M.diagonal().add_(penalty)
        factor = torch.linalg.cholesky_ex(M)
        identity = torch.eye(len(M), dtype=M.dtype, device=M.device)
        lower = torch.linalg.solve_triangular(factor.L, identity, upper=False)
        self._failed = factor.info
        return partial(torch.matmul, lower.T @ lower)

    def fetch(self, P):
        """P as an array of NumPy."""
        if self._failed.item():  # read only here, so that nothing waits for the device before
            raise ValueError(TOO_ALIKE)
        return P.cpu().numpy()

    def codes(self):
        """B, packed (n, ceil(n_bits / 8)), on the host."""
        return np.concatenate([codes.packed() for codes in self._codes])


class Parts(list):
    """A list with an item for each block of rows; a part is the number of a block."""

    def parts(self):
        """Numbers of all blocks."""
        return range(len(self))
