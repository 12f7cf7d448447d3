"""Labels that shards bring with them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from tests.scale.comparing import assert_near_fit, assert_same_fit, cut
from zshash import ITQ, SDH, SSH, ZSH, scale
from zshash.datasets import DataError
from zshash.scale.targets import KnownLabels, combine

SIZES = [700, 100, 700]
NAMES = np.array(["ape", "bat", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"])


@pytest.fixture
def rows(digits):
    """Digits whose last shard has no 9, and whose first has no 0: each shard counts differently."""
    X, y, _ = digits
    y = y.copy()
    y[:700][y[:700] == 0] = 1
    y[800:][y[800:] == 9] = 8
    return X, y


def quick(method=ZSH, **parameters):
    if method is ZSH:
        parameters |= {"graph": "anchor", "max_iter": 4}
    return method(9, n_anchors=60, random_state=0, **parameters)


def npy_files(folder, X, y):
    for number, (part, own) in enumerate(zip(cut(X, SIZES), cut(y, SIZES), strict=True)):
        np.save(folder / f"{number}.npy", part)
        np.save(folder / f"{number}.labels.npy", own)


def archives(folder, X, y, **extra):
    for number, (part, own) in enumerate(zip(cut(X, SIZES), cut(y, SIZES), strict=True)):
        np.savez(folder / f"{number}.npz", X=part, y=own, **extra)


def row_groups(folder, X, y):
    table = pa.table({"X": list(X), "y": y.tolist()})
    with pq.ParquetWriter(folder / "x.parquet", table.schema) as writer:
        for first, size in zip(np.cumsum(SIZES) - SIZES, SIZES, strict=True):
            writer.write_table(table.slice(first, size))


@pytest.mark.parametrize("write", [npy_files, archives, row_groups])
@pytest.mark.parametrize("kind", ["words", "numbers"])
@pytest.mark.parametrize("method", [ZSH, SDH])
def test_labels_beside_features(write, kind, method, rows, tmp_path):
    X, y = rows
    write(tmp_path, X, NAMES[y] if kind == "words" else y)
    given = NAMES[y] if kind == "words" else y.astype(str)
    known = scale.fit(quick(method), cut(X, SIZES), given)
    assert_same_fit(known, scale.fit(quick(method), tmp_path))
    assert len(known.classes_) == 10


def test_labels_given_come_before_those_of_files(rows, digits, tmp_path):
    X, y = rows
    npy_files(tmp_path, X, NAMES[y])
    other = digits[1][::-1]
    assert_same_fit(scale.fit(quick(), cut(X, SIZES), other), scale.fit(quick(), tmp_path, other))


def test_names_of_numbers(rows, tmp_path):
    X, y = rows
    archives(tmp_path, X, y, names=NAMES)
    assert_same_fit(scale.fit(quick(), cut(X, SIZES), NAMES[y]), scale.fit(quick(), tmp_path))


def test_names_are_what_counts_and_not_their_numbers(rows, tmp_path):
    X, y = rows
    orders = [np.random.RandomState(seed).permutation(10) for seed in range(3)]
    for number, (part, own, order) in enumerate(
        zip(cut(X, SIZES), cut(y, SIZES), orders, strict=True)
    ):
        np.savez(tmp_path / f"{number}.npz", X=part, y=np.argsort(order)[own], names=NAMES[order])
    assert_same_fit(scale.fit(quick(), cut(X, SIZES), NAMES[y]), scale.fit(quick(), tmp_path))


def test_several_labels_in_some_shards(rows, digits, tmp_path):
    X, y = rows
    matrix = np.eye(10, dtype=np.int64)[y]
    matrix[:700:3, 2] = matrix[800::4, 5] = 1
    first, middle, last = cut(X, SIZES)
    np.savez(tmp_path / "0.npz", X=first, y=matrix[:700, ::-1], names=NAMES[::-1])
    np.savez(tmp_path / "1.npz", X=middle, y=NAMES[y[700:800]])
    cells = [[str(NAMES[n]) for n in np.flatnonzero(row)] for row in matrix[800:]]
    pq.write_table(pa.table({"X": list(last), "labels": cells}), tmp_path / "2.parquet")
    fitted = scale.fit(quick(), tmp_path)
    assert_same_fit(scale.fit(quick(), cut(X, SIZES), matrix), fitted)
    assert_near_fit(quick().fit(X, matrix), fitted, digits[2])


def test_methods_without_labels_do_not_ask_for_them(rows, tmp_path):
    X, _ = rows
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "x.labels.npy").write_text("nobody reads this")
    hasher = ITQ(9, random_state=0)
    assert_same_fit(clone(hasher).fit(X), scale.fit(hasher, tmp_path / "x.npy"))
    assert_same_fit(clone(hasher).fit(X), scale.fit(hasher, tmp_path, targets=["a"]))


@pytest.mark.parametrize("hasher", [quick(), quick(SDH), SSH(9)])
def test_labels_missing_in_some_shards(hasher, rows, tmp_path):
    X, y = rows
    npy_files(tmp_path, X, y)
    (tmp_path / "1.labels.npy").unlink()
    with pytest.raises(DataError, match="some shards have no labels: give targets"):
        scale.fit(hasher, tmp_path)
    with pytest.raises(DataError, match="some shards have no labels: give targets"):
        scale.fit(hasher, X)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.arange(99), r"1.labels.npy must hold 100 whole numbers or words, got shape \(99,\)"),
        (np.arange(100) / 2, "1.labels.npy must hold 100 whole numbers or words, .* of float64"),
        (np.zeros((100, 1), dtype=int), r"1.labels.npy must hold .* \(100, 1\)"),
    ],
)
def test_labels_that_do_not_fit(labels, words, rows, tmp_path):
    X, y = rows
    npy_files(tmp_path, X, y)
    np.save(tmp_path / "1.labels.npy", labels)
    with pytest.raises(DataError, match=words):
        scale.fit(quick(), tmp_path)


def test_labels_that_are_no_numpy_file(rows, tmp_path):
    X, y = rows
    npy_files(tmp_path, X, y)
    (tmp_path / "1.labels.npy").write_text("ape\nbat\n")
    with pytest.raises(DataError, match=r"1.labels.npy: not a plain NumPy file"):
        scale.fit(quick(), tmp_path)


def test_labels_in_an_archive_that_are_too_few(rows, tmp_path):
    X, y = rows
    np.savez(tmp_path / "x.npz", X=X, y=y[:-1])
    with pytest.raises(DataError, match=r"x.npz: .*labels must be 1500 whole numbers"):
        scale.fit(quick(), tmp_path)


def test_ids_of_names_come_along_and_may_not_contradict():
    one = KnownLabels(np.array([0, 1]), ("bat", "ape"), ("n2", "n1"))
    other = KnownLabels(np.array([0, 0, 1]), ("ape", "cat"), ("n1", "n3"))
    labels, names, ids = combine([one, other])
    assert names == ("ape", "bat", "cat")
    assert ids == ("n1", "n2", "n3")
    assert [own.tolist() for own in labels] == [[1, 0], [0, 0, 2]]
    wrong = KnownLabels(np.array([0]), ("ape",), ("n7",))
    with pytest.raises(DataError, match="'ape' has another WordNet id"):
        combine([one, wrong])
    assert combine([one, KnownLabels(np.array([0]), ("eel",))])[2] == ()


def test_an_order_that_all_shards_share_is_kept():
    own = KnownLabels(np.array([0, 2]), ("2", "10", "9"))
    labels, names, _ = combine([own, own])
    assert names == ("2", "10", "9")
    assert [part.tolist() for part in labels] == [[0, 2], [0, 2]]
