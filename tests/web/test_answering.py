"""What all answers share: HEAD, tags, compression, ids and the log."""

import gzip
import json
import os
import time

import pytest

from tests.web.browser.album import png
from tests.web.conftest import BEARER, JSON, TOKEN, as_form
from zshash.web import Settings, request_log
from zshash.web.compressing import accepts_gzip
from zshash.web.freshness import Tags
from zshash.web.request_log import RequestLog
from zshash.web.served import ServedCollection

FRESH = ["/api/v1/info", "/api/v1/items", "/api/v1/items/1", "/api/v1/search?id=1&k=3",
         "/api/v1/why?id=1", "/", "/static/app.js"]  # fmt: skip
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
    for work in ("info", "items", "item", "search_all", "search_alone", "why_code"):
        monkeypatch.setattr(ServedCollection, work, None)
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


def test_a_change_changes_tags(writer):
    paths = ["/api/v1/info", "/api/v1/items", "/api/v1/search?id=1&k=3"]
    for change in (
        lambda: writer.form("/api/v1/items", [("picture", "a.png", png("cat", 900))]),
        lambda: writer.ask("DELETE", "/api/v1/items/180"),
        lambda: writer.post(
            "/api/v1/items/label", b'{"ids": [2], "label": "x"}', JSON["Content-Type"]
        ),
    ):
        before = [writer.get(path).headers["etag"] for path in paths]
        assert change().status < 300
        for path, tag in zip(paths, before, strict=True):
            assert writer.ask("GET", path, headers={"If-None-Match": tag}).status == 200


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
    if answer.headers["content-type"].startswith("application/x-ndjson"):
        assert len(gzip.decompress(answer.body).splitlines()) == 180


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
