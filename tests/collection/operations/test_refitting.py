"""Learning again from the pictures of a collection."""

import threading

import numpy as np
import pytest

from tests.collection.operations.test_making import draw
from zshash import ITQ, Collection, CollectionError
from zshash.collection.operations import reencoding, refitting
from zshash.collection.operations.refitting import Recipe


@pytest.fixture
def album(tmp_path, reader):
    draw(tmp_path / "photos", 60)
    for number in range(24, 60):
        (tmp_path / "later").mkdir(exist_ok=True)
        (tmp_path / "photos" / f"{number}.png").rename(tmp_path / "later" / f"{number}.png")
    with Collection.create(tmp_path / "album", tmp_path / "photos", reader=reader) as made:
        yield made


def test_new_pictures_make_it_pay(album, tmp_path):
    assert len(album) == 24
    assert album.n_unlearned == 0
    album.add(tmp_path / "later")
    assert album.n_unlearned == 36
    before = album.model.checksum
    assert album.refit() == 60
    assert album.n_unlearned == 0
    assert album.model.checksum != before
    assert album.model.notes["n_train"] == 60
    assert album.verify(deep=True) == []


def test_few_new_pictures_do_not(album, tmp_path, monkeypatch):
    monkeypatch.setattr(refitting, "LEAST", 5)
    album.add(sorted((tmp_path / "later").iterdir())[:5])
    assert album.n_unlearned == 0  # 5 of 24 is less than a quarter
    album.add(sorted((tmp_path / "later").iterdir())[5:6])
    assert album.n_unlearned == 6


def test_labels_are_learned_from(album):
    assert album.model.seen == ()
    album.label(range(0, 24, 4), "fire engine")
    album.label(range(1, 24, 4), "frog")
    album.refit()
    assert set(album.model.seen) == {"fire engine", "frog"}
    assert album.model.notes["n_unlabelled"] == 12


def test_pictures_are_read_where_features_are_not_kept(tmp_path, reader):
    photos = draw(tmp_path / "photos")
    made = Collection.create(tmp_path / "album", photos, reader=reader, keep_features=False)
    with made as album:
        assert album.info()["features"] == 0
        assert album.refit(n_bits=16) == 40
        (photos / "00.png").unlink()
        with pytest.raises(CollectionError, match="item 0 has neither features"):
            album.refit()
        assert album.n_bits == 16


def test_a_model_of_another_method_is_learned_by_it(tmp_path, X):
    with Collection.create(
        tmp_path / "album", ITQ(n_bits=8, random_state=3).fit(X), keep_features=True
    ) as album:
        album.add(X)
        assert album.n_unlearned == 0  # its model was learned elsewhere
        assert album.refit() == 60
        assert album.model.method == "ITQ"
        assert album.model.hasher.random_state == 3
        assert album.refit(method="MTH", effort="fast") == 60
        assert album.model.method == "MTH"


def test_the_same_pictures_give_the_same_model(album):
    assert album.refit() == 0


def test_readers_see_the_codes_from_before_until_the_end(album, monkeypatch):
    """A search in another thread is answered while the model is learned."""
    learning, go_on = threading.Event(), threading.Event()
    real = refitting.fit

    def slow(*own, **more):
        learning.set()
        assert go_on.wait(20)
        return real(*own, **more)

    monkeypatch.setattr(refitting, "fit", slow)
    worker = threading.Thread(target=album.refit, kwargs={"n_bits": 16})
    worker.start()
    assert learning.wait(20)
    assert album.search(item=3, k=1)[0].id == 3
    assert album.n_bits == 64
    go_on.set()
    worker.join(30)
    assert album.n_bits == 16


def test_a_failure_leaves_all_as_it_was(album, monkeypatch):
    before = [(item.id, item.code) for item in album.items()]

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(reencoding, "_recoded", fail)
    with pytest.raises(CollectionError, match="the disk is full"):
        album.refit(n_bits=16)
    monkeypatch.undo()
    assert [(item.id, item.code) for item in album.items()] == before
    assert album.verify() == []


def test_many_items_are_learned_from_in_part(album, tmp_path, monkeypatch):
    monkeypatch.setattr(refitting, "MOST", 20)
    album.add(tmp_path / "later")
    assert album.refit() == 60
    assert album.model.notes["n_train"] == 20
    assert album.verify(deep=True) == []


def test_recipes():
    recipe = Recipe().changed(n_bits=32, lookup=1.0)
    assert recipe.parameters == {"effort": "fast", "lookup": 1.0}
    assert recipe.changed(method="mth").parameters == recipe.parameters
    assert recipe.changed(method="ITQ").parameters == {}
    np.testing.assert_equal(recipe.n_bits, 32)
