"""Whatever goes wrong on the way to the disk: all of a batch is there, or none of it."""

import errno
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from zshash import LSH, Collection, CollectionError
from zshash.collection.operations import adding, maintenance, reencoding
from zshash.collection.storage import catalogue, change, files, store
from zshash.index import HammingIndex


class Crash(BaseException):
    """Stands for the death of the process: no code catches it."""


def crash(*_args, **_options):
    raise Crash


def full(*_args, **_options):
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise error


def check(folder, ids, X, hasher):
    with Collection.open(folder) as photos:
        assert photos.ids.tolist() == ids
        np.testing.assert_array_equal(photos.index.codes, hasher.encode(X)[ids].reshape(-1, 2))
        assert photos.verify() == []


def add_and_remove(photos, X, ids):
    photos.add(X)
    photos.remove(ids)


@pytest.mark.parametrize("target", ["put_rows", "put_blobs", "log_changes", "delete_rows"])
@pytest.mark.parametrize(("problem", "kind"), [(crash, Crash), (full, CollectionError)])
def test_statements_that_fail(tmp_path, hasher, X, monkeypatch, target, problem, kind):
    folder = tmp_path / "c"
    with Collection.create(folder, hasher, keep_features=True) as photos:
        photos.add(X[:20])
        with monkeypatch.context() as patch:
            patch.setattr(change, target, problem)
            with pytest.raises(kind):
                add_and_remove(photos, X[20:], [3])
        expected = photos.ids.tolist()
        assert photos.verify() == []
        assert 3 in photos
        check(folder, expected, X, hasher)
        photos.add(X)
        assert photos.remove([3]) == 1
        assert len(photos) == 59
        assert photos.verify() == []


class Connection:
    """A connection that fails at one kind of statement."""

    def __init__(self, connection, statement, problem, after=False):
        self._connection, self._statement = connection, statement
        self._problem, self._after = problem, after

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, sql, *args):
        if sql == self._statement and not self._after:
            self._problem()
        result = self._connection.execute(sql, *args)
        if sql == self._statement:
            self._problem()
        return result


@pytest.mark.parametrize(("problem", "kind"), [(crash, Crash), (full, CollectionError)])
@pytest.mark.parametrize("after", [False, True])
def test_commits_that_fail(folder, hasher, X, monkeypatch, problem, kind, after):
    with Collection.create(folder, hasher) as photos:
        photos.add(X[:20])
        real = photos._store.catalogue.connection
        with photos._store.reading():
            pass
        spoilt = Connection(real, "COMMIT", problem, after)
        original = store.Store.changing

        def changing(self):
            self.catalogue.connection = spoilt
            return original(self)

        with monkeypatch.context() as patch:
            patch.setattr(store.Store, "changing", changing)
            with pytest.raises(kind) as raised:
                photos.add(X[20:40])
        photos._store.catalogue.connection = real
        if kind is CollectionError:
            assert "the disk is full: free some space" in str(raised.value)
        expected = list(range(40 if after else 20))
        assert photos.ids.tolist() == expected
        check(folder, expected, X, hasher)
        photos.add(X)
        assert len(photos) == 60
        assert photos.verify() == []


def test_a_crash_before_the_index_takes_it_over(folder, hasher, X, monkeypatch):
    with Collection.create(folder, hasher) as photos:
        photos.add(X[:20])
        with monkeypatch.context() as patch:
            patch.setattr(HammingIndex, "add", crash)
            with pytest.raises(Crash):
                photos.add(X[20:40])
        assert photos.ids.tolist() == list(range(40))
        assert photos.search(X[30], k=1)[0].bits == 0
        assert photos.verify() == []


def test_snapshots_that_can_not_be_written(folder, hasher, X, monkeypatch):
    def no_room(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "write_snapshot", no_room)
    monkeypatch.setattr(store, "LEAST_TAIL", 1)
    with Collection.create(folder, hasher) as photos:
        photos.add(X[:30])
        photos.remove([3])
        photos.compact()
    assert not list(folder.glob("index*"))
    monkeypatch.undo()
    check(folder, [i for i in range(30) if i != 3], X, hasher)


def test_batches_before_a_crash_stay(folder, hasher, X, monkeypatch):
    monkeypatch.setattr(adding, "FEATURES_AT_ONCE", 10)
    with Collection.create(folder, hasher) as photos:
        original, left = change.put_rows, [3]

        def some(*args):
            left[0] -= 1
            return original(*args) if left[0] >= 0 else crash()

        monkeypatch.setattr(change, "put_rows", some)
        with pytest.raises(Crash):
            photos.add(X)
        monkeypatch.undo()
        check(folder, list(range(30)), X, hasher)
        added = photos.add(X)
        assert added.ids.tolist() == list(range(30, 60))
        assert added.duplicates.tolist() == list(range(30))


