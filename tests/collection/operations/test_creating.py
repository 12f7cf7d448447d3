import threading

import pytest

from zshash import LSH, Collection, CollectionError
from zshash.collection.errors import BusyError
from zshash.collection.operations import creating
from zshash.collection.storage import locks


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("moment", ["store_model", "sync_folder"])
@pytest.mark.parametrize("is_there", [False, True])
def test_the_second_of_two_touches_nothing(folder, hasher, X, monkeypatch, moment, is_there):
    own, tried = getattr(creating, moment), []
    other = LSH(n_bits=24, random_state=1).fit(X)
    if is_there:
        folder.mkdir()

    def meanwhile(*arguments):
        found = own(*arguments)
        if not tried:
            before = contents(folder)
            with pytest.raises(CollectionError, match=f"^{folder}: ") as caught:
                tried.append(Collection.create(folder, other))
            tried.append(caught.value)
            assert contents(folder) == before
        return found

    monkeypatch.setattr(creating, moment, meanwhile)
    with Collection.create(folder, hasher) as photos:
        assert photos.n_bits == 16
        assert len(photos.add(X).ids) == 60
        assert photos.verify() == []
    assert "is writing to it" in str(tried[0]) or "there is a collection" in str(tried[0])


def test_many_at_once(tmp_path, hasher):
    for number in range(10):
        folder, start, results = tmp_path / str(number), threading.Barrier(4), []

        def make(folder=folder, start=start, results=results):
            start.wait()
            try:
                results.append(Collection.create(folder, hasher))
            except CollectionError as error:
                results.append(error)

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        made = [result for result in results if isinstance(result, Collection)]
        assert len(made) == 1, results
        assert made[0].verify() == []
        made[0].close()
        Collection.open(folder).close()


def test_the_first_fails(folder, hasher, monkeypatch):
    """The first one deletes its folder; the second one, which had seen it, makes it again."""
    own, calls = locks.WriterLock._acquire, []

    def acquire(self):
        calls.append(1)
        if len(calls) == 1:
            folder.rmdir()
        return own(self)

    monkeypatch.setattr(locks.WriterLock, "_acquire", acquire)
    with Collection.create(folder, hasher) as photos:
        assert photos.verify() == []


def test_a_folder_whose_lock_is_deleted_meanwhile(folder, hasher, monkeypatch):
    own, calls = locks._lock, []

    def lock(handle):
        own(handle)
        calls.append(handle)
        if len(calls) == 1:
            (folder / "writer.lock").unlink()

    monkeypatch.setattr(locks, "_lock", lock)
    with Collection.create(folder, hasher) as photos:
        assert photos.verify() == []
    assert len(calls) > 1


@pytest.mark.parametrize("is_there", [False, True])
def test_nothing_is_left_of_a_failure(folder, hasher, monkeypatch, is_there):
    def fail(*_):
        raise CollectionError("not today")

    if is_there:
        folder.mkdir()
    monkeypatch.setattr(creating.Catalogue, "create", fail)
    with pytest.raises(CollectionError, match="not today"):
        Collection.create(folder, hasher)
    assert folder.exists() == is_there
    monkeypatch.undo()
    Collection.create(folder, hasher).close()


def test_where_there_are_no_locks(folder, hasher, monkeypatch):
    def refuse(_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(locks, "_lock", refuse)
    with pytest.raises(CollectionError, match="knows no locks"):
        Collection.create(folder, hasher)
    assert not folder.exists()


def test_a_collection_in_use(photos, hasher, X):
    photos.add(X)
    before = contents(photos.path)
    with pytest.raises(CollectionError, match="there is a collection already"):
        Collection.create(photos.path, hasher)
    with photos._store.writing(), pytest.raises(CollectionError) as caught:
        Collection.create(photos.path, hasher)
    assert isinstance(caught.value, BusyError) or "already" in str(caught.value)
    assert contents(photos.path).keys() == before.keys()
    assert photos.verify() == []


def test_a_folder_of_somebody_else(tmp_path, hasher):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CollectionError, match=r"not empty .it holds notes.txt"):
        Collection.create(tmp_path, hasher)
    assert contents(tmp_path).keys() <= {"notes.txt", "cache"}
