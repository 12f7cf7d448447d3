import logging
import threading

import numpy as np
import pytest

from zshash import LSH, Collection
from zshash.hashing import save
from zshash.web import atlas as atlas_module
from zshash.web import colouring
from zshash.web.atlas import Atlas
from zshash.web.colouring import NO_CATEGORY
from zshash.web.maps import FinishedMap

X = np.random.RandomState(0).randn(60, 12).astype(np.float32)
LABELS = ["cat"] * 30 + ["dog"] * 20 + [None] * 10


@pytest.fixture
def photos(tmp_path):
    """A collection without items, whose model has seen dogs."""
    save(LSH(n_bits=16, random_state=0).fit(X), tmp_path / "m.zshash", notes={"seen": ["dog"]})
    with Collection.create(tmp_path / "photos.zshash", tmp_path / "m.zshash") as collection:
        yield collection


@pytest.fixture
def atlas(photos):
    made = Atlas(photos)
    yield made
    made.close()


@pytest.fixture
def fits(monkeypatch):
    """How many items each layout was fitted to."""
    seen = []

    class Counted(atlas_module.Layout):
        def fit(self, codes):
            seen.append(len(codes))
            return super().fit(codes)

    monkeypatch.setattr(atlas_module, "Layout", Counted)
    return seen


def settled(atlas):
    """Facts of a map that is up to date."""
    atlas.facts()
    assert atlas.wait(60)
    return atlas.facts()


def read(points):
    """Ids, places and categories from their bytes."""
    n, told = np.frombuffer(points, "<u4", 2)
    assert len(points) == 8 + 14 * n + told
    ids = np.frombuffer(points, "<f8", n, 8)
    x, y, categories = np.frombuffer(points, "<u2", 3 * n, 8 + 8 * n).reshape(3, n)
    return ids, np.column_stack([x, y]), categories


def test_a_map_has_every_item_with_its_category(photos, atlas):
    photos.add(X, labels=LABELS)
    assert atlas.facts() == {
        "state": "computing", "items": 0, "total": 0, "generation": 0, "categories": [],
        "regions": [], "digest": "",
    }  # fmt: skip
    assert atlas.wait(60)
    facts = atlas.facts()
    assert facts.pop("regions") is not None
    assert facts.pop("digest") == FinishedMap.read(atlas.points()).facts["digest"]
    assert facts == {
        "state": "ready",
        "items": 60,
        "total": 60,
        "generation": photos.generation,
        "categories": [
            {"label": "cat", "seen": False, "items": 30, "recognised": False},
            {"label": "dog", "seen": True, "items": 20, "recognised": False},
        ],
    }
    ids, places, categories = read(atlas.points())
    assert ids.tolist() == list(range(60))
    assert categories.tolist() == [0] * 30 + [1] * 20 + [NO_CATEGORY] * 10
    assert len(np.unique(places, axis=0)) > 50
    assert np.ptp(places, axis=0).max() > 65535 / 2


def test_the_first_label_of_an_item_is_its_category(photos, atlas):
    photos.add(X[:2], labels=[["dog", "cat"], ["cat", "dog"]])
    facts = settled(atlas)
    assert [category["label"] for category in facts["categories"]] == ["cat", "dog"]
    assert read(atlas.points())[2].tolist() == [1, 0]


def test_labels_beyond_the_most_frequent_ones_are_no_category(photos, atlas, monkeypatch):
    monkeypatch.setattr(colouring, "MOST_CATEGORIES", 1)
    photos.add(X, labels=LABELS)
    assert settled(atlas)["categories"] == [
        {"label": "cat", "seen": False, "items": 30, "recognised": False}
    ]
    assert read(atlas.points())[2].tolist() == [0] * 30 + [NO_CATEGORY] * 30


def test_a_collection_without_items_is_empty_until_it_has_some(photos, atlas):
    assert atlas.points() is None
    assert settled(atlas)["state"] == "empty"
    assert read(atlas.points())[0].tolist() == []
    photos.add(X)
    assert atlas.facts()["state"] == "computing"
    assert atlas.wait(60)
    assert atlas.facts()["state"] == "ready"


def test_an_earlier_map_serves_while_the_next_one_is_made(photos, atlas, monkeypatch):
    photos.add(X[:40])
    before = settled(atlas)
    points = atlas.points()
    go_on = threading.Event()
    labels = Atlas._labels
    monkeypatch.setattr(Atlas, "_labels", lambda *args: go_on.wait(60) and labels(*args))
    photos.add(X)
    assert atlas.facts() == before
    assert atlas.points() is points
    go_on.set()
    assert settled(atlas)["items"] == 60
    assert len(read(atlas.points())[0]) == 60


