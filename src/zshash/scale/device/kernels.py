"""The operations on blocks of rows that a CUDA device does in kernels of its own, in Triton.

`zshash.scale.device.portable` does the same in plain PyTorch. Integer sums use atomic additions,
which are exact in any order; floats never do, so a fit gives the same bits each time.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from zshash.scale.device.arrays import BLOCK_BITS
from zshash.scale.device.code_kernels import descend, sum_by_class, unpack

__all__ = ["descend", "field", "moments", "signs", "similarities", "sum_by_class", "unpack"]


@triton.jit
def _moments_kernel(
    X, direction, squares, scales, along, n, d,
    NORMALIZE: tl.constexpr, TILE_R: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * TILE_R + tl.arange(0, TILE_R)
    inside = rows < n
    depth = tl.arange(0, TILE_K)
    place = X + rows[:, None].to(tl.int64) * d + depth[None, :]
    lengths = tl.zeros((TILE_R, TILE_K), dtype=tl.float32)
    products = tl.zeros((TILE_R, TILE_K), dtype=tl.float32)
    for k in range(0, d, TILE_K):
        within = depth < d - k
        x = tl.load(place + k, mask=inside[:, None] & within[None, :], other=0.0).to(tl.float32)
        lengths += x * x
        products += x * tl.load(direction + k + depth, mask=within, other=0.0)[None, :]
    square, product = tl.sum(lengths, axis=1), tl.sum(products, axis=1)
    scale = tl.full((TILE_R,), 1.0, dtype=tl.float32)
    if NORMALIZE:
        scale = tl.where(square > 0, 1.0 / tl.sqrt(tl.where(square > 0, square, 1.0)), 0.0)
        square = tl.where(square > 0, 1.0, 0.0)
    tl.store(squares + rows, square, mask=inside)
    tl.store(scales + rows, scale, mask=inside)
    tl.store(along + rows, product * scale, mask=inside)


def moments(X, direction, normalize=False, *, tile=(16, 256), warps=8):
    """One pass over X (n, d) float16.

    Returns
    -------
    squares : (n,) float32
        ‖x‖² of each row, after it was brought to unit length where `normalize` is set.
    scales : (n,) float32
        Factor of each row for that: 1, or 1/‖x‖ (0 for a row of zeros).
    along : (n,) float32
        Product of each scaled row with `direction` (d,) float32.
    """
    n, d = X.shape
    squares, scales, along = torch.empty((3, n), dtype=torch.float32, device=X.device)
    _moments_kernel[(-(-n // tile[0]),)](
        X, direction, squares, scales, along, n, d, NORMALIZE=normalize,
        TILE_R=tile[0], TILE_K=tile[1], num_warps=warps,
    )  # fmt: skip
    return squares, scales, along


@triton.jit
def _centred_similarity(
    products, rows, columns, row_scales, row_terms, column_scales, column_terms, offsets, n, m
):
    """ψ of a tile, from its products x·a."""
    inside = rows < n
    row_scale = tl.load(row_scales + rows, mask=inside, other=0.0)
    row_term = tl.load(row_terms + rows, mask=inside, other=0.0)
    scale = row_scale[:, None] * tl.load(column_scales + columns)[None, :]
    terms = row_term[:, None] + tl.load(column_terms + columns)[None, :]
    psi = tl.exp2(tl.minimum(products * scale - terms, 0.0)) - tl.load(offsets + columns)[None, :]
    psi = tl.where((columns < m)[None, :], psi, (columns == m)[None, :].to(tl.float32))
    return tl.where(inside[:, None], psi, 0.0).to(tl.float16)


@triton.jit
def _features_kernel(
    X, anchors, row_scales, row_terms, column_scales, column_terms, offsets, Psi,
    n, d, m, m_pad, total,
    TILE_R: tl.constexpr, TILE_C: tl.constexpr, TILE_K: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    """Tiles of Ψ, brought and taken by the tensor copy engine; each program does many of them."""
    tiles = m_pad // TILE_C
    for tile in tl.range(tl.program_id(0), total, PROGRAMS, flatten=True):
        top, left = tile // tiles * TILE_R, tile % tiles * TILE_C
        products = tl.zeros((TILE_R, TILE_C), dtype=tl.float32)
        for k in range(0, d, TILE_K):
            x, a = X.load([top, k]), anchors.load([left, k])
            products = tl.dot(x, a.T, products)
        psi = _centred_similarity(
            products, top + tl.arange(0, TILE_R), left + tl.arange(0, TILE_C), row_scales,
            row_terms, column_scales, column_terms, offsets, n, m,
        )  # fmt: skip
        Psi.store([top, left], psi)


@triton.jit
def _features_kernel_any(
    X, anchors, row_scales, row_terms, column_scales, column_terms, offsets, Psi, n, d, m, m_pad,
    TILE_R: tl.constexpr, TILE_C: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    """The same for any number of features d: the copy engine takes only multiples of 8."""
    tiles = m_pad // TILE_C
    rows = tl.program_id(0) // tiles * TILE_R + tl.arange(0, TILE_R)
    columns = tl.program_id(0) % tiles * TILE_C + tl.arange(0, TILE_C)
    depth = tl.arange(0, TILE_K)
    left = X + rows[:, None].to(tl.int64) * d + depth[None, :]
    right = anchors + columns[None, :] * d + depth[:, None]
    inside = rows < n
    products = tl.zeros((TILE_R, TILE_C), dtype=tl.float32)
    for k in range(0, d, TILE_K):
        within = depth < d - k
        x = tl.load(left + k, mask=inside[:, None] & within[None, :], other=0.0)
        a = tl.load(right + k, mask=within[:, None], other=0.0)
        products = tl.dot(x, a, products)
    psi = _centred_similarity(
        products, rows, columns, row_scales, row_terms, column_scales, column_terms, offsets, n, m
    )
    tl.store(Psi + rows[:, None].to(tl.int64) * m_pad + columns[None, :], psi)


def similarities(kernel, X, squares, scales, out, *, tile=(256, 128, 64), warps=8, stages=3):
    """Ψ of the rows of X (n, d) float16, whose moments are given, into out (n_pad, m_pad)."""
    n, d = X.shape
    tile_r, tile_c, tile_k = tile
    total = len(out) // tile_r * (kernel.width // tile_c)
    terms = (scales, kernel.factor * squares, *kernel.terms)
    sizes = {"TILE_R": tile_r, "TILE_C": tile_c, "TILE_K": tile_k, "num_warps": warps}
    if d % 8 or X.data_ptr() % 16:
        _features_kernel_any[(total,)](
            X, kernel.anchors, *terms, out, n, d, kernel.m, kernel.width,
            num_stages=stages, **sizes,
        )  # fmt: skip
        return
    programs = min(total, _processors(X.device))
    _features_kernel[(programs,)](
        TensorDescriptor.from_tensor(X, [tile_r, tile_k]),
        TensorDescriptor.from_tensor(kernel.anchors, [tile_c, tile_k]),
        *terms, TensorDescriptor.from_tensor(out, [tile_r, tile_c]),
        n, d, kernel.m, kernel.width, total, PROGRAMS=programs, num_stages=stages, **sizes,
    )  # fmt: skip


def _processors(device):
    if device.type != "cuda":  # Triton's interpreter
        return 1
    return torch.cuda.get_device_properties(device).multi_processor_count


@triton.jit
def _project(
    Psi, both, rows, block, m_pad, l_pad,
    TILE_R: tl.constexpr, TILE_L: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    """ΨP of a tile, before the scale of P."""
    depth = tl.arange(0, TILE_K)
    columns = block * (2 * TILE_L) + tl.arange(0, 2 * TILE_L)
    left = Psi + rows[:, None].to(tl.int64) * m_pad + depth[None, :]
    right = both + depth[:, None] * (2 * l_pad) + columns[None, :]
    sums = tl.zeros((TILE_R, 2 * TILE_L), dtype=tl.float32)
    for _ in range(0, m_pad, TILE_K):
        sums = tl.dot(tl.load(left), tl.load(right), sums)
        left += TILE_K
        right += TILE_K * 2 * l_pad
    return tl.sum(tl.reshape(sums, (TILE_R, TILE_L, 2)), axis=2)


@triton.jit
def _field_kernel(
    Psi, both, scale, table, labels, H, alpha, n, n_pad, n_bits, m_pad, l_pad,
    TILE_R: tl.constexpr, TILE_L: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    blocks = l_pad // TILE_L
    block = tl.program_id(0) % blocks
    rows = tl.program_id(0) // blocks * TILE_R + tl.arange(0, TILE_R)
    bits = block * TILE_L + tl.arange(0, TILE_L)
    sums = _project(Psi, both, rows, block, m_pad, l_pad, TILE_R, TILE_L, TILE_K)
    inside = rows < n
    label = tl.load(labels + rows, mask=inside, other=0).to(tl.int64)
    known = inside[:, None] & (bits < n_bits)[None, :]
    entries = tl.load(table + label[:, None] * n_bits + bits[None, :], mask=known, other=0.0)
    field = entries + sums * (alpha * tl.load(scale))
    tl.store(H + bits[None, :].to(tl.int64) * n_pad + rows[:, None], field)


def field(Psi, halves, table, labels, alpha, n, out, *, tile=(256, 64), warps=8, stages=4):
    """H = (table[labels] + α ΨP)ᵀ, (l_pad, n_pad) float32; table (c, l) float32, labels int32."""
    n_pad, m_pad = Psi.shape
    l_pad = len(out)
    tile_r, tile_k = tile
    _field_kernel[(n_pad // tile_r * (l_pad // BLOCK_BITS),)](
        Psi, halves.both, halves.scale, table, labels, out, alpha, n, n_pad, table.shape[1],
        m_pad, l_pad, TILE_R=tile_r, TILE_L=BLOCK_BITS, TILE_K=tile_k, num_warps=warps,
        num_stages=stages,
    )  # fmt: skip
    return out


@triton.jit
def _signs_kernel(
    Psi, both, codes, n, n_bits, n_bytes, m_pad, l_pad,
    TILE_R: tl.constexpr, TILE_L: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    blocks = l_pad // TILE_L
    block = tl.program_id(0) % blocks
    rows = tl.program_id(0) // blocks * TILE_R + tl.arange(0, TILE_R)
    bits = block * TILE_L + tl.arange(0, TILE_L)
    sums = _project(Psi, both, rows, block, m_pad, l_pad, TILE_R, TILE_L, TILE_K)
    ones = ((sums >= 0) & (bits < n_bits)[None, :]).to(tl.int32) << (7 - bits % 8)[None, :]
    packed = tl.sum(tl.reshape(ones, (TILE_R, TILE_L // 8, 8)), axis=2)
    where = block * (TILE_L // 8) + tl.arange(0, TILE_L // 8)
    known = (rows < n)[:, None] & (where < n_bytes)[None, :]
    out = codes + rows[:, None].to(tl.int64) * n_bytes + where[None, :]
    tl.store(out, packed.to(tl.uint8), mask=known)


def signs(Psi, halves, n_bits, codes, *, tile=(256, 64), warps=8, stages=4):
    """Packed bits of ΨP >= 0 for the first rows of Psi, into codes (n, ceil(l / 8)) uint8."""
    n, n_bytes = codes.shape
    tile_r, tile_k = tile
    m_pad, l_pad = len(halves.both), halves.both.shape[1] // 2
    _signs_kernel[(-(-n // tile_r) * (l_pad // BLOCK_BITS),)](
        Psi, halves.both, codes, n, n_bits, n_bytes, m_pad, l_pad,
        TILE_R=tile_r, TILE_L=BLOCK_BITS, TILE_K=tile_k, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return codes
