"""Columns of Parquet files."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.datasets.data import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["column_names", "count_row_groups", "read_columns", "read_matrix"]


def column_names(path: Path) -> list[str]:
    """Names of the columns of a file."""
    with needs("parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    try:
        names = list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a Parquet file, or damaged") from error
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{path}: several columns have the name {twice[0]!r}")
    return names


def count_row_groups(path: Path) -> int:
    """How many row groups a file has."""
    column_names(path)  # raises if the file is damaged
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return int(file.num_row_groups)


def read_columns(
    path: Path, names: Sequence[str], group: int | None = None
) -> dict[str, list[Any]]:
    """Values of the columns as Python objects, of one row group or all; None for no value."""
    table = _read(path, names, group)
    return {name: table.column(name).to_pylist() for name in names}


def read_matrix(path: Path, name: str, group: int | None = None) -> NDArray[Any]:
    """A column of lists of numbers, all of the same length, as one (n, d) array."""
    column = _read(path, [name], group).column(name)
    if not _holds_lists_of_numbers(column.type):
        raise DataError(f"{path}: the column {name} must hold lists of numbers, not {column.type}")
    # block by block, as the lists of one block can not have more than 2**31 values in all
    blocks = [block for block in column.chunks if len(block)]
    if not blocks:
        raise DataError(f"{path}: there are no rows")
    if any(block.null_count or block.flatten().null_count for block in blocks):
        raise DataError(f"{path}: values are missing in the column {name}")
    widths = np.unique(np.concatenate([block.value_lengths() for block in blocks]))
    if len(widths) > 1:
        lengths = f"{widths[0]} and {widths[1]}"
        raise DataError(f"{path}: the lists in the column {name} differ in length ({lengths})")
    return np.concatenate([_rows(block, int(widths[0])) for block in blocks])


def _read(path: Path, names: Sequence[str], group: int | None = None) -> "pa.Table":
    with needs("parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    try:
        with pq.ParquetFile(path) as file:
            if group is None:
                return file.read(columns=list(names))
            return file.read_row_group(group, columns=list(names))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a Parquet file, or damaged") from error


def _holds_lists_of_numbers(kind: "pa.DataType") -> bool:
    from pyarrow import types

    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if not is_list:
        return False
    return bool(types.is_integer(kind.value_type) or types.is_floating(kind.value_type))


def _rows(block: "pa.Array", width: int) -> NDArray[Any]:
    return np.asarray(block.flatten().to_numpy(zero_copy_only=False)).reshape(len(block), width)
