"""Bytes of many codes, looked up in tables at once, where the processor has an instruction for it.

AVX-512 VBMI looks up 64 bytes in a table of 128 entries in one go; two of these serve a table for
all values of a byte. LLVM's vector types have nothing like it, so it is called by its name.
"""

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.errors import TypingError
from numba.extending import intrinsic

__all__ = ["CODES", "can_look_up", "low_sums"]

CODES = 64
"""Number of codes that are looked up in one go."""

FEATURE = "avx512vbmi"
I8, I64 = ir.IntType(8), ir.IntType(64)
BYTES = ir.VectorType(I8, CODES)
PERMUTE, ADD = "llvm.x86.avx512.vpermi2var.qi.512", f"llvm.uadd.sat.v{CODES}i8"


def can_look_up() -> bool:
    """Whether the machine that Numba compiles for has the instruction."""
    name, features = getattr(config, "CPU_NAME", None), getattr(config, "CPU_FEATURES", None)
    if name or features:  # of another machine, perhaps
        return f"+{FEATURE}" in (features or "")
    try:
        return bool(llvm.get_host_cpu_features().get(FEATURE))
    except RuntimeError:  # LLVM does not know this processor
        return False


@intrinsic
def low_sums(_, planes, start, tables, row, limit):
    """Mask of the codes whose sum is at most `limit`, among `CODES` columns from `start` on.

    A code is a column of `planes` (n_bytes, n), and its sum that of `tables` (q, n_bytes, 256) at
    its bytes, in this row of the tables; sums above 255 count as 255. Both hold uint8 in C order.
    """

    def generate(context, builder, signature, arguments):
        codes = context.make_array(signature.args[0])(context, builder, arguments[0])
        entries = context.make_array(signature.args[2])(context, builder, arguments[2])
        n_bytes, n = cgutils.unpack_tuple(builder, codes.shape)
        first = builder.gep(codes.data, [arguments[1]])
        size = builder.mul(n_bytes, ir.Constant(I64, 256))
        table = builder.gep(entries.data, [builder.mul(arguments[3], size)])
        total = cgutils.alloca_once(builder, BYTES)
        builder.store(ir.Constant(BYTES, [0] * CODES), total)
        with cgutils.for_range(builder, n_bytes) as loop:
            values = _load(builder, first, builder.mul(loop.index, n))
            own = builder.gep(table, [builder.mul(loop.index, ir.Constant(I64, 256))])
            parts = [_load(builder, own, ir.Constant(I64, CODES * part)) for part in range(4)]
            low = _call(builder, PERMUTE, parts[0], values, parts[1])
            high = _call(builder, PERMUTE, parts[2], values, parts[3])
            is_high = builder.icmp_signed("<", values, ir.Constant(BYTES, [0] * CODES))
            found = builder.select(is_high, high, low)
            builder.store(_call(builder, ADD, builder.load(total), found), total)
        limits = _filled(builder, builder.trunc(arguments[4], I8))
        holds = builder.icmp_unsigned("<=", builder.load(total), limits)
        return builder.bitcast(holds, I64)

    if not all(array.layout == "C" and array.dtype == types.uint8 for array in (planes, tables)):
        raise TypingError("planes and tables must be uint8 in C order")
    return types.uint64(planes, types.int64, tables, types.int64, types.int64), generate


def _load(builder: Any, pointer: Any, offset: Any) -> Any:
    """A vector of `CODES` bytes."""
    place = builder.bitcast(builder.gep(pointer, [offset]), BYTES.as_pointer())
    return builder.load(place, align=1)


def _call(builder: Any, name: str, *vectors: Any) -> Any:
    kind = ir.FunctionType(BYTES, [BYTES] * len(vectors))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), vectors)


def _filled(builder: Any, byte: Any) -> Any:
    """A vector of equal bytes."""
    undefined = ir.Constant(BYTES, ir.Undefined)
    first = builder.insert_element(undefined, byte, ir.Constant(ir.IntType(32), 0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), CODES), [0] * CODES)
    return builder.shuffle_vector(first, undefined, places)
