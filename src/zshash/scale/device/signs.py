"""The random signs that a fit in memory starts with, packed as they are drawn.

`zshash.hashing.dcc.random_codes` takes the last bit of each byte in the stream of words of a
``RandomState``. Its generator, the Mersenne Twister, is written out here: drawing and packing in
one go takes a third of the time, and a GPU would wait for it.
"""

import numpy as np

from zshash._compiled import compiled
from zshash.hashing.dcc import SIGNS_OF_A_WORD

__all__ = ["PackedSigns"]

STATE, MIDDLE = 624, 397
ROOM = 4096  # words drawn at a time, which stay in the cache
UPPER, LOWER = np.uint32(0x80000000), np.uint32(0x7FFFFFFF)
TWIST, ONE = np.uint32(0x9908B0DF), np.uint32(1)
LAST_BITS, TOGETHER = np.uint32(0x01010101), np.uint32(0x08040201)


class PackedSigns:
    """Random signs from a ``RandomState``, part by part; packed as `numpy.packbits` does."""

    def __init__(self, rng):
        self._rng = rng
        self._left = np.empty(0, dtype=np.uint8)

    def draw(self, n, n_bits):
        """The next random codes (n, ceil(n_bits / 8))."""
        if n_bits % 8 or self._rng.get_state(legacy=False)["bit_generator"] != "MT19937":
            return np.packbits(self._bytes(n * n_bits).reshape(n, n_bits) & 1, axis=1)
        kind, key, place, *rest = self._rng.get_state()
        packed = np.empty((n, n_bits // 8), dtype=np.uint8)
        room = np.empty(ROOM, dtype=np.uint32)
        place = draw_packed(key, place, room, packed.reshape(-1))
        self._rng.set_state((kind, key, place, *rest))
        return packed

    def _bytes(self, count):
        """The next bytes of the stream; what is left of the last word comes first next time."""
        n_words = -(-max(count - len(self._left), 0) // SIGNS_OF_A_WORD)
        words = self._rng.randint(0, 2**32, size=n_words, dtype=np.uint32)
        signs = np.concatenate([self._left, words.astype("<u4", copy=False).view(np.uint8)])
        self._left = signs[count:].copy()
        return signs[:count]


@compiled
def draw_packed(key, place, room, out):
    """Fill `out` with bytes of eight signs each; the place in the state afterwards."""
    done = 0
    while done < len(out):
        count = min(len(room) // 2, len(out) - done)
        place = draw_words(key, place, room[: 2 * count])
        for i in range(count):
            high = ((room[2 * i] & LAST_BITS) * TOGETHER) >> np.uint32(24)
            low = ((room[2 * i + 1] & LAST_BITS) * TOGETHER) >> np.uint32(24)
            out[done + i] = ((high & np.uint32(15)) << np.uint32(4)) | (low & np.uint32(15))
        done += count
    return place


@compiled
def draw_words(key, place, out):
    """Fill `out` with the next words of the generator; the place in the state afterwards."""
    done = 0
    while done < len(out):
        if place == STATE:
            twist(key)
            place = 0
        count = min(STATE - place, len(out) - done)
        for i in range(count):
            word = key[place + i]
            word ^= word >> np.uint32(11)
            word ^= (word << np.uint32(7)) & np.uint32(0x9D2C5680)
            word ^= (word << np.uint32(15)) & np.uint32(0xEFC60000)
            word ^= word >> np.uint32(18)
            out[done + i] = word
        place += count
        done += count
    return place


@compiled
def twist(key):
    """The next state."""
    for i in range(STATE - MIDDLE):
        both = (key[i] & UPPER) | (key[i + 1] & LOWER)
        key[i] = key[i + MIDDLE] ^ (both >> ONE) ^ (TWIST * (both & ONE))
    for i in range(STATE - MIDDLE, STATE - 1):
        both = (key[i] & UPPER) | (key[i + 1] & LOWER)
        key[i] = key[i + MIDDLE - STATE] ^ (both >> ONE) ^ (TWIST * (both & ONE))
    both = (key[STATE - 1] & UPPER) | (key[0] & LOWER)
    key[STATE - 1] = key[MIDDLE - 1] ^ (both >> ONE) ^ (TWIST * (both & ONE))
