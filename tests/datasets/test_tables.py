import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zshash.datasets import DataError, Dataset, digits, load_features
from zshash.datasets.tables import as_arrays, has_features

X = np.arange(12, dtype=np.float16).reshape(4, 3)


@pytest.fixture
def write(tmp_path):
    def write(**arrays):
        path = tmp_path / "data.npz"
        np.savez(path, **arrays)
        return path

    return write


@pytest.fixture
def write_parquet(tmp_path):
    def write(**columns):
        path = tmp_path / "data.parquet"
        pq.write_table(pa.table(columns), path)
        return path

    return write


def test_a_whole_table(write):
    data = load_features(write(X=X, y=np.array([1, 0, 1, 1], np.uint8), names=["cat", "dog"]))
    assert data.X.dtype == np.float32
    np.testing.assert_array_equal(data.X, X)
    assert data.labels.tolist() == [1, 0, 1, 1]
    assert data.names == ("cat", "dog")
    assert data.synsets == ()
    assert len(data) == 4


def test_labels_as_words(write):
    data = load_features(write(features=X, labels=["eel", "cat", "eel", "dog"]))
    assert data.names == ("cat", "dog", "eel")
    assert data.labels.tolist() == [2, 0, 2, 1]


def test_labels_without_names(write):
    data = load_features(write(X=X, y=[0, 2, 2, 0]))
    assert data.names == ("0", "2")
    assert data.labels.tolist() == [0, 1, 1, 0]


def test_large_numbers_as_labels_stay_few_categories(write):
    data = load_features(write(X=X, y=[3_000_000, 7, 3_000_000, 7]))
    assert data.names == ("7", "3000000")


def test_words_are_numbered_by_the_names(write):
    wnids = ["n04490091", "n02121620"]
    y = ["cat", "truck", "truck", "cat"]
    data = load_features(write(X=X, y=y, names=["truck", "cat"], wnids=wnids))
    assert data.labels.tolist() == [1, 0, 0, 1]
    assert data.names == ("truck", "cat")
    assert data.synsets == tuple(wnids)


def test_categories_of_the_same_name_are_told_apart(write):
    names, wnids = ["crane", "crane", "eel"], ["n02012849", "n03126707", "n02526121"]
    data = load_features(write(X=X, y=[0, 1, 2, 0], names=names, wnids=wnids))
    assert data.names == ("crane (n02012849)", "crane (n03126707)", "eel")
    path = write(X=X, y=[0, 1, 2, 0], names=names)
    with pytest.raises(DataError, match="several categories have the name 'crane': add wnids"):
        load_features(path)


def test_synsets(write):
    wnids = ["n02123045", "n02084071"]
    data = load_features(write(X=X, y=[0, 1, 1, 0], names=["tabby", "dog"], wnids=wnids))
    assert data.synsets == tuple(wnids)


def test_several_labels_each(write):
    y = np.array([[1, 0], [0, 0], [1, 1], [0, 1]])
    for matrix in (y, y.astype(bool), y.astype(np.float32)):
        data = load_features(write(X=X, y=matrix, names=["sky", "dog"]))
        assert data.labels.dtype == bool
        assert data.labels.tolist() == y.astype(bool).tolist()
        assert data.names == ("sky", "dog")


def test_paths(write):
    data = load_features(write(X=X, paths=["a.jpg", "b.jpg", "c.jpg", "ü.jpg"]))
    assert data.paths == ("a.jpg", "b.jpg", "c.jpg", "ü.jpg")
    assert load_features(write(X=X)).paths == ()


def test_parquet(write_parquet):
    path = write_parquet(embeddings=X.tolist(), label=list("baab"), path=list("wxyz"))
    data = load_features(path)
    assert data.X.dtype == np.float32
    np.testing.assert_array_equal(data.X, X)
    assert data.labels.tolist() == [1, 0, 0, 1]
    assert data.names == ("a", "b")
    assert data.paths == ("w", "x", "y", "z")
    assert has_features(path)


def test_parquet_with_numbers_as_labels(write_parquet):
    data = load_features(write_parquet(X=X.tolist(), y=[10, 2, 2, 10]))
    assert data.names == ("2", "10")
    assert data.labels.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("labels", "names", "expected"),
    [
        ([["b", "a"], [], None, ["b"]], ("a", "b"), [[1, 1], [0, 0], [0, 0], [0, 1]]),
        (["b", None, "a", "a"], ("a", "b"), [[0, 1], [0, 0], [1, 0], [1, 0]]),
        ([[7], [7], [7, 8], []], ("7", "8"), [[1, 0], [1, 0], [1, 1], [0, 0]]),
    ],
)
def test_parquet_with_several_labels_each(write_parquet, labels, names, expected):
    data = load_features(write_parquet(X=X.tolist(), labels=labels))
    assert data.names == names
    np.testing.assert_array_equal(data.labels, np.array(expected, dtype=bool))


