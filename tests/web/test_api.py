"""Every route with good and bad input, over a real socket."""

import io
import json
import os
import shutil
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image

from tests.web.browser.album import CATEGORIES, UNSEEN, png
from tests.web.conftest import BEARER, JSON, SECONDS, TOKEN, as_form, told
from zshash import ZSH, Collection
from zshash.codes import text_of_values, unpack
from zshash.collection import Match
from zshash.hashing import save
from zshash.semantics import WordNet
from zshash.web.routes.shared import REASONS

OCTETS = "application/octet-stream"


@pytest.fixture(scope="module")
def features(photos):
    """Features of a picture that is not in the collection."""
    model = photos.model
    image = np.asarray(Image.open(io.BytesIO(png("truck", 99))))
    return model.picture_reader.network.extract(image[None])[0]


def test_what_there_is_to_know(client, photos):
    info = client.get("/api/v1/info").json
    assert info["name"] == "album"
    assert (info["items"], info["bits"], info["method"]) == (180, 48, "ZSH")
    assert info["extractor"] == "pixels:8"
    assert info["generation"] == photos.generation
    assert info["searches"] == {
        "picture": True,
        "name": True,
        "names": False,
        "features": 64,
    }
    assert info["seen"] == sorted(set(CATEGORIES) - set(UNSEEN))
    assert info["labels"] == [
        {"label": label, "name": label, "items": 30, "seen": label not in UNSEEN}
        for label in sorted(CATEGORIES)
    ]
    assert (info["names"], info["examples"]) == ({}, [])
    assert (info["n_labels"], info["unlabelled"], info["thumbnails"]) == (6, 0, True)
    assert (info["writable"], info["authorised"]) == (False, True)
    assert info["limits"]["k"] == 10_000


def test_what_there_is_to_know_of_features(serving, tables):
    info = serving(folder=tables).get("/api/v1/info").json
    assert info["searches"] == {
        "picture": False,
        "name": False,
        "names": False,
        "features": 12,
    }
    assert info["extractor"] is None
    assert info["seen"] == []
    assert [entry["label"] for entry in info["labels"]] == ["it's", "odd"]
    assert (info["n_labels"], info["unlabelled"], info["thumbnails"]) == (2, 30, False)


def test_every_way_of_asking_for_a_picture_finds_the_same(client, photos, features):
    picture = png("truck", 99)
    nearest = photos.search(picture, k=7, distance="bits")
    expected, code = [told(match) for match in nearest], nearest.code.hex()
    asked = {"code": code, "name": None, "id": None, "model": photos.model.checksum[:12]}
    values = text_of_values(photos.model.project(features[None])[0])
    raw, numbers = features.astype("<f4").tobytes(), features.tolist()
    how = {"k": 7, "distance": "bits"}
    answers = {
        "picture": [
            client.form("/api/v1/search", [("picture", "a.png", picture)], **how),
            client.form("/api/v1/search", [("picture", "a.png", picture)], how.items()),
            client.post("/api/v1/search", picture, "image/png", **how),
            client.post("/api/v1/search", picture, "image/anything; q=1", **how),
        ],
        "features": [
            client.post("/api/v1/search", raw, OCTETS, **how),
            client.ask("POST", "/api/v1/search", json.dumps({"features": numbers, **how}), JSON),
        ],
        "code": [
            client.get("/api/v1/search", code=code, **how),
            client.get("/api/v1/search", code=code, k=7, distance="real"),
            client.get("/api/v1/search", code=code, k=7, model=photos.model.checksum[:12]),
            client.get("/api/v1/search", code=code, k=7),
            client.get("/api/v1/search", code=code.upper(), k=7),
            client.ask("POST", "/api/v1/search", f'{{"code":"{code}","k":7}}', JSON),
        ],
    }
    for kind, found in answers.items():
        for answer in found:
            assert answer.status == 200, answer
            own = None if kind == "code" else values
            assert answer.json["query"] == {"kind": kind, **asked, "values": own} | {
                "nothing": answer.json["query"]["nothing"]
            }
            assert answer.json["results"] == expected
            assert answer.json["total"] == 7
            assert [one["bits"] for one in answer.json["results"]] == [m.bits for m in nearest]
            assert 0 < answer.json["seconds"] < SECONDS


