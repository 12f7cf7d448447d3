"""Names over HTTP: one or many, wanted or not, beside pictures, and what was understood."""

import json

import numpy as np
import pytest

from tests.web.browser.album import picture, png
from tests.web.conftest import JSON, told
from zshash.web.about import plain_names, recognised

ONE_AT_A_TIME = (
    "several names together, or a picture and a name, need a model that was learned from "
    "features of a network with known categories: search for one at a time"
)


def ids(answer):
    assert answer.status == 200, answer.body
    return [result["id"] for result in answer.json["results"]]


def expected(found):
    return [match.id for match in found]


@pytest.fixture(scope="module")
def features(pets):
    image = np.asarray(picture("cat", 77))
    return pets.model.picture_reader.network.extract(image[None])[0]


def test_what_there_is_to_know(knower, pets):
    info = knower.get("/api/v1/info").json
    assert info["searches"] == {"picture": True, "name": True, "names": True, "features": 64}
    assert info["seen"] == []
    assert info["labels"] == [
        {"label": "cat", "name": "cat", "items": 30, "seen": False},
        {"label": "n02084071", "name": "dog", "items": 30, "seen": False},
    ]
    assert info["unlabelled"] == 120
    assert info["names"]["n02084071"] == "dog"
    assert info["names"]["crane (n02012849)"] == "crane (wading bird)"
    assert info["examples"] == recognised(pets)
    assert set(info["examples"]) == {
        "sports car", "garbage truck", "ocean liner", "tabby", "beagle", "timber wolf"
    }  # fmt: skip


def test_a_name_that_nobody_labelled(knower, pets):
    answer = knower.get("/api/v1/search", name="truck", k=12).json
    found = pets.search(name="truck", k=12)
    assert answer["results"] == [told(match) for match in found]
    assert answer["query"] == {
        "kind": "name",
        "code": None,
        "name": "truck",
        "id": None,
        "model": pets.model.checksum[:12],
        "values": None,
        "nothing": found.reading.nothing,
        "reading": found.reading.told(),
    }
    (thing,) = answer["query"]["reading"]["things"]
    assert (thing["sense"], thing["known"]) == ("truck (motor vehicle)", True)
    assert {result["file"][:5] for result in answer["results"]} == {"truck"}


def test_senses(knower):
    reading = knower.get("/api/v1/search", name="crane").json["query"]["reading"]
    (thing,) = reading["things"]
    assert thing["sense"] == "crane (lifting device)"
    others = {other["sense"]: other["key"] for other in thing["others"]}
    assert others["crane (wading bird)"] == "crane.n.05"
    for name in ("crane.n.05", "crane (bird)", "n02012849"):
        reading = knower.get("/api/v1/search", name=name).json["query"]["reading"]
        assert reading["nothing"] is True
        (bird,) = reading["things"]
        assert bird["sense"] == "crane (wading bird)"


def test_labels_come_first(knower):
    answer = knower.get("/api/v1/search", name="dog", k=31).json
    assert answer["query"]["reading"]["labels"] == ["n02084071"]
    labels = [result["labels"] for result in answer["results"]]
    assert labels[:30] == [["n02084071"]] * 30
    assert labels[30] != ["n02084071"]


def test_a_phrase(knower):
    reading = knower.get("/api/v1/search", name="a sleepy dog on a ship").json["query"]["reading"]
    assert [thing["name"] for thing in reading["things"]] == ["dog", "ship"]
    assert reading["left_out"] == ["sleepy"]


def test_several_names(knower, pets):
    found = pets.search(name={"dog": 1.0, "ship": 1.0}, k=20)
    answer = knower.get("/api/v1/search", name=["dog", "ship"], k=20)
    assert ids(answer) == expected(found)
    query = answer.json["query"]
    assert (query["name"], query["words"]) == (None, {"dog": 1.0, "ship": 1.0})
    assert [thing["name"] for thing in query["reading"]["things"]] == ["dog", "ship"]


