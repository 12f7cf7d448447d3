import os
import subprocess
import sys

import pytest

from zshash import Collection, CollectionError
from zshash.collection.storage import locks

HOLD = """
import sys
from pathlib import Path
from zshash.collection.storage.locks import WriterLock
with WriterLock(Path(sys.argv[1])).held():
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(folder):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "held\n"
    return child


def test_another_process_is_writing(photos, X):
    with hold(photos.path) as child:
        message = f"{photos.path}: process {child.pid} is writing to it; try again when it is done"
        for write in (lambda: photos.add(X), lambda: photos.remove([]), photos.compact):
            with pytest.raises(CollectionError, match=message):
                write()
        assert photos.search(X[0]) == []
        with Collection.open(photos.path) as other:
            assert len(other) == 0
        child.kill()
        child.wait()
    assert len(photos.add(X).ids) == 60


def test_another_object_is_writing(photos, X):
    with locks.WriterLock(photos.path).held(), pytest.raises(CollectionError, match="is writing"):
        photos.add(X)
    photos.add(X)


def test_a_lock_is_held_several_times_over(tmp_path):
    lock, other = locks.WriterLock(tmp_path), locks.WriterLock(tmp_path)
    with lock.held():
        with lock.held():
            assert lock.is_held
        with (
            pytest.raises(CollectionError, match=f"process {os.getpid()} is writing"),
            other.held(),
        ):
            pass
    assert not lock.is_held
    with other.held():
        assert (tmp_path / "writer.lock").read_text() == str(os.getpid())


def test_file_systems_without_locks(tmp_path, monkeypatch):
    def refuse(_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(locks, "_lock", refuse)
    with pytest.raises(CollectionError, match="knows no locks"), locks.WriterLock(tmp_path).held():
        pass


def test_a_folder_that_is_gone(tmp_path):
    lock = locks.WriterLock(tmp_path / "gone")
    with pytest.raises(CollectionError, match="can not be written to"), lock.held():
        pass
