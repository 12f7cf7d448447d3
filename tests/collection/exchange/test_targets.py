"""Exports that end early, and files that are damaged: one sentence, and nothing is left behind."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from zshash import LSH, Collection
from zshash.collection.exchange import targets
from zshash.collection.exchange.exchange import export_codes, import_codes
from zshash.collection.exchange.sums import sums_beside
from zshash.datasets import DataError, load_features

SUFFIXES = [".npy", ".npz", ".faiss", ".parquet"]
EXPORT = """
import os, sys, time
from zshash import Collection
from zshash.collection.exchange import exchange

def wait(descriptor, own=os.fsync):
    print("ready", flush=True)
    time.sleep(60)

os.fsync = wait
with Collection.open(sys.argv[1]) as collection:
    exchange.export_codes(collection, sys.argv[2])
"""


@pytest.fixture
def full(tmp_path, X):
    hasher = LSH(n_bits=16, random_state=0).fit(X)
    with Collection.create(tmp_path / "album", hasher) as collection:
        codes = np.random.RandomState(0).randint(0, 256, (100, 2), dtype=np.uint8)
        collection.add_codes(codes, labels=["cat"] * 100)
        collection.remove([7])
        yield collection


def start(album, path):
    """Process that exports, and has written all when this returns, but nothing has its name."""
    child = subprocess.Popen(
        [sys.executable, "-c", EXPORT, str(album), str(path)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.stdout.readline() == b"ready\n"
    return child


def end(child):
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_left_of_an_export_that_was_killed(full, tmp_path, suffix):
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / f"codes{suffix}"
    child = start(full.path, path)
    try:
        running = set(folder.iterdir())
        assert running
        assert not path.exists()
        export_codes(full, path)  # while the other one runs
        assert running <= set(folder.iterdir())
    finally:
        end(child)
    for left in running:
        os.utime(left, (0, 0))  # empty ones may be new and wait for their lock
    export_codes(full, path)
    names = {f"codes{suffix}"}
    names |= {f"codes{suffix}.sha256"} if suffix in (".npy", ".faiss") else set()
    names |= {f"codes{suffix}.ids.npy"} if suffix == ".faiss" else set()
    assert {one.name for one in folder.iterdir()} == names


def test_files_of_others_are_left_alone(full, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    others = [
        ".codes.npy.backup",
        ".codes.npy.abcd12345",
        "codes.npy.abcd1234",
        ".other.npy.abcd1234",
    ]
    for name in others:
        (folder / name).write_bytes(b"mine")
    (folder / ".codes.npy.abcd1234").symlink_to(tmp_path / "album")
    (folder / ".codes.npy.new_new_").touch()  # not locked yet
    export_codes(full, folder / "codes.npy")
    left = {*others, ".codes.npy.abcd1234", ".codes.npy.new_new_"}
    assert {one.name for one in folder.iterdir()} == left | {"codes.npy", "codes.npy.sha256"}


@pytest.fixture
def small_disk(tmp_path):
    """Folder on a disk of 2 MB, and a function that leaves no byte free there."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    try:
        if subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("no right to mount a disk")
    except FileNotFoundError:
        pytest.skip("there is no mount")

    def fill():
        with (folder / "filler").open("wb", buffering=0) as file:
            for size in (4096, 1):
                while True:
                    try:
                        file.write(bytes(size))
                    except OSError:
                        break

    yield folder, fill
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_exports_to_a_full_disk(full, small_disk, suffix):
    folder, fill = small_disk
    fill()
    with pytest.raises(DataError, match="the disk is full, so nothing was written: free some"):
        export_codes(full, folder / f"codes{suffix}")
    assert [one.name for one in folder.iterdir()] == ["filler"]


