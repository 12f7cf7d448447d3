import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zshash.datasets import DataError, Dataset, Pictures, open_data
from zshash.datasets.opening import NAMES


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def write_cifar100(folder):
    folder.mkdir(parents=True)
    batch = {"data": np.zeros((2, 3072), np.uint8), "fine_labels": [0, 9], "coarse_labels": [0, 1]}
    for name in ("train", "test"):
        (folder / name).write_bytes(pickle.dumps(batch))
    meta = {"fine_label_names": list(map(str, range(100))), "coarse_label_names": []}
    (folder / "meta").write_bytes(pickle.dumps(meta))
    return folder


def write_idx(folder):
    folder.mkdir(parents=True)
    for part in ("train", "t10k"):
        header = b"\0\0\x08\x03\0\0\0\x01\0\0\0\x1c\0\0\0\x1c"
        (folder / f"{part}-images-idx3-ubyte").write_bytes(header + bytes(784))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01\0\0\0\x01\x05")
    return folder


def write_tiny(folder):
    touch(folder, "train/n02123045/images/1.JPEG", "val/images/2.JPEG", "test/images/3.JPEG")
    (folder / "wnids.txt").write_text("n02123045\n")
    (folder / "val" / "val_annotations.txt").write_text("2.JPEG\tn02123045\t0\t0\t1\t1\n")
    return folder


def write_mirflickr(folder):
    touch(folder, "im1.jpg", "im2.jpg", "annotations/sky.txt")
    (folder / "annotations" / "sky.txt").write_text("2\n")
    return folder


LAYOUTS = {
    "cifar100": (write_cifar100, (4, 32, 32, 3), 100),
    "mnist": (write_idx, (2, 28, 28), 10),
    "fashion-mnist": (write_idx, (2, 28, 28), 10),
    "tiny-imagenet": (write_tiny, 2, 1),
    "imagenet": (lambda folder: touch(folder, "n02123045/1.JPEG", "n02084071/2.JPEG"), 2, 2),
    "mirflickr25k": (write_mirflickr, 2, 1),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_folders_are_recognised_and_named(tmp_path, name):
    write, shape, n_names = LAYOUTS[name]
    folder = write(tmp_path / name)
    for pictures in (open_data(folder), open_data(str(folder)), open_data(name, folder)):
        sources = pictures.sources
        assert (sources.shape if isinstance(sources, np.ndarray) else len(sources)) == shape
        assert len(pictures.names) == n_names
        assert pictures.root == folder.resolve()
    if name == "fashion-mnist":
        assert pictures.names[0] == "t-shirt"
        assert open_data("mnist", folder).names[0] == "zero"


def test_any_folder(tmp_path):
    pictures = open_data(touch(tmp_path, "cat/1.jpg", "dog/1.jpg"))
    assert pictures.names == ("cat", "dog")


def test_every_folder_is_a_label_if_asked_for(tmp_path):
    touch(tmp_path, "2021/1.jpg", "dog/1.jpg")
    assert open_data(tmp_path, labels="folders").names == ("2021", "dog")
    assert open_data(tmp_path).names == ("dog",)


@pytest.mark.parametrize("kind", ["folder", "list", "features", "named"])
def test_no_labels_if_asked_for(tmp_path, kind):
    photos = touch(tmp_path / "photos", "cat/1.jpg", "dog/1.jpg")
    (tmp_path / "list.csv").write_text("path,label\ncat/1.jpg,cat\n")
    np.savez(tmp_path / "x.npz", X=np.eye(2), y=[0, 1], names=["cat", "dog"])
    source, files = {
        "folder": (photos, None),
        "list": (tmp_path / "list.csv", None),
        "features": (tmp_path / "x.npz", None),
        "named": ("cifar100", write_cifar100(tmp_path / "here")),
    }[kind]
    assert open_data(source, files).labels is not None
    data = open_data(source, files, labels="none")
    assert (data.labels, data.names, data.synsets) == (None, (), ())
    assert len(data) == len(open_data(source, files))


def test_a_path_wins_over_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    touch(tmp_path, "cifar10/cat/1.jpg")
    pictures = open_data("cifar10")
    assert pictures.names == ("cat",)
    assert pictures.root == (tmp_path / "cifar10").resolve()


def test_names_with_files_do_not_look_at_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    touch(tmp_path, "cifar100/cat/1.jpg")
    assert len(open_data("cifar100", write_cifar100(tmp_path / "here")).names) == 100


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".NPY"])
def test_numpy_files(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    with path.open("wb") as file:
        np.savez(file, X=np.eye(3)) if suffix == ".npz" else np.save(file, np.eye(3))
    data = open_data(path)
    assert isinstance(data, Dataset)
    assert data.X.shape == (3, 3)


def test_parquet_is_features_or_a_manifest(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"features": [[1.0], [2.0]], "path": ["1.jpg", "2.jpg"]}), path)
    data = open_data(path)
    assert isinstance(data, Dataset)
    assert data.paths == ("1.jpg", "2.jpg")
    pq.write_table(pa.table({"path": ["1.jpg", "2.jpg"]}), path)
    pictures = open_data(path)
    assert isinstance(pictures, Pictures)
    assert pictures.root == path.resolve()


@pytest.mark.parametrize(("suffix", "mark"), [(".csv", ","), (".tsv", "\t"), (".CSV", ";")])
def test_manifests(tmp_path, suffix, mark):
    path = tmp_path / f"list{suffix}"
    path.write_text(f"path{mark}label\n1.jpg{mark}cat\n")
    pictures = open_data(path)
    assert pictures.names == ("cat",)
    assert pictures.sources == (tmp_path / "1.jpg",)
    assert pictures.root == path.resolve()


def test_one_picture(tmp_path):
    path = touch(tmp_path, "cat.JPG") / "cat.JPG"
    pictures = open_data(path)
    assert pictures.sources == (path,)
    assert pictures.labels is None
    assert pictures.root == path.resolve()


def test_other_files(tmp_path):
    path = touch(tmp_path, "notes.txt") / "notes.txt"
    with pytest.raises(DataError, match=r"notes\.txt: not a kind of file .* give a folder of pic"):
        open_data(path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("cifar-10", r"^cifar-10: there is no such file or folder; did you mean 'cifar10'\?$"),
        ("Tiny_ImageNet", r"did you mean 'tiny-imagenet'\?"),
        ("pictures", "there is no such file or folder; give a folder of pictures, "),
        ("data/mnist", "there is no such file or folder; give a folder"),
        ("imagenet.csv", "there is no such file or folder; give a folder"),
    ],
)
def test_nothing_of_that_name(tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message):
        open_data(source)


def test_files_of_what(tmp_path):
    with pytest.raises(DataError, match=r"pets: not a known data set; a folder of files can only"):
        open_data("pets", tmp_path)
    with pytest.raises(DataError, match=r"mnits: not a known data set; did you mean 'mnist'\?"):
        open_data("mnits", tmp_path)
    with pytest.raises(DataError, match="nothing: there is no such folder"):
        open_data("mnist", tmp_path / "nothing")
    for name in NAMES:
        with pytest.raises(DataError, match=str(tmp_path)):
            open_data(name, tmp_path)


def test_import_is_light():
    code = "import sys, zshash.datasets\n"
    code += "print(sorted({'pooch', 'pyarrow', 'requests', 'PIL'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