@pytest.mark.parametrize("how", [{}, {"where": "year >= 2010"}, {"label": "dog", "offset": 3}])
def test_real_values(client, photos, features, how):
    picture = png("truck", 99)
    values = photos.model.hasher.project(features[None]).astype(np.float64)[0]
    conditions = {"where": how.get("where") or ("label = 'dog'" if "label" in how else "id >= 0")}
    ids = photos.find(**conditions)
    signs = 2.0 * unpack(photos.index.get(ids), 48) - 1
    scores = signs @ values / (np.linalg.norm(values) * np.sqrt(48))
    code = photos.model.encode(features[None])[0]
    order = np.lexsort((ids, -scores.round(9)))[:20][how.get("offset", 0) :]
    raw, asked = features.astype("<f4").tobytes(), {**how, "k": 20, "distance": "real"}
    body = {**asked, "features": features.tolist()}
    if "label" in body:
        body["label"] = [body["label"]]
    for kind, answer in [
        ("picture", client.post("/api/v1/search", picture, "image/png", **asked)),
        ("picture", client.form("/api/v1/search", [("picture", "", picture)], asked.items())),
        ("features", client.post("/api/v1/search", raw, OCTETS, **asked)),
        ("features", client.ask("POST", "/api/v1/search", json.dumps(body), JSON)),
    ]:
        assert answer.status == 200, answer
        found = answer.json
        assert found["query"] == {"kind": kind, "code": code.tobytes().hex(), "name": None} | {
            "id": None,
            "model": photos.model.checksum[:12],
            "values": text_of_values(values),
            "nothing": found["query"]["nothing"],
        }
        assert found["total"] == 20
        assert [one["id"] for one in found["results"]] == ids[order].tolist()
        shown = [one["score"] for one in found["results"]]
        np.testing.assert_allclose(shown, scores[order], rtol=1e-5)
        bits = (signs[order] != np.where(values >= 0, 1, -1)).sum(axis=1)
        assert [one["bits"] for one in found["results"]] == bits.tolist()
    without = {name: value for name, value in asked.items() if name != "distance"}
    assert client.post("/api/v1/search", raw, OCTETS, **without).json["results"] == found["results"]
    by_bits = client.post("/api/v1/search", raw, OCTETS, **asked | {"distance": "bits"}).json
    assert all(one["score"] == 1 - 2 * one["bits"] / 48 for one in by_bits["results"])


def test_items_like_an_item(client, photos):
    own = photos[33].code
    expected = [told(match) for match in photos.search(item=33, k=60)]
    assert expected[0]["id"] == 33
    answer = client.get("/api/v1/search", id=33).json
    assert answer["results"] == expected
    assert (answer["results"][0]["bits"], answer["results"][0]["score"]) == (0, 1)
    model = photos.model.checksum[:12]
    asked = {"kind": "id", "code": own.hex(), "name": None, "id": 33, "model": model}
    assert answer["query"] == asked | {"values": None, "nothing": False}
    assert client.get("/api/v1/search", id=33, distance="real").json["results"] == expected
    assert client.ask("POST", "/api/v1/search", '{"id": 33}', JSON).json["results"] == expected


@pytest.mark.parametrize("name", ["cat", "truck", "lorry"])
def test_items_that_fit_a_name(client, photos, name):
    expected = [told(match) for match in photos.search(name=name, k=25)]
    answer = client.get("/api/v1/search", name=name, k=25).json
    assert answer["results"] == expected
    model = photos.model.checksum[:12]
    asked = {"kind": "name", "code": None, "name": name, "id": None, "model": model}
    assert answer["query"] == asked | {"values": None, "nothing": None}
    assert answer["total"] == 25
    assert all(one["bits"] is None for one in answer["results"])
    assert (
        client.ask("POST", "/api/v1/search", f'{{"name":"{name}","k":25}}', JSON).json["results"]
        == answer["results"]
    )


@pytest.mark.parametrize(
    "how",
    [
        {"k": 5},
        {"k": 10_000},
        {"radius": 4, "k": 100},
        {"radius": 0},
        {"radius": 4, "k": 3},
        {"label": "cat"},
        {"label": ["cat", "wolf"], "k": 80},
        {"where": "year >= 2010 and drawn.by = 'hand'", "k": 100},
        {"where": "year = 2003", "label": ["ship", "dog"]},
        {"label": "no such label"},
        {"radius": 6, "where": "label = 'truck' or id < 20"},
    ],
)
def test_how_to_search(client, photos, how):
    labels = [how["label"]] if isinstance(how.get("label"), str) else how.get("label", [])
    conditions = [f"label in ({', '.join(map(repr, labels))})"] if labels else []
    conditions += [f"({how['where']})"] if "where" in how else []
    where = " and ".join(conditions) or None
    page = {"k": how.get("k", 60), "radius": how.get("radius")}
    expected = photos.search(item=33, where=where, **page)
    answer = client.get("/api/v1/search", id=33, **how).json
    assert answer["total"] == min(expected.total, page["k"]) == len(expected)
    assert answer["results"] == [told(match) for match in expected][:60]
    picture = (photos.path.parent / "pictures" / "cat" / "cat3.png").read_bytes()
    other = photos.search(picture, where=where, **page)
    fields = [(name, value) for name, value in how.items() if name != "label"]
    fields += [("label", label) for label in labels]
    posted = client.form("/api/v1/search", [("picture", "", picture)], fields).json
    assert posted["results"] == [told(match) for match in other][:60]


