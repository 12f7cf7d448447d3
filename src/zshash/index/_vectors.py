"""Machine instructions that compare many codes at once, which Numba does not offer.

They are written for LLVM's vector types and become AVX-512, AVX2 or NEON, as the machine has it.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

__all__ = ["DIGITS", "STEP", "distance", "heavier", "lowest_bit", "nearer", "popcount", "prefetch"]

LANES, GROUPS = 8, 4
DIGITS = 4
"""Binary digits of the weights in `heavier`."""
STEP = LANES * GROUPS
"""Number of codes that are compared in one go."""

I1, I8, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
VECTOR = ir.VectorType(I64, LANES)
ZEROS = ir.Constant(VECTOR, [0] * LANES)


@intrinsic
def popcount(_, word):
    """Number of set bits of a 64-bit word."""

    def generate(_context, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def lowest_bit(_, mask):
    """Position of the lowest set bit of a 32-bit mask, 32 if none is set."""

    def generate(_context, builder, _signature, arguments):
        return builder.zext(builder.cttz(arguments[0], ir.Constant(I1, 0)), I64)

    return types.int64(types.uint32), generate


@intrinsic
def prefetch(_, array, position):
    """Load an entry of a 1-D array into the cache ahead of time."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(builder.gep(array.data, [arguments[1]]), I8.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, keep, data = (ir.Constant(I32, value) for value in (0, 3, 1))
        builder.call(function, [pointer, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic
def distance(_, words, position, queries, row):
    """Hamming distance of one column of `words` to a row of `queries`, both as for `nearer`."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        n_words, n = cgutils.unpack_tuple(builder, array.shape)
        query = _row(context, builder, signature.args[2], arguments[2], arguments[3])
        total = cgutils.alloca_once(builder, I64)
        builder.store(ir.Constant(I64, 0), total)

        def add_word(number):
            place = builder.add(builder.mul(number, n), arguments[1])
            code = builder.load(builder.gep(array.data, [place]))
            differ = builder.xor(code, builder.load(builder.gep(query, [number])))
            builder.store(builder.add(builder.load(total), builder.ctpop(differ)), total)

        _for_words(builder, n_words, add_word)
        return builder.load(total)

    _check_order(words, queries)
    return types.int64(words, types.int64, queries, types.int64), generate


@intrinsic
def nearer(_, words, start, queries, row, limit):
    """Mask of the codes nearer than `limit`, among `STEP` columns of `words` from `start` on.

    The mask has a bit for each code. Words (n_words, n) and queries (q, n_words) are uint64 in C
    order, and n_words is the same for both.
    """

    def generate(context, builder, signature, arguments):
        codes = _Columns(context, builder, signature.args[0], arguments[0], arguments[1])
        query = _row(context, builder, signature.args[2], arguments[2], arguments[3])
        totals = _accumulators(builder)

        def add_word(number):
            wanted = _splat(builder, builder.load(builder.gep(query, [number])))
            for group, total in enumerate(totals):
                differ = builder.xor(codes.load(number, group), wanted)
                builder.store(builder.add(builder.load(total), _ctpop(builder, differ)), total)

        _for_words(builder, codes.n_words, add_word)
        limits = _splat(builder, arguments[4])
        return _mask(builder, "<", [builder.load(total) for total in totals], limits)

    _check_order(words, queries)
    return types.uint32(words, types.int64, queries, types.int64, types.int64), generate


@intrinsic
def heavier(_, words, start, flips, planes, row, limit):
    """Mask of the codes of weight >= `limit`, among `STEP` columns of `words` from `start` on.

    A code's weight is the sum of whole numbers, one for each bit that is set after the bits
    in `flips` (q, n_words) are flipped. `planes` (q, DIGITS, n_words) gives the numbers in binary:
    each plane has one digit of all numbers, the first plane the highest.
    """

    def generate(context, builder, signature, arguments):
        codes = _Columns(context, builder, signature.args[0], arguments[0], arguments[1])
        flips = _row(context, builder, signature.args[2], arguments[2], arguments[4])
        digits = _row(context, builder, signature.args[3], arguments[3], arguments[4])
        totals = _accumulators(builder)
        one = ir.Constant(VECTOR, [1] * LANES)
        for plane in range(DIGITS):
            own = builder.gep(digits, [builder.mul(ir.Constant(I64, plane), codes.n_words)])
            for total in totals if plane else ():
                builder.store(builder.shl(builder.load(total), one), total)

            def add_word(number, own=own):
                flip = _splat(builder, builder.load(builder.gep(flips, [number])))
                digit = _splat(builder, builder.load(builder.gep(own, [number])))
                for group, total in enumerate(totals):
                    bits = builder.and_(builder.xor(codes.load(number, group), flip), digit)
                    builder.store(builder.add(builder.load(total), _ctpop(builder, bits)), total)

            _for_words(builder, codes.n_words, add_word)
        limits = _splat(builder, arguments[5])
        return _mask(builder, ">=", [builder.load(total) for total in totals], limits)

    _check_order(words, flips, planes)
    kinds = (words, types.int64, flips, planes, types.int64, types.int64)
    return types.uint32(*kinds), generate


def _check_order(*arrays: Any) -> None:
    """Refuse arrays that are not uint64 in C order, because nothing else would."""
    if not all(array.layout == "C" and array.dtype == types.uint64 for array in arrays):
        raise TypingError("words must be uint64 in C order")


class _Columns:
    """Columns of a (n_words, n) array from `start` on, `LANES` of them in a vector."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any, start: Any) -> None:
        array = context.make_array(kind)(context, builder, array)
        self.n_words, self._n = cgutils.unpack_tuple(builder, array.shape)
        self._builder, self._start = builder, builder.gep(array.data, [start])

    def load(self, word: Any, group: int) -> Any:
        """One word of `LANES` codes."""
        offset = self._builder.add(
            self._builder.mul(word, self._n), ir.Constant(I64, group * LANES)
        )
        pointer = self._builder.gep(self._start, [offset])
        vector = self._builder.bitcast(pointer, VECTOR.as_pointer())
        return self._builder.load(vector, align=8)


def _row(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> Any:
    """Pointer to the first entry of a row of an array in C order."""
    array = context.make_array(kind)(context, builder, array)
    size = ir.Constant(I64, 1)
    for length in cgutils.unpack_tuple(builder, array.shape)[1:]:
        size = builder.mul(size, length)
    return builder.gep(array.data, [builder.mul(row, size)])


def _for_words(builder: Any, n_words: Any, add_word: Any) -> None:
    """Generate `add_word` for each word; the first, most often the only one, without a loop."""
    one = ir.Constant(I64, 1)
    add_word(ir.Constant(I64, 0))
    with cgutils.for_range_slice(builder, one, n_words, one, inc=True) as (number, _):
        add_word(number)


def _accumulators(builder: Any) -> list[Any]:
    totals = [cgutils.alloca_once(builder, VECTOR) for _ in range(GROUPS)]
    for total in totals:  # on each pass, because an alloca runs only once in a function
        builder.store(ZEROS, total)
    return totals


def _splat(builder: Any, scalar: Any) -> Any:
    """A vector of equal entries."""
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(I32, 0))
    places = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, places)


def _ctpop(builder: Any, vector: Any) -> Any:
    kind = ir.FunctionType(VECTOR, [VECTOR])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{LANES}i64")
    return builder.call(function, [vector])


def _mask(builder: Any, operator: str, totals: list[Any], limits: Any) -> Any:
    """Mask with a bit for each entry of the totals for which the comparison with `limits` holds."""
    mask = ir.Constant(I32, 0)
    for group, total in enumerate(totals):
        holds = builder.icmp_signed(operator, total, limits)
        bits = builder.zext(builder.bitcast(holds, ir.IntType(LANES)), I32)
        mask = builder.or_(mask, builder.shl(bits, ir.Constant(I32, group * LANES)))
    return mask
