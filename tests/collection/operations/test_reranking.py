"""Ranking the best matches again by features, against NumPy and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from zshash import LSH, Collection
from zshash.collection import Query
from zshash.collection.errors import NoFeatures
from zshash.collection.exchange.file_search import CodeFile
from zshash.collection.operations.queries import make_queries
from zshash.collection.operations.reranking import SHRINKAGE, Metric
from zshash.datasets import DataError

N = 60


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A collection that keeps features, its hasher, and its features; only the last has none."""
    rng = np.random.RandomState(1)
    X = (rng.randn(N, 12) @ rng.randn(12, 12) + 2).astype(np.float32)
    hasher = LSH(n_bits=16, random_state=0).fit(X)
    folder = tmp_path_factory.mktemp("kept") / "album"
    with Collection.create(folder, hasher, keep_features=True) as album:
        album.add(X[:-1], labels=["odd" if i % 2 else "even" for i in range(N - 1)])
        album.add_codes(hasher.encode(X[-1:]))
        yield album, hasher, X


def whitened(X, sample):
    """Features by the square root of their covariance matrix, from all its eigenvectors."""
    lengths = np.linalg.norm(sample, axis=1, keepdims=True)
    centre = (sample / lengths).mean(axis=0)
    covariance = np.cov((sample / lengths).T, bias=True)
    variances, axes = np.linalg.eigh(covariance)
    scale = 1 / np.sqrt(1 + variances / (SHRINKAGE * variances.mean()))
    return (X / np.linalg.norm(X, axis=1, keepdims=True) - centre) @ (axes * scale) @ axes.T


def expected(hasher, X, query, candidates):
    """Candidates in their new order, and their scores."""
    values = cosine_similarity(hasher.project(query[None]), hasher.project(X[candidates]))[0]
    own, theirs = whitened(query[None], X[: N - 1]), whitened(X[candidates], X[: N - 1])
    scores = (values + cosine_similarity(own, theirs)[0]) / 2
    order = np.argsort(-scores)
    return np.asarray(candidates)[order].tolist(), scores[order]


def query_of(features, **page):
    return make_queries(features, None, None, None, None, **page)[0][0]


def ids(found):
    return [match.id for match in found]


def test_the_best_are_ranked_again_and_the_others_follow(kept):
    album, hasher, X = kept
    changed = 0
    for query in X[:10] + np.float32(0.3):
        before = album.search(query, k=N)
        after = album.search(query, k=N, rerank=15)
        first = [number for number in ids(before)[:15] if number != N - 1]
        order, scores = expected(hasher, X, query, first)
        assert ids(after)[: len(order)] == order
        np.testing.assert_allclose([m.score for m in after[: len(order)]], scores, atol=1e-5)
        rest = [number for number in ids(before) if number not in first]
        assert ids(after)[len(order) :] == rest
        assert [m for m in after if m.id in rest] == [m for m in before if m.id in rest]
        assert {m.id: m.bits for m in after} == {m.id: m.bits for m in before}
        assert (after.total, after.code) == (before.total, before.code)
        changed += ids(after) != ids(before)
    assert changed > 5


def test_an_item_is_ranked_by_its_own_features(kept):
    album, hasher, X = kept
    first = [number for number in ids(album.search(item=7, k=20)) if number != N - 1]
    found = album.search(item=7, k=3, rerank=20)
    assert ids(found) == expected(hasher, X, X[7], first)[0][:3]
    assert found[0].id == 7
    assert found[0].score == pytest.approx(1, abs=1e-5)
    assert [own.id for own in album.search(item=[7, 8], k=1, rerank=20)[1]] == [8]


@settings(max_examples=30, deadline=None)
@given(
    k=st.integers(1, 25),
    rerank=st.integers(1, 2 * N),
    is_item=st.booleans(),
    distance=st.sampled_from(["real", "bits"]),
    where=st.sampled_from([None, "label = 'odd'", "label = 'nobody'"]),
)
def test_pages_hold_every_item_once(kept, k, rerank, is_item, distance, where):
    album, _, X = kept
    query = {"item": 3} if is_item else {"query": X[3] + np.float32(0.2)}
    how = query | {"where": where, "distance": distance}
    whole = album.search(**how, k=N, rerank=rerank)
    pages = [album.search(**how, k=k, offset=at, rerank=rerank) for at in range(0, N + 1, k)]
    assert [match for page in pages for match in page] == whole
    before = album.search(**how, k=N)
    assert sorted(ids(whole)) == sorted(ids(before))
    assert ids(whole)[rerank:] == ids(before)[rerank:]
    assert {page.total for page in pages} == {before.total}


def test_no_more_than_most_are_ranked(kept):
    album, _, X = kept
    (found,) = album.search_each([query_of(X[2], k=N, most=9, rerank=30)])
    assert sorted(ids(found)) == sorted(ids(album.search(X[2], k=9)))
    assert found.total == 9


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"name": "dog", "rerank": 5}, "a name is searched for by a score of its own"),
        ({"words": {"dog": 1.0}, "rerank": 5}, "a name is searched for by a score of its own"),
        ({"item": 1, "radius": 2, "rerank": 5}, "matches within a radius"),
        ({"code": b"ab", "rerank": 5}, "a code and values have no features"),
        ({"values": np.ones(16), "rerank": 5}, "a code and values have no features"),
        ({"item": 1, "rerank": 0}, "rerank"),
    ],
)
def test_searches_that_can_not_be_ranked_again(how, message):
    with pytest.raises(ValueError, match=message):
        Query(**how)


def test_collections_without_features(kept, photos, X, tmp_path):
    photos.add(X)
    with pytest.raises(NoFeatures, match="it keeps no features, so matches can not be ranked"):
        photos.search(X[0], rerank=5)
    assert photos.search(X[:0], rerank=5) == []
    with pytest.raises(NoFeatures, match=f"it keeps no features of item {N - 1}"):
        kept[0].search(item=N - 1, rerank=5)
    path = tmp_path / "codes.npy"
    np.save(path, photos.model.encode(X))
    with pytest.raises(DataError, match="a file of codes has no features"):
        CodeFile(path, photos.model).search_each([query_of(X[0], rerank=5)])


def test_a_metric_is_the_whitening_of_its_sample():
    rng = np.random.RandomState(0)
    sample = (rng.randn(40, 6) * [9, 3, 1, 1, 1, 1] + 4).astype(np.float32)
    X = rng.randn(5, 6).astype(np.float32)
    got = Metric.of(sample)(X)
    np.testing.assert_allclose(got @ got.T, cosine_similarity(whitened(X, sample)), atol=1e-5)
    few = Metric.of(sample[:3])(X)  # fewer samples than features
    np.testing.assert_allclose(few @ few.T, cosine_similarity(whitened(X, sample[:3])), atol=1e-5)


def test_equal_features_tell_nothing():
    same = np.ones((4, 3), dtype=np.float32)
    np.testing.assert_array_equal(Metric.of(same)(same), np.zeros((4, 3)))
