"""The operations on blocks that `zshash.hashing.steps.dcc` asks for, on a device."""

import math
from dataclasses import dataclass

import numpy as np
import torch

from zshash.scale.device import portable
from zshash.scale.device.arrays import (
    BLOCK_BITS,
    COLUMNS,
    ROWS,
    Halves,
    agreement,
    correlate,
    padded,
)

__all__ = [
    "Classes",
    "Codes",
    "DeviceBlocks",
    "DeviceKernel",
    "DeviceTargets",
    "as_words",
    "operations",
]

LOG2E = math.log2(math.e)
LARGEST = torch.finfo(torch.float16).max


def operations(device):
    """The module of operations for this kind of device."""
    if device.type != "cuda":
        return portable
    from zshash.scale.device import kernels

    return kernels


class DeviceKernel:
    """Ψ = Φ − ucᵀ for anchors (m, d) and a bandwidth δ, in float16; u is the column of the bias.

    Similarities lie close together (0.37 ± 0.05 on pictures), so float16 keeps three more bits of
    φ minus a constant c_j of its column than of φ, and tensor cores, which cut off the lowest bits
    of their sums, lose less. Any c is valid; here it is the mean over the anchors.

    ‖x − a‖² = ‖x‖² + ‖a‖² − 2x·a: products of numbers in float16 are exact in tensor cores, their
    sums float32, and the scales of rows and columns are applied afterwards. Features that come in
    float16 are taken as they are; others are first measured from the mean of the anchors, in units
    of √δ, and values too large for float16 become its largest number: far from all anchors.

    Parameters
    ----------
    anchors : ndarray of shape (m, d), float32
    bandwidth : float
    device : torch.device
    is_half : bool
        Whether features come in float16.
    normalize : bool
        Bring rows of features to unit length; the anchors have it already.
    """

    def __init__(self, anchors, bandwidth, device, *, is_half, normalize):
        self._is_half, self._normalize = is_half, normalize
        self._do = operations(device)
        self.m, d = anchors.shape
        self.width = padded(self.m + 1, COLUMNS)
        self.factor = LOG2E / bandwidth if is_half else LOG2E
        given = torch.as_tensor(np.asarray(anchors, dtype=np.float32), device=device)
        self._center, self._scale = given.mean(dim=0), bandwidth**-0.5
        self.anchors = torch.zeros((self.width, d), dtype=torch.float16, device=device)
        self.anchors[: self.m] = given if is_half else self._measured(given)
        self.terms = torch.zeros((3, self.width), dtype=torch.float32, device=device)
        squares = self.anchors[: self.m].float().square().sum(dim=1)
        self.terms[0, : self.m] = 2 * self.factor
        self.terms[1, : self.m] = self.factor * squares
        own = self(given.half() if is_half else given)[: self.m, : self.m]
        self.terms[2, : self.m] = own.float().mean(dim=0)

    def __call__(self, X, out=None):
        """Ψ (n_pad, m_pad) of the rows of X (n, d)."""
        if not self._is_half:
            if self._normalize:
                X = torch.nn.functional.normalize(X, dim=1, eps=1e-30)
            X = self._measured(X).half()
        unused = torch.zeros(X.shape[1], dtype=torch.float32, device=X.device)
        squares, scales, _ = self._do.moments(X, unused, self._normalize and self._is_half)
        if out is None:
            shape = padded(len(X), ROWS), self.width
            out = torch.empty(shape, dtype=torch.float16, device=X.device)
        self._do.similarities(self, X, squares, scales, out)
        return out

    def _measured(self, X):
        return ((X - self._center) * self._scale).clamp_(-LARGEST, LARGEST)

    @property
    def constants(self):
        """c (m + 1,) float64, 0 for the bias."""
        return self.terms[2, : self.m + 1].double()

    def gram(self, PsitPsi):
        """ΦᵀΦ from ΨᵀΨ."""
        PsitPsi, c = PsitPsi[: self.m + 1, : self.m + 1], self.constants
        ones = PsitPsi[:, -1]
        return PsitPsi + torch.outer(ones, c) + torch.outer(c, ones + ones[-1] * c)

    def correlate(self, PsitB):
        """ΦᵀB from ΨᵀB."""
        PsitB = PsitB[: self.m + 1]
        return PsitB + torch.outer(self.constants, PsitB[-1])

    def weights(self, P):
        """Halves of the P′ with ΨP′ = ΦP."""
        moved = P.clone()
        moved[-1] += self.constants @ P
        return Halves(moved, self.width)


