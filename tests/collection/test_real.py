"""Searching by real values: real-valued queries among the codes, against NumPy."""

import numpy as np
import pytest

from tests.collection.conftest import draw
from zshash import LSH, Collection
from zshash.codes import hamming, unpack
from zshash.collection import Item, OtherModel, Query


def brute_force(hasher, query, X, ids):
    """Scores and ids by a sum over all bits in float64, the best first, then by id."""
    values = hasher.project(query[None])[0].astype(np.float64)
    signs = 2.0 * hasher.transform(X[ids]) - 1
    scores = (signs * values).sum(axis=1) / (np.linalg.norm(values) * np.sqrt(len(values)))
    order = np.lexsort((ids, -scores.round(9)))
    return scores[order], np.asarray(ids)[order].tolist()


def assert_as_numpy(found, expected, k):
    scores, ids = expected
    assert [match.id for match in found] == ids[:k]
    np.testing.assert_allclose([match.score for match in found], scores[:k], rtol=1e-6, atol=1e-9)
    assert found.total == len(ids)


def test_search_is_exact(photos, hasher, X):
    photos.add(X[:50], labels=["odd" if i % 2 else "even" for i in range(50)])
    odd = list(range(1, 50, 2))
    differ = 0
    for query in X[50:]:
        expected = brute_force(hasher, query, X, range(50))
        found = photos.search(query, k=9, distance="real")
        assert found == photos.search(query, k=9)
        assert_as_numpy(found, expected, 9)
        assert_as_numpy(photos.search(query, k=99, distance="real"), expected, 99)
        among = photos.search(query, k=9, where="label = 'odd'", distance="real")
        assert_as_numpy(among, brute_force(hasher, query, X, odd), 9)
        nearest = photos.search(query, k=9, distance="bits")
        differ += [m.id for m in nearest] != [m.id for m in found]
    assert differ > 5  # the order of bits alone is another one


def test_many_vectors_and_pages(photos, hasher, X):
    photos.add(X[:50])
    # Row by row, because BLAS may round the products of one row in another way.
    values = np.concatenate([hasher.project(row[None]) for row in X[50:]])
    np.testing.assert_array_equal(photos.model.project(X[50:51])[0], values[0])
    one_by_one = [photos.search(query, k=12, distance="real") for query in X[50:]]
    assert photos.search(values=values, k=12) == one_by_one
    together = photos.search(X[50:], k=12)
    assert [[m.id for m in found] for found in together] == [
        [m.id for m in found] for found in one_by_one
    ]
    assert photos.search(values=values[:0], k=12) == []
    assert photos.search(values=values[3], k=12) == one_by_one[3]
    first = Query(values=values[0], most=12, offset=3, k=5, model=photos.model.checksum)
    found = photos.search_each([first, *(Query(values=own, most=7, k=7) for own in values[1:])])
    assert found[0] == one_by_one[0][3:8]
    assert [page.total for page in found] == [12] + [7] * 9
    assert found[1:] == [best[:7] for best in one_by_one[1:]]


def test_bits_that_differ(photos, hasher, X):
    photos.add(X[:50])
    code = hasher.encode(X[55:56])
    found = photos.search(X[55], k=50, distance="real")
    assert found.code == code.tobytes()
    for match in found:
        own = np.frombuffer(match.code, dtype=np.uint8)
        assert match.item.bits_from(code.tobytes()) == hamming(code, own[None])[0, 0] == match.bits
    assert Item(1, b"\x00\x80").bits_from(b"\x01\x00") == 2


def test_pictures(album, pictures):
    album.add(pictures)
    query = draw(pictures / "new.png", 77)
    found = album.search(query, k=12, distance="real")
    features = album.model.picture_reader.network.extract([query])
    values = album.model.project(features)[0].astype(np.float64)
    signs = 2.0 * unpack(album.index.codes, 16) - 1
    cosines = signs @ values / (4 * np.linalg.norm(values))
    np.testing.assert_allclose([match.score for match in found], np.sort(cosines)[::-1], rtol=1e-6)
    assert found == album.search(query.read_bytes(), k=12, distance="real")
    (own,) = album.search(pictures / "cat" / "0.png", k=1, distance="real")
    features = album.model.picture_reader.network.extract([pictures / "cat" / "0.png"])
    values = album.model.project(features)[0].astype(np.float64)
    largest = np.abs(values).sum() / (4 * np.linalg.norm(values))
    assert own.score == pytest.approx(largest, rel=1e-6)  # that of its own code


def test_an_empty_collection(photos, X):
    assert photos.search(X[0], distance="real") == []
    assert photos.search(values=np.ones((2, 16)), k=3) == [[], []]
    assert photos.search(values=np.ones(16)).total == 0


def test_values_without_direction_fit_nothing(photos, X):
    photos.add(X[:5])
    found = photos.search(values=np.zeros(16))
    assert [(match.id, match.score) for match in found] == [(i, 0.0) for i in range(5)]


def test_mistakes(photos, hasher, X):
    photos.add(X)
    with pytest.raises(ValueError, match='must be "real" or "bits", got \'cosine\''):
        photos.search(X[0], distance="cosine")
    with pytest.raises(ValueError, match="15 real values, and the collection's codes have 16 bits"):
        photos.search(values=np.zeros((2, 15)))
    with pytest.raises(ValueError, match="NaN"):
        photos.search(values=np.full((1, 16), np.nan))
    for given in ({"values": hasher.project(X[:1])}, {"query": X[0], "distance": "real"}):
        with pytest.raises(ValueError, match=r"a radius is a number of bits.*search by bits"):
            photos.search(**given, k=3, radius=2)


def test_values_of_an_earlier_model_are_refused(folder, hasher, X):
    with Collection.create(folder, hasher, keep_features=True) as photos:
        photos.add(X)
        values, model = hasher.project(X[:1]), photos.model.checksum
        assert len(photos.search(values=values, k=3, model=model)[0]) == 3
        photos.reencode(LSH(n_bits=16, random_state=9).fit(X))
        with pytest.raises(OtherModel, match="another model than the collection has by now"):
            photos.search(values=values, k=3, model=model)
