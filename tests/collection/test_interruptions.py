"""Ctrl-C at every moment, as in a notebook: the collection can be used afterwards."""

import gc
import json
import os
import shutil
import signal
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from tests.collection.conftest import Colours, draw
from tests.interrupting import interrupt, stopped
from zshash import Collection, CollectionError
from zshash.collection.storage.locks import WriterLock
from zshash.images import PictureReader

STRIDE = 7  # every moment takes minutes; one in seven finds the same faults


@pytest.fixture(autouse=True)
def no_garbage_collection():
    """A signal that arrives inside a callback of the garbage collector is lost, as everywhere."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def descriptors(folder):
    """Open files of a folder."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            path = link.readlink()
            if path.is_relative_to(folder):
                found.append(path)
    return sorted(found)


def check_usable(photos):
    """No lock, transaction or thread's lock is left, and everything agrees."""
    store = photos._store
    assert not store.catalogue.connection.in_transaction
    assert store._spare is None or not store._spare.connection.in_transaction
    with WriterLock(photos.path).held():
        pass
    free = []
    thread = threading.Thread(
        target=lambda: free.extend(
            lock.acquire(blocking=False) and (lock.release() or True)
            for lock in (store._writers, store._mutex, store._beside)
        )
    )
    thread.start()
    thread.join()
    assert free == [True] * 3
    assert photos.verify() == []
    with closing(sqlite3.connect(photos.path / "catalogue.sqlite")) as connection:
        (text,) = connection.execute("SELECT value FROM settings WHERE key = 'state'").fetchone()
    assert json.loads(text)["generation"] == photos.generation
    noted = (photos.path / "generation").read_text().split()[0]
    assert int(noted) <= photos.generation


@pytest.mark.parametrize("kind", ["add", "remove", "search", "find", "labels", "compact"])
def test_every_moment(photos, X, kind):
    photos.add(X[:40], labels=["cat"] * 40)
    actions = {
        "add": lambda: photos.add(X[40:44]),
        "remove": lambda: photos.remove(photos.ids[-1:]),
        "search": lambda: photos.search(X[0], k=3, where="label = 'cat'"),
        "find": lambda: photos.find("label = 'cat' and id >= 0"),
        "labels": photos.labels,
        "compact": photos.compact,
    }
    at, n = 1, len(photos)
    while interrupt(actions[kind], at):
        at += STRIDE
        assert len(photos) in {"add": (40, 44), "remove": (n, n - 1)}.get(kind, (n,))
        n = len(photos)
        check_usable(photos)
        if kind == "add" and n == 44:
            photos.remove(photos.ids[40:])
        elif kind == "remove" and n < 30:
            photos.add(X[:40])
            n = len(photos)
    assert at > 3 * STRIDE
    check_usable(photos)
    assert photos.search(X[0], k=1)[0].bits == 0


def test_every_moment_of_labelling(photos, X):
    photos.add(X[:5], labels=["cat"] * 5)
    at, words = 1, ["cat", "dog"]
    while interrupt(lambda: photos.label(photos.ids, words[1]), at):
        at += STRIDE
        (found,) = photos.labels()  # all items have one label
        assert found in words
        if found == words[1]:
            words.reverse()
        check_usable(photos)
    assert at > 3 * STRIDE
    assert photos.labels() == {words[1]: 5}


def test_every_moment_of_a_move_to_another_disk(album, pictures, tmp_path):
    places = [pictures / "cat", tmp_path / "disk" / "cat"]
    shutil.copytree(*places)
    album.add(places[0])
    at = 1
    while interrupt(lambda: album.relocate(*places), at):
        at += STRIDE
        (found,) = {Path(item.source).parent for item in album.items()}
        if found == places[1]:
            places.reverse()
        check_usable(album)
    assert at > 3 * STRIDE


@pytest.mark.crash
def test_every_moment_of_opening_and_closing(photos, X):
    photos.add(X)
    photos.close()
    before = descriptors(photos.path)

    def use():
        album = Collection.open(photos.path)
        made.append(album)
        album.remove(album.ids[-1:])
        album.close()

    at, made = 1, []
    while interrupt(use, at):
        at += STRIDE
        for album in made:
            album.close()
        made.clear()
        gc.collect()  # a collection that was opened, but not given a name yet
        if Path("/proc/self/fd").exists():
            assert descriptors(photos.path) == before
        with Collection.open(photos.path) as album:
            check_usable(album)
            if len(album) < 20:
                album.add(X)
    assert at > 20 * STRIDE