@pytest.mark.parametrize(
    "query", [{"id": 33}, {"name": "truck"}, {"id": 33, "where": "year > 2004"}, {"name": "cat",
    "label": ["cat", "dog"]}]
)  # fmt: skip
def test_pages_add_up_to_the_whole(client, query):
    whole = client.get("/api/v1/search", k=47, limit=200, **query).json
    assert whole["total"] == len(whole["results"]) == 47
    parts = []
    for offset in range(0, 60, 10):
        page = client.get("/api/v1/search", k=47, offset=offset, limit=10, **query).json
        assert (page["offset"], page["limit"], page["total"]) == (offset, 10, 47)
        parts += page["results"]
    assert parts == whole["results"]
    beyond = client.get("/api/v1/search", k=47, offset=2**63 - 1, **query).json
    assert (beyond["results"], beyond["total"]) == ([], 47)


BAD = [
    ("/api/v1/search", 422, "give exactly one of name, id, code, values"),
    ("/api/v1/search?id=1&code=00", 422, "give exactly one of name, id, code, values"),
    ("/api/v1/search?name=cat&id=1", 422, "give exactly one of name, id, code, values"),
    ("/api/v1/search?name=cat&radius=3", 422, "a name is searched for by score"),
    ("/api/v1/search?id=1&colour=red", 422, "colour: extra inputs are not permitted"),
    ("/api/v1/search?id=1&k=0", 422, "k: input should be greater than or equal to 1"),
    ("/api/v1/search?id=1&k=10001", 422, "k: input should be less than or equal to 10000"),
    ("/api/v1/search?id=1&k=many", 422, "k: input should be a valid integer"),
    ("/api/v1/search?id=1&radius=-1", 422, "radius: "),
    ("/api/v1/search?id=1&limit=201", 422, "limit: input should be less than or equal to 200"),
    ("/api/v1/search?id=1&limit=0", 422, "limit: "),
    ("/api/v1/search?id=1&offset=-1", 422, "offset: "),
    ("/api/v1/search?id=1&where=year%20%3E", 422, "year >"),
    ("/api/v1/search?id=1&where=", 422, "where: "),
    ("/api/v1/search?id=-1", 422, "id: "),
    ("/api/v1/search?id=9223372036854775808", 422, "id: "),
    ("/api/v1/search?id=1&distance=cosine", 422, "distance: input should be 'real' or 'bits'"),
    ("/api/v1/search?id=1&distance=asymmetric", 422, "distance: input should be 'real' or 'bits'"),
    ("/api/v1/search?code=00&radius=1&distance=real", 422, "or search with distance=bits"),
    ("/api/v1/search?name=cat&distance=real", 422, "leave distance out"),
    ("/api/v1/search?name=cat&distance=bits", 422, "leave distance out"),
    ("/api/v1/items?distance=bits", 422, "distance: extra inputs are not permitted"),
    ("/api/v1/search?id=1&model=0123456789ab", 422, "model: only a code or values have a model"),
    ("/api/v1/search?code=000000000000&model=xyz", 422, "model: "),
    ("/api/v1/search?code=000000000000&model=0123456789ab", 409, "those of another model"),
    ("/api/v1/why?code=000000000000&model=0123456789ab", 409, "those of another model"),
    ("/api/v1/search?id=5000", 404, "there is no item 5000"),
    ("/api/v1/search?code=00ff", 422, "a code of 2 bytes, and the collection's have 6"),
    ("/api/v1/search?code=xyz", 422, "code: "),
    ("/api/v1/search?name=%20", 422, "name: must not be empty"),
    ("/api/v1/why", 422, "give exactly one of name, id, code"),
    ("/api/v1/why?id=5000", 404, "there is no item 5000"),
    ("/api/v1/why?code=00", 422, "a code of 1 bytes"),
    ("/api/v1/items?k=5", 422, "k: extra inputs are not permitted"),
    ("/api/v1/items?where=(", 422, "("),
    ("/api/v1/items/5000", 404, "there is no item 5000"),
    ("/api/v1/items/5000/thumbnail", 404, "there is no item 5000"),
    ("/api/v1/items/5000/picture", 404, "there is no item 5000"),
    ("/api/v1/items/five", 422, "id: input should be a valid integer"),
    ("/api/v1/items/-1", 422, "id: "),
    ("/api/v1/nothing", 404, "there is nothing here"),
    ("/static/nothing.js", 404, "the page has no such file"),
]


