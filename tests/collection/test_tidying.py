import sqlite3
from contextlib import closing

import numpy as np

from zshash import Collection
from zshash.collection import catalogue


def test_space_is_given_back(folder, hasher):
    codes = np.random.RandomState(0).randint(0, 256, size=(20000, 2)).astype(np.uint8)
    with Collection.create(folder, hasher) as photos:
        photos.add_codes(codes, sources=[f"/photos/{i}" for i in range(20000)])
        photos.remove(range(100, 20000))
        (folder / f"model-{'0' * 12}.safetensors").write_bytes(b"of a reencode that was killed")
        (folder / "notes.txt").write_text("of the user")
        facts = photos.compact()
        assert facts["items"] == 100
        assert facts["bytes after"] < facts["bytes before"] / 10
        assert facts["files deleted"] == 1
        assert photos.verify() == []
        assert photos.add_codes(codes[:1]).ids.tolist() == [20000]
    assert (folder / "notes.txt").exists()
    with closing(sqlite3.connect(folder / "catalogue.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM changes").fetchone() == (0,)
    with Collection.open(folder) as photos:
        assert len(photos) == 101
        assert photos.verify() == []


def test_readers_go_on(folder, hasher, X, monkeypatch):
    monkeypatch.setattr(catalogue, "SECONDS_TO_WAIT", 0.01)
    with Collection.create(folder, hasher) as photos, Collection.open(folder) as reader:
        photos.add(X)
        assert len(reader) == 60
        photos.remove([1])
        with reader._store.reading():
            facts = photos.compact()
            assert facts["log in use"]
            assert len(reader._store.mirror.index) == 59
        photos.remove([2])
        assert reader.ids.tolist() == [0, *range(3, 60)]
