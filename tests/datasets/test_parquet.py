import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zshash.datasets import DataError
from zshash.datasets.parquet import column_names, read_columns, read_matrix


@pytest.fixture
def write(tmp_path):
    def write(column, **options):
        path = tmp_path / "data.parquet"
        pq.write_table(pa.table({"X": column, "n": range(len(column))}), path, **options)
        return path

    return write


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8])
@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, lambda number: pa.list_(number, 3)])
@pytest.mark.parametrize("rows", [2, 1000])
def test_matrices(write, dtype, kind, rows):
    values = np.arange(21, dtype=dtype).reshape(7, 3)
    column = pa.array(list(map(list, values)), kind(pa.from_numpy_dtype(dtype)))
    path = write(column, row_group_size=rows)
    found = read_matrix(path, "X")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, values)


def test_columns(write):
    path = write(pa.array(["a", None, "c"]))
    assert column_names(path) == ["X", "n"]
    assert read_columns(path, ["n", "X"]) == {"n": [0, 1, 2], "X": ["a", None, "c"]}
    assert read_columns(path, []) == {}


@pytest.mark.parametrize("rows", [1, 1000])
@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([[1.0, 2.0], [3.0]], r"the lists in the column X differ in length \(1 and 2\)"),
        ([[1.0], None], "values are missing in the column X"),
        ([[1.0], [None]], "values are missing in the column X"),
        ([1.0, 2.0], "must hold lists of numbers, not double"),
        ([["a"], ["b"]], "must hold lists of numbers, not list<"),
    ],
)
def test_bad_matrices(write, column, message, rows):
    with pytest.raises(DataError, match=message):
        read_matrix(write(pa.array(column), row_group_size=rows), "X")


def test_no_rows(write):
    with pytest.raises(DataError, match="there are no rows"):
        read_matrix(write(pa.array([], pa.list_(pa.float32()))), "X")


def test_two_columns_of_one_name(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, tmp_path / "data.parquet")
    with pytest.raises(DataError, match="several columns have the name 'a'"):
        column_names(tmp_path / "data.parquet")


def test_damaged_files(write):
    path = write(pa.array([[1.0, 2.0]] * 1000), compression="gzip")
    content = bytearray(path.read_bytes())
    content[10:40] = bytes(30)
    path.write_bytes(content)
    with pytest.raises(DataError, match="not a Parquet file, or damaged"):
        read_matrix(path, "X")
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="not a Parquet file, or damaged"):
        column_names(path)
