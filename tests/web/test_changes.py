"""Changing many items at once over HTTP."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.web.browser.album import png
from tests.web.conftest import BEARER, JSON, TOKEN, as_form
from zshash import Collection
from zshash.collection.storage.locks import WriterLock

ROUTES = ("remove", "restore", "label")


def send(client, route, headers=(), **order):
    body = json.dumps(order).encode()
    return client.ask("POST", f"/api/v1/items/{route}", body, JSON | dict(headers))


def labels(client, number):
    return client.get(f"/api/v1/items/{number}").json["labels"]


def test_items_are_removed_together(writer):
    answer = send(writer, "remove", ids=[5, 3, 5])
    assert answer.status == 200
    assert answer.json["removed"] == [3, 5]
    assert [writer.get(f"/api/v1/items/{number}").status for number in (3, 4, 5)] == [404, 200, 404]
    assert writer.get("/api/v1/info").json["items"] == 178


def test_a_removal_is_undone(writer, copied):
    before = [writer.get(f"/api/v1/items/{number}").json for number in (3, 5)]
    pictures = [writer.get(f"/api/v1/items/{number}/thumbnail").body for number in (3, 5)]
    found = writer.get("/api/v1/search", id=4, k=50).json["results"]
    key = send(writer, "remove", ids=[3, 5]).json["undo"]
    answer = send(writer, "restore", undo=key)
    assert (answer.status, answer.json) == (200, {"restored": [3, 5]})
    assert [writer.get(f"/api/v1/items/{number}").json for number in (3, 5)] == before
    assert [writer.get(f"/api/v1/items/{n}/thumbnail").body for n in (3, 5)] == pictures
    assert writer.get("/api/v1/search", id=4, k=50).json["results"] == found
    again = send(writer, "restore", undo=key)
    assert again.status == 404
    assert again.json["detail"].startswith(f"nothing is kept under the key '{key}'")
    with Collection.open(copied) as album:
        assert album.verify() == []


def copies(folder):
    return len(list((folder / "pictures").iterdir()))


def test_for_good_nothing_is_kept(writer, copied):
    for seed in (101, 102, 103):
        assert (
            writer.form("/api/v1/items", [("picture", "a.png", png("truck", seed))]).status == 201
        )
    assert copies(copied) == 3
    answer = send(writer, "remove", ids=[3, 180], for_good=True)
    assert answer.json == {"removed": [3, 180], "undo": None}
    assert copies(copied) == 2
    assert writer.ask("DELETE", "/api/v1/items/181?for_good=true").status == 204
    assert copies(copied) == 1
    assert writer.ask("DELETE", "/api/v1/items/182?for_good=false").status == 204
    assert copies(copied) == 1  # it can be restored
    with Collection.open(copied) as album:
        assert [removal.items for removal in album.removals()] == [1]
        assert album.verify() == []


@pytest.mark.parametrize("value", ["", "perhaps", 5, None, []])
def test_for_good_is_true_or_false(writer, value):
    answer = send(writer, "remove", ids=[3], for_good=value)
    assert (answer.status, answer.json["detail"][:9]) == (422, "for_good:")
    for query in ("for_good=perhaps", "for_good=", "force=true"):
        assert writer.ask("DELETE", f"/api/v1/items/3?{query}").status == 422
    assert writer.get("/api/v1/items/3").status == 200


def test_another_server_undoes_a_removal(serving):
    one, two = (serving(BEARER, writable=True, token=TOKEN) for _ in range(2))
    key = send(one, "remove", ids=[3]).json["undo"]
    assert two.get("/api/v1/items/3").status == 404
    assert send(two, "restore", undo=key).json == {"restored": [3]}
    assert one.get("/api/v1/items/3").status == 200


@pytest.mark.parametrize(
    "order", [{}, {"undo": ""}, {"undo": 5}, {"undo": None}, {"undo": "x" * 101}]
)
def test_wrong_keys_are_refused_in_a_sentence(writer, order):
    answer = send(writer, "restore", **order)
    assert answer.status == 422
    assert answer.json["detail"].startswith("undo: ")


def test_a_change_waits_while_another_process_writes(serving, copied):
    patient = serving(BEARER, writable=True, token=TOKEN, seconds=20)
    hasty = serving(BEARER, writable=True, token=TOKEN, seconds=0.3)
    with ThreadPoolExecutor(1) as pool:
        with WriterLock(copied).held():
            answer = send(hasty, "remove", ids=[3])
            assert answer.status == 409
            assert "is writing to it" in answer.json["detail"]
            waiting = pool.submit(send, patient, "remove", ids=[3])
            time.sleep(0.5)
            assert not waiting.done()
        assert waiting.result().status == 200


def test_an_unknown_id_stops_all(writer):
    for route, more in (("remove", {}), ("label", {"label": "dog"})):
        answer = send(writer, route, ids=[5, 999], **more)
        assert answer.status == 404
        assert answer.json["detail"].startswith("there is no item 999, so no")
    assert writer.get("/api/v1/info").json["items"] == 180
    assert labels(writer, 5) != ["dog"]


def test_labels_are_set_added_and_taken_away(writer):
    steps = [
        ({"label": " pet "}, ["pet"]),
        ({"label": "dog", "how": "also"}, ["pet", "dog"]),
        ({"label": "pet", "how": "without"}, ["dog"]),
        ({"label": None}, []),
        ({"label": "it's <b>", "how": "set"}, ["it's <b>"]),
    ]
    for order, after in steps:
        answer = send(writer, "label", ids=[7, 8], **order)
        assert answer.json == {"labelled": [7, 8], "changed": 2}
        assert labels(writer, 7) == labels(writer, 8) == after


WRONG = {
    "nothing": {},
    "no list": {"ids": 5},
    "an empty list": {"ids": []},
    "a text": {"ids": ["5"]},
    "a fraction": {"ids": [5.0]},
    "a truth": {"ids": [True]},
    "null": {"ids": [None]},
    "negative": {"ids": [-1]},
    "beyond 64 bits": {"ids": [2**63]},
    "nested": {"ids": [[5]]},
    "too many": {"ids": list(range(10_001))},
    "another field": {"ids": [5], "where": "id = 5"},
}


@pytest.mark.parametrize("order", WRONG.values(), ids=WRONG)
def test_wrong_ids_are_refused_in_a_sentence(writer, order):
    for route, more in (("remove", {}), ("label", {"label": "a"}), ("export", {"form": "csv"})):
        if route == "export" and ("where" in order or not order):
            continue  # it takes these
        answer = send(writer, route, **(order | more))
        assert answer.status == 422
        assert list(answer.json) == ["detail"]
        assert len(answer.json["detail"]) < 300
    assert writer.get("/api/v1/info").json["items"] == 180


@pytest.mark.parametrize(
    "order",
    [{}, {"label": ""}, {"label": "  "}, {"label": "a\0b"}, {"label": "a" * 1001}, {"label": 5},
     {"label": ["a"]}, {"label": None, "how": "also"}, {"label": None, "how": "without"},
     {"label": "a", "how": "never"}, {"label": "a", "also": True}],
    ids=str,
)  # fmt: skip
def test_wrong_labels_are_refused_in_a_sentence(writer, order):
    answer = send(writer, "label", ids=[5], **order)
    assert answer.status == 422
    assert list(answer.json) == ["detail"]


@pytest.mark.parametrize("route", [*ROUTES, "export"])
def test_orders_are_json(writer, route):
    path = f"/api/v1/items/{route}"
    kind, form = as_form(fields=[("ids", "5")])
    assert writer.post(path, form, kind).status == 415
    assert writer.post(path, b'{"ids": [5]}', "text/plain").status == 415
    assert writer.ask("POST", path).status == 415
    for body in (b"", b"{", b"[]", b"null", b'{"ids": [5]', b'{"ids": [\xff]}', b"[" * 100_000):
        assert writer.post(path, body, "application/json").status == 422
    assert writer.post(path, b" " * (6 * 2**20), "application/json").status == 413
    answer = writer.post(path, b'{"ids": [5]}', "application/json", k=5)
    assert answer.status == 422


def test_only_writers_change_items(client, serving, copied):
    for route in ROUTES:
        answer = send(client, route, ids=[5])
        assert answer.status == 403
        assert answer.json["detail"].startswith("this server only reads")
    server = serving(writable=True)
    assert [send(server, route, ids=[5]).status for route in ROUTES] == [401] * 3
    with Collection.open(copied) as album:
        assert len(album) == 180


@pytest.mark.parametrize("route", [*ROUTES, "export"])
def test_orders_are_posted(writer, route):
    for method in ("GET", "DELETE", "PUT", "PATCH"):
        answer = writer.ask(method, f"/api/v1/items/{route}")
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
