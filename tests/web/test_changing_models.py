"""Another model in the middle of a request: every answer is that of one model."""

import json

import numpy as np
import pytest

from tests.web.browser.album import png
from tests.web.conftest import JSON, told
from tests.web.test_atlas import read, settled
from zshash import LSH, ZSH, Collection
from zshash.collection.operations import naming, searching
from zshash.hashing import save
from zshash.semantics import WordNet
from zshash.web.atlas import Atlas
from zshash.web.layout import Layout

OCTETS = "application/octet-stream"


@pytest.fixture(scope="module")
def other_model(photos, tmp_path_factory):
    """A model of the same length and for the same features, with other codes, as a file."""
    seen = list(photos.model.seen)
    pictures = sorted((photos.path.parent / "pictures").rglob("*.png"))
    pictures = [path for path in pictures if path.parent.name in seen]
    X = photos.model.picture_reader.network.extract(pictures)
    vectors = WordNet(basis=seen).embed(seen)
    targets = vectors[[seen.index(path.parent.name) for path in pictures]]
    path = tmp_path_factory.mktemp("models") / "other"
    hasher = ZSH(n_bits=48, n_anchors=40, random_state=8).fit(X, targets)
    save(hasher, path, notes=photos.model.notes)
    return path


@pytest.fixture
def changing(copied, other_model, monkeypatch):
    """The next search is overtaken by the other model."""
    own, calls = searching.ask, []

    def ask(*args):
        asked = own(*args)
        calls.append(asked.model.checksum)
        if len(calls) == 1:
            with Collection.open(copied) as other:
                assert other.reencode(other_model) == 180
        return asked

    yield lambda: monkeypatch.setattr(searching, "ask", ask)
    assert len(set(calls)) == 2


def features(photos, picture):
    return photos.model.picture_reader.network.extract([picture])[0]


ASKED = [
    ("GET", {"id": 33}, {"item": 33}),
    ("GET", {"name": "truck"}, {"name": "truck"}),
    ("GET", {"id": 33, "where": "year > 2004"}, {"item": 33, "where": "year > 2004"}),
    ("GET", {"id": 33, "radius": 9}, {"item": 33, "radius": 9}),
    ("image/png", {}, {}),
    ("image/png", {"distance": "bits"}, {"distance": "bits"}),
    ("image/png", {"radius": 9}, {"radius": 9}),
    ("image/png", {"where": "year > 2004"}, {"where": "year > 2004"}),
    (OCTETS, {}, {}),
    (OCTETS, {"distance": "bits"}, {"distance": "bits"}),
    (JSON["Content-Type"], {}, {}),
]


@pytest.mark.parametrize(("kind", "how", "same"), ASKED)
def test_searches(serving, copied, photos, changing, kind, how, same):
    client, picture = serving(), png("truck", 99)
    vector = features(photos, picture)
    changing()
    if kind == "GET":
        answer = client.get("/api/v1/search", k=20, **how)
    elif kind == JSON["Content-Type"]:
        body = json.dumps({"features": vector.tolist(), "k": 20})
        answer = client.ask("POST", "/api/v1/search", body, JSON)
    else:
        body = picture if kind == "image/png" else vector.astype("<f4").tobytes()
        answer = client.post("/api/v1/search", body, kind, k=20, **how)
    assert answer.status == 200, answer
    query = None if kind == "GET" else vector
    with Collection.open(copied) as other:
        assert other.model.checksum != photos.model.checksum
        expected = other.search(query, k=20, **same)
        checksum = other.model.checksum
    assert answer.json["query"]["model"] == checksum[:12]
    found = answer.json["results"]
    assert [one["id"] for one in found] == [match.id for match in expected]
    for one, match in zip(found, expected, strict=True):
        assert one == told(match) | {"score": pytest.approx(match.score, rel=1e-5)}


def test_a_code_with_its_model(serving, copied, other_model):
    client = serving()
    asked = client.post("/api/v1/search", png("truck", 99), "image/png", k=3).json["query"]
    code = {"code": asked["code"], "model": asked["model"]}
    assert client.get("/api/v1/search", **code).status == 200
    assert client.get("/api/v1/why", **code).status == 200
    with Collection.open(copied) as other:
        other.reencode(other_model)
    for path in ("/api/v1/search", "/api/v1/why"):
        answer = client.get(path, **code)
        assert answer.status == 409
        assert "those of another model" in answer.json["detail"]
        assert client.get(path, code=asked["code"]).status == 200


@pytest.mark.parametrize("question", [{"id": 40}, {"name": "truck"}])
def test_why(serving, copied, other_model, monkeypatch, question):
    """The items are re-encoded when their codes and the model are known."""
    client, own, calls = serving(), naming._names, []
    before = client.get("/api/v1/why", **question).json

    def names(store, model):
        if not calls:
            calls.append(1)
            with Collection.open(copied) as other:
                assert other.reencode(other_model) == 180
        return own(store, model)

    monkeypatch.setattr(naming, "_names", names)
    assert client.get("/api/v1/why", **question).json == before
    after = client.get("/api/v1/why", **question).json
    with Collection.open(copied) as other:
        expected = other.explain_code(item=40)
    if "id" in question:
        assert after["nearest"] == [near._asdict() for near in expected]
        assert after != before


def test_the_map(tmp_path, monkeypatch):
    X = np.random.RandomState(0).randn(60, 12).astype(np.float32)
    hashers = [LSH(n_bits=16, random_state=seed).fit(X) for seed in (0, 9)]
    with Collection.create(tmp_path / "c", hashers[0], keep_features=True) as photos:
        photos.add(X)
        atlas, own, calls = Atlas(photos), Atlas._labels, []

        def labels(self, ids):
            if not calls:
                with Collection.open(tmp_path / "c") as other:
                    assert other.reencode(hashers[1]) == 60
            calls.append(1)
            return own(self, ids)

        monkeypatch.setattr(Atlas, "_labels", labels)
        settled(atlas)
        ids, places, _ = read(atlas.points())
        atlas.close()
    assert ids.tolist() == list(range(60))
    codes = hashers[1].encode(X)
    expected = np.rint(np.float64(65535) * Layout(16).fit(codes).place(codes))
    np.testing.assert_array_equal(places, expected)
