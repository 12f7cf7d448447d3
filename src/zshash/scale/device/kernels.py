"""The operations on blocks of rows that a CUDA device does in kernels of its own, in Triton.

`zshash.scale.device.portable` does the same in plain PyTorch. Integer sums use atomic additions,
which are exact in any order; floats never do, so a fit gives the same bits each time.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from zshash.scale.device.layout import BLOCK_BITS, padded
from zshash.scale.device.products import Halves, product

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
        What a row is multiplied by for that: 1, or 1/‖x‖ (0 for a row of zeros).
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
    """The same for any number of features d: the copy engine takes multiples of 8 alone."""
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


def nibble_table(G):
    """Σ_j b_j G_jk (j ≠ k) by four bits at a time: (l, l_pad/4, 16) float32, l <= 64.

    Entry (k, g, v) is the part of the sum that the g-th four bits of a packed word add when they
    read v. Bit j of a code stands at position j ^ 7 of the word, as numpy.packbits has it.
    """
    n_bits = len(G)
    positions = torch.arange(padded(n_bits, 8), device=G.device) ^ 7
    off = torch.zeros((n_bits, len(positions)), dtype=G.dtype, device=G.device)
    off[:, :n_bits] = G
    off.fill_diagonal_(0)
    values = torch.arange(16, device=G.device)
    patterns = 2 * ((values[None, :] >> torch.arange(4, device=G.device)[:, None]) & 1) - 1
    parts = off[:, positions].reshape(n_bits, -1, 4) @ patterns.to(G.dtype)
    return parts.float().contiguous()


@triton.jit
def _influence(table, first, second, NIBBLES: tl.constexpr):
    """The sum over the other bits, by table."""
    total = tl.load(table + (first & 15))
    for g in tl.static_range(1, NIBBLES):
        word = first if g < 8 else second
        total += tl.load(table + g * 16 + ((word >> (4 * (g % 8))) & 15))
    return total


@triton.jit
def _descend_kernel(
    H, words, table, flips, n, n_pad, n_words, block, n_sweeps,
    N_BITS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    NIBBLES: tl.constexpr = (N_BITS + 7) // 8 * 2
    FIRST: tl.constexpr = N_BITS if N_BITS < 32 else 32
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = rows < n
    place = words + rows * n_words + block * 2
    first = tl.load(place, mask=inside, other=0)
    second = first
    if N_BITS > 32:
        second = tl.load(place + 1, mask=inside, other=0)
    count = tl.zeros((TILE,), dtype=tl.int32)
    for _ in range(n_sweeps):
        field = H + rows
        for k in range(FIRST):
            h = tl.load(field, mask=inside, other=0.0, cache_modifier=".cg")
            field += n_pad
            pull = h - _influence(table + k * (NIBBLES * 16), first, second, NIBBLES)
            old = (first >> (k ^ 7)) & 1
            new = tl.where(pull > 0, 1, tl.where(pull < 0, 0, old))
            count += new ^ old
            first = first ^ ((new ^ old) << (k ^ 7))
        for k in range(32, N_BITS):
            h = tl.load(field, mask=inside, other=0.0, cache_modifier=".cg")
            field += n_pad
            pull = h - _influence(table + k * (NIBBLES * 16), first, second, NIBBLES)
            old = (second >> ((k - 32) ^ 7)) & 1
            new = tl.where(pull > 0, 1, tl.where(pull < 0, 0, old))
            count += new ^ old
            second = second ^ ((new ^ old) << ((k - 32) ^ 7))
    tl.store(place, first, mask=inside)
    if N_BITS > 32:
        tl.store(place + 1, second, mask=inside)
    tl.store(flips + tl.program_id(0), tl.sum(tl.where(inside, count, 0)))


def descend(H, words, B, G, n, *, n_sweeps=1, tile=512, warps=4):
    """Lower Σᵢ bᵢ G bᵢᵀ − 2 bᵢ·hᵢ over codes, in place in `words` and in B.

    Bit k goes to sgn(h_k − Σ_{j≠k} b_j G_jk); a tie keeps it. Rows are independent. Codes of more
    than 64 bits are taken 64 bits at a time, in order, with the pull of all others on them
    subtracted from their field before.

    Returns
    -------
    flips : int64 scalar on the device
    """
    n_bits = len(G)
    flips = torch.empty(-(-n // tile), dtype=torch.int64, device=H.device)
    options = {"N_BITS": min(n_bits, BLOCK_BITS), "TILE": tile, "num_warps": warps}
    if n_bits <= BLOCK_BITS:
        _descend_kernel[(len(flips),)](
            H, words, nibble_table(G), flips, n, H.shape[1], words.shape[1], 0, n_sweeps, **options
        )
        unpack(words, n, B)
        return flips.sum()
    total = torch.zeros((), dtype=torch.int64, device=H.device)
    for _ in range(n_sweeps):
        for block, first in enumerate(range(0, n_bits, BLOCK_BITS)):
            own = slice(first, min(first + BLOCK_BITS, n_bits))
            field = H[own] - pull_of_others(B, G, own)
            options["N_BITS"] = own.stop - first
            _descend_kernel[(len(flips),)](
                field, words, nibble_table(G[own, own]), flips, n, H.shape[1], words.shape[1],
                block, 1, **options,
            )  # fmt: skip
            unpack(words, n, B, block)
            total += flips.sum()
    return total


def pull_of_others(B, G, own):
    """Σ_j b_j G_jk (j outside, k inside the slice `own`) of all codes, (k, n_pad) float32."""
    others = G[:, own].clone()
    others[own] = 0
    halves = Halves(others, len(B))
    high, low = product(halves.both.T[None], B[None])[0].view(BLOCK_BITS, 2, -1).unbind(dim=1)
    return (high + low)[: others.shape[1]] * halves.scale


@triton.jit
def _unpack_kernel(words, B, n, n_pad, n_words, first, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    w = first + tl.program_id(1)
    word = tl.load(words + rows * n_words + w)
    inside = (rows < n).to(tl.int32)
    out = B + w.to(tl.int64) * 32 * n_pad + rows
    for k in range(32):
        sign = (2 * ((word >> (k ^ 7)) & 1) - 1) * inside
        tl.store(out, sign.to(tl.float16))
        out += n_pad


def unpack(words, n, B, block=None):
    """Signs into B (l_pad, n_pad) float16, 0 beyond sample n; of one block of 64 bits, or all."""
    n_pad, n_words = words.shape
    first, number = (0, n_words) if block is None else (2 * block, 2)
    _unpack_kernel[(n_pad // 512, number)](words, B, n, n_pad, n_words, first, TILE=512)


@triton.jit
def _class_kernel(words, order, labels, sums, n, n_words, TILE: tl.constexpr):
    """Adds the codes of a run of samples, ordered by class, to the sums of their classes."""
    places = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = places < n
    w = tl.program_id(1)
    label = tl.load(labels + places, mask=inside, other=-1)
    row = tl.load(order + places, mask=inside, other=0)
    word = tl.load(words + row * n_words + w)
    shifts = tl.arange(0, 32) ^ 7
    ones = (word[:, None] >> shifts[None, :]) & 1
    last = tl.max(label)
    current = tl.min(tl.where(inside, label, last))
    while current <= last:
        member = (label == current).to(tl.int32)
        total = 2 * tl.sum(ones * member[:, None], axis=0) - tl.sum(member)
        out = sums + current.to(tl.int64) * (n_words * 32) + w * 32 + tl.arange(0, 32)
        tl.atomic_add(out, total, sem="relaxed")
        current = tl.min(tl.where(label > current, label, last + 1))


def sum_by_class(codes, classes, *, tile=256):
    """Sums of the codes of each class (c, l_pad) int32."""
    words = codes.words
    n, n_words = len(classes.order), words.shape[1]
    sums = torch.zeros((classes.number, n_words * 32), dtype=torch.int32, device=words.device)
    _class_kernel[(-(-n // tile), n_words)](
        words, classes.order, classes.ordered, sums, n, n_words, TILE=tile
    )
    return sums
