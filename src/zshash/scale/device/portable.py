"""The operations of `zshash.scale.device.kernels` in plain PyTorch, for any device."""

import numpy as np
import torch

from zshash import codes as packing
from zshash.hashing.steps.dcc import descend as descend_rows

__all__ = ["descend", "field", "moments", "signs", "similarities", "sum_by_class", "unpack"]


def moments(X, direction, normalize=False):
    """‖x‖², scale, and product with `direction` of each row of X (n, d) float16.

    With `normalize`, the scale brings a row to unit length; the other two are of the scaled row.
    """
    X = X.float()
    squares, scales = X.square().sum(dim=1), torch.ones(len(X), device=X.device)
    if normalize:
        scales = torch.where(squares > 0, squares.clamp_min(1e-38).rsqrt(), 0)
        squares = (squares > 0).float()
    return squares, scales, X @ direction * scales


def similarities(kernel, X, squares, scales, out):
    """Ψ of the rows of X (n, d) float16, whose moments are given, into out (n_pad, m_pad)."""
    column_scales, column_terms, offsets = (terms[: kernel.m] for terms in kernel.terms)
    exponents = X.float() @ kernel.anchors[: kernel.m].float().T
    exponents *= scales[:, None] * column_scales
    exponents -= (kernel.factor * squares)[:, None] + column_terms
    out.zero_()
    out[: len(X), : kernel.m] = exponents.clamp_max_(0).exp2_() - offsets
    out[: len(X), kernel.m] = 1


def project(Psi, halves):
    """ΨP (n_pad, l_pad) float32."""
    sums = Psi.float() @ halves.both.float()
    return sums.view(len(Psi), -1, 2).sum(dim=2) * halves.scale


def field(Psi, halves, table, labels, alpha, n, out):
    """H = (table[labels] + α ΨP)ᵀ into out (l_pad, n_pad); table (c, l) float32, labels int32."""
    rows = project(Psi, halves)[:n, : table.shape[1]] * alpha + table[labels.long()]
    out[: table.shape[1], :n] = rows.T


def signs(Psi, halves, n_bits, codes):
    """Packed bits of ΨP >= 0 for the first rows of Psi, into codes (n, ceil(l / 8)) uint8."""
    is_set = (project(Psi, halves) >= 0)[: len(codes), :n_bits]
    codes.copy_(torch.from_numpy(packing.pack(is_set.cpu().numpy())))


def descend(H, words, B, G, n, *, n_sweeps=1):
    """Lower Σᵢ bᵢ G bᵢᵀ − 2 bᵢ·hᵢ over codes, in place in `words` and in B; the number of flips."""
    n_bits = len(G)
    rows = np.ascontiguousarray(B[:n_bits, :n].T.cpu().numpy().astype(np.int8))
    fields, G = H[:n_bits, :n].T.cpu().numpy(), G.float().cpu().numpy()
    nothing = np.zeros((1, n_bits)), np.zeros(n, dtype=np.intp)
    flips = descend_rows(rows, rows.astype(np.float32) @ G, *nothing, fields, 1.0, G, n_sweeps)
    packed = torch.from_numpy(packing.pack(rows > 0)).to(words.device)
    words.view(torch.uint8)[:n, : packed.shape[1]] = packed
    unpack(words, n, B)
    return flips


def unpack(words, n, B):
    """Signs of packed codes into B (l_pad, n_pad) float16: −1 and 1, 0 beyond sample n."""
    bits = np.unpackbits(words[:n].cpu().numpy().view(np.uint8), axis=1)
    B.zero_()
    B[:, :n] = torch.from_numpy(2 * bits.T.astype(np.int8) - 1).to(B)


def sum_by_class(codes, classes):
    """Sums of the codes of each class (c, l_pad) int32."""
    signs = codes.signs[:, : len(codes)].T.to(torch.int32)
    sums = torch.zeros((classes.number, signs.shape[1]), dtype=torch.int32, device=signs.device)
    return sums.index_add_(0, classes.labels, signs)
