"""Arrays on a device: how they lie in memory, and products of float16 matrices.

The layout, for n samples, m anchors and l bits:

========  ========================  ====================================================
name      shape, type               meaning
========  ========================  ====================================================
Psi       (n_pad, m_pad) float16    kernel features less a constant of each column; column
                                    m is the bias, 1; the rest is 0
H         (l_pad, n_pad) float32    what pulls at each bit, a row per bit, so that
                                    neighbouring threads read neighbouring numbers
words     (n_pad, l_pad/32) int32   packed codes; bytes in the order of numpy.packbits
B         (l_pad, n_pad) float16    the same as −1 and 1, a row per bit; 0 beyond sample n
========  ========================  ====================================================

Padding is zero in Psi and in B, so sums over rows may include the padded rows. Products of float16
matrices are summed in float32 within a chunk of rows, and in float64 over the chunks.
"""

import torch

__all__ = [
    "BLOCK_BITS",
    "CHUNK",
    "COLUMNS",
    "ROWS",
    "Halves",
    "agreement",
    "correlate",
    "gram",
    "padded",
    "product",
]

ROWS = 4096  # numbers of rows are padded to a multiple of it
CHUNK = 4096  # rows of a chunk: float32 sums inside, float64 across
COLUMNS = 128  # numbers of kernel features are padded to a multiple of it
BLOCK_BITS = 64  # bits that are handled together; numbers of bits are padded to a multiple of it


def padded(size: int, multiple: int) -> int:
    """The least multiple that is not below `size`.

    >>> padded(1001, 128)
    1024
    """
    return -(-size // multiple) * multiple


class Halves:
    """P (m, l) float64 as the sum of two float16 matrices, times `scale`.

    The two stand side by side, column by column, in `both` (m_pad, 2 l_pad): one product serves
    both. Their sum keeps 22 bits of each entry; a power of two brings the largest one near the
    top of the range of float16, so the second half does not vanish below its bottom.
    """

    def __init__(self, P, m_pad):
        m, n_bits = P.shape
        _, exponent = torch.frexp(P.abs().max())
        lift = torch.ldexp(torch.ones((), dtype=P.dtype, device=P.device), 14 - exponent)
        lifted = P * lift
        shape = (m_pad, padded(n_bits, BLOCK_BITS), 2)
        halves = torch.zeros(shape, dtype=torch.float16, device=P.device)
        halves[:m, :n_bits, 0] = lifted
        halves[:m, :n_bits, 1] = lifted - halves[:m, :n_bits, 0]
        self.both = halves.view(m_pad, -1)
        self.scale = (1 / lift).float()


def product(left, right):
    """Batched product of float16 matrices with float32 sums."""
    if left.is_cuda:
        return torch.bmm(left, right, out_dtype=torch.float32)
    return left.float() @ right.float()


def gram(Psi, dtype):
    """ΨᵀΨ (m_pad, m_pad) float64, from products of numbers in float16, or in `dtype`."""
    total = torch.zeros((Psi.shape[1],) * 2, dtype=torch.float64, device=Psi.device)
    for part in Psi.view(-1, CHUNK, Psi.shape[1]).split(64):
        if dtype == torch.float64:
            rows = part.reshape(-1, part.shape[2]).double()
            total += rows.T @ rows
        else:
            total += product(part.transpose(1, 2), part).sum(dim=0, dtype=torch.float64)
    return total


def correlate(B, Psi):
    """ΨᵀB (m_pad, l_pad) float64, for signs B (l_pad, n_pad)."""
    left = B.view(len(B), -1, CHUNK).transpose(0, 1)
    sums = product(left, Psi.view(-1, CHUNK, Psi.shape[1]))
    return sums.sum(dim=0, dtype=torch.float64).T


def agreement(B):
    """BᵀB (l_pad, l_pad) float64, exact: float32 sums of a chunk are whole numbers below 2²⁴."""
    parts = B.view(len(B), -1, CHUNK).transpose(0, 1)
    return product(parts, parts.transpose(1, 2)).sum(dim=0, dtype=torch.float64)