def test_weights_and_names_that_are_not_wanted(knower, pets):
    found = pets.search(name={"ship": 2.0, "truck": -1.0}, k=20)
    for asked in (
        {"name": "ship:2", "without": "truck"},
        {"name": ["ship:2", "truck:-1"]},
        {"name": "ship: 2.0", "without": ["truck:1"]},
    ):
        assert ids(knower.get("/api/v1/search", k=20, **asked)) == expected(found)
    body = json.dumps({"name": ["ship:2"], "without": ["truck"], "k": 20})
    assert ids(knower.ask("POST", "/api/v1/search", body, JSON)) == expected(found)
    body = json.dumps({"name": "ship", "k": 20})
    alone = ids(knower.ask("POST", "/api/v1/search", body, JSON))
    assert alone == expected(pets.search(name="ship", k=20))
    assert ids(knower.get("/api/v1/search", name="ship:2", k=20)) == alone


def test_conditions_and_pages(knower, pets):
    asked = {"name": "dog", "without": "cat", "label": ["cat", "n02084071"], "limit": 20, "k": 60}
    answers = [knower.get("/api/v1/search", offset=at, **asked) for at in (0, 20, 40)]
    where = "label in ('cat', 'n02084071')"
    found = pets.search(name="dog", without="cat", where=where, k=60)
    assert [number for answer in answers for number in ids(answer)] == expected(found)


def test_names_beside_a_picture(knower, pets):
    content = png("cat", 77)
    found = pets.search(content, name="ship", without="dog", k=20)
    assert ids(
        knower.post("/api/v1/search", content, "image/png", name="ship", without="dog", k=20)
    ) == expected(found)
    fields = [("name", "ship"), ("without", "dog"), ("k", "20")]
    files = [("picture", "a.png", content)]
    answer = knower.form("/api/v1/search", files, fields)
    assert ids(answer) == expected(found)
    query = answer.json["query"]
    assert (query["kind"], query["code"]) == ("picture", None)
    assert query["words"] == {"ship": 1.0, "dog": -1.0}
    assert [thing["name"] for thing in query["reading"]["things"]] == ["ship", "dog"]
    assert ids(knower.form("/api/v1/search", files, fields[1:], name="ship")) == expected(found)
    assert ids(knower.form("/api/v1/search", files, [("k", "20")])) != expected(found)


def test_names_beside_features(knower, pets, features):
    found = pets.search(features, name="ship", k=20)
    body = json.dumps({"features": features.tolist(), "name": "ship", "k": 20})
    assert ids(knower.ask("POST", "/api/v1/search", body, JSON)) == expected(found)
    kind = "application/octet-stream"
    raw = features.astype("<f4").tobytes()
    assert ids(knower.post("/api/v1/search", raw, kind, name="ship", k=20)) == expected(found)
    only = knower.post("/api/v1/search", raw, kind, without="ship", k=20)
    assert ids(only) == expected(pets.search(features, without="ship", k=20))


@pytest.mark.parametrize("path", ["/api/v1/search", "/api/v1/why"])
def test_near_misses(knower, client, path):
    for own in (knower, client):
        answer = own.get(path, name="turck")
        assert answer.status == 422
        assert "did you mean 'truck'" in answer.json["detail"]
        assert "truck" in answer.json["suggestions"]["turck"]
        assert list(answer.json) == ["detail", "suggestions"]
    several = knower.get("/api/v1/search", name=["dog", "shpi"]).json
    assert "ship" in several["suggestions"]["shpi"]


@pytest.mark.parametrize("name", ["東京", "собака", "👍", "ۆۆۆ", "\u202eabcq", "qzxqzx" * 100])
def test_names_that_nobody_knows(knower, name):
    for path in ("/api/v1/search", "/api/v1/why"):
        answer = knower.get(path, name=name)
        assert answer.status == 422
        assert answer.json["suggestions"] == {name: []}
        assert "does not know" in answer.json["detail"]


BAD = {
    "empty": ({"name": ""}, "name: must not be empty"),
    "blank": ({"name": " \t"}, "name: must not be empty"),
    "one of two is empty": ({"name": ["dog", ""]}, "name: must not be empty"),
    "long": ({"name": "a" * 1001}, "name: has at most 1000 characters"),
    "long and unwanted": ({"name": "a", "without": "b" * 1001}, "without: has at most 1000"),
    "many": ({"name": [f"dog {i}" for i in range(33)]}, "name: give at most 32 of them"),
    "punctuation": ({"name": "---"}, "the name is empty: write what the pictures show"),
    "nothing wanted": ({"without": "dog"}, "say what to search for"),
    "nothing wanted by weight": ({"name": "dog:-1"}, "say what to search for"),
    "wanted and not": ({"name": "dog", "without": "dog"}, "without: 'dog' is also a name"),
    "weight 0": ({"name": "dog:0"}, "name: the weight of a name is a number"),
    "weight nan": ({"name": "dog:nan"}, "name: the weight of a name is a number"),
    "weight inf": ({"name": "dog:1e999"}, "name: the weight of a name is a number"),
    "cancel out": ({"name": ["dog", "dog.n.01:-1"]}, "cancel out"),
    "radius": ({"name": ["dog", "cat"], "radius": 2}, "there is no radius"),
    "distance": ({"name": ["dog", "cat"], "distance": "bits"}, "leave distance out"),
    "beside an id": ({"name": "dog", "id": 3}, "not beside an id or a code"),
    "beside a code": ({"without": "dog", "code": "00" * 6}, "not beside an id or a code"),
    "nothing": ({}, "give exactly one of name, id, code"),
}


