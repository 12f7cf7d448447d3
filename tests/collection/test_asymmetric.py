"""Searching by asymmetric distance: real-valued queries among the codes, against NumPy."""

import numpy as np
import pytest

from tests.collection.conftest import draw
from zshash import LSH, Collection
from zshash.codes import hamming, unpack
from zshash.collection import Item, Page
from zshash.collection.searching import OtherModel


def brute_force(hasher, query, X, ids):
    """Scores and ids by a sum over all bits in float64, the best first, then by id."""
    values = hasher.project(query[None])[0].astype(np.float64)
    signs = 2.0 * hasher.transform(X[ids]) - 1
    scores = (signs * values).sum(axis=1)
    order = np.lexsort((ids, -scores.round(9)))
    return scores[order], np.asarray(ids)[order].tolist()


def assert_as_numpy(found, expected, k):
    scores, ids = expected
    assert [match.item.id for match in found] == ids[:k]
    np.testing.assert_allclose([match.distance for match in found], scores[:k], rtol=1e-6)


def test_search_is_exact(photos, hasher, X):
    photos.add(X[:50], labels=["odd" if i % 2 else "even" for i in range(50)])
    odd = list(range(1, 50, 2))
    differ = 0
    for query in X[50:]:
        expected = brute_force(hasher, query, X, range(50))
        found = photos.search(query, k=9, distance="asymmetric")
        assert_as_numpy(found, expected, 9)
        assert_as_numpy(photos.search(query, k=99, distance="asymmetric"), expected, 99)
        among = photos.search(query, k=9, where="label = 'odd'", distance="asymmetric")
        assert_as_numpy(among, brute_force(hasher, query, X, odd), 9)
        nearest = photos.search(query, k=9, distance="hamming")
        assert nearest == photos.search(query, k=9)
        differ += [m.item.id for m in nearest] != [m.item.id for m in found]
    assert differ > 5  # the order of bits alone is another one


def test_many_vectors_and_pages(photos, hasher, X):
    photos.add(X[:50])
    values = hasher.project(X[50:])
    np.testing.assert_array_equal(photos.project(X[50]), values[0])
    one_by_one = [photos.search(query, k=12, distance="asymmetric") for query in X[50:]]
    assert photos.search_weighted(values, 12) == one_by_one
    assert photos.search_weighted(values[:0], 12) == []
    pages = [Page(12, None, 3, 5), *[Page(7)] * 9]
    found = photos.weighted_pages(values, pages, encoder=photos.encoder)
    assert found[0].matches == one_by_one[0][3:8]
    assert [page.total for page in found] == [12] + [7] * 9
    assert [page.matches for page in found[1:]] == [best[:7] for best in one_by_one[1:]]


def test_bits_that_differ(photos, X):
    photos.add(X[:50])
    code = photos.encode(X[55])
    for match in photos.search(X[55], k=50, distance="asymmetric"):
        own = np.frombuffer(match.item.code, dtype=np.uint8)
        assert match.item.bits_from(code.tobytes()) == hamming(code[None], own[None])[0, 0]
    assert Item(1, b"\x00\x80").bits_from(b"\x01\x00") == 2


def test_pictures(album, pictures):
    album.add(pictures)
    query = draw(pictures / "new.png", 77)
    found = album.search(query, k=12, distance="asymmetric")
    values = album.project(query).astype(np.float64)
    signs = 2.0 * unpack(album.index.codes, 16) - 1
    np.testing.assert_allclose(
        [match.distance for match in found], np.sort(signs @ values)[::-1], rtol=1e-6
    )
    assert found == album.search(query.read_bytes(), k=12, distance="asymmetric")
    (own,) = album.search(pictures / "cat" / "0.png", k=1, distance="asymmetric")
    largest = np.abs(album.project(pictures / "cat" / "0.png")).sum()
    assert own.distance == pytest.approx(largest, rel=1e-6)  # that of its own code


def test_an_empty_collection(photos, X):
    assert photos.search(X[0], distance="asymmetric") == []
    assert photos.search_weighted(np.ones((2, 16)), 3) == [[], []]


def test_mistakes(photos, hasher, X):
    photos.add(X)
    with pytest.raises(ValueError, match='must be "hamming" or "asymmetric", got \'cosine\''):
        photos.search(X[0], distance="cosine")
    with pytest.raises(ValueError, match=r"codes of 16 bits must have the shape \(q, 16\)"):
        photos.search_weighted(np.zeros((2, 15)))
    with pytest.raises(ValueError, match="NaN"):
        photos.search_weighted(np.full((1, 16), np.nan))
    with pytest.raises(
        ValueError, match=r"a radius is a number of bits.*search by Hamming distance"
    ):
        photos.weighted_pages(hasher.project(X[:1]), [Page(3, 2)])


def test_values_of_an_earlier_model_are_refused(folder, hasher, X):
    with Collection.create(folder, hasher, keep_features=True) as photos:
        photos.add(X)
        encoder, values = photos.encoder, hasher.project(X[:1])
        assert photos.weighted_pages(values, [Page(3)], encoder=encoder)[0].total == 3
        photos.reencode(LSH(n_bits=16, random_state=9).fit(X))
        with pytest.raises(OtherModel, match="another model meanwhile"):
            photos.weighted_pages(values, [Page(3)], encoder=encoder)
