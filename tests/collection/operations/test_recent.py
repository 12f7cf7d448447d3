"""Items that are kept in memory are those of the catalogue."""

import numpy as np
import pytest

from zshash import LSH, Collection
from zshash.collection import Query
from zshash.collection.operations import recent
from zshash.collection.operations.recent import Recent


@pytest.fixture
def X():
    return np.random.RandomState(0).randn(60, 12).astype(np.float32)


@pytest.fixture
def album(tmp_path, X):
    with Collection.create(tmp_path / "album", LSH(n_bits=16, random_state=0).fit(X)) as made:
        made.add(X[:50], labels=["one"] * 50)
        yield made


@pytest.fixture
def reads(monkeypatch):
    """Ids that were read from the catalogue."""
    read, own = [], recent.items
    monkeypatch.setattr(
        recent, "items", lambda store, ids: read.append(list(ids)) or own(store, ids)
    )
    return read


def found(album, kept, number, k=5):
    (matches,) = album.search_each([Query(item=number, k=k)], recent=kept)
    assert [match.item for match in matches] == [album[match.id] for match in matches]
    return [match.id for match in matches]


def test_items_are_read_once(album, reads):
    kept = Recent()
    first = found(album, kept, 3)
    assert found(album, kept, 3) == first
    assert reads == [sorted(first)]


def test_changes_of_this_and_of_another_process_are_seen(album, reads, X):
    kept = Recent()
    ids = found(album, kept, 3)
    with Collection.open(album.path) as other:
        other.label(ids[:2], "two")
        other.add(X[50:])
    assert set(found(album, kept, 3)) >= set(ids[:2])
    assert set(ids[:2]) <= set(reads[1])
    assert not set(ids[2:]) & set(reads[1])
    album.remove([ids[1]])
    assert ids[1] not in found(album, kept, 3)


def test_only_so_many_are_kept(album, reads):
    kept = Recent(most=5)
    found(album, kept, 3, k=20)
    assert len(kept._kept) == 5
    found(album, kept, 3, k=20)
    assert len(reads[1]) >= 15
