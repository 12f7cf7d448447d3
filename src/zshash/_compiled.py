"""Functions that Numba compiles."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile on first use, run without the interpreter's lock, and keep the result on disk.

    Where no folder can be written, as in some containers, it is compiled anew in each process.
    """
    try:
        return cast(Function, njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast(Function, njit(nogil=True)(function))
