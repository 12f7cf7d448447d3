import gzip
import struct

import numpy as np
import pytest

from zshash.datasets import DataError, read_idx
from zshash.datasets.idx import FASHION, is_idx

PIXELS = np.random.RandomState(0).randint(0, 256, (5, 28, 28)).astype(np.uint8)
LABELS = np.array([7, 0, 9, 3, 3], dtype=np.uint8)


def idx(array, magic=None):
    head = bytes([0, 0, 8, array.ndim]) if magic is None else magic
    return head + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


@pytest.fixture
def write(tmp_path):
    """Write three pictures to train with and two to test."""

    def write(place=".", mark="-", packed=False, **changed):
        folder = tmp_path / place
        folder.mkdir(parents=True, exist_ok=True)
        contents = {
            "train_images": idx(PIXELS[:3]),
            "train_labels": idx(LABELS[:3]),
            "t10k_images": idx(PIXELS[3:]),
            "t10k_labels": idx(LABELS[3:]),
        }
        for key, content in (contents | changed).items():
            part, kind = key.split("_")
            number = 3 if kind == "images" else 1
            path = folder / f"{part}-{kind}{mark}idx{number}-ubyte"
            if packed:
                path = path.with_name(f"{path.name}.gz")
                content = gzip.compress(content)
            path.write_bytes(content)
        return folder

    return write


@pytest.mark.parametrize("place", [".", "raw", "MNIST/raw"])
@pytest.mark.parametrize("mark", ["-", "."])
@pytest.mark.parametrize("packed", [True, False])
def test_digits(write, tmp_path, place, mark, packed):
    write(place, mark, packed)
    assert is_idx(tmp_path)
    pictures = read_idx(str(tmp_path))
    np.testing.assert_array_equal(pictures.sources, PIXELS)
    assert pictures.sources.dtype == np.uint8
    assert pictures.labels.tolist() == LABELS.tolist()
    assert pictures.labels.dtype == np.int64
    assert pictures.names[3] == "three"


def test_which_of_the_two(write, tmp_path):
    assert read_idx(write("my-Fashion")).names == FASHION
    assert read_idx(write("Fashion/raw")).names == FASHION
    assert read_idx(write("mnist")).names[0] == "zero"
    assert read_idx(write("mnist"), fashion=True).names[9] == "ankle boot"
    assert read_idx(write("fashion"), fashion=False).names[9] == "nine"
    write("both/MNIST/raw")
    write("both/FashionMNIST/raw", train_labels=idx(LABELS[2:]))
    with pytest.raises(DataError, match=r"several data sets are there: give one of .*MNIST/raw"):
        read_idx(tmp_path / "both")
    assert read_idx(tmp_path / "both", fashion=True).labels[0] == LABELS[2]
    assert read_idx(tmp_path / "both", fashion=False).labels[0] == LABELS[0]


def test_missing_files(write, tmp_path):
    with pytest.raises(DataError, match="there is no file such as train-images-idx3-ubyte"):
        read_idx(tmp_path)
    folder = write()
    (folder / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(DataError, match="the labels of t10k are missing"):
        read_idx(folder)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"train_images": idx(PIXELS, magic=b"\0\0\x08\x01")}, "not a file of type idx with 3"),
        ({"train_images": idx(PIXELS, magic=b"\0\0\x0d\x03")}, "not a file of type idx"),
        ({"train_images": b"\0\0\x08\x03\0\0"}, "not a file of type idx"),
        ({"train_images": b""}, "not a file of type idx"),
        ({"train_images": idx(PIXELS[:, :27])}, r"dimensions \(5, 27, 28\), expected"),
        ({"train_images": idx(PIXELS[:0])}, r"dimensions \(0, 28, 28\)"),
        ({"train_images": idx(PIXELS)[:-1]}, "cut off: its header promises 3920 bytes"),
        ({"train_images": idx(PIXELS) + b"x"}, "than the 3920 bytes that its header promises"),
        ({"train_labels": idx(LABELS)}, "5 labels for 3 pictures of train"),
        ({"t10k_labels": idx(np.array([10, 0], np.uint8))}, "label 10 in t10k, the highest is 9"),
    ],
)
def test_bad_files(write, packed, changed, message):
    folder = write(packed=packed, **changed)
    with pytest.raises(DataError, match=message):
        read_idx(folder)


@pytest.mark.parametrize("packed", [True, False])
def test_a_promise_that_the_file_can_not_keep(write, packed):
    header = b"\0\0\x08\x03" + struct.pack(">3I", 2**32 - 1, 28, 28)
    folder = write(packed=packed, train_images=header + bytes(1000))
    with pytest.raises(DataError, match=f"cut off: its header promises {(2**32 - 1) * 784} bytes"):
        read_idx(folder)


def test_a_bomb_is_read_no_further_than_promised(write):
    resource = pytest.importorskip("resource")
    folder = write(packed=True)
    path = folder / "train-images-idx3-ubyte.gz"
    with gzip.open(path, "wb") as file:
        file.write(idx(PIXELS[:3]))
        for _ in range(300):
            file.write(bytes(2**20))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match="longer than the 2352 bytes that its header promises"):
        read_idx(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_damaged_archives(write):
    folder = write(packed=True)
    path = folder / "train-images-idx3-ubyte.gz"
    whole = path.read_bytes()
    for content in (whole[:-20], whole[:200], b"nothing", whole[:-8] + bytes(8)):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"ubyte\.gz: (the file is damaged or )?cut off"):
            read_idx(folder)