@pytest.mark.parametrize(("asked", "sentence"), BAD.values(), ids=BAD)
def test_what_can_not_be_met(knower, knowing, asked, sentence):
    answers = [
        knower.get("/api/v1/search", **asked),
        knower.ask("POST", "/api/v1/search", json.dumps(asked), JSON),
    ]
    for answer in answers:
        assert answer.status == 422
        assert sentence in answer.json["detail"]
        assert str(knowing.parent) not in answer.json["detail"]


def test_forms_that_can_not_be_met(knower):
    files = [("picture", "a.png", png("cat", 3))]
    for fields, sentence in (
        ([("name", "")], "name: must not be empty"),
        ([("name", "a" * 1001)], "name: has at most 1000 characters"),
        ([("name", "xqzqx")], "does not know"),
        ([("name", "dog"), ("without", "dog")], "is also a name"),
        ([("name", "dog"), ("radius", "3")], "there is no radius"),
        ([("name", "dog"), ("id", "3")], "id: extra inputs are not permitted"),
        ([("names", "dog")], "names: extra inputs are not permitted"),
    ):
        answer = knower.form("/api/v1/search", files, fields)
        assert (answer.status, sentence in answer.json["detail"]) == (422, True), answer.json


def test_a_model_without_knowledge_takes_one_name_at_a_time(client):
    for answer in (
        client.get("/api/v1/search", name=["dog", "cat"]),
        client.get("/api/v1/search", name="dog", without="cat"),
        client.post("/api/v1/search", png("cat", 3), "image/png", name="dog"),
        client.ask("POST", "/api/v1/search", '{"name": ["dog", "cat"]}', JSON),
    ):
        assert (answer.status, answer.json) == (422, {"detail": ONE_AT_A_TIME})
    answer = client.get("/api/v1/search", name=["dog"]).json
    assert answer["query"]["name"] == "dog"
    assert "reading" not in answer["query"]


def test_what_names_mean(knower, pets):
    known = knower.get("/api/v1/why", name="truck").json
    assert (known["kind"], known["name"], known["seen"]) == ("name", "truck", False)
    meaning = pets.explain_name("truck")
    assert known["nearest"] == [near._asdict() for near in meaning.nearest]
    assert known["nearest"][0]["name"] == "garbage truck"
    assert known["forecast"]["verdict"] == "close"
    assert known["forecast"]["rank"] is None
    assert knower.get("/api/v1/why", name="segway").json["forecast"]["verdict"] in {
        "close", "usual", "far", "unknown"
    }  # fmt: skip
    assert knower.get("/api/v1/why", id=3).json["nearest"][0]["name"] == "sports car"


def test_no_names_to_begin_with_if_the_index_does_not_answer(serving, knowing, monkeypatch):
    def fail(*_):
        raise ValueError("gone")

    monkeypatch.setattr("zshash.web.about.recognised", fail)
    own = serving(folder=knowing)
    assert own.get("/api/v1/info").json["examples"] == []


def test_ids_of_wordnet_as_names():
    assert plain_names(["truck", "n99999999", "n1", "n02084071"]) == {"n02084071": "dog"}
    both = plain_names(["n02012849", "n03126707"])
    assert both == {"n02012849": "crane (wading bird)", "n03126707": "crane (lifting device)"}


def test_a_forecast_has_names_for_ids(knower, pets):
    assert pets.explain_name("segway").nearest[0].name == "crane (lifting device)"
    told = knower.get("/api/v1/why", name="segway").json
    assert told["nearest"][0]["name"] == "crane (lifting device)"
    assert "crane (lifting device)" in told["forecast"]["text"]
