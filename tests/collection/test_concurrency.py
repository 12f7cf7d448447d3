"""Threads that share a collection, and other processes that change it meanwhile."""

import threading

import numpy as np
import pytest

from tests.collection.conftest import Colours, draw
from zshash import LSH, Collection, save
from zshash.collection import Page, searching
from zshash.collection.searching import OtherModel
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
    """A thread adds five pictures, and is looking at them until this is called."""
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
    before = slow.search_codes(codes, 5)
    assert len(before[0]) == 5
    assert slow.search_codes(codes, 5, where="label = 'cat'")[0][0].item.labels == ("cat",)
    assert slow.radius_codes(codes, 16)[0]
    assert len(slow) == 12
    assert slow.find("label = 'dog'").tolist() == [4, 5, 6, 7]
    assert slow.labels() == {"cat": 4, "dog": 4, "ship": 4}
    assert slow.thumbnail(3) is not None
    assert slow[3].labels == ("cat",)
    assert adding().ids.tolist() == list(range(12, 17))
    assert len(slow.search_codes(codes, 100)[0]) == 17


def test_another_thread_that_writes_waits_for_its_turn(slow, adding, X, hasher):
    removed = []
    thread = threading.Thread(target=lambda: removed.append(slow.remove([0])))
    thread.start()
    assert 0 in slow  # it can not have begun
    assert slow.search_codes(hasher.encode(X[:1]), 1)
    assert adding().ids.tolist() == list(range(12, 17))
    thread.join(SECONDS)
    assert removed == [1]
    assert 0 not in slow
    assert len(slow) == 16
    assert slow.verify() == []


@pytest.mark.parametrize("n_bits", [16, 24])
def test_a_model_that_changes_between_encoding_and_searching(
    folder, hasher, X, monkeypatch, tmp_path, n_bits
):
    save(LSH(n_bits=n_bits, random_state=3).fit(X), tmp_path / "other")
    with Collection.create(folder, hasher, keep_features=True) as photos:
        photos.add(X, labels=["odd" if i % 2 else "even" for i in range(60)])
    own, calls = searching.projection_of_query, []

    def project(encoder, query):
        values = own(encoder, query)
        calls.append(values.shape)
        if len(calls) == 1:
            with Collection.open(folder) as other:
                assert other.reencode(tmp_path / "other") == 60
        return values

    with Collection.open(folder) as photos:
        assert photos.n_bits == 16
        monkeypatch.setattr(searching, "projection_of_query", project)
        for search in [
            lambda c: c.search(X[7], k=5, distance="asymmetric"),
            lambda c: c.search(X[7], k=5),
            lambda c: c.radius(X[7], r=5),
            lambda c: c.search(X[7], k=5, where="label = 'odd'"),
        ]:
            found = search(photos)
            with Collection.open(folder) as other:
                assert other.n_bits == n_bits
                assert found == search(other)
        assert calls[1] == (1, n_bits)
        assert found[0].item.id == 7
        assert found[0].distance == 0


def test_codes_of_an_earlier_model_are_refused(folder, hasher, X):
    with Collection.create(folder, hasher, keep_features=True) as photos:
        photos.add(X)
        encoder, codes = photos.encoder, hasher.encode(X[:1])
        assert photos.pages(codes, [Page(3)], encoder=encoder)[0].total == 3
        photos.reencode(LSH(n_bits=16, random_state=9).fit(X))
        with pytest.raises(OtherModel, match="another model meanwhile"):
            photos.pages(codes, [Page(3)], encoder=encoder)
        assert photos.pages(codes, [Page(3)])[0].total == 3


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
    found = photos.search_codes(codes, 100)
    assert len(changes) == 3
    assert [len(own) for own in found] == [33, 33]


def test_readers_and_a_writer_among_threads(photos, X, hasher):
    """Whoever reads sees whole batches and right distances."""
    photos.add(X[:10])
    codes, wrong, done = hasher.encode(X), [], threading.Event()

    def read(where):
        while not done.is_set():
            found = photos.search_codes(codes[:4], 100, where=where)
            for row, own in enumerate(found):
                if own[0].distance != 0 or len(own) % 10 or own[0].item.id != row:
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
        whole = photos.search_codes(codes, 1000, where=where)[0]
        for page in [Page(7), Page(1000), Page(50, 4), Page(3, 16), Page(50, None, 10, 5),
                     Page(50, 5, 2, 3), Page(20, None, 15, 60), Page(20, None, 40, 5),
                     Page(5, 0), Page(50, None, 10)]:  # fmt: skip
            ranked = whole[: page.k]
            if page.r is not None:
                ranked = [match for match in ranked if match.distance <= page.r]
            stop = None if page.limit is None else page.offset + page.limit
            (found,) = photos.pages(codes, [page], where=where)
            assert found.total == len(ranked)
            assert found.matches == ranked[page.offset : stop]
    several = photos.pages(hasher.encode(X[:3]), [Page(2), Page(9, 3), Page(4, None, 1, 2)])
    assert [len(found.matches) for found in several][::2] == [2, 2]
    assert photos.pages(np.empty((0, 2), np.uint8), []) == []
