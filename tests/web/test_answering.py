"""What all answers share: HEAD, tags, compression, ids and the log."""

import gzip
import json
import os
import time
from contextlib import closing

import pytest

from tests.web.browser.album import png
from tests.web.conftest import BEARER, JSON, SECONDS, TOKEN, as_form
from zshash import Collection
from zshash.collection.operations.refitting import LEARNED
from zshash.learning.model import Model
from zshash.web import Settings, about, request_log, served
from zshash.web.completing import Completing
from zshash.web.compressing import accepts_gzip
from zshash.web.freshness import Tags
from zshash.web.request_log import RequestLog
from zshash.web.served import ServedCollection

FRESH = ["/api/v1/info", "/api/v1/items", "/api/v1/items/1", "/api/v1/search?id=1&k=3",
         "/api/v1/why?id=1", "/api/v1/facets", "/api/v1/names?begins=c", "/",
         "/static/app.js"]  # fmt: skip
PACKED = {"Accept-Encoding": "gzip"}
CHANGING = {"date", "x-request-id"}


def steady(answer):
    return {name: value for name, value in answer.headers.items() if name not in CHANGING}


@pytest.mark.parametrize(
    "path",
    [*FRESH, "/healthz", "/api/v1/items/1/thumbnail", "/api/v1/openapi.json", "/docs", "/nothing",
     "/api/v1/items/9999", "/api/v1/items?limit=0", "/api/v1/session"],
)  # fmt: skip
@pytest.mark.parametrize("headers", [{}, PACKED], ids=["plain", "packed"])
def test_head_is_get_without_the_body(client, path, headers):
    get, head = (client.ask(method, path, headers=headers) for method in ("GET", "HEAD"))
    assert head.status == get.status
    assert head.body == b""
    told = steady(get)
    if "/search" in path:  # the time that a search takes differs
        told.pop("content-length")
    assert told.items() <= steady(head).items()
    assert int(head.headers["content-length"]) > 0


def test_methods_of_an_address_name_head(client):
    answer = client.ask("PUT", "/api/v1/search")
    assert answer.headers["allow"] == "GET, HEAD, POST"
    assert client.ask("HEAD", "/api/v1/session").status == 405


@pytest.mark.parametrize("path", FRESH)
def test_what_a_client_has_is_not_made_again(client, path, monkeypatch):
    first = client.ask("GET", path)
    tag = first.headers["etag"]
    assert tag.startswith('W/"')
    assert "no-cache" in first.headers["cache-control"]
    for work in ("info", "items", "item", "search_all", "search_alone", "why_code", "facets"):
        monkeypatch.setattr(ServedCollection, work, None)
    monkeypatch.setattr(Completing, "names", None)
    for told in (tag, tag.removeprefix("W/"), f'"other", {tag}', f"{tag},{tag}"):
        for method in ("GET", "HEAD"):
            again = client.ask(method, path, headers={"If-None-Match": told})
            assert (again.status, again.body) == (304, b"")
            assert again.headers["etag"] == tag
            assert again.headers["cache-control"] == first.headers["cache-control"]
            assert again.headers["vary"] == first.headers["vary"]


@pytest.mark.parametrize("told", ["*", "", '"', "W/", '"other"', "a" * 5000, "\xff"])
def test_other_tags(client, told):
    answer = client.ask("GET", "/api/v1/items/1", headers={"If-None-Match": told})
    assert answer.status == 200


def test_tags_tell_answers_apart(serving):
    client = serving(writable=True, token=TOKEN)
    tags = [client.get(path).headers["etag"] for path in FRESH]
    tags.append(client.get("/api/v1/items", limit=3).headers["etag"])
    tags.append(client.ask("GET", "/api/v1/info", headers=BEARER).headers["etag"])
    assert len(set(tags)) == len(tags)


