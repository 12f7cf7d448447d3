import os
import pickle
import struct

import numpy as np
import pytest

from zshash.datasets import DataError, read_cifar
from zshash.datasets.cifar import is_cifar

NAMES10 = ["airplane", "automobile", "bird", "cat", "deer"]
NAMES10 += ["dog", "frog", "horse", "ship", "truck"]
FINE = [f"fine_{number}" for number in range(100)]
COARSE = [f"coarse_{number}" for number in range(20)]
BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]


def python2(value):
    """A value as Python 2 and its NumPy pickled it by protocol 2."""
    if isinstance(value, dict):
        items = b"".join(python2(key) + python2(item) for key, item in value.items())
        return b"}(" + items + b"u"
    if isinstance(value, list):
        return b"](" + b"".join(map(python2, value)) + b"e"
    if isinstance(value, str):
        return python2(value.encode("latin1"))
    if isinstance(value, bytes):
        return b"T" + struct.pack("<i", len(value)) + value
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    made = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    dtype = b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNN"
    dtype += b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    shape = python2(value.shape[0]) + python2(value.shape[1]) + b"\x86"
    return made + b"(K\x01" + shape + dtype + b"\x89" + python2(value.tobytes()) + b"tb"


def dump(value, writer):
    if writer == "python2":
        return b"\x80\x02" + python2(value) + b"."
    if writer == "bytes":
        value = {key.encode(): item for key, item in value.items()}
        for key in (b"label_names", b"fine_label_names", b"coarse_label_names"):
            if key in value:
                value[key] = [name.encode() for name in value[key]]
        return pickle.dumps(value, 4)
    return pickle.dumps(value, int(writer))


def pixels(n, seed):
    return np.random.RandomState(seed).randint(0, 256, (n, 3072)).astype(np.uint8)


@pytest.fixture
def cifar10(tmp_path):
    """Write CIFAR-10 with four pictures in each batch."""

    def write(writer="python2"):
        folder = tmp_path / "cifar-10-batches-py"
        folder.mkdir()
        for seed, name in enumerate(BATCHES):
            batch = {
                "batch_label": f"batch {seed}",
                "labels": [seed, 9, 0, 3],
                "data": pixels(4, seed),
                "filenames": ["é.png", "b.png", "c.png", "d.png"],
            }
            (folder / name).write_bytes(dump(batch, writer))
        meta = {"num_cases_per_batch": 10000, "label_names": NAMES10, "num_vis": 3072}
        (folder / "batches.meta").write_bytes(dump(meta, writer))
        return folder

    return write


@pytest.fixture
def cifar100(tmp_path):
    def write(writer="python2"):
        folder = tmp_path / "cifar-100-python"
        folder.mkdir()
        for seed, name in enumerate(["train", "test"]):
            batch = {
                "filenames": ["a", "b", "c"],
                "fine_labels": [seed, 99, 50],
                "coarse_labels": [19, seed, 7],
                "data": pixels(3, seed),
            }
            (folder / name).write_bytes(dump(batch, writer))
        meta = {"fine_label_names": FINE, "coarse_label_names": COARSE}
        (folder / "meta").write_bytes(dump(meta, writer))
        return folder

    return write


@pytest.fixture
def binary10(tmp_path):
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    for seed, name in enumerate(BATCHES):
        labels = np.array([[seed], [9], [0], [3]], dtype=np.uint8)
        (folder / f"{name}.bin").write_bytes(np.hstack([labels, pixels(4, seed)]).tobytes())
    (folder / "batches.meta.txt").write_text("\n".join(NAMES10) + "\n\n")
    return folder


@pytest.fixture
def binary100(tmp_path):
    folder = tmp_path / "cifar-100-binary"
    folder.mkdir()
    for seed, name in enumerate(["train", "test"]):
        labels = np.array([[19, seed], [seed, 99], [7, 50]], dtype=np.uint8)
        (folder / f"{name}.bin").write_bytes(np.hstack([labels, pixels(3, seed)]).tobytes())
    (folder / "fine_label_names.txt").write_text("\n".join(FINE) + "\n")
    (folder / "coarse_label_names.txt").write_text("\n".join(COARSE) + "\n")
    return folder


def check_pixels(found, n_batches, n):
    assert found.shape == (n_batches * n, 32, 32, 3)
    assert found.dtype == np.uint8
    for batch in range(n_batches):
        rows = pixels(n, batch)
        for row in range(n):
            for y, x, colour in ((0, 0, 0), (0, 31, 1), (31, 0, 2), (17, 5, 1)):
                expected = rows[row, colour * 1024 + y * 32 + x]
                assert found[batch * n + row, y, x, colour] == expected


def check_cifar10(pictures):
    check_pixels(pictures.sources, 6, 4)
    assert pictures.labels.tolist() == [
        label for batch in range(6) for label in (batch, 9, 0, 3)
    ]  # the test batch last
    assert pictures.names == tuple(NAMES10)


@pytest.mark.parametrize("writer", ["python2", "bytes", "2", "4", "5"])
def test_cifar10(cifar10, writer):
    folder = cifar10(writer)
    assert is_cifar(folder)
    check_cifar10(read_cifar(str(folder)))
    check_cifar10(read_cifar(folder.parent))


