import numpy as np
import pytest

from zshash.datasets import DataError, digits, load_features

X = np.arange(12, dtype=np.float16).reshape(4, 3)


@pytest.fixture
def write(tmp_path):
    def write(**arrays):
        path = tmp_path / "data.npz"
        np.savez(path, **arrays)
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
    with pytest.raises(DataError, match=r"read from \.npy and \.npz files"):
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