@pytest.mark.parametrize(("path", "status", "sentence"), BAD)
def test_what_can_not_be_met(client, folder, path, status, sentence):
    answer = client.get(path)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    assert list(answer.json) == ["detail"]
    assert sentence in answer.json["detail"]
    assert str(folder.parent) not in answer.json["detail"]
    assert "\n" not in answer.json["detail"]


BAD_BODIES = [
    (b"{", JSON, 422, "invalid JSON"),
    (b'{"features": [1, 2]}', JSON, 422, "2 features, and the collection's have 64"),
    (b'{"features": []}', JSON, 422, "features: "),
    (
        b'{"features": [1], "id": 3}',
        JSON,
        422,
        "give exactly one of name, id, code, values, features",
    ),
    (b'{"id": 3, "colour": "red"}', JSON, 422, "colour: extra inputs are not permitted"),
    (b'{"name": "cat", "radius": 2}', JSON, 422, "a name is searched for by score"),
    (b'{"id": 3, "distance": "hamming"}', JSON, 422, "input should be 'real' or 'bits'"),
    (
        b'{"features": [1], "radius": 2, "distance": "real"}',
        JSON,
        422,
        "a radius is a number of bits",
    ),
    (b"{}", JSON, 422, "give exactly one of name, id, code, values, features"),
    (b"abc", {"Content-Type": OCTETS}, 422, "features are float32, four bytes each"),
    (bytes(8), {"Content-Type": OCTETS}, 422, "2 features, and the collection's have 64"),
    (b"\xff" * 256, {"Content-Type": OCTETS}, 422, "features must be finite numbers"),
    (b"abc", {"Content-Type": "image/png"}, 422, "not a picture of a kind that is read"),
    (b"", {"Content-Type": "image/png"}, 422, "empty"),
    (b"abc", {"Content-Type": "text/plain"}, 415, "not text/plain"),
    (b"abc", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "a body of type"),
    (b"abc", {}, 415, "not none"),
    (b"abc", {"Content-Type": "multipart/form-data"}, 422, "the form can not be read"),
]


@pytest.mark.parametrize(("body", "headers", "status", "sentence"), BAD_BODIES)
def test_bodies_that_can_not_be_met(client, folder, body, headers, status, sentence):
    answer = client.ask("POST", "/api/v1/search", body, headers)
    assert answer.status == status
    assert sentence in answer.json["detail"]
    assert str(folder.parent) not in answer.json["detail"]


def test_features_that_no_float_can_hold(client):
    body = '{"features": [' + "1e300," * 63 + "0]}"
    answer = client.ask("POST", "/api/v1/search", body, JSON)
    assert (answer.status, "finite" in answer.json["detail"]) == (422, True)


def test_forms_for_a_search(client):
    picture = ("picture", "a.png", png("cat", 50))
    for files, fields, sentence in [
        ([], [], "exactly one file"),
        ([picture, picture], [], "Too many files"),
        ([], [("picture", "text")], "this field must be a file"),
        ([("k", "a.png", b"x")], [], "exactly one file"),
        ([picture], [("name", "cat")], "search for one at a time"),
        ([picture], [("k", "0")], "k: input should be greater"),
    ]:
        answer = client.form("/api/v1/search", files, fields)
        assert answer.status == 422
        assert sentence in answer.json["detail"]
    assert client.ask("POST", "/api/v1/search?k=3", '{"id": 1}', JSON).status == 422


@pytest.mark.parametrize("where", ["year = 1) or (year > 0", "id = 1 or id = 2) or (id = 3"])
def test_a_condition_stays_inside_its_brackets(client, where):
    for path in ("/api/v1/search?id=1&", "/api/v1/search?name=cat&", "/api/v1/items?"):
        answer = client.get(path + urlencode({"label": "cat", "where": where}))
        assert answer.status == 422, answer
    both = client.get("/api/v1/items", label="cat", where="id = 0 or id = 35").json["items"]
    assert [item["id"] for item in both] == [35]


