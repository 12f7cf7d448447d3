import numpy as np
import pytest

from tests.collection.conftest import draw
from zshash import LSH, Collection, CollectionError
from zshash.collection.storage import store
from zshash.hashing import save


@pytest.fixture
def other(X):
    return LSH(n_bits=24, random_state=1).fit(X)


def test_from_stored_features(folder, hasher, other, X):
    with Collection.create(folder, hasher, keep_features=True) as photos:
        photos.add(X)
        photos.remove([5])
        reader = Collection.open(folder)
        assert len(reader) == 59
        assert photos.reencode(other) == 59
        for each in (photos, reader):
            assert each.n_bits == 24
            np.testing.assert_array_equal(each.index.codes, np.delete(other.encode(X), 5, axis=0))
            assert each.search(X[7], k=1)[0].bits == 0
            assert each.verify() == []
        reader.close()
        assert len(list(folder.glob("model-*"))) == 1
        assert photos.reencode(other) == 0
        photos.add(X[5:6])
        assert photos.verify() == []
    with Collection.open(folder) as photos:
        assert len(photos) == 60


def test_codes_of_the_same_length(folder, hasher, X):
    same = LSH(n_bits=16, random_state=1).fit(X)
    with (
        Collection.create(folder, hasher, keep_features=True) as photos,
        Collection.open(folder) as reader,
    ):
        photos.add(X)
        photos.reencode(same)
        for each in (photos, reader):
            np.testing.assert_array_equal(each.index.codes, same.encode(X))


def test_from_pictures(album, pictures, other, tmp_path):
    album.add(pictures)
    thumbnail = album.thumbnail(3)
    save(other, tmp_path / "model", notes=album.model.notes)
    assert album.reencode(tmp_path / "model") == 12
    assert album.search(pictures / "dog" / "1.png", k=1)[0].bits == 0
    assert album.thumbnail(3) == thumbnail
    assert album.verify() == []


def test_features_of_another_network_are_made_again(tmp_path, reader, hasher, X, pictures):
    narrow = LSH(n_bits=16, random_state=0).fit(X[:, :5])
    with Collection.create(tmp_path / "c", hasher, reader=reader, keep_features=True) as album:
        album.add(pictures)
        album.add(X[:1])
        with pytest.raises(CollectionError, match="item 12 has neither features"):
            album.reencode(narrow)
        album.remove([12])
        with pytest.raises(ValueError, match="12 features for each sample"):
            album.reencode(narrow)
        assert album.search(pictures / "cat" / "0.png", k=1)[0].bits == 0
        assert album.verify() == []


def test_items_that_have_nothing_to_encode(photos, other, X, hasher):
    photos.add(X)
    before = sorted(photos.path.iterdir())
    with pytest.raises(CollectionError, match="item 0 has neither features that the new model"):
        photos.reencode(other)
    assert sorted(photos.path.iterdir()) == before
    np.testing.assert_array_equal(photos.index.codes, hasher.encode(X))
    assert photos.verify() == []


def test_pictures_that_are_others_now(album, pictures, other):
    album.add(pictures)
    codes = album.index.codes.copy()
    draw(pictures / "cat" / "0.png", 100)
    with pytest.raises(
        CollectionError, match=r"nothing was encoded again: .*0\.png: changed since"
    ):
        album.reencode(other)
    (pictures / "cat" / "0.png").write_bytes(b"")
    with pytest.raises(CollectionError, match="nothing was encoded again"):
        album.reencode(other)
    np.testing.assert_array_equal(album.index.codes, codes)
    assert album.verify() == []


@pytest.mark.parametrize("use", [Collection.open, Collection.verify, len])
def test_a_model_that_is_replaced_while_it_is_looked_for(
    use, folder, hasher, other, X, monkeypatch
):
    with (
        Collection.create(folder, hasher, keep_features=True) as photos,
        Collection.open(folder) as reader,
    ):
        photos.add(X)
        check, models = store.check_model, [other]
        if use is len:  # so that the reader looks for another model than the one it has
            photos.reencode(models.pop())
            models.append(hasher)

        def check_late(*arguments):
            if models:
                photos.reencode(models.pop())
            return check(*arguments)

        monkeypatch.setattr(store, "check_model", check_late)
        found = use(folder if use == Collection.open else reader)
        if use == Collection.open:
            assert found.verify() == []
            found.close()
        else:
            assert found == ([] if use is Collection.verify else 60)
        assert not models
