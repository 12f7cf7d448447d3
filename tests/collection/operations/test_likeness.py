"""Whether anything looks like a query: on digits that are there, and on noise."""

import numpy as np
import pytest

from zshash import ITQ, Collection
from zshash.codes import unpack
from zshash.collection.operations.likeness import NEAR, SHARE, likeness
from zshash.datasets import digits


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    """Digits below five, without the last 100 of them."""
    data = digits()
    X = data.X[np.asarray(data.labels) < 5].astype(np.float32)
    hasher = ITQ(n_bits=32, random_state=0).fit(X[:-100])
    with Collection.create(tmp_path_factory.mktemp("like") / "album", hasher) as album:
        album.add(X[:-100])
        yield album, X[-100:]


def test_what_looks_like_nothing(album):
    album, queries = album
    noise = np.random.RandomState(0).randint(0, 17, (100, 64)).astype(np.float32)
    shares = [np.mean([found.nothing for found in album.search(X)]) for X in (queries, noise)]
    assert shares[0] <= 2 * SHARE
    assert shares[1] >= 0.5
    assert {found.nothing for found in album.search(noise, k=1)} == {
        found.nothing for found in album.search(noise, k=30)
    }


def test_likeness_is_a_share_of_values(album):
    album, queries = album
    values = album.model.project(queries[:1])[0].astype(np.float64)
    signs = 2.0 * unpack(album.index.codes, 32) - 1
    shares = np.sort(signs @ values / np.abs(values).sum())[::-1]
    found = likeness(shares, np.arange(len(shares)), None)
    assert found == pytest.approx(shares[:NEAR].mean())
    assert np.isnan(likeness(shares[:0], np.arange(0), 3))


def test_where_nobody_can_tell(album, tmp_path):
    album, queries = album
    assert album.search(queries[0], where="id > 3").nothing is None
    assert album.search(queries[0], radius=9).nothing is None
    assert album.search(queries[0], distance="bits").nothing is None
    assert album.search(code=album.index.codes[0]).nothing is None
    assert album.search(item=3).nothing in (True, False)
    with Collection.create(tmp_path / "small", album.model.hasher) as small:
        small.add(queries[:20])
        assert small.search(queries[0]).nothing is None


def test_items_are_like_each_other(album):
    album, _ = album
    found = [album.search(item=number).nothing for number in album.ids[::5].tolist()]
    assert np.mean(found) <= 2 * SHARE
