"""The random signs that a fit in memory starts with, packed as they are drawn."""

import numpy as np

from zshash.hashing.dcc import SIGNS_OF_A_WORD
from zshash.hashing.mersenne import draw_packed_signs, is_known

__all__ = ["PackedSigns"]


class PackedSigns:
    """What `zshash.hashing.dcc.random_codes` draws, part by part and packed."""

    def __init__(self, rng):
        self._rng = rng
        self._left = np.empty(0, dtype=np.uint8)

    def draw(self, n, n_bits):
        """The next random codes (n, ceil(n_bits / 8))."""
        if n_bits % 8 == 0 and is_known(self._rng):
            return draw_packed_signs(n * n_bits // 8, self._rng).reshape(n, -1)
        return np.packbits(self._bytes(n * n_bits).reshape(n, n_bits) & 1, axis=1)

    def _bytes(self, count):
        """The next bytes of the stream; what is left of the last word comes first next time."""
        n_words = -(-max(count - len(self._left), 0) // SIGNS_OF_A_WORD)
        words = self._rng.randint(0, 2**32, size=n_words, dtype=np.uint32)
        signs = np.concatenate([self._left, words.astype("<u4", copy=False).view(np.uint8)])
        self._left = signs[count:].copy()
        return signs[:count]
