"""Reading pickles from strangers: only what a table allows is called."""

import pickle
from collections.abc import Callable, Mapping
from math import prod
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ARRAYS", "PickledArray", "PickledDict", "SafeUnpickler", "UnpicklingError"]

UnpicklingError = pickle.UnpicklingError
Table = Mapping[tuple[str, str], Any]

# sets, and other ways to make an object: NumPy and PyTorch use none of them
FORBIDDEN = (
    pickle.INST + pickle.OBJ + pickle.NEWOBJ + pickle.NEWOBJ_EX
    + pickle.EXT1 + pickle.EXT2 + pickle.EXT4 + pickle.NEXT_BUFFER + pickle.READONLY_BUFFER
    + pickle.EMPTY_SET + pickle.ADDITEMS + pickle.FROZENSET
)  # fmt: skip


class SafeUnpickler(pickle._Unpickler):
    """Reads a pickle of plain values, and of objects from a table.

    It is built on Python's own implementation in Python: the one in C can be made to take any
    amount of memory by a file of ten bytes, and its steps can not be restricted.

    Parameters
    ----------
    file : binary file
    table : mapping of (str, str) to object
        Object for each (module, name) that a pickle may mention. Nothing is imported. The pickle
        may call a callable object with any plain values, so the object must check them.
    encoding : str
        Encoding of the strings that Python 2 wrote.

    Notes
    -----
    An object takes a state from the pickle only where its class has a ``__setstate__``. Override
    `persistent_load` to resolve persistent ids.

    Examples
    --------
    >>> from io import BytesIO
    >>> SafeUnpickler(BytesIO(pickle.dumps({"a": [1, 2.5]})), {}).load()
    {'a': [1, 2.5]}
    >>> SafeUnpickler(BytesIO(pickle.dumps(print)), {}).load()
    Traceback (most recent call last):
    _pickle.UnpicklingError: it asks for builtins.print, which is not allowed
    """

    dispatch: ClassVar[dict[int, Callable[..., None]]] = {
        code: step for code, step in pickle._Unpickler.dispatch.items() if code not in FORBIDDEN
    }
    stack: list[Any]
    pop_mark: Callable[[], list[Any]]

    def __init__(self, file: IO[bytes], table: Table, encoding: str = "latin1") -> None:
        super().__init__(file, fix_imports=False, encoding=encoding)
        self._table = table

    def load(self) -> Any:
        """The value that the file holds.

        Raises
        ------
        UnpicklingError
            If the file is no pickle, is cut off, or asks for something that is not allowed.
        """
        try:
            return super().load()
        except pickle.UnpicklingError:
            raise
        except Exception as error:  # bytes that mean nothing can make it raise anything
            raise UnpicklingError("it is no plain pickle, or it is cut off") from error

    def find_class(self, module: str, name: str) -> Any:
        """Object of the table for a name."""
        try:
            return self._table[module, name]
        except KeyError:
            raise UnpicklingError(f"it asks for {module}.{name}, which is not allowed") from None

    def persistent_load(self, pid: Any) -> Any:
        """Refuse persistent ids, which this class does not resolve."""
        raise UnpicklingError(f"it refers to data outside of it (by a {type(pid).__name__})")

    def load_build(self) -> None:
        """Give an object its state, if its class takes one."""
        state = self.stack.pop()
        kind = type(self.stack[-1])
        if not hasattr(kind, "__setstate__"):
            raise UnpicklingError(f"it changes an object of type {kind.__name__}")
        kind.__setstate__(self.stack[-1], state)

    def load_setitem(self) -> None:
        """Fill one place of a dictionary."""
        value, key = self.stack.pop(), self.stack.pop()
        self._fill([key, value])

    def load_setitems(self) -> None:
        """Fill several places of a dictionary."""
        self._fill(self.pop_mark())

    def load_dict(self) -> None:
        """Make a dictionary of the entries after a mark."""
        items = self.pop_mark()
        self.stack.append({})
        self._fill(items)

    def _fill(self, items: list[Any]) -> None:
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | bytes | int):  # hashing deep tuples overflows the stack
                raise UnpicklingError(f"it has a key of type {type(key).__name__}")
            self.stack[-1][key] = value

    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.SETITEM[0]] = load_setitem
    dispatch[pickle.SETITEMS[0]] = load_setitems
    dispatch[pickle.DICT[0]] = load_dict


class PickledDict(dict[Any, Any]):
    """A dictionary whose attributes in the pickle are dropped."""

    def __setstate__(self, state: object) -> None: ...


class PickledArray:
    """A NumPy array of numbers from a pickle; `numpy.asarray` turns it into a plain array.

    NumPy's own ``__setstate__`` is not used, because it trusts the sizes in the file.
    """

    __slots__ = ("_array",)

    def __init__(self, array: NDArray[Any] | None = None) -> None:
        self._array = array

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _version, shape, dtype, in_columns, data = state
        self._array = _array(data, dtype, shape, "F" if in_columns else "C")._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self._array is None:
            raise UnpicklingError("an array without content")
        return np.array(self._array, dtype=dtype, copy=copy)


class _Dtype:
    """Kind and size of a number, and the order of its bytes."""

    __slots__ = ("_order", "code")

    def __init__(self, code: str, _align: object = False, _copy: object = False) -> None:
        if not (len(code) == 2 and code[0] in "biuf" and code[1] in "1248"):
            raise UnpicklingError(f"it holds an array of {code!r}, and only numbers are allowed")
        self.code = code
        self._order = "|"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._order = "<>|"["<>|".index(state[1])]

    def plain(self) -> np.dtype[Any]:
        return np.dtype(self._order + self.code)


def _array(data: bytes | str, dtype: _Dtype, shape: tuple[int, ...], order: str) -> PickledArray:
    content = data.encode("latin1") if isinstance(data, str) else data
    plain = dtype.plain()
    if len(content) != prod(shape) * plain.itemsize or min(shape, default=0) < 0:
        raise UnpicklingError(f"an array of shape {shape} with {len(content)} bytes")
    values = np.frombuffer(content, plain)
    return PickledArray(values.reshape(shape, order="F" if order == "F" else "C"))


def _scalar(dtype: _Dtype, data: bytes | str) -> bool | int | float:
    number: bool | int | float = np.asarray(_array(data, dtype, (), "C")).item()
    return number


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise UnpicklingError(f"it holds bytes as {encoding} text")
    return text.encode("latin1")


def _both(module: str, name: str, maker: Callable[..., Any]) -> dict[tuple[str, str], Any]:
    """Table entries for a name of NumPy's core, which has two paths since it moved."""
    return {(f"numpy.core.{module}", name): maker, (f"numpy._core.{module}", name): maker}


ARRAYS: Table = {
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _encode,
    ("collections", "OrderedDict"): PickledDict,
    **_both("multiarray", "_reconstruct", lambda _kind, _shape, _code: PickledArray()),
    **_both("multiarray", "scalar", _scalar),
    **_both("numeric", "_frombuffer", _array),
}
"""Table for dictionaries, lists and NumPy arrays of numbers."""