def test_labels_with_quotes(serving, tables):
    client = serving(folder=tables)
    assert client.get("/api/v1/items", label="it's").json["total"] == 30
    assert client.get("/api/v1/search", id=0, label="it's").json["total"] == 30
    assert client.get("/api/v1/items", label="' or id >= 0 or label = '").json["total"] == 0
    assert client.get("/api/v1/items", label=["x') or (id >= 0", "odd"]).json["total"] == 30


def test_what_a_name_means(client, photos):
    meaning = photos.explain_name("truck")
    answer = client.get("/api/v1/why", name="truck").json
    assert (answer["kind"], answer["name"], answer["seen"]) == ("name", "truck", False)
    assert answer["nearest"] == [near._asdict() for near in meaning.nearest]
    assert answer["forecast"] == meaning.forecast._asdict()
    seen = client.get("/api/v1/why", name="cat").json
    assert (seen["seen"], seen["forecast"]["verdict"], seen["forecast"]["rank"]) == (
        True, "seen", None
    )  # fmt: skip


def test_what_a_code_means(client, photos):
    expected = [near._asdict() for near in photos.explain_code(photos.index.get([40])[0])]
    assert {near["name"] for near in expected} == set(CATEGORIES)
    for query in ({"id": 40}, {"code": photos[40].code.hex()}):
        assert client.get("/api/v1/why", **query).json == {"kind": "code", "nearest": expected}


def test_collections_that_know_no_names_or_pictures(serving, tables, X):
    client = serving(folder=tables)
    for path in ("/api/v1/search?name=cat", "/api/v1/why?name=cat", "/api/v1/why?id=3"):
        answer = client.get(path)
        assert answer.status == 422
        assert answer.json["detail"].startswith("LSH does not learn what names mean")
    answer = client.post("/api/v1/search", png("cat", 1), "image/png")
    assert answer.status == 422
    assert "can not be searched with pictures" in answer.json["detail"]
    found = client.post("/api/v1/search", X[7].astype("<f4").tobytes(), OCTETS).json["results"]
    assert (found[0]["id"], found[0]["bits"], found[0]["file"]) == (7, 0, None)
    assert not found[0]["thumbnail"]
    assert (
        client.get("/api/v1/search", code="ffffff").status == 422
    )  # more bits than the codes have


def test_a_model_whose_word_vectors_are_gone_tells_no_path(serving, tmp_path):
    seen = ["cat", "dog", "ship"]
    place = tmp_path / "my words"
    place.mkdir()
    words = place / "words.txt"
    words.write_text("".join(f"{name} 1 {i}\n" for i, name in enumerate(seen)))
    X = np.random.RandomState(0).randn(60, 12)
    vectors = np.array([[1.0, i] for i in range(3)])
    hasher = ZSH(n_bits=16, n_anchors=20, random_state=0).fit(X, vectors[np.arange(60) % 3])
    save(hasher, tmp_path / "m", notes={"labels": [str(words)], "seen": seen})
    with Collection.create(tmp_path / "named", tmp_path / "m") as collection:
        collection.add(X)
    client = serving(folder=tmp_path / "named")
    assert client.get("/api/v1/info").json["searches"]["name"]
    unknown = client.get("/api/v1/search", name="zebra")
    assert (unknown.status, str(place) in unknown.json["detail"]) == (422, False)
    words.unlink()
    assert not client.get("/api/v1/info").json["searches"]["name"]
    answer = client.get("/api/v1/search", name="dog")
    assert answer.status == 422
    assert answer.json["detail"].startswith("words.txt is not there")


def test_items_by_page_and_condition(client, photos):
    first = client.get("/api/v1/items").json
    assert (first["total"], first["offset"], first["limit"]) == (180, 0, 60)
    assert [item["id"] for item in first["items"]] == list(range(60))
    some = client.get("/api/v1/items", label=["cat", "dog"], where="year < 2005", offset=3, limit=7)
    expected = photos.find("label in ('cat', 'dog') and year < 2005")
    assert some.json["total"] == len(expected)
    assert [item["id"] for item in some.json["items"]] == expected[3:10].tolist()
    assert client.get("/api/v1/items", offset=2**63 - 1).json["items"] == []


def test_one_item(client, photos):
    item = photos[33]
    answer = client.get("/api/v1/items/33").json
    expected = told(Match(item, 1.0, 0))
    del expected["score"], expected["bits"]
    assert answer == expected
    assert "path" not in answer
    small = client.get("/api/v1/items/33/thumbnail")
    assert small.headers["content-type"] == "image/webp"
    assert small.body == photos.thumbnail(33)
    large = client.get("/api/v1/items/33/picture")
    assert large.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(large.body)).size == (96, 96)


