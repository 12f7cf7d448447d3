"""Functions that Numba compiles."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

__all__ = ["compiled", "compiled_sums"]

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile on first use, run without the interpreter's lock, and keep the result on disk.

    Where no folder can be written, as in some containers, each process compiles anew.
    """
    return _compile(function)


def compiled_sums(function: Function) -> Function:
    """Compile as `compiled` does, but sums may be reordered: several numbers are added at once."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def _compile(function: Function, fastmath: bool | set[str] = False) -> Function:
    try:
        return cast(Function, njit(cache=True, nogil=True, fastmath=fastmath)(function))
    except RuntimeError:
        return cast(Function, njit(nogil=True, fastmath=fastmath)(function))