def truth_of(points, labels):
    """Whether each point has the label of its item."""
    facts = FinishedMap.read(points).facts
    names = [category["label"] for category in facts["categories"]]
    ids, _, numbers = read(points)
    shown = [None if number == NO_CATEGORY else names[number] for number in numbers]
    return shown == [labels[int(number)] for number in ids]


def test_points_are_those_of_the_facts_whatever_is_removed_meanwhile(photos, atlas):
    labels = LABELS[::-1]
    photos.add(X, labels=labels)
    settled(atlas)
    for gone in (range(40, 55), range(5, 20), [0, 59]):  # the most frequent category changes
        facts = atlas.facts()
        photos.remove(list(gone))
        settled(atlas)
        old = atlas.points(facts["generation"], facts["digest"])
        assert {"state": "ready"} | FinishedMap.read(old).facts == facts
        assert truth_of(old, labels)
        assert truth_of(atlas.points(), labels)
    assert atlas.points(generation=2) is None, "only the last two are kept"


def test_nothing_is_done_where_nothing_has_changed(photos, atlas, monkeypatch):
    photos.add(X)
    settled(atlas)
    monkeypatch.delattr(Atlas, "_make")
    assert settled(atlas)["state"] == "ready"


def test_small_changes_keep_the_landmarks_and_the_places(photos, atlas, fits):
    photos.add(X[:50])
    settled(atlas)
    before = read(atlas.points())
    photos.remove([0, 1])
    photos.add(X[50:54])
    assert settled(atlas)["items"] == 52
    ids, places, _ = read(atlas.points())
    assert fits == [50]
    assert ids.tolist() == list(range(2, 54))
    moved = np.abs(places[:48].astype(float) - before[1][2:])
    assert np.median(moved) == 0
    assert moved.max() < 65535 / 100  # in a pile that has lost one, or got one


@pytest.mark.parametrize("change", ["added", "removed", "replaced"])
def test_large_changes_make_another_layout(photos, atlas, fits, change):
    photos.add(X[:40])
    settled(atlas)
    if change != "added":
        photos.remove(range(11 if change == "removed" else 8))
    if change != "removed":
        photos.add(X[40:51])
    settled(atlas)
    assert fits == [40, len(photos)]


def test_another_model_makes_another_layout(tmp_path, fits):
    folder = tmp_path / "kept.zshash"
    first, second = (LSH(n_bits=bits, random_state=0).fit(X) for bits in (16, 24))
    with Collection.create(folder, first, keep_features=True) as photos:
        photos.add(X)
        atlas = Atlas(photos)
        settled(atlas)
        photos.reencode(second)
        assert settled(atlas)["generation"] == photos.generation
        assert fits == [60, 60]
        atlas.close()


def test_more_items_than_are_shown_are_sampled_evenly_and_the_sample_stays(photos):
    photos.add_codes(np.zeros((1000, 2), dtype=np.uint8))
    atlas = Atlas(photos, most=100)
    facts = settled(atlas)
    assert (facts["items"], facts["total"]) == (100, 1000)
    ids = read(atlas.points())[0]
    assert np.diff(ids).max() <= 30
    assert np.histogram(ids, bins=4, range=(0, 1000))[0].tolist() == pytest.approx([25] * 4, abs=2)
    photos.add_codes(np.zeros((10, 2), dtype=np.uint8))
    assert settled(atlas)["total"] == 1010
    assert len(set(ids) & set(read(atlas.points())[0])) >= 97
    atlas.close()


def test_items_that_vanish_meanwhile_are_left_out(photos, atlas, monkeypatch):
    photos.add(X, labels=LABELS)
    monkeypatch.setattr(atlas_module, "ITEMS_AT_ONCE", 7)
    there = atlas_module.items_left

    def remove_some_first(collection, ids):
        if 14 in ids:
            collection.remove([15, 16, 59])
        return there(collection, ids)

    monkeypatch.setattr(atlas_module, "items_left", remove_some_first)
    atlas.facts()
    assert atlas.wait(60)
    ids, _, categories = read(atlas.points())
    assert ids.tolist() == [i for i in range(60) if i not in (15, 16, 59)]
    assert np.count_nonzero(categories == 0) == 28


