"""Faster draws from the random stream of NumPy's ``RandomState``.

Its generator is the Mersenne Twister (Matsumoto and Nishimura 1998): a state of 624 words and a
place in it. Here it is written out and compiled. Draws are the same to the last bit, and the
``RandomState`` continues after them.
"""

import numpy as np

from zshash._compiled import compiled
from zshash.hashing.steps.dcc import SIGNS_OF_A_WORD

STATE, MIDDLE = 624, 397
UPPER, LOWER = np.uint32(0x80000000), np.uint32(0x7FFFFFFF)
MATRIX, ONE = np.uint32(0x9908B0DF), np.uint32(1)
LAST_BITS, TOGETHER = np.uint32(0x01010101), np.uint32(0x08040201)
ROOM = 4096  # words drawn at a time, which stay in the cache


def is_known(rng):
    """Whether the generator of a ``RandomState`` is the Mersenne Twister."""
    return rng.get_state(legacy=False)["bit_generator"] == "MT19937"


def choose(n, size, rng):
    """``rng.choice(n, size, replace=False)``.

    >>> a, b = np.random.RandomState(0), np.random.RandomState(0)
    >>> bool((choose(9000, 5, a) == b.choice(9000, 5, replace=False)).all()), a.rand() == b.rand()
    (True, True)
    """
    if n >= 2**31 or not is_known(rng):
        return rng.choice(n, size, replace=False)
    order = np.arange(n)
    _go_on(rng, shuffle, order)
    return order[:size].copy()


def draw_packed_signs(count, rng):
    """`count` bytes of eight random signs each, packed as `numpy.packbits` does.

    A sign is the last bit of each byte in the stream, which is what ``rng.randint(0, 2, …,
    dtype=np.int8)`` draws.
    """
    packed = np.empty(count, dtype=np.uint8)
    _go_on(rng, pack_signs, packed)
    return packed


class PackedSigns:
    """The codes that `zshash.hashing.steps.dcc.random_codes` draws, packed and part by part."""

    def __init__(self, rng):
        self._rng = rng
        self._left = np.empty(0, dtype=np.uint8)

    def draw(self, n, n_bits):
        """The next random codes (n, ceil(n_bits / 8))."""
        if n_bits % 8 == 0 and is_known(self._rng):
            return draw_packed_signs(n * n_bits // 8, self._rng).reshape(n, -1)
        return np.packbits(self._bytes(n * n_bits).reshape(n, n_bits) & 1, axis=1)

    def _bytes(self, count):
        """The next bytes of the stream; bytes left of the last word come first in the next call."""
        n_words = -(-max(count - len(self._left), 0) // SIGNS_OF_A_WORD)
        words = self._rng.randint(0, 2**32, size=n_words, dtype=np.uint32)
        signs = np.concatenate([self._left, words.astype("<u4", copy=False).view(np.uint8)])
        self._left = signs[count:].copy()
        return signs[:count]


def _go_on(rng, draw, out):
    """Fill an array by `draw`, and advance the ``RandomState`` past the words drawn."""
    kind, key, place, *rest = rng.get_state()
    place = draw(key, place, out)
    rng.set_state((kind, key, place, *rest))


@compiled
def shuffle(key, place, out):
    """Shuffle `out` from the end, as Fisher and Yates do; returns the place in the state.

    The index to swap i with is the next word, cut to the bits of i, that is at most i.
    """
    room, drawn = np.empty(ROOM, dtype=np.uint32), ROOM
    start, passed = key.copy(), place
    for i in range(len(out) - 1, 0, -1):
        mask = np.uint32(i)
        for shift in (1, 2, 4, 8, 16):
            mask |= mask >> np.uint32(shift)
        while True:
            if drawn == ROOM:
                start[:], passed = key, place
                place = draw_words(key, place, room)
                drawn = 0
            j = room[drawn] & mask
            drawn += 1
            if j <= i:
                break
        out[i], out[j] = out[j], out[i]
    if drawn < ROOM:  # words that were not used go back
        key[:] = start
        place = draw_words(key, passed, room[:drawn])
    return place


@compiled
def pack_signs(key, place, out):
    """Fill `out` with bytes of eight signs each; the place in the state afterwards."""
    room = np.empty(ROOM, dtype=np.uint32)
    done = 0
    while done < len(out):
        count = min(ROOM // 2, len(out) - done)
        place = draw_words(key, place, room[: 2 * count])
        pack(room, out[done : done + count])
        done += count
    return place


@compiled
def pack(words, out):
    """Pack the last bits of eight bytes, two words, into a byte."""
    for i in range(len(out)):
        high = ((words[2 * i] & LAST_BITS) * TOGETHER) >> np.uint32(24)
        low = ((words[2 * i + 1] & LAST_BITS) * TOGETHER) >> np.uint32(24)
        out[i] = ((high & np.uint32(15)) << np.uint32(4)) | (low & np.uint32(15))


@compiled
def draw_words(key, place, out):
    """Fill `out` with the next words; the place in the state afterwards."""
    done = 0
    while done < len(out):
        if place == STATE:
            twist(key)
            place = 0
        count = min(STATE - place, len(out) - done)
        temper(key[place : place + count], out[done : done + count])
        place += count
        done += count
    return place


@compiled
def temper(key, out):
    """Fill `out` with tempered words; plain indices let the compiler take many at a time."""
    for i in range(len(out)):
        word = key[i]
        word ^= word >> np.uint32(11)
        word ^= (word << np.uint32(7)) & np.uint32(0x9D2C5680)
        word ^= (word << np.uint32(15)) & np.uint32(0xEFC60000)
        out[i] = word ^ (word >> np.uint32(18))


@compiled
def twist(key):
    """The next state, in place."""
    for i in range(STATE - MIDDLE):
        both = (key[i] & UPPER) | (key[i + 1] & LOWER)
        key[i] = key[i + MIDDLE] ^ (both >> ONE) ^ (MATRIX * (both & ONE))
    for i in range(STATE - MIDDLE, STATE - 1):
        both = (key[i] & UPPER) | (key[i + 1] & LOWER)
        key[i] = key[i - (STATE - MIDDLE)] ^ (both >> ONE) ^ (MATRIX * (both & ONE))
    both = (key[STATE - 1] & UPPER) | (key[0] & LOWER)
    key[STATE - 1] = key[MIDDLE - 1] ^ (both >> ONE) ^ (MATRIX * (both & ONE))