CHANGES = {
    "add": lambda client: client.form("/api/v1/items", [("picture", "a.png", png("cat", 900))]),
    "remove": lambda client: client.ask("DELETE", "/api/v1/items/1"),
    "label": lambda client: client.post(
        "/api/v1/items/label", b'{"ids": [2], "label": "camel"}', JSON["Content-Type"]
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_changes_tags(writer, change):
    paths = ["/api/v1/info", "/api/v1/items", "/api/v1/search?id=2&k=60", "/api/v1/facets",
             "/api/v1/names?begins=ca"]  # fmt: skip
    before = [writer.get(path) for path in paths]
    assert change(writer).status < 300
    for path, old in zip(paths, before, strict=True):
        new = writer.ask("GET", path, headers={"If-None-Match": old.headers["etag"]})
        assert new.status == 200
        assert new.headers["etag"] != old.headers["etag"]
    assert writer.get("/api/v1/info").body != before[0].body
    assert writer.get("/api/v1/items").body != before[1].body


def test_facts_are_never_stale(copied, serving):
    """What `info` tells besides the collection: the settings, the client, and what to learn."""

    def fresh(client, **headers):
        return client.ask("GET", "/api/v1/info", headers=headers)

    client = serving(writable=True, token=TOKEN)
    first = fresh(client)
    tag = first.headers["etag"]
    assert fresh(client, **{"If-None-Match": tag}).status == 304
    known = fresh(client, **BEARER, **{"If-None-Match": tag})
    assert (known.status, known.json["authorised"]) == (200, True)
    other = fresh(serving(pixels=12345), **{"If-None-Match": tag})
    assert (other.status, other.json["limits"]["pixels"]) == (200, 12345)

    with Collection.open(copied) as album:
        notes = album.model.notes | {LEARNED: {"next_id": 0, "items": 10}}
        album.reencode(Model(album.model.hasher, notes, reader=album.model.reader))
    again = fresh(client, **{"If-None-Match": tag})
    assert (again.status, again.json["n_unlearned"]) == (200, 180)


def test_facts_that_lack_something_are_not_kept(serving, monkeypatch):
    client = serving()

    def fail(_):
        raise OSError("the index does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(about, "recognised", fail)
        answer = client.get("/api/v1/info")
    assert answer.status == 200
    assert "etag" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" in client.get("/api/v1/info").headers


def test_points_of_one_map_are_not_sent_twice(client):
    end = time.monotonic() + SECONDS
    while (facts := client.get("/api/v1/map").json)["state"] != "ready":
        assert time.monotonic() < end
        time.sleep(0.05)
    path = f"/api/v1/map/points?generation={facts['generation']}&digest={facts['digest']}"
    first = client.get(path)
    tag = {"If-None-Match": first.headers["etag"]}
    again = client.ask("GET", path, headers=tag)
    assert (first.status, again.status, again.body) == (200, 304, b"")
    assert client.ask("GET", f"{path[:-1]}_", headers=tag).status == 404
    assert "etag" not in client.get("/api/v1/map/points").headers
    assert "etag" not in client.get("/api/v1/map").headers


def test_processes_agree_on_tags(photos):
    one, other = (Tags(photos, Settings(token=f"{i} sixteen letters")) for i in range(2))
    third = Tags(photos, Settings(paths=True))
    digests = [tags._start.hexdigest() for tags in (one, other, third)]
    assert digests[0] == digests[1] != digests[2]


def test_errors_are_not_kept(client):
    for path in ("/api/v1/items/9999", "/nothing", "/api/v1/search"):
        answer = client.get(path)
        assert "etag" not in answer.headers
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/api/v1/items", "/", "/static/app.js", "/static/style.css"])
def test_long_texts_are_compressed(client, path):
    plain, short = (client.ask("GET", path, headers=own) for own in ({}, PACKED))
    assert "content-encoding" not in plain.headers
    assert short.headers["content-encoding"] == "gzip"
    assert int(short.headers["content-length"]) == len(short.body) < len(plain.body) / 2
    assert gzip.decompress(short.body) == plain.body
    assert short.headers["etag"] == plain.headers["etag"]
    assert all("Accept-Encoding" in answer.headers["vary"] for answer in (plain, short))


def test_pictures_and_short_answers_are_not_compressed(client):
    for path in ("/api/v1/items/1/thumbnail", "/healthz", "/api/v1/items/1", "/nothing"):
        assert "content-encoding" not in client.ask("GET", path, headers=PACKED).headers


def test_searches_with_a_picture_are_compressed(client):
    kind, body = as_form([("picture", "a.png", png("cat", 1))])
    answer = client.ask("POST", "/api/v1/search", body, PACKED | {"Content-Type": kind})
    assert json.loads(gzip.decompress(answer.body))["total"] == 60


def test_streams_are_compressed_as_they_come(client):
    headers = PACKED | {"Accept": "application/x-ndjson"}
    answer = client.ask("GET", "/api/v1/items", headers=headers)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert answer.headers["content-encoding"] == "gzip"
    assert "content-length" not in answer.headers
    plain = client.ask("GET", "/api/v1/items", headers={"Accept": "application/x-ndjson"})
    assert gzip.decompress(answer.body) == plain.body
    assert len(plain.body.splitlines()) == 180


@pytest.mark.parametrize("more", [{}, PACKED], ids=["plain", "packed"])
def test_head_of_a_stream_does_the_work_of_its_beginning_only(client, monkeypatch, more):
    headers, asked = more | {"Accept": "application/x-ndjson"}, []
    get = client.ask("GET", "/api/v1/items", headers=headers)
    usual = ServedCollection.portraits
    monkeypatch.setattr(served, "AT_ONCE", 10)
    monkeypatch.setattr(
        ServedCollection, "portraits", lambda self, ids: asked.append(ids) or usual(self, ids)
    )
    with closing(client.connect()) as connection:  # goes on after it, as after any other answer
        for n in (1, 2):
            connection.request("HEAD", "/api/v1/items", headers=headers)
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (200, b"")
            told = {name.lower(): value for name, value in answer.getheaders()}
            assert told.keys() == get.headers.keys() - {"transfer-encoding"}
            assert len(asked) == n
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b'{"status":"ok"}'
    everything = client.ask("GET", "/api/v1/items", headers=headers).body
    assert len(asked) == 2 + 18
    assert (gzip.decompress(everything) if more else everything).count(b"\n") == 180


@pytest.mark.parametrize(
    ("accepted", "wanted"),
    [("gzip", True), ("GZIP", True), ("br;q=1, gzip;q=0.1", True), ("*", True), ("x-gzip", True),
     ("gzip;q=0", False), ("gzip; q=0.000", False), ("identity", False), ("", False),
     ("gzip;q=0, *", False), ("*;q=0", False), ("*;q=0, gzip", True), ("br", False),
     ("gzip;q=x", False), ("gzip;q=nan", False), (",;,", False), ("gzip;q=-1", False)],
)  # fmt: skip
def test_what_clients_accept(accepted, wanted):
    assert accepts_gzip(accepted.encode()) is wanted


def test_ids_of_requests(client):
    made = [client.get("/healthz").headers["x-request-id"] for _ in range(3)]
    assert len(set(made)) == 3
    own = "a-Z_0.9" * 9
    for given, wanted in ((own, own), ("x" * 65, None), ("a b", None), ("a\xff", None), ("", None)):
        for path in ("/healthz", "/nothing", "/api/v1/search"):
            found = client.ask("GET", path, headers={"X-Request-Id": given}).headers["x-request-id"]
            assert (found == given) is (wanted is not None)


def lines(path, n=1):
    """The lines of a log; a line is written just after its answer."""
    end = time.monotonic() + 10
    while path.read_bytes().count(b"\n") < n and time.monotonic() < end:
        time.sleep(0.01)
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def test_a_line_for_each_request(serving, tmp_path):
    place = tmp_path / "log"
    client = serving(BEARER, log=str(place), token=TOKEN, writable=True)
    answer = client.ask("GET", "/api/v1/search?name=a+private+name", headers={"X-Request-Id": "7"})
    client.ask("HEAD", "/healthz")
    client.ask("GET", "/", headers={"Host": "evil.example"})
    first, second, third = lines(place, 3)
    assert set(first) == {"time", "id", "client", "method", "path", "status", "bytes", "ms"}
    assert (first["id"], first["client"], first["method"]) == ("7", "127.0.0.1", "GET")
    assert (first["path"], first["status"]) == ("/api/v1/search", answer.status)
    assert first["bytes"] == len(answer.body)
    assert (second["method"], second["bytes"], third["status"]) == ("HEAD", 0, 403)
    text = place.read_text()
    assert "private" not in text
    assert TOKEN not in text
    assert place.stat().st_mode & 0o007 == 0


def test_no_line_can_be_forged(serving, tmp_path):
    place = tmp_path / "log"
    client = serving(log=str(place))
    for path in (
        "/a%0d%0aforged",
        "/%1b%5b31m",
        "/%7f%c2%9b",
        '/"}',
        "/%e2%80%a8",
        "/" + "a" * 9000,
    ):
        client.get(path)
    assert len(lines(place, 6)) == 6
    text = place.read_bytes()
    assert text.count(b"\n") == 6
    assert all(32 <= byte < 127 or byte == 10 for byte in text)
    assert len(text) < 6 * 800


def test_the_log_follows_when_its_file_is_moved(tmp_path, monkeypatch):
    monkeypatch.setattr(request_log, "PATIENCE", 0.0)
    place = tmp_path / "log"
    scope = {"method": "GET", "path": "/"}
    own = RequestLog(str(place))
    own.write(scope, 200, 1, 0.1)
    place.rename(tmp_path / "log.1")
    own.write(scope, 201, 1, 0.1)
    assert [line["status"] for line in lines(tmp_path / "log.1")] == [200]
    assert [line["status"] for line in lines(place)] == [201]
    own.close()


def test_a_log_that_can_not_be_written_ends_nothing(tmp_path, monkeypatch, caplog):
    own = RequestLog(str(tmp_path / "log"))

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "write", fail)
    for _ in range(3):
        own.write({"method": "GET", "path": "/"}, 200, 1, 0.1)
    assert len(caplog.records) == 1
    own.close()