def test_a_failure_is_logged_and_told_and_not_repeated_at_once(photos, atlas, monkeypatch, caplog):
    photos.add(X[:40])
    settled(atlas)
    with monkeypatch.context() as patch:
        patch.delattr(Atlas, "_layout")
        photos.add(X[40:50])
        with caplog.at_level(logging.ERROR, logger="zshash.web"):
            assert settled(atlas)["state"] == "failed"
            assert settled(atlas)["state"] == "failed"
    assert len(caplog.records) == 1
    assert "photos.zshash can not be made" in caplog.text
    assert len(read(atlas.points())[0]) == 40
    assert settled(atlas)["state"] == "failed"
    photos.add(X)
    assert settled(atlas)["state"] == "ready"


def test_a_failure_is_forgotten_after_a_while(photos, atlas, monkeypatch):
    photos.add(X)
    with monkeypatch.context() as patch:
        patch.delattr(Atlas, "_layout")
        assert settled(atlas)["state"] == "failed"
        assert atlas.points() is None
    monkeypatch.setattr(atlas_module, "RETRY_AFTER", 0)
    assert settled(atlas)["state"] == "ready"


def test_a_damaged_collection_is_a_failure(photos, atlas, caplog):
    photos.add(X)
    for path in photos.path.glob("catalogue.sqlite*"):
        path.write_bytes(bytes(path.stat().st_size))
    assert settled(atlas)["state"] == "failed"
    assert "can not be made" in caplog.text


def test_a_closed_atlas_leaves_the_collection_alone(photos, monkeypatch, caplog):
    photos.add(X)
    monkeypatch.setattr(atlas_module, "ITEMS_AT_ONCE", 1)
    monkeypatch.setattr(atlas_module, "PAUSE", 0.01)
    atlas = Atlas(photos)
    atlas.facts()
    atlas.close()
    photos.close()
    assert atlas.wait(0)
    assert atlas.points() is None
    assert not caplog.records
    atlas.facts()
    assert atlas.wait(0)


def test_a_computation_that_lasts_is_given_up(photos, monkeypatch, caplog):
    photos.add(X)
    monkeypatch.setattr(atlas_module, "PATIENCE", 0.01)
    begun, go_on = threading.Event(), threading.Event()
    fit = atlas_module.Layout.fit

    def slow(self, codes):
        begun.set()
        assert go_on.wait(60)
        return fit(self, codes)

    monkeypatch.setattr(atlas_module.Layout, "fit", slow)
    atlas = Atlas(photos)
    atlas.facts()
    assert begun.wait(60)
    atlas.close()
    photos.close()
    assert not atlas.wait(0)
    go_on.set()
    assert atlas.wait(60)
    assert not caplog.records


def test_many_threads_may_ask_at_once(photos, atlas, fits):
    photos.add(X)
    states = []
    threads = [
        threading.Thread(target=lambda: states.append(atlas.facts()["state"])) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert settled(atlas)["state"] == "ready"
    assert set(states) <= {"computing", "ready"}
    assert fits == [60]


def test_processes_share_their_maps(photos, tmp_path, fits):
    photos.add(X, labels=LABELS)
    one, other = (Atlas(photos, folder=tmp_path / "shared") for _ in range(2))
    facts = settled(one)
    assert settled(other) == facts
    assert other.points() == one.points()
    photos.remove([0, 31, 59])
    later = settled(other)
    assert later["generation"] > facts["generation"] == one.facts()["generation"]
    assert one.points(later["generation"], later["digest"]) == other.points()
    assert truth_of(other.points(facts["generation"]), LABELS)
    assert settled(one) == later
    assert fits == [60]
    one.close(), other.close()


def test_processes_that_start_together_make_one_map(photos, tmp_path, fits):
    photos.add(X, labels=LABELS)
    atlases = [Atlas(photos, folder=tmp_path / "shared") for _ in range(3)]
    for atlas in atlases:
        atlas.facts()
    assert len({settled(atlas)["digest"] for atlas in atlases}) == 1
    assert fits == [60]
    for atlas in atlases:
        atlas.close()


def test_maps_of_different_places_have_different_digests(photos):
    photos.add(X, labels=LABELS)
    one = settled(Atlas(photos))
    assert settled(Atlas(photos))["digest"] == one["digest"]
    assert settled(Atlas(photos, most=30))["digest"] != one["digest"]