def test_collections_on_a_full_disk(small_disk, X):
    folder, fill = small_disk
    hasher = LSH(n_bits=16, random_state=0).fit(X)
    with Collection.create(folder / "album", hasher, keep_features=True) as collection:
        collection.add(X[:20])
        fill()
        for work in (
            lambda: collection.add(np.random.RandomState(1).randn(3000, 12)),
            lambda: collection.reencode(LSH(n_bits=16, random_state=1).fit(X)),
        ):
            with pytest.raises(ValueError, match="the disk is full: free some space"):
                work()
        assert len(collection) == 20
    fill()
    with Collection.open(folder / "album") as collection:  # SQLite has to write to share it
        assert len(collection) == 20
        with pytest.raises(ValueError, match="the disk is full: free some space"):
            collection.add(np.random.RandomState(1).randn(3000, 12))
        with pytest.raises(ValueError, match="the disk is full: free some space"):
            Collection.create(folder / "new", hasher)
    (folder / "filler").unlink()
    with Collection.open(folder / "album") as collection:
        collection.add(X)
        assert collection.verify() == []


def test_a_limit_on_the_size_of_files(full, tmp_path):
    own = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, own[1]))
        with pytest.raises(DataError, match="the disk is full, so nothing was written"):
            export_codes(full, tmp_path / "codes.npy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, own)
        signal.signal(signal.SIGXFSZ, ignored)
    assert [one.name for one in tmp_path.iterdir() if "codes" in one.name] == []


def test_other_errors_stay_what_they_are(full, tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="Input/output error"):
        export_codes(full, tmp_path / "codes.npz")
    with pytest.raises(FileNotFoundError):
        export_codes(full, tmp_path / "nowhere" / "codes.npz")


def flips(data, seed, step=1):
    """The file with one bit flipped: bits of the first 128 bytes, and some of all others."""
    rng = np.random.RandomState(seed)
    others = rng.randint(0, 8 * len(data), 100).tolist()
    for bit in [*range(0, 8 * min(128, len(data)), step), *others]:
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        yield bytes(damaged)


def spoiled(data, seed):
    """The file with some bytes replaced, a few times over."""
    rng = np.random.RandomState(seed)
    for _ in range(100):
        damaged = bytearray(data)
        for place in rng.randint(0, min(len(data), 256), rng.randint(1, 9)):
            damaged[place] = rng.randint(256)
        yield bytes(damaged)


def said(path, function, *args):
    """What a function says of a damaged file, in one line; None if it takes the file for whole."""
    try:
        function(*args)
    except DataError as error:
        message = str(error)
    else:
        return None
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_of_codes(full, tmp_path, X, suffix):
    """Without checksums beside them: one sentence, or codes that make sense; never a traceback."""
    path = tmp_path / f"codes{suffix}"
    export_codes(full, path)
    sums_beside(path).unlink(missing_ok=True)
    whole, n_refused, n = path.read_bytes(), 0, 0
    with Collection.create(tmp_path / "other", LSH(n_bits=16, random_state=0).fit(X)) as other:
        for damaged in (*flips(whole, 0, 1 if suffix == ".npy" else 3), *spoiled(whole, 1)):
            path.write_bytes(damaged)
            n += 1
            if said(path, import_codes, other, path):
                n_refused += 1
                assert len(other) == 0
            else:
                assert len(other) == 99  # none is lost in silence
                other.remove(other.ids)
    assert n_refused > n / 10


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
def test_damaged_files_of_features(tmp_path, X, suffix):
    path = tmp_path / f"features{suffix}"
    if suffix == ".npy":
        np.save(path, X)
    elif suffix == ".npz":
        np.savez(path, X=X, y=np.arange(len(X)))
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"X": list(X), "y": np.arange(len(X))}), path)
    whole = path.read_bytes()
    for damaged in (*flips(whole, 0), *spoiled(whole, 1)):
        path.write_bytes(damaged)
        said(path, load_features, path)


def test_locks_are_let_go(full, tmp_path):
    export_codes(full, tmp_path / "codes.npz")
    with targets.exported(tmp_path / "codes.npz") as file:
        file.write(b"new")
    assert (tmp_path / "codes.npz").read_bytes() == b"new"
    assert time.time() - (tmp_path / "codes.npz").stat().st_mtime < 60