@pytest.mark.parametrize(
    ("module", "target"),
    [
        (files, "write_whole"),
        (files, "sync_folder"),
        (reencoding.Model, "load"),
        (change, "replace_rows"),
        (store.Store, "save"),
        (reencoding, "delete"),
        (store, "write_snapshot"),
    ],
)
def test_another_model_or_the_old_one(folder, hasher, X, monkeypatch, module, target):
    other = LSH(n_bits=24, random_state=1).fit(X)
    with Collection.create(folder, hasher, keep_features=True) as photos:
        photos.add(X)
        with monkeypatch.context() as patch:
            patch.setattr(module, target, crash)
            with pytest.raises(Crash):
                photos.reencode(other)
        codes = {16: hasher.encode(X), 24: other.encode(X)}
        np.testing.assert_array_equal(photos.index.codes, codes[photos.n_bits])
        assert photos.verify() == []
        with Collection.open(folder) as again:
            np.testing.assert_array_equal(again.index.codes, codes[again.n_bits])
            assert again.verify() == []
            again.compact()
        assert len(list(folder.glob("*model*"))) == 1


@pytest.mark.parametrize(
    ("module", "target"),
    [(store, "write_snapshot"), (maintenance, "_empty_log"), (maintenance, "delete")],
)
def test_compacting_that_is_interrupted(folder, hasher, X, monkeypatch, module, target):
    with Collection.create(folder, hasher) as photos:
        photos.add(X)
        photos.remove(range(0, 30))
        with monkeypatch.context() as patch:
            patch.setattr(module, target, crash)
            with pytest.raises(Crash):
                photos.compact()
        check(folder, list(range(30, 60)), X, hasher)
        assert photos.verify() == []
        (folder / ".index-77.codes.abc").write_bytes(b"left by somebody who was killed")
        facts = photos.compact()
        assert facts["bytes after"] <= facts["bytes before"]
        assert sorted(path.suffix for path in folder.iterdir() if "-" in path.name) == [
            *((".codes", ".safetensors")),
            *((".sqlite-shm", ".sqlite-wal")),
        ]
    check(folder, list(range(30, 60)), X, hasher)


@pytest.mark.parametrize(
    ("module", "target"), [(files, "write_whole"), (catalogue, "_put"), (files, "sync_folder")]
)
def test_making_that_is_interrupted(folder, hasher, X, monkeypatch, module, target):
    folder.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(module, target, crash)
        with pytest.raises(Crash):
            Collection.create(folder, hasher)
    with pytest.raises(CollectionError):
        Collection.open(folder)
    with Collection.create(folder, hasher) as photos:
        photos.add(X)
    check(folder, list(range(60)), X, hasher)


WRITE = """
import sys
import numpy as np
from zshash import Collection
with Collection.open(sys.argv[1]) as photos:
    print("ready", flush=True)
    rng = np.random.RandomState(0)
    while True:
        ids = photos.add_codes(rng.randint(0, 256, size=(50, 2)).astype(np.uint8)).ids
        print("added", ids[-1], flush=True)
        photos.remove(ids[:10])
        print("removed", ids[9], flush=True)
"""


@pytest.mark.crash
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nobody is killed here")
def test_what_was_acknowledged_survives_a_kill(folder, hasher):
    Collection.create(folder, hasher).close()
    for wait in (0.05, 0.15):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITE, str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout.readline() == "ready\n"
        time.sleep(wait)
        child.kill()
        said = child.communicate()[0].splitlines()
        with Collection.open(folder) as photos:
            assert photos.verify() == []
            ids = photos.ids
            whole = [line.split() for line in said[:-1] if line]
            for what, number in whole:
                there = (ids > int(number) - (40 if what == "added" else 10)) & (ids <= int(number))
                assert there.sum() == (40 if what == "added" else 0)


@pytest.mark.parametrize("how", ["cut", "flip", "delete"])
def test_a_log_that_is_lost_is_missed(tmp_path, folder, hasher, X, how):
    with Collection.create(folder, hasher) as photos:
        photos.add(X[:20])
        photos.add(X[20:40])
        shutil.copytree(folder, tmp_path / "killed")  # as it is left by a kill
    log = tmp_path / "killed" / "catalogue.sqlite-wal"
    check(shutil.copytree(tmp_path / "killed", tmp_path / "whole"), list(range(40)), X, hasher)
    data = bytearray(log.read_bytes())
    data[-5000] ^= 1
    (tmp_path / "killed" / "catalogue.sqlite-shm").unlink()
    if how == "delete":
        log.unlink()
    else:
        log.write_bytes(data if how == "flip" else data[:-9])
    with pytest.raises(CollectionError, match=str(tmp_path)):
        Collection.open(tmp_path / "killed")


def test_flipped_bits_never_give_wrong_answers(tmp_path, hasher, X):
    """Flip some bits of each file: answers are right, or a `CollectionError` is raised."""
    rng, good = random.Random(0), tmp_path / "good"
    with Collection.create(good, hasher, keep_features=True, thumbnails=0) as photos:
        photos.add(X[:30], labels=["cat"] * 30, metadata=[{"i": i} for i in range(30)])
        expected = photos.search(X[3], k=30)
    errors = []
    for path in sorted(good.iterdir()):
        data = path.read_bytes()
        for place in rng.sample(range(8 * len(data)), k=min(60, 8 * len(data))):
            folder = tmp_path / "broken"
            shutil.copytree(good, folder)
            broken = bytearray(data)
            broken[place // 8] ^= 1 << place % 8
            (folder / path.name).write_bytes(broken)
            try:
                with Collection.open(folder) as photos:
                    assert photos.search(X[3], k=30) == expected
            except CollectionError as error:
                errors.append(str(error))
            shutil.rmtree(folder)
    assert len(errors) > 60
    assert all(str(tmp_path / "broken") in error for error in errors)