def test_parquet_without_labels(write_parquet):
    for columns in ({}, {"y": pa.array([None] * 4, pa.string())}):
        data = load_features(write_parquet(X=X.tolist(), **columns))
        assert data.labels is None
        assert data.names == ()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"Z": [1, 2]}, r"no features under the name X \(it holds Z\)"),
        ({"X": [[1.0, 2.0], [float("nan"), 1.0]]}, "1 of 2 rows hold NaN"),
        ({"X": [[1.0], [1.0, 2.0]]}, "differ in length"),
        ({"X": [[1.0], [2.0]], "y": [0.5, 1.0]}, "labels must be whole numbers or words"),
        ({"X": [[1.0], [2.0]], "path": [1, 2]}, "paths must be 2 words"),
    ],
)
def test_bad_parquet(write_parquet, columns, message):
    path = write_parquet(**columns)
    with pytest.raises(DataError, match=message) as caught:
        load_features(path)
    assert str(caught.value).startswith(str(path))


def test_features_alone(tmp_path):
    np.save(tmp_path / "x.npy", X)
    data = load_features(tmp_path / "x.npy")
    assert data.labels is None
    assert data.names == ()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"Z": X}, r"no features under the name X \(it holds Z\)"),
        ({"X": X[0]}, r"must be a table of numbers \(n, d\), got shape \(3,\)"),
        ({"X": X[:0]}, r"got shape \(0, 3\)"),
        ({"X": np.array([["a"]])}, "table of numbers"),
        ({"X": np.array([[1, np.nan], [1, 2]])}, "1 of 2 rows hold NaN, infinity or .* row 0"),
        (
            {"X": np.array([[1, 2], [1, 1e300]])},
            "1 of 2 rows hold .* too large for float32, .* row 1",
        ),
        ({"X": X, "y": [0, 1]}, r"labels must be 4 whole numbers or words, got shape \(2,\)"),
        ({"X": X, "y": [0.5, 1, 1, 1]}, "whole numbers or words"),
        ({"X": X, "y": [0, 1, 2, 5], "names": ["a", "b"]}, "from 0 to 5, but there are 2 names"),
        ({"X": X, "y": [0, -1, 0, 0], "names": ["a"]}, "labels run from -1 to 0"),
        ({"X": X, "y": [1.0, 1, 1, 1]}, r"whole numbers or words, got shape \(4,\) of float64"),
        ({"X": X, "y": list("abca"), "names": ["a", "b"]}, "not among the names: c"),
        ({"X": X, "y": [0, 1, 1, 0], "wnids": ["n1", "n2"]}, "wnids without names"),
        ({"X": X, "y": np.eye(4)}, "a matrix of labels needs names"),
        ({"X": X, "y": np.eye(4), "names": ["a", "b"]}, r"0 and 1 of shape \(4, 2\)"),
        ({"X": X, "y": np.eye(3), "names": list("abc")}, r"of shape \(4, 3\), got shape \(3, 3\)"),
        ({"X": X, "y": 2 * np.eye(4), "names": list("abcd")}, "must be 0 and 1"),
        ({"X": X, "paths": ["a"]}, r"paths must be 4 words, got \(1,\)"),
        ({"X": X, "paths": [1, 2, 3, 4]}, r"paths must be 4 words, got \(4,\) of int64"),
        ({"X": X, "y": [0, 1, 1, 0], "names": ["a", "b"], "wnids": ["n1"]}, "1 wnids for 2 cat"),
    ],
)
def test_bad_tables(write, arrays, message):
    path = write(**arrays)
    with pytest.raises(DataError, match=message) as caught:
        load_features(path)
    assert str(caught.value).startswith(str(path))


def test_bad_files(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        load_features(tmp_path / "nothing.npz")
    (tmp_path / "photo.jpg").touch()
    with pytest.raises(DataError, match=r"read from \.npy, \.npz and \.parquet files"):
        load_features(tmp_path / "photo.jpg")
    for name in ("broken.npz", "broken.npy"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 this is nothing")
        with pytest.raises(DataError, match=r"not a plain NumPy file \(damaged\)"):
            load_features(tmp_path / name)
    np.save(tmp_path / "object.npy", np.array([{}, 1], dtype=object))
    with pytest.raises(DataError, match="it holds Python objects; save words as str"):
        load_features(tmp_path / "object.npy")


def test_a_damaged_compressed_file(tmp_path):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=np.random.RandomState(0).standard_normal((500, 20)))
    content = bytearray(path.read_bytes())
    content[2000:2100] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"not a plain NumPy file \(damaged\)"):
        load_features(path)


def test_digits():
    data = digits()
    assert data.X.shape == (1797, 64)
    assert data.images.shape == (1797, 8, 8)
    assert data.images.max() == 255
    assert data.names[data.labels[0]] == "zero"


@pytest.mark.parametrize("several", [False, True])
def test_what_is_known_comes_back(tmp_path, several):
    labels = (
        np.array([[True, True], [False, True], [False, False]]) if several else np.arange(3) % 2
    )
    data = Dataset(
        np.eye(3, dtype=np.float32),
        labels,
        ("cat", "dog"),
        ("n02121620", "n02084071"),
        paths=("a.jpg", "b\udcff.jpg", "c.jpg"),
        extractor={"name": "net", "options": {"size": 9}, "fingerprint": "1"},
    )
    np.savez(tmp_path / "f.npz", X=data.X, **as_arrays(data))
    again = load_features(tmp_path / "f.npz")
    np.testing.assert_array_equal(again.labels, labels)
    assert (again.names, again.synsets, again.paths) == (data.names, data.synsets, data.paths)
    assert again.extractor == data.extractor
    assert as_arrays(Dataset(data.X)) == {}
