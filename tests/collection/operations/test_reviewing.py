"""Groups of copies that a person keeps whole."""

import pytest

from zshash import Collection, CollectionError


@pytest.fixture
def photos(tmp_path, hasher, X):
    with Collection.create(tmp_path / "c", hasher, keep_features=True) as opened:
        opened.add(X[:6])
        opened.add_codes(opened.model.encode(X[:3]))  # looks like the first three
        yield opened


def groups(album, **options):
    return [
        [item.id for item in group.items] for group in album.duplicates("alike", r=0, **options)
    ]


def test_a_kept_group_is_left_out(photos):
    assert groups(photos) == [[0, 6], [1, 7], [2, 8]]
    key = photos.keep_group([7, 1])
    assert groups(photos) == [[0, 6], [2, 8]]
    assert groups(photos, kept=True) == [[0, 6], [1, 7], [2, 8]]
    with Collection.open(photos.path) as other:
        assert groups(other) == [[0, 6], [2, 8]]
        other.forget_group(key)
    assert groups(photos) == [[0, 6], [1, 7], [2, 8]]
    with pytest.raises(CollectionError, match=f"nothing is kept under the key '{key}'"):
        photos.forget_group(key)
    assert photos.verify() == []


def test_it_stays_kept_without_some_of_its_items_but_not_with_more(photos, X):
    more = photos.add_codes(photos.model.encode(X[:1])).ids.tolist()
    photos.keep_group([0, 6, *more])
    assert groups(photos) == [[1, 7], [2, 8]]
    photos.remove(more)
    assert groups(photos) == [[1, 7], [2, 8]]
    new = photos.add_codes(photos.model.encode(X[:1])).ids.tolist()
    assert groups(photos)[0] == [0, 6, *new]


def test_what_is_removed_and_added_again_stays_kept(photos, X):
    photos.keep_group([0, 1])  # contents, not ids
    reviewed = photos.reviewed()
    marks = [photos[number].content.hex() for number in (0, 1)]
    photos.remove([0, 1], undo=False)
    assert photos.add(X[:2]).ids.tolist() == [9, 10]
    assert marks in reviewed
    assert [photos[number].content.hex() for number in (9, 10)] in photos.reviewed()


def test_unknown_items(photos):
    with pytest.raises(CollectionError, match="there is no item 99"):
        photos.keep_group([0, 99])
    with pytest.raises(CollectionError, match="without items"):
        photos.keep_group([])