@pytest.mark.parametrize("writer", ["python2", "bytes", "4"])
def test_cifar100(cifar100, writer):
    folder = cifar100(writer)
    pictures = read_cifar(folder)
    check_pixels(pictures.sources, 2, 3)
    assert pictures.labels.tolist() == [0, 99, 50, 1, 99, 50]
    assert pictures.names == tuple(FINE)
    coarse = read_cifar(folder.parent, coarse=True)
    assert coarse.labels.tolist() == [19, 0, 7, 19, 1, 7]
    assert coarse.names == tuple(COARSE)


def test_binary10(binary10):
    check_cifar10(read_cifar(binary10))
    check_cifar10(read_cifar(binary10.parent))


def test_binary100(binary100):
    pictures = read_cifar(binary100)
    check_pixels(pictures.sources, 2, 3)
    assert pictures.labels.tolist() == [0, 99, 50, 1, 99, 50]
    assert pictures.names == tuple(FINE)
    coarse = read_cifar(binary100, coarse=True)
    assert coarse.labels.tolist() == [19, 0, 7, 19, 1, 7]
    assert coarse.names == tuple(COARSE)


def test_both_in_one_folder(cifar10, cifar100):
    root = cifar10().parent
    cifar100()
    with pytest.raises(DataError, match="several versions of CIFAR are there: give one of"):
        read_cifar(root)
    assert len(read_cifar(root, "cifar10").names) == 10
    assert len(read_cifar(root, "cifar100").names) == 100


def test_nothing_there(tmp_path):
    (tmp_path / "train").mkdir()
    (tmp_path / "test").mkdir()
    (tmp_path / "meta").touch()
    assert not is_cifar(tmp_path)
    with pytest.raises(DataError, match="none of the files of cifar10 or cifar100 is there"):
        read_cifar(tmp_path)


@pytest.mark.parametrize("name", ["data_batch_3", "test_batch", "batches.meta"])
def test_a_missing_file(cifar10, name):
    folder = cifar10()
    (folder / name).unlink()
    with pytest.raises(DataError, match=f"{name} of cifar10 missing"):
        read_cifar(folder)


def test_coarse_needs_cifar100(cifar10):
    with pytest.raises(DataError, match="CIFAR-10 has no coarse categories"):
        read_cifar(cifar10(), coarse=True)


@pytest.mark.parametrize("writer", ["python2", "4"])
@pytest.mark.parametrize("length", [0, 1, 100, 6000, -1])
def test_a_truncated_pickle(cifar10, writer, length):
    path = cifar10(writer) / "data_batch_4"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(DataError, match=r"data_batch_4: damaged, or no file of CIFAR"):
        read_cifar(path.parent)


def test_a_truncated_binary(binary10):
    path = binary10 / "data_batch_2.bin"
    for content in (path.read_bytes()[:-1], b""):
        path.write_bytes(content)
        with pytest.raises(DataError, match=f"{len(content)} bytes, not whole pictures"):
            read_cifar(binary10)


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("name", ["data_batch_1", "batches.meta"])
def test_a_hostile_pickle(cifar10, tmp_path, name):
    folder = cifar10()
    (folder / name).write_bytes(pickle.dumps({"data": Hostile(tmp_path / "hacked")}, 2))
    with pytest.raises(DataError, match=rf"{name}: .* asks for \w+\.mkdir, which is not allowed"):
        read_cifar(folder)
    assert not (tmp_path / "hacked").exists()


GOOD = pixels(2, 0)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ([1, 2], "a dictionary expected"),
        ({"labels": [1, 2]}, "it holds no pictures"),
        ({"data": [[1], [2, 3]], "labels": [1, 2]}, "it holds no pictures"),
        ({"data": GOOD[:, :-1], "labels": [1, 2]}, r"got shape \(2, 3071\)"),
        ({"data": GOOD.astype(np.int16), "labels": [1, 2]}, "of int16"),
        ({"data": GOOD, "labels": [1]}, "1 labels for 2 pictures"),
        ({"data": GOOD[:0], "labels": []}, "0 labels for 0 pictures"),
        ({"data": GOOD, "labels": [1, 10]}, "label 10, but there are 10 categories"),
        ({"data": GOOD, "labels": [1, -1]}, "labels must be whole numbers from 0 to 99"),
        ({"data": GOOD, "labels": [1, "cat"]}, "labels must be whole numbers from 0 to 99"),
        ({"data": GOOD, "labels": [1, 10**30]}, "labels must be whole numbers from 0 to 99"),
        ({"data": GOOD, "labels": 7}, "there is no list 'labels'"),
        ({"data": np.array([{}, {}], dtype=object), "labels": [1, 2]}, "only numbers are allowed"),
    ],
)
def test_bad_batches(cifar10, batch, message):
    path = cifar10() / "data_batch_5"
    path.write_bytes(pickle.dumps(batch, 4))
    with pytest.raises(DataError, match=message) as caught:
        read_cifar(path.parent)
    assert str(caught.value).startswith(str(path))


def test_labels_beyond_the_categories_in_bytes(binary10):
    path = binary10 / "test_batch.bin"
    path.write_bytes(b"\x0a" + path.read_bytes()[1:])
    with pytest.raises(DataError, match=r"test_batch\.bin: label 10, but there are 10 categories"):
        read_cifar(binary10)


@pytest.mark.parametrize("names", [NAMES10[:9], [*NAMES10[:9], "ship"], [*NAMES10[:9], ""]])
def test_names_are_ten(cifar10, names):
    folder = cifar10()
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": names}))
    with pytest.raises(DataError, match=r"batches\.meta: 10 names of categories expected"):
        read_cifar(folder)
