import tracemalloc

import numpy as np
import pytest

from zshash import Collection, CollectionError
from zshash.collection.operations.where import WhereError


@pytest.fixture
def filled(photos, X):
    years = [{"year": 2000 + row % 3} for row in range(len(X))]
    photos.add(X, labels=[["even"], []] * (len(X) // 2), metadata=years)
    return photos


def test_all_items_in_the_order_of_ids(filled):
    filled.remove([3, 7])
    assert list(filled.each()) == filled.items()


@pytest.mark.parametrize("where", ["label = 'even' and year > 2000", "label = null", "id = 999"])
def test_items_that_meet_a_condition(filled, where):
    assert list(filled.each(where)) == filled.items(filled.find(where))


def test_one_state_whatever_is_written_meanwhile(filled, X):
    before, items = filled.items(), filled.each()
    assert next(items) == before[0]
    filled.remove([5])
    filled.label([6], "new")
    filled.add(X[:2] + 1)
    assert list(items) == before[1:]
    assert len(list(filled.each())) == len(before) + 1


def test_keys_of_metadata(photos, X):
    photos.add(X[:4], metadata=[{"year": 1, "a b": 2}, None, {"camera": {"lens": 3}}, {"year": 4}])
    assert photos.metadata_keys() == ["a b", "camera", "year"]
    assert photos.metadata_keys("year = 4") == ["year"]


def test_mistakes_are_told_before_the_first_item(filled):
    with pytest.raises(WhereError):
        filled.each("year >")
    filled.close()
    with pytest.raises(CollectionError, match="closed"):
        filled.each()


def test_damage_is_told(filled, folder):
    filled.close()
    catalogue = folder / "catalogue.sqlite"
    content = bytearray(catalogue.read_bytes())
    content[content.find(b'["even"]') + 2] ^= 1
    catalogue.write_bytes(content)
    with Collection.open(folder) as again, pytest.raises(CollectionError, match="is damaged"):
        list(again.each())


def test_many_items_need_little_memory(photos, monkeypatch):
    monkeypatch.setattr("zshash.collection.storage.tables.FETCH", 50)
    n = 3000
    codes = np.random.RandomState(0).randint(0, 256, size=(n, 2), dtype=np.uint8)
    photos.add_codes(codes, sources=[f"/somewhere/with/a/long/name/{row}.jpg" for row in range(n)])
    sum(1 for _ in photos.each("id < 10"))  # loads what every listing needs
    peaks = []
    for take in (lambda items: sum(1 for _ in items), list):
        tracemalloc.start()
        take(photos.each())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < peaks[1] / 5
