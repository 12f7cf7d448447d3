"""Batches of searches: as JSON, in lines and packed, against the searches one by one."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from tests.web.browser.album import png
from tests.web.conftest import JSON, with_query
from zshash.codes import text_of_values

OCTETS = "application/octet-stream"
LINES = "application/x-ndjson"
BATCH = "/api/v1/search/batch"
HOW = {"k": 7}, {"k": 9, "offset": 4}, {"radius": 8, "k": 30}, {"distance": "bits", "k": 3}
WHERE = {"where": "year >= 2010", "k": 200, "offset": 2}, {"label": ["dog", "cat"]}


@pytest.fixture(scope="module")
def X(photos):
    """Features of pictures that are not in the collection, as float32."""
    images = [np.asarray(Image.open(io.BytesIO(png("truck", number)))) for number in range(99, 104)]
    return photos.model.picture_reader.network.extract(images).astype("<f4")


def asked(client, queries, accept="", **how):
    headers = JSON | ({"Accept": accept} if accept else {})
    return client.ask("POST", BATCH, json.dumps({"queries": queries, **how}), headers)


def unpacked(body):
    """Ids and scores of a packed answer."""
    n, k = np.frombuffer(body, "<u4", 2)
    ids = np.frombuffer(body, "<i8", n * k, 8).reshape(n, k)
    return ids, np.frombuffer(body, "<f4", n * k, 8 + ids.nbytes).reshape(n, k)


def untimed(answer):
    return {name: value for name, value in answer.items() if name not in ("seconds", "limit")}


def alone(client, query, how):
    """The answer to one search of a batch that is asked for by itself."""
    page = {"k": 10, "limit": 200} | how
    answer = client.ask("POST", "/api/v1/search", json.dumps(query | page), JSON)
    assert answer.status == 200
    return untimed(answer.json)


def close(answer, expected):
    """Scores may differ by rounding, where BLAS multiplies several rows at once."""
    scores = [one.pop("score") for one in answer["results"]]
    assert scores == pytest.approx([one.pop("score") for one in expected["results"]], abs=1e-6)
    own, other = answer["query"].pop("values"), expected["query"].pop("values")
    assert (own is None) == (other is None)
    assert answer == expected


@pytest.mark.parametrize("how", [*HOW, *WHERE])
def test_a_batch_finds_what_its_searches_find(client, photos, X, how):
    values = photos.model.project(X)[1]
    queries = [
        {"features": X[0].tolist()},
        {"id": 33},
        {"code": photos[5].code.hex(), "model": photos.model.checksum[:12]},
        {"features": X[2].tolist()},
    ]
    if "radius" not in how:
        queries += [{"values": values.tolist()}, {"values": text_of_values(values)}]
    if not {"radius", "distance"} & set(how):
        queries += [{"name": "truck"}, {"name": ["cat"]}]
    expected = [alone(client, query, how) for query in queries]
    answer = asked(client, queries, **how)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    for own, other in zip(answer.json["answers"], expected, strict=True):
        close(untimed(own), json.loads(json.dumps(other)))
    lines = asked(client, queries, LINES, **how)
    assert lines.headers["content-type"] == LINES
    told = [untimed(json.loads(line)) for line in lines.body.splitlines()]
    assert told == [untimed(own) for own in answer.json["answers"]]
    ids, table = unpacked(asked(client, queries, f"text/html, {OCTETS};q=0.9", **how).body)
    assert ids.shape == (len(queries), how.get("k", 10) - how.get("offset", 0))
    for own, best, row in zip(answer.json["answers"], ids, table, strict=True):
        found = [one["id"] for one in own["results"]]
        assert best.tolist() == found + [-1] * (ids.shape[1] - len(found))
        scores = np.array([one["score"] for one in own["results"]], dtype=np.float32)
        np.testing.assert_array_equal(row[: len(found)], scores)
        assert np.isnan(row[len(found) :]).all()


@pytest.mark.parametrize("how", [*HOW, *WHERE])
def test_rows_of_features(client, X, how):
    expected = asked(client, [{"features": row.tolist()} for row in X], **how).json["answers"]
    answer = client.post(BATCH, X.tobytes(), OCTETS, **how)
    assert answer.status == 200
    assert [untimed(one) for one in answer.json["answers"]] == [untimed(one) for one in expected]
    headers = {"Content-Type": OCTETS, "Accept": OCTETS}
    path = with_query(BATCH, how)
    packed = client.ask("POST", path, X.tobytes(), headers)
    assert packed.headers["content-type"] == OCTETS
    ids, _ = unpacked(packed.body)
    for own, best in zip(expected, ids, strict=True):
        assert [one["id"] for one in own["results"]] == best[best >= 0].tolist()


BAD = [
    ({"queries": []}, 422, "queries: "),
    ({}, 422, "queries: field required"),
    ([], 422, "input should be an object"),
    ({"queries": [{"id": 1}] * 1025}, 422, "queries: give at most 1024 of them"),
    ({"queries": [{"id": 1}, {"id": 5000}, {"id": 2}]}, 422, "queries.1: there is no item 5000"),
    ({"queries": [{"id": 1}, {"code": "00ff"}]}, 422, "queries.1: a code of 2 bytes"),
    ({"queries": [{"id": 1}, {"features": [1, 2]}]}, 422, "queries.1: 2 features, and the"),
    ({"queries": [{"features": [1e300] * 64}]}, 422, "queries.0: features must be finite"),
    ({"queries": [{"id": 1}, {"values": [1.0] * 9}]}, 422, "queries.1: 9 real values, and the"),
    ({"queries": [{"id": 1}, {"values": "AAAAAAAAAAA"}]}, 422, "queries.1: 4 real values, and"),
    ({"queries": [{"values": "_" * 128}]}, 422, "queries.0: values must be finite"),
    ({"queries": [{"values": "A" * 13}]}, 422, "queries.0: values are base64url"),
    ({"queries": [{"values": "+" * 20}]}, 422, "queries.0.values: must be base64url"),
    ({"queries": [{"values": {"a": 1}}]}, 422, "queries.0.values: "),
    ({"queries": [{"id": 1}, {}]}, 422, "queries.1: give exactly one of name, id"),
    ({"queries": [{"id": 1}, {"id": 2, "code": "00"}]}, 422, "queries.1: give exactly one"),
    ({"queries": [{"id": 1, "model": "0123456789ab"}]}, 422, "queries.0: model: only a code"),
    ({"queries": [{"code": "00" * 6, "model": "0123456789ab"}]}, 409, "those of another model"),
    ({"queries": [{"id": 1, "k": 3}]}, 422, "queries.0.k: extra inputs are not permitted"),
    ({"queries": [1]}, 422, "queries.0: "),
    ({"queries": [{"id": 1}, {"name": "cat"}], "radius": 3}, 422, "queries.1: a name is searched"),
    ({"queries": [{"id": 1}, {"name": ["cat", "dog"]}]}, 422, "queries.1: "),
    ({"queries": [{"id": 1}, {"name": "\ud800"}]}, 422, ""),
    ({"queries": [{"id": 1}, {"name": "qqqxqq"}]}, 422, "queries.1: "),
    ({"queries": [{"id": 1}], "k": 0}, 422, "k: "),
    ({"queries": [{"id": 1}], "k": 3, "offset": 3}, 422, "offset: it must be less than k"),
    ({"queries": [{"id": 1}], "limit": 3}, 422, "limit: extra inputs are not permitted"),
    ({"queries": [{"id": 1}], "where": "year >"}, 422, "year >"),
    ({"queries": [{"id": 1}], "where": "path = 'a'"}, 422, "where: path can not be used"),
    ({"queries": [{"id": 1}] * 30, "k": 1000}, 422, "30 searches for 1000 items each"),
]


@pytest.mark.parametrize(("body", "status", "sentence"), BAD)
def test_one_search_that_can_not_be_met(client, folder, body, status, sentence):
    answer = client.ask("POST", BATCH, json.dumps(body), JSON)
    assert (answer.status, next(iter(answer.json))) == (status, "detail")
    assert sentence in answer.json["detail"]
    assert str(folder.parent) not in answer.json["detail"]


@pytest.mark.parametrize(
    ("rows", "how", "status", "sentence"),
    [
        (b"", {}, 422, "1 to 1024 rows of 64 features"),
        (bytes(255), {}, 422, "this one has 255 bytes"),
        (bytes(256 * 1025), {}, 422, "1 to 1024 rows"),
        (bytes(256) + b"\xff" * 256, {}, 422, "queries.1: features must be finite"),
        (bytes(256), {"name": "cat"}, 422, "name: extra inputs are not permitted"),
        (bytes(256), {"k": "nan"}, 422, "k: "),
        (bytes(256), {"radius": 3, "distance": "real"}, 422, "a radius is a number of bits"),
        (bytes(17 * 2**20), {}, 413, "more than"),
    ],
)
def test_rows_that_can_not_be_met(client, rows, how, status, sentence):
    answer = client.post(BATCH, rows, OCTETS, **how)
    assert answer.status == status
    assert sentence in answer.json["detail"]


def test_kinds_of_bodies(client):
    assert client.post(BATCH, b"{", "application/json").status == 422
    assert client.post(BATCH, b"{}", "application/json", k=3).status == 422
    assert client.post(BATCH, b"a", "text/plain").status == 415
    assert client.post(BATCH, b"a", "image/png").status == 415


def test_values_find_what_a_picture_finds(client):
    picture = png("truck", 99)
    first = client.post("/api/v1/search", picture, "image/png", k=30).json
    values, model = first["query"]["values"], first["query"]["model"]
    again = client.get("/api/v1/search", values=values, model=model, k=30).json
    assert again["query"] == first["query"] | {"kind": "values"}
    assert [one["id"] for one in again["results"]] == [one["id"] for one in first["results"]]
    for one, other in zip(again["results"], first["results"], strict=True):
        assert one["bits"] == other["bits"]
        assert one["score"] == pytest.approx(other["score"], abs=1e-3)
    assert client.get("/api/v1/search", values=values, model="0123456789ab").status == 409
    for wrong in (values[:-1], values + "A", "-", "a" * 3000, "_" * 128, "%00" * 64):
        assert client.get("/api/v1/search", values=wrong).status == 422