def test_paths_are_told_where_the_server_was_told_to(serving, photos):
    client = serving(paths=True)
    assert client.get("/api/v1/items/33").json["path"] == photos[33].source


def test_pictures_are_given_out_without_remarks(serving, copied, tmp_path):
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif[0x010F] = "Maker of the camera"
    exif.get_ifd(0x8825).update({1: "N", 2: (47.0, 22.0, 7.5)})
    remarks = {"exif": exif, "comment": b"a remark", "xmp": b"<x:xmpmeta>secret</x:xmpmeta>"}
    Image.new("RGB", (2000, 1000), (9, 99, 200)).save(path, **remarks, icc_profile=b"profile")
    for word in (b"Maker of the camera", b"a remark", b"secret", b"profile"):
        assert word in path.read_bytes()
    with Collection.open(copied) as collection:
        (number,) = collection.add(str(path)).ids.tolist()
    client = serving()
    for what, size in [("picture", (1600, 800)), ("thumbnail", (320, 160))]:
        given = client.get(f"/api/v1/items/{number}/{what}").body
        image = Image.open(io.BytesIO(given))
        assert image.size == size
        assert not image.getexif()
        for word in (b"camera", b"remark", b"secret", b"profile"):
            assert word not in given


def test_only_pictures_are_given_out(serving, copied, tmp_path):
    """Sources are what somebody has said, and need not be pictures."""
    pipe, secret = tmp_path / "pipe.jpg", tmp_path / "secret.jpg"
    os.mkfifo(pipe)
    secret.write_text("nobody should read this")
    sources = ["/etc/passwd", str(tmp_path), str(pipe), str(secret), "/dev/zero", "http://a/b.jpg",
               str(tmp_path / "gone.jpg"), "/" + "a" * 5000, "x/" * 3000, None,
               "/proc/self/environ"]  # fmt: skip
    with Collection.open(copied) as collection:
        codes = np.zeros((len(sources), 6), dtype=np.uint8)
        ids = collection.add_codes(codes, sources=sources).ids.tolist()
    client = serving()
    for number in ids:
        answer = client.get(f"/api/v1/items/{number}/picture")
        assert answer.status == 404, answer
        assert answer.json["detail"] == f"the picture of item {number} is not there"
        assert client.get(f"/api/v1/items/{number}/thumbnail").status == 404
        assert not client.get(f"/api/v1/items/{number}").json["thumbnail"]
    assert client.get("/api/v1/items/0").json["thumbnail"]


def test_the_map(client, photos):
    deadline = time.monotonic() + SECONDS
    while (facts := client.get("/api/v1/map").json)["state"] == "computing":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert facts["state"] == "ready"
    assert (facts["items"], facts["total"]) == (180, 180)
    assert facts["generation"] == photos.generation
    assert facts["categories"] == [
        {"label": label, "seen": label not in UNSEEN, "items": 30, "recognised": False}
        for label in sorted(CATEGORIES)
    ]
    assert {region["name"] for region in facts["regions"]} <= set(CATEGORIES)
    answer = client.get("/api/v1/map/points", generation=facts["generation"])
    assert answer.headers["content-type"] == OCTETS
    n, told = np.frombuffer(answer.body, "<u4", 2)
    assert (n, len(answer.body)) == (180, 8 + 14 * 180 + told)
    assert {"state": "ready"} | json.loads(answer.body[8 + 14 * 180 :]) == facts
    assert np.frombuffer(answer.body, "<f8", n, 8).tolist() == list(range(180))
    assert np.frombuffer(answer.body, "<u2", n, 8 + 12 * 180).max() == 5


def test_no_points_while_there_is_no_map(serving):
    answer = serving().get("/api/v1/map/points")
    assert (answer.status, answer.json["detail"]) == (404, "there is no map yet")


def test_points_of_a_map_that_is_not_kept(client):
    client.get("/api/v1/map")
    for parameters in ({"generation": 999}, {"digest": "0"}):
        answer = client.get("/api/v1/map/points", **parameters)
        assert answer.status == 404
        assert answer.json["detail"] == ("this map is not kept any more: ask for /api/v1/map again")


def test_seen_categories_of_the_map_are_those_of_the_collection(serving, tmp_path, X):
    seen = ["cat", "guinea pig", "ship"]
    vectors = WordNet(basis=seen).embed(seen)[np.arange(60) % 3]
    hasher = ZSH(n_bits=16, n_anchors=20, random_state=0).fit(X, vectors)
    save(hasher, tmp_path / "m", notes={"labels": ["wordnet"], "seen": seen})
    with Collection.create(tmp_path / "named", tmp_path / "m") as collection:
        collection.add(X, labels=["Guinea_Pig"] * 60)
    client = serving(folder=tmp_path / "named")
    deadline = time.monotonic() + SECONDS
    while (facts := client.get("/api/v1/map").json)["state"] == "computing":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (category,) = facts["categories"]
    assert category.pop("recognised") is False
    assert category == {"label": "Guinea_Pig", "seen": True, "items": 60}
    assert client.get("/api/v1/info").json["labels"] == [category | {"name": "Guinea_Pig"}]


