"""Items that are searched for, by the values of their features, against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash import LSH, Collection
from zshash.codes import hamming, unpack
from zshash.collection import Query
from zshash.collection.exchange.file_search import CodeFile

N, BITS = 120, 16
ODD = "label = 'odd'"


@pytest.fixture(scope="module")
def X():
    """Features of six groups, close together, so that many codes are the same."""
    rng = np.random.RandomState(3)
    centres = rng.randn(6, 12)
    return (centres[np.arange(N) % 6] + 0.03 * rng.randn(N, 12)).astype(np.float32)


@pytest.fixture(scope="module", params=[True, False], ids=["kept", "bits"])
def album(request, tmp_path_factory, X):
    """A collection that keeps features, or does not; the last 20 items have none in either."""
    hasher = LSH(n_bits=BITS, random_state=0).fit(X)
    folder = tmp_path_factory.mktemp("items") / "album"
    with Collection.create(folder, hasher, keep_features=request.param) as album:
        album.add(X[: N - 20], labels=["odd" if i % 2 else "even" for i in range(N - 20)])
        album.add_codes(hasher.encode(X[N - 20 :]), labels=["odd"] * 20)
        yield album, X[: N - 20] if request.param else X[:0]


def expected(album, kept, number, where, distance, radius):
    """Ids in the order of brute force, their scores and bits."""
    ids = album.ids if where is None else album.find(where)
    codes = album.index.get(ids)
    bits = hamming(album.index.get([number]), codes)[0].astype(int)
    scores = 1 - 2 * bits / BITS
    if number < len(kept) and distance != "bits" and radius is None:
        values = album.model.project(kept[number : number + 1])[0].astype(np.float64)
        signs = 2.0 * unpack(codes, BITS) - 1
        scores = signs @ values / (np.linalg.norm(values) * np.sqrt(BITS))
    order = np.lexsort((ids, ids != number, -scores.round(9)))
    order = order if radius is None else order[bits[order] <= radius]
    return ids[order].tolist(), scores[order], bits[order].tolist()


@settings(max_examples=150, deadline=None)
@given(
    number=st.integers(0, N - 1),
    k=st.integers(1, 30),
    offset=st.integers(0, 40),
    where=st.sampled_from([None, ODD, "id >= 60", "label = 'nobody'"]),
    how=st.sampled_from([{}, {"distance": "real"}, {"distance": "bits"}, {"radius": 3}]),
)
def test_an_item_comes_first_and_its_values_rank(album, number, k, offset, where, how):
    album, kept = album
    found = album.search(item=number, k=k, offset=offset, where=where, **how)
    ids, scores, bits = expected(album, kept, number, where, how.get("distance"), how.get("radius"))
    page = slice(offset, offset + k)
    assert [match.id for match in found] == ids[page]
    np.testing.assert_allclose([match.score for match in found], scores[page], atol=1e-6)
    assert [match.bits for match in found] == bits[page]
    assert found.total == len(ids)
    by_bits = number >= len(kept) or how in ({"distance": "bits"}, {"radius": 3})
    assert (found.values is None) == by_bits
    most = Query(item=number, k=k, offset=offset, most=9, **how)
    (limited,) = album.search_each([most], where=where)
    assert [match.id for match in limited] == ids[:9][page]


def test_many_items_at_once(album):
    album, _ = album
    numbers = [5, 110, 5, 64]
    together = album.search(item=numbers, k=7)
    for found, number in zip(together, numbers, strict=True):
        alone = album.search(item=number, k=7)
        assert [match.id for match in found] == [match.id for match in alone]
        assert found[0].id == number


def test_its_values_find_the_same(album):
    album, kept = album
    found = album.search(item=8, k=25)
    if len(kept):
        again = album.search(values=found.values, k=25, model=found.model)
        assert sorted(match.id for match in again) == sorted(match.id for match in found)
        assert again.code == found.code
    rankings = album.rank_each([Query(item=8, k=25)])
    assert rankings[0].ids.tolist() == [match.id for match in found]


def test_an_item_comes_first_where_matches_are_ranked_again(album):
    album, kept = album
    if len(kept):
        for number in (3, 90):
            found = album.search(item=number, k=5, rerank=40)
            assert found[0].id == number


def test_an_item_whose_values_lost_a_sign_still_fits_itself_best(album, monkeypatch):
    """As where another machine multiplies features in another order."""
    album, kept = album
    own = type(album.model).project

    def project(self, data):
        values = own(self, data)
        values[:, 0] *= -1
        return values

    monkeypatch.setattr(type(album.model), "project", project)
    found = album.search(item=20, k=N)
    assert found[0].id == 20
    assert (found.values is None) == (not len(kept))


def test_rows_of_a_file_come_first(album, tmp_path, X):
    album, _ = album
    path = tmp_path / "codes.npy"
    np.save(path, album.model.encode(X))
    for row in (0, 66, 119):
        (found,) = CodeFile(path, album.model).search_each([Query(item=row, k=3)])
        assert found[0].id == row
