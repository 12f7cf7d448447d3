"""Long answers in lines, and names to complete."""

import json

import pytest

from tests.web.conftest import with_query

LINES = "application/x-ndjson"


def lines(client, path, **how):
    answer = client.ask("GET", with_query(path, how), headers={"Accept": LINES})
    assert (answer.status, answer.headers["content-type"]) == (200, LINES)
    return [json.loads(line) for line in answer.body.splitlines() if line]


@pytest.mark.parametrize("how", [{}, {"label": "cat"}, {"where": "year > 2010", "offset": 5}])
def test_all_items_a_line_each(client, how):
    expected = client.get("/api/v1/items", limit=200, **how).json["items"]
    assert lines(client, "/api/v1/items", **how) == expected
    assert lines(client, "/api/v1/items", limit=3, **how) == expected[:3]


def test_nothing_in_lines(client):
    assert lines(client, "/api/v1/items", label="nobody") == []
    answer = client.ask("GET", "/api/v1/items?where=(", headers={"Accept": LINES})
    assert answer.status == 422


def test_results_a_line_each(client):
    expected = client.get("/api/v1/search", id=33, k=5).json
    first, *results = lines(client, "/api/v1/search", id=33, k=5)
    assert results == expected["results"]
    assert first["query"] == expected["query"]


def test_names_to_complete(client, knower):
    found = client.get("/api/v1/names", begins="CA").json["names"]
    assert found[0] == {"name": "cat", "text": "cat", "known": True, "items": 30}
    found = knower.get("/api/v1/names", begins="do", limit=50).json["names"]
    assert found[0]["text"] == "dog"
    assert found[0]["name"] == "n02084071"
    assert any(not own["known"] for own in found)
    assert len({own["text"] for own in found}) == len(found)
    for own in found:
        assert own["text"].lower().startswith("do")
    found = knower.get("/api/v1/names", begins="wo", limit=50).json["names"]
    assert [own["text"] for own in found if own["known"]] == ["timber wolf"], "a later word"
    assert "wok" in [own["text"] for own in found], "nouns that begin so come after it"
    found = knower.get("/api/v1/names", begins="s", limit=50).json["names"]
    known = [own["text"] for own in found if own["known"]]
    assert known.index("stethoscope") < known.index("European fire salamander"), "begins so itself"
    assert client.get("/api/v1/names", begins="qqxq").json == {"names": []}
    for bad in ("", "a" * 2000):
        assert client.get("/api/v1/names", begins=bad).status == 422