def test_the_page_and_its_files(client):
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert b"static/app.js" in page.body
    script = client.get("/static/app.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    again = client.ask("GET", "/static/app.js", headers={"If-None-Match": script.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "path",
    ["/static/../settings.py", "/static/%2e%2e/settings.py", "/static/..%2fsettings.py",
     "/static//etc/passwd", "/static/%2fetc%2fpasswd", "/static/", "/static/.", "/static/%00",
     "/static/app.js/", "/static/..\\settings.py", "/static/__init__.py"],
)  # fmt: skip
def test_files_are_only_those_of_the_page(client, path):
    answer = client.get(path)
    assert answer.status in (404, 307)
    assert b"root:" not in answer.body
    assert b"import" not in answer.body


def test_the_server_is_well(client):
    assert client.get("/healthz").json == {"status": "ok"}


def test_methods_that_have_no_meaning(client):
    for method, path, status in [("PUT", "/api/v1/search", 405), ("PATCH", "/api/v1/items/1", 403)]:
        answer = client.ask(method, path)
        assert answer.status == status
        assert "detail" in answer.json


def test_every_status_has_its_reason():
    assert set(REASONS) == {400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 503}


def add(client, *names_and_pictures, labels=()):
    files = [("picture", name, content) for name, content in names_and_pictures]
    return client.form("/api/v1/items", files, [("label", label) for label in labels])


def test_adding_and_removing(writer, copied):
    new, other = png("truck", 101), png("wolf", 102)
    there = Collection.open(copied)
    known = Path(there[0].source).read_bytes()
    answer = add(
        writer, ("c:\\photos\\new.png", new), ("bad.png", b"no picture"), ("old.png", known),
        ("../../twin.png", new), ("other.png", other), labels=["truck", " it's ", "truck", ""],
    )  # fmt: skip
    assert answer.status == 201
    assert answer.json["added"] == [180, 181]
    assert answer.json["duplicates"] == [0, 180]
    assert answer.json["failures"] == [
        {"file": "bad.png", "reason": "not a picture of a kind that is read (JPEG, PNG, GIF, "
         "WEBP, TIFF, BMP, PPM, AVIF, HEIF, RAW)"}
    ]  # fmt: skip
    item = writer.get("/api/v1/items/180").json
    assert (item["labels"], item["file"]) == (["truck", "it's"], "new.png")
    assert item["metadata"] == {"file": "new.png", "width": 96, "height": 96}
    assert item["thumbnail"]
    assert Image.open(io.BytesIO(writer.get("/api/v1/items/180/picture").body)).size == (96, 96)
    found = writer.post("/api/v1/search", new, "image/png", k=180, radius=0).json["results"]
    assert 180 in [one["id"] for one in found]
    assert writer.get("/api/v1/items", label="it's").json["total"] == 2
    assert there.ids.tolist() == list(range(182))  # another process sees it, too
    copies = sorted(path.name for path in (copied / "pictures").iterdir())
    assert copies == sorted(there[i].content.hex() for i in (180, 181))

    assert writer.ask("DELETE", "/api/v1/items/180").status == 204
    assert writer.ask("DELETE", "/api/v1/items/180").status == 404
    assert writer.get("/api/v1/items/180").status == 404
    assert writer.get("/api/v1/items/180/picture").status == 404
    assert len(list((copied / "pictures").iterdir())) == 2  # the item can be restored
    there.compact()
    assert [path.name for path in (copied / "pictures").iterdir()] == [there[181].content.hex()]
    assert writer.ask("DELETE", "/api/v1/items/0").status == 204  # not a copy of ours
    assert there.verify() == []
    there.close()


def test_forms_that_add_nothing(writer):
    picture = ("picture", "a.png", png("cat", 60))
    for files, fields, status, sentence in [
        ([], [], 422, "at least one file"),
        ([], [("label", "cat")], 422, "at least one file"),
        ([picture], [("colour", "red")], 422, "colour: a form has fields picture and label only"),
        ([picture] * 17, [], 422, "Too many files"),
        ([picture], [("label", "a\0b")], 422, "NUL can not be stored"),
        ([picture], [("label", "a" * 1001)], 422, "at most 1000 characters"),
    ]:
        answer = writer.form("/api/v1/items", files, fields)
        assert answer.status == status, answer
        assert sentence in answer.json["detail"]
    assert writer.post("/api/v1/items", png("cat", 60), "image/png").status == 415
    assert writer.get("/api/v1/info").json["items"] == 180


