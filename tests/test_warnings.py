"""Warnings point at the line of the user's program, through whatever layers they come."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import zshash
from tests.collection.conftest import Colours, draw
from zshash.datasets import PseudoUnseenSplit, open_data, zero_shot_split
from zshash.evaluation import RetrievalScorer
from zshash.images import PictureReader

X = np.random.RandomState(0).randn(40, 12).astype(np.float32)
Y = np.repeat([0, 1, 2, 3], 10)


@pytest.fixture
def reader(tmp_path, monkeypatch):
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "cache"))
    return PictureReader(extractor=Colours())


@pytest.fixture
def folder(tmp_path):
    """Pictures of two categories, one of which can not be read."""
    for name in ("cat", "dog"):
        for seed in range(3):
            draw(tmp_path / "photos" / name / f"{seed}.png", seed + 10 * (name == "cat"))
    (tmp_path / "photos" / "cat" / "bad.jpg").write_bytes(b"\xff\xd8 no picture")
    return tmp_path / "photos"


@pytest.fixture
def album(tmp_path, reader):
    hasher = zshash.LSH(16, random_state=0).fit(X)
    with zshash.Collection.create(tmp_path / "album", hasher, reader=reader) as collection:
        yield collection


def told(call):
    """Files and lines of the warnings of a call, which must be some."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        call()
    assert said
    return {(own.filename, own.lineno) for own in said}


def here(call):
    """Where the body of a lambda is."""
    return {(__file__, call.__code__.co_firstlineno)}


FEW = {"n_anchors": 99, "random_state": 0}


@pytest.mark.parametrize(
    "call",
    [
        lambda: zshash.SDH(16, **FEW).fit(X, Y),
        lambda: make_pipeline(StandardScaler(), zshash.SDH(16, **FEW)).fit(X, Y),
        lambda: zshash.SDH(16, **FEW).fit_transform(X, Y),
        lambda: zshash.fit(X, Y, method="SDH", n_bits=16, n_anchors=99),
        lambda: zshash.fit(X, n_train=99, n_bits=16, method="LSH"),
        lambda: zshash.fit(X, np.where(Y, Y, -1), method="ITQ", n_bits=8, unseen=[3], n_train=99),
        lambda: zero_shot_split(Y, unseen=[0], n_train=99),
    ],
)
def test_fits(call):
    assert told(call) == here(call)


def test_cross_validation():
    cv = PseudoUnseenSplit(n_splits=2, n_queries=4, random_state=0)
    pipeline = make_pipeline(StandardScaler(), zshash.SDH(16, **FEW))
    call = lambda: cross_validate(pipeline, X, Y, cv=cv, scoring=RetrievalScorer(cv))  # noqa: E731
    assert told(call) == here(call)


def test_pictures(album, folder, reader, tmp_path):
    good, bad = folder / "cat" / "0.png", folder / "cat" / "bad.jpg"
    model = zshash.Model(zshash.LSH(16, random_state=0).fit(X), reader=reader)
    calls = [
        lambda: album.add(folder),
        lambda: album.search([good, bad]),
        lambda: album.add([good, bad]),
        lambda: album.sync(folder),
        lambda: model.encode(good),
        lambda: zshash.fit(folder, method="LSH", n_bits=16, reader=reader),
        lambda: zshash.Collection.create(tmp_path / "other", folder, reader=reader, n_bits=16),
    ]
    for call in calls:
        assert told(call) == here(call)


def test_folders(tmp_path):
    draw(tmp_path / "photos" / "cat" / "0.png", 0)
    draw(tmp_path / "photos" / "dog" / "1.png", 1)
    (tmp_path / "photos" / "empty").mkdir()
    call = lambda: open_data(tmp_path / "photos")  # noqa: E731
    assert told(call) == here(call)