def as_words(packed, n_pad, device):
    """Packed codes (n, bytes) of the host as words (n_pad, l_pad / 32) on a device."""
    n, n_bytes = packed.shape
    width = padded(n_bytes, BLOCK_BITS // 8)
    words = torch.zeros((n_pad, width), dtype=torch.uint8, device=device)
    words[:n, :n_bytes] = torch.from_numpy(packed).to(device)
    return words.view(torch.int32)


class Codes:
    """Codes of n samples on a device, packed and as signs."""

    def __init__(self, n, n_bits, words, do):
        self._n, self.n_bits, self.words = n, n_bits, words
        shape = (padded(n_bits, BLOCK_BITS), len(words))
        self.signs = torch.empty(shape, dtype=torch.float16, device=words.device)
        do.unpack(words, n, self.signs)

    def __len__(self):
        return self._n

    def packed(self):
        """Packed codes (n, ceil(n_bits / 8)) on the host."""
        wide = self.words[: self._n].cpu().numpy().view(np.uint8)
        return wide[:, : -(-self.n_bits // 8)]


@dataclass
class Classes:
    """Number of each sample's label vector, and the samples ordered by these numbers."""

    labels: torch.Tensor  # (n,) int32
    number: int

    def __post_init__(self):
        ordered = torch.sort(self.labels, stable=True)
        self.ordered, self.order = ordered.values, ordered.indices.to(torch.int32)


@dataclass
class DeviceTargets:
    """As `zshash.hashing.steps.targets.Targets`, on a device."""

    vectors: torch.Tensor  # (c, p) float64
    rows: Classes


class DeviceBlocks:
    """As `zshash.hashing.steps.dcc.NumpyBlocks`, for blocks Ψ of a kernel."""

    def __init__(self, kernel, device):
        self._kernel, self._device, self._do = kernel, device, operations(device)

    def weights(self, P):
        """P as `project` needs it."""
        return self._kernel.weights(P)

    def mapping(self, A):
        """A on the device."""
        return torch.as_tensor(np.ascontiguousarray(A), device=self._device)

    def project(self, Psi, halves):
        """The factors of ΦP; the product is computed in `descend`."""
        return Psi, halves

    def descend(self, codes, table, classes, projections, alpha, G, n_sweeps):
        """One B-step in place; the number of flips."""
        H = torch.zeros(codes.signs.shape, dtype=torch.float32, device=self._device)
        Psi, halves = projections
        self._do.field(Psi, halves, table.float(), classes.labels, alpha, len(codes), H)
        return self._do.descend(H, codes.words, codes.signs, G, len(codes), n_sweeps=n_sweeps)

    def sum_by_class(self, codes, classes, n_classes):  # noqa: ARG002, classes know their number
        """Sum of the codes of each class (n_classes, l) float64, exact."""
        return self._do.sum_by_class(codes, classes)[:, : codes.n_bits].double()

    def products(self, codes, Psi):
        """BᵀB, exact, and ΦᵀB, float64."""
        l = codes.n_bits  # noqa: E741, the paper's letter
        BtB, PsitB = agreement(codes.signs), correlate(codes.signs, Psi)
        return BtB[:l, :l], self._kernel.correlate(PsitB[:, :l])

    def fetch(self, array):
        """A small array, as NumPy's."""
        return array.cpu().numpy()
