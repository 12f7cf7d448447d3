"""Threads that share a collection, and other processes that change it meanwhile."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from tests.collection.conftest import Colours, draw
from zshash import LSH, Collection
from zshash.collection import OtherModel, Query
from zshash.collection.storage.catalogue import Catalogue
from zshash.images import PictureReader

SECONDS = 60


class Waiting(Colours):
    """Waits for an event before it looks at pictures, where it is told to."""

    def __init__(self):
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def run(self, batch):
        self.begun.set()
        assert self.go_on.wait(SECONDS)
        return super().run(batch)


@pytest.fixture
def network():
    made = Waiting()
    yield made
    made.go_on.set()


@pytest.fixture
def slow(tmp_path, hasher, network, pictures):
    reader = PictureReader(extractor=network, cache=False)
    with Collection.create(tmp_path / "slow.zshash", hasher, reader=reader) as collection:
        collection.add(str(pictures))
        network.begun.clear()
        yield collection


@pytest.fixture
def adding(slow, network, tmp_path):
    """A thread adds five pictures; it waits while reading them until this is called."""
    paths = [str(draw(tmp_path / "more" / f"{i}.png", 100 + i)) for i in range(5)]
    results = []
    network.go_on.clear()
    thread = threading.Thread(target=lambda: results.append(slow.add(paths)))
    thread.start()
    assert network.begun.wait(SECONDS)

    def finish():
        network.go_on.set()
        thread.join(SECONDS)
        return results[0]

    yield finish
    finish()


def test_searches_do_not_wait_for_pictures_that_are_added(slow, adding, X, hasher):
    codes = hasher.encode(X[:3])
    before = slow.search(code=codes, k=5)
    assert len(before[0]) == 5
    assert slow.search(code=codes, k=5, where="label = 'cat'")[0][0].item.labels == ("cat",)
    assert slow.search(code=codes, radius=16)[0]
    assert len(slow) == 12
    assert slow.find("label = 'dog'").tolist() == [4, 5, 6, 7]
    assert slow.labels() == {"cat": 4, "dog": 4, "ship": 4}
    assert slow.thumbnail(3) is not None
    assert slow[3].labels == ("cat",)
    assert adding().ids.tolist() == list(range(12, 17))
    assert len(slow.search(code=codes, k=100)[0]) == 17


def test_another_thread_that_writes_waits_for_its_turn(slow, adding, X, hasher):
    removed = []
    thread = threading.Thread(target=lambda: removed.append(slow.remove([0])))
    thread.start()
    assert 0 in slow  # it can not have begun
    assert slow.search(code=hasher.encode(X[:1]), k=1)
    assert adding().ids.tolist() == list(range(12, 17))
    thread.join(SECONDS)
    assert removed == [1]
    assert 0 not in slow
    assert len(slow) == 16
    assert slow.verify() == []


def test_codes_of_an_earlier_model_are_refused(folder, hasher, X):
    with Collection.create(folder, hasher, keep_features=True) as photos:
        photos.add(X)
        model, codes = photos.model.checksum, hasher.encode(X[:1])
        assert len(photos.search(code=codes, k=3, model=model)[0]) == 3
        photos.reencode(LSH(n_bits=16, random_state=9).fit(X))
        with pytest.raises(OtherModel, match="another model than the collection has by now"):
            photos.search(code=codes, k=3, model=model)
        assert len(photos.search(code=codes, k=3)[0]) == 3


def test_items_that_change_during_every_attempt(photos, X, hasher, monkeypatch):
    """A search that is overtaken again and again is done while the others wait."""
    photos.add(X[:30])
    own, changes = type(photos.index).search, []

    def search(self, codes, k):
        found = own(self, codes, k)
        if len(changes) < 10 and not photos._store._mutex._is_owned():
            changes.append(photos.add(X[30 + len(changes) : 31 + len(changes)]).ids[0])
        return found

    monkeypatch.setattr(type(photos.index), "search", search)
    codes = hasher.encode(X[:2])
    found = photos.search(code=codes, k=100)
    assert len(changes) == 3
    assert [len(own) for own in found] == [33, 33]


def test_readers_and_a_writer_among_threads(photos, X, hasher):
    """Readers see whole batches and right distances."""
    photos.add(X[:10])
    codes, wrong, done = hasher.encode(X), [], threading.Event()

    def read(where):
        while not done.is_set():
            found = photos.search(code=codes[:4], k=100, where=where)
            for row, own in enumerate(found):
                if own[0].bits != 0 or len(own) % 10 or own[0].id != row:
                    wrong.append(own)

    threads = [threading.Thread(target=read, args=[where]) for where in (None, None, "id >= 0")]
    for thread in threads:
        thread.start()
    try:
        for _ in range(4):
            for start in range(10, 60, 10):
                photos.add(X[start : start + 10])
            photos.remove(photos.ids[10:])
    finally:
        done.set()
        for thread in threads:
            thread.join(SECONDS)
    assert wrong == []
    assert len(photos) == 10


def test_pages_against_the_whole(photos, X, hasher):
    photos.add(X, labels=["odd" if i % 2 else "even" for i in range(60)])
    codes = hasher.encode(X[:1])
    for where in (None, "label = 'odd'"):
        whole = photos.search(code=codes, k=1000, where=where)[0]
        assert photos.search(code=codes, where=where)[0].total == len(whole)
        for most, radius, offset, k in [(7, None, 0, 7), (1000, None, 0, 1000), (50, 4, 0, 50),
                                        (3, 16, 0, 3), (50, None, 10, 5), (50, 5, 2, 3),
                                        (20, None, 15, 60), (20, None, 40, 5), (5, 0, 0, 5),
                                        (50, None, 10, 40)]:  # fmt: skip
            ranked = whole[:most]
            if radius is not None:
                ranked = [match for match in ranked if match.bits <= radius]
            query = Query(code=codes[0], most=most, radius=radius, offset=offset, k=k)
            (found,) = photos.search_each([query], where=where)
            assert found.total == len(ranked)
            assert found.offset == offset
            assert found == ranked[offset : offset + k]
    first = [Query(code=own) for own in hasher.encode(X[:3])]
    several = photos.search_each(
        [
            replace(first[0], k=2),
            replace(first[1], k=9, radius=3),
            replace(first[2], most=4, offset=1, k=2),
        ]
    )
    assert [len(found) for found in several][::2] == [2, 2]
    assert photos.search_each([]) == []
    assert photos.search(code=np.empty((0, 2), np.uint8)) == []


def test_search_by_features_looks_at_the_catalogue_twice(photos, X, monkeypatch):
    photos.add(X)
    looks = []
    state = Catalogue.state
    monkeypatch.setattr(Catalogue, "state", lambda own: looks.append(own) or state(own))
    photos.search(X[:5], k=3)
    assert len(looks) == 2  # before and after all is compared, if nobody has written meanwhile
