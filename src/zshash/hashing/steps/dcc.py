"""Discrete cyclic coordinate descent: codes that minimise a quadratic, one bit at a time."""

from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from zshash._compiled import compiled
from zshash._threads import map_blocks

SIGNS_OF_A_WORD = 4
MANY_WORDS = 2**20


@dataclass
class Sums:
    """Sums over rows of B, which are all that the steps need; sums of parts add up."""

    BtB: np.ndarray  # (l, l)
    YtB: np.ndarray  # (p, l)
    PhitB: np.ndarray  # (m + 1, l)
    n: int
    flips: int = 0  # bits that the last B-step changed

    def __add__(self, other):
        own, others = vars(self).values(), vars(other).values()
        return Sums(*map(add, own, others))


def random_codes(n, n_bits, rng):
    """Random signs (n, n_bits), int8."""
    return 2 * rng.randint(0, 2, size=(n, n_bits), dtype=np.int8) - 1


def split_stream(sizes, n_bits, rng):
    """Places in the stream of `rng` where the parts of random codes begin.

    `codes_from` draws a part from its place. All parts together are what `random_codes` would
    draw, and `rng` ends in the same state. The stream gives a word of 32 bits for four signs.
    """
    places, first, passed = [], 0, 0
    for n in [*sizes, 0]:
        word, signs = divmod(first * n_bits, SIGNS_OF_A_WORD)
        _pass_by(word - passed, rng)
        places.append((deepcopy(rng), signs))
        first, passed = first + n, word
    _pass_by(1 if places.pop()[1] else 0, rng)  # the word that the last sign has begun
    return places


def codes_from(place, n, n_bits):
    """The random codes (n, n_bits) of a part, from its place in the stream."""
    rng, skipped = deepcopy(place)
    signs = rng.randint(0, 2, size=skipped + n * n_bits, dtype=np.int8)[skipped:]
    return 2 * signs.reshape(n, n_bits) - 1


def _pass_by(words, rng):
    """Draw words of 32 bits and forget them."""
    for first in range(0, words, MANY_WORDS):
        rng.randint(0, 2**32, size=min(MANY_WORDS, words - first), dtype=np.uint32)


class NumpyBlocks:
    """Operations of the steps on blocks of rows in NumPy arrays; a GPU has its own."""

    def weights(self, P):
        """P as `project` needs it: in one layout, so that rounding is always the same."""
        return np.array(P, dtype=np.float32, order="F")

    def mapping(self, A):
        """A in one layout, as an array of the same kind as the targets."""
        return np.array(A, order="C")

    def project(self, Phi, P):
        """ΦP, float32."""
        return Phi @ P

    def descend(self, B, table, rows, projections, alpha, G, n_sweeps):
        """One B-step in place, see `descend`; the number of flips."""
        G = G.astype(np.float32)
        fixed = B.astype(np.float32) @ G
        return descend(B, fixed, table, rows, projections, float(alpha), G, n_sweeps)

    def sum_by_class(self, B, rows, n_classes):
        """Sum of the codes of each class (n_classes, l) float64, exact."""
        return sum_by_class(B, rows, n_classes)

    def products(self, B, Phi):
        """BᵀB, exact, and ΦᵀB, float64."""
        B = B.astype(np.float32)
        return (B.T @ B).astype(np.float64), (Phi.T @ B).astype(np.float64)

    def fetch(self, array):
        """A small array, as NumPy's."""
        return array


IN_NUMPY = NumpyBlocks()


def update_codes(B, features, targets, P, A, *, alpha, n_sweeps, blocks=IN_NUMPY):
    """Lower ‖Y − BA‖² + α‖B − ΦP‖² over B in {−1, 1}, in place, by blocks of rows.

    Returns the sums over the new codes: one pass over Φ serves this step and the next P-step.
    """
    P, A = blocks.weights(P), blocks.mapping(A)
    G = A @ A.T

    def update(part):
        Phi, own, block = features[part], targets[part], B[part]
        projections = blocks.project(Phi, P)
        scores = own.vectors @ A.T
        flips = blocks.descend(block, scores, own.rows, projections, alpha, G, n_sweeps)
        return measure_block(block, Phi, own, flips, blocks)

    return reduce(add, map_blocks(update, features.parts()))


def measure(B, features, targets, blocks=IN_NUMPY):
    """The sums of given codes."""

    def sums(part):
        return measure_block(B[part], features[part], targets[part], 0, blocks)

    return reduce(add, map_blocks(sums, features.parts()))


def measure_block(B, Phi, targets, flips=0, blocks=IN_NUMPY):
    """The sums of one block of rows; BᵀB and YᵀB come from exact sums of B."""
    by_class = blocks.sum_by_class(B, targets.rows, len(targets.vectors))
    BtB, PhitB = blocks.products(B, Phi)
    YtB = targets.vectors.T @ by_class
    return Sums(blocks.fetch(BtB), blocks.fetch(YtB), PhitB, len(B), int(flips))


@compiled
def descend(B, fixed, table, rows, projections, alpha, G, n_sweeps):
    """Lower Σᵢ bᵢ G bᵢᵀ − 2 bᵢ·hᵢ over the rows of B in {−1, 1}, in place.

    ``hᵢ = table[rows[i]] + alpha · projections[i]``; G (l, l) is symmetric and `fixed` holds
    B G on entry (and on return). Bit k goes to sgn(h_k − Σ_{j≠k} b_j G_jk); a tie keeps it.
    Rows are independent of each other. Returns the number of flips.
    """
    n, n_bits = B.shape
    flips = 0
    for i in range(n):
        for _ in range(n_sweeps):
            flipped = 0
            for k in range(n_bits):
                b = B[i, k]
                h = table[rows[i], k] + alpha * projections[i, k]
                if b * (h - fixed[i, k]) + G[k, k] < 0:
                    B[i, k] = -b
                    flipped += 1
                    for j in range(n_bits):
                        fixed[i, j] -= 2 * b * G[k, j]
            flips += flipped
            if flipped == 0:
                break
    return flips


@compiled
def sum_by_class(B, rows, n_classes):
    """Sum of the codes of each class (n_classes, l), exact."""
    sums = np.zeros((n_classes, B.shape[1]))
    for i in range(len(rows)):
        for k in range(B.shape[1]):
            sums[rows[i], k] += B[i, k]
    return sums