def test_every_moment_of_making(tmp_path, hasher, X):
    def make():
        with Collection.create(folder, hasher):
            pass

    at, folder = 1, tmp_path / "0"
    while interrupt(make, at):
        at += STRIDE
        with suppress(CollectionError):  # it was made already when the signal came
            Collection.create(folder, hasher).close()
        with Collection.open(folder) as photos:
            photos.add(X[:3])
            check_usable(photos)
        folder = tmp_path / str(at)
    assert at > 20 * STRIDE


def test_twice(photos, X):
    """A second Ctrl-C while the first one is being dealt with."""
    photos.add(X[:10])
    store = photos._store
    with stopped(), store.writing():
        try:
            with store.changing() as change:
                change.remove([1, 2])
                signal.raise_signal(signal.SIGINT)
                store.reading().__enter__()
        finally:
            signal.raise_signal(signal.SIGINT)
    assert len(photos) == 10
    check_usable(photos)


class Pressing(Colours):
    """Presses Ctrl-C while it looks at pictures, as often as it is told to."""

    def __init__(self):
        super().__init__()
        self.presses = []  # a press each; `pop` gives one to one thread alone

    def run(self, batch):
        with suppress(IndexError):
            self.presses.pop()
            signal.raise_signal(signal.SIGINT)
            if threading.current_thread() is threading.main_thread():
                pytest.fail("long work is interrupted at once")
        return super().run(batch)


def test_pictures_that_are_read(tmp_path, hasher, pictures):
    network = Pressing()
    reader = PictureReader(extractor=network, cache=False)
    with Collection.create(tmp_path / "slow.zshash", hasher, reader=reader) as album:
        album.add(str(pictures / "cat"))
        network.presses.append(1)
        with pytest.raises(KeyboardInterrupt):
            album.add(str(draw(tmp_path / "more.png", 99)))
        assert len(album) == 4
        check_usable(album)
        network.presses.append(1)
        with pytest.raises(KeyboardInterrupt):
            album.sync(pictures)
        assert not network.presses
        check_usable(album)
        assert len(album.sync(pictures).added) == 8
        check_usable(album)


def test_batches_that_are_done_stay(photos, X, monkeypatch):
    monkeypatch.setattr("zshash.collection.operations.adding.FEATURES_AT_ONCE", 10)
    store, own, seen = photos._store, type(photos._store)._take_over, []

    def take_over(self, change):
        seen.append(change.state.generation)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)
        own(self, change)

    monkeypatch.setattr(type(store), "_take_over", take_over)
    with pytest.raises(KeyboardInterrupt):
        photos.add(X)
    assert len(photos) == 30
    check_usable(photos)
    assert len(photos.add(X).ids) == 30


def test_long_statements(photos, X):
    """A filter over many rows ends when Ctrl-C is pressed, and nothing is called damaged."""
    photos.add(X)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    for enter in (photos._store.beside, photos._store.looking):
        timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
        with stopped(), photos._store.reading(), enter() as found:
            connection = found[0] if isinstance(found, tuple) else found
            timer.start()
            connection.execute(endless).fetchall()
        timer.join()
        check_usable(photos)


def test_what_other_exceptions_leave_behind(photos, X, monkeypatch):
    """Handlers of other signals may raise anywhere, too: the next call clears what is left."""
    photos.add(X[:20])
    store = photos._store
    lost = store.lock.held(), store.catalogue.writing()
    monkeypatch.setattr("zshash.collection.storage.locks.current_call", lambda: 1)
    monkeypatch.setattr("zshash.collection.storage.transactions.current_call", lambda: 1)
    for context in lost:
        context.__enter__()
    store.catalogue.connection.execute("DELETE FROM items")
    store.save()  # nothing of a transaction that is not on the disk
    monkeypatch.undo()
    assert len(photos.items()) == 20
    assert not store.catalogue.connection.in_transaction
    assert len(photos.add(X[:30]).ids) == 10
    with stopped(), store.writing(), store.changing() as change:
        change.remove([3])
        del lost, context  # what was left ends now, and touches nobody else's
        assert store.lock.is_held
        assert store.catalogue.is_writing
        raise KeyboardInterrupt
    assert photos.items([3])
    check_usable(photos)


def test_a_transaction_of_nobody(photos, X):
    photos.add(X[:20])
    for statement in ("BEGIN", "BEGIN IMMEDIATE"):
        connection = photos._store.catalogue.connection
        connection.execute(statement)
        connection.execute("DELETE FROM changes" if "IMM" in statement else "SELECT 1")
        photos.add(X[:21])
        check_usable(photos)
    np.testing.assert_array_equal(photos.ids, np.arange(21))


def test_a_closed_connection_is_no_damage(photos):
    photos._store.catalogue.connection.close()
    with pytest.raises(CollectionError, match="open it again") as caught:
        photos.items()
    assert "copy" not in str(caught.value)