def test_adding_where_pictures_mean_nothing(serving, tables, tmp_path):
    copy = shutil.copytree(tables, tmp_path / "tables")
    client = serving(BEARER, folder=copy, writable=True, token=TOKEN)
    answer = add(client, ("a.png", png("cat", 60)))
    assert answer.status == 422
    assert str(tmp_path) not in answer.json["detail"]
    assert list((copy / "pictures").iterdir()) == []


def test_another_program_that_writes(serving, copied):
    writer = serving(BEARER, writable=True, token=TOKEN, seconds=0.5)
    with Collection.open(copied) as other, other._store.writing():
        answer = add(writer, ("a.png", png("cat", 60)))
        assert answer.status == 409
        assert answer.json["detail"].endswith("is writing to it; try again when it is done")
        assert writer.ask("DELETE", "/api/v1/items/0").status == 409
        assert writer.get("/api/v1/search", id=0).status == 200
    assert add(writer, ("a.png", png("cat", 60))).json["added"] == [180]


def test_many_clients_at_once(serving, photos):
    client = serving(BEARER, writable=True, token=TOKEN)
    wrong = []

    def search(start):
        for number in range(start, 180, 6):
            found = client.get("/api/v1/search", id=number, k=3).json["results"]
            expected = photos.search(code=photos.index.get([number]), k=3)[0]
            if found[0]["bits"] != expected[0].bits:
                wrong.append(number)

    def change():
        for seed in range(200, 205):
            (number,) = add(client, (f"{seed}.png", png("cat", seed))).json["added"]
            if client.ask("DELETE", f"/api/v1/items/{number}").status != 204:
                wrong.append(seed)

    threads = [threading.Thread(target=search, args=[start]) for start in range(6)]
    threads.append(threading.Thread(target=change))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert wrong == []
    assert client.get("/api/v1/info").json["items"] == 180


def test_the_description_names_all_routes(client):
    paths = client.get("/api/v1/openapi.json").json["paths"]
    assert set(paths) == {
        "/healthz", "/metrics", "/api/v1/info", "/api/v1/facets",
        "/api/v1/session", "/api/v1/sessions",
        "/api/v1/search",
        "/api/v1/search/batch", "/api/v1/names", "/api/v1/why", "/api/v1/items",
        "/api/v1/items/{id}",
        "/api/v1/items/{id}/thumbnail", "/api/v1/items/{id}/picture",
        *(f"/api/v1/items/{verb}" for verb in ("export", "label", "remove", "restore")),
        "/api/v1/map", "/api/v1/map/points", "/api/v1/refit",
        *(f"/api/v1/duplicates{step}" for step in ("", "/keep", "/forget")),
    }  # fmt: skip


def test_a_client_that_speaks_two_requests_over_one_connection(client):
    connection = client.connect()
    for _ in range(2):
        connection.request("POST", "/api/v1/search", b"abc", {"Content-Type": "text/plain"})
        answer = connection.getresponse()
        assert (answer.status, answer.read()[:2]) == (415, b'{"')
    connection.close()


def test_the_same_fields_in_form_and_address(client):
    kind, body = as_form([("picture", "a.png", png("cat", 3))], [("label", "dog"), ("k", "4")])
    answer = client.post("/api/v1/search", body, kind, label="cat", k=9)
    assert answer.json["total"] == 4
    assert {label for one in answer.json["results"] for label in one["labels"]} <= {"cat", "dog"}


@pytest.mark.parametrize("where", ["path like '/%'", "id = 1 or (not path = 'a')"])
def test_conditions_can_not_ask_where_pictures_are(client, serving, where):
    for path in ("/api/v1/items", "/api/v1/search"):
        more = {"id": 1} if path == "/api/v1/search" else {}
        answer = client.get(path, where=where, **more)
        assert answer.status == 422
        assert "this server was not started to show paths" in answer.json["detail"]
    assert client.get("/api/v1/items", where="label != 'path'").status == 200
    assert serving(paths=True).get("/api/v1/items", where=where).status == 200


def test_codes_that_are_none(client):
    answer = client.get("/api/v1/search", code="zz")
    assert answer.json["detail"] == "code: must be hexadecimal digits, two for each byte"
