"""The operations on packed codes that a CUDA device does in kernels of its own, in Triton.

See `zshash.scale.device.kernels` for the operations on features.
"""

import torch
import triton
import triton.language as tl

from zshash.scale.device.arrays import BLOCK_BITS, Halves, padded, product

__all__ = ["descend", "sum_by_class", "unpack"]


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
