"""How arrays lie on a device, for n samples, m anchors and l bits.

========  ========================  ====================================================
name      shape, type               meaning
========  ========================  ====================================================
Psi       (n_pad, m_pad) float16    kernel features less a constant of each column; column
                                    m is the bias, 1; the rest is 0
H         (l_pad, n_pad) float32    what pulls at each bit, a row per bit, so that
                                    neighbouring threads read neighbouring numbers
words     (n_pad, l_pad/32) int32   packed codes; their bytes are those of numpy.packbits
B         (l_pad, n_pad) float16    the same as −1 and 1, a row per bit; 0 beyond sample n
========  ========================  ====================================================

What padding adds is zero in Psi and in B, so sums over rows may run over all of them.
"""

__all__ = ["BLOCK_BITS", "CHUNK", "COLUMNS", "ROWS", "padded"]

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
