"""Bodies that are too large, too slow, broken off, or of too many pixels."""

import socket
import time
from contextlib import closing, suppress

import pytest

from tests.web.browser.album import png
from tests.web.conftest import BEARER, JSON, SECONDS, TOKEN, as_form
from zshash.web.bodies import MOST_JSON, SLACK

PNG = "image/png"


class Wire:
    """A connection on which a test says every byte itself."""

    def __init__(self, client):
        self.socket = socket.create_connection(("127.0.0.1", client.port), timeout=SECONDS)

    def say(self, text):
        with suppress(BrokenPipeError, ConnectionResetError):  # answered before all was sent
            self.socket.sendall(text if isinstance(text, bytes) else text.encode())
        return self

    def begin(self, path, *headers):
        lines = [f"POST {path} HTTP/1.1", "Host: localhost", *headers, "", ""]
        return self.say("\r\n".join(lines))

    def status(self):
        """Of the answer."""
        line = self.socket.makefile("rb").readline()
        return int(line.split()[1])

    def close(self):
        self.socket.close()


@pytest.fixture
def wire():
    """Opens connections to a client's server."""
    wires = []

    def start(client):
        wires.append(Wire(client))
        return wires[-1]

    yield start
    for one in wires:
        one.close()


def count(client, route, status):
    name = f'zshash_requests_total{{method="POST",route="{route}",status="{status}"}} '
    for line in client.get("/metrics").body.decode().splitlines():
        if line.startswith(name):
            return float(line.removeprefix(name))
    return 0


def until(condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_pictures_of_too_many_bytes(serving):
    picture = png("cat", 1)
    client = serving(BEARER, writable=True, token=TOKEN, bytes=len(picture))
    longer = picture + b"\0"
    form = ("picture", "a.png", longer)
    assert client.post("/api/v1/search", picture, PNG).status == 200
    assert client.form("/api/v1/search", [("picture", "a.png", picture)]).status == 200
    for answer in [
        client.post("/api/v1/search", longer, PNG),
        client.form("/api/v1/search", [form]),
        client.form("/api/v1/items", [("picture", "a.png", picture), form]),
    ]:
        assert answer.status == 413
        assert answer.json["detail"] == f"more than {len(picture)} bytes, which is the limit"
    assert client.get("/api/v1/info").json["items"] == 180


@pytest.mark.parametrize(
    ("kind", "length"),
    [(PNG, 1001), (PNG, 10**12), ("application/json", MOST_JSON + 1),
     ("application/octet-stream", MOST_JSON + 1), ("multipart/form-data; boundary=x", 1001 + SLACK),
     ("multipart/form-data; boundary=x", 10**15)],
)  # fmt: skip
def test_a_length_that_is_too_much_is_refused_before_a_byte_has_come(serving, wire, kind, length):
    client = serving(bytes=1000)
    talk = wire(client).begin(
        "/api/v1/search", f"Content-Type: {kind}", f"Content-Length: {length}"
    )
    assert talk.status() == 413


def test_a_body_without_a_length_is_refused_when_it_is_too_much(serving, wire):
    client = serving(BEARER, writable=True, token=TOKEN, bytes=1000)
    chunk = b"800\r\n" + b"x" * 2048 + b"\r\n"
    talk = wire(client).begin(
        "/api/v1/search", f"Content-Type: {PNG}", "Transfer-Encoding: chunked"
    )
    assert talk.say(chunk).status() == 413
    talk = wire(client).begin(
        "/api/v1/items", "Content-Type: multipart/form-data; boundary=x",
        "Transfer-Encoding: chunked",
        f"Authorization: Bearer {TOKEN}",
    )  # fmt: skip
    talk.say(b"200000\r\n--x\r\nContent-Disposition: form-data; name=picture; filename=a\r\n\r\n")
    assert talk.say(b"y" * 17000 + b"z" * (SLACK - 1)).status() == 413
    assert client.get("/healthz").status == 200


def test_pictures_of_too_many_pixels(serving):
    client = serving(BEARER, writable=True, token=TOKEN, pixels=96 * 96 - 1)
    answer = client.post("/api/v1/search", png("cat", 77), PNG)
    assert answer.status == 422
    assert "96 × 96" in answer.json["detail"]
    added = client.form("/api/v1/items", [("picture", "a.png", png("cat", 77))])
    assert added.json["added"] == []
    assert "96 × 96" in added.json["failures"][0]["reason"]
    assert client.get("/api/v1/items/0/picture").status == 404


@pytest.mark.parametrize("kind", [PNG, "application/json", "multipart/form-data; boundary=x"])
def test_a_body_that_comes_too_slowly(serving, wire, kind):
    client = serving(seconds=0.2)
    talk = wire(client).begin("/api/v1/search", f"Content-Type: {kind}", "Content-Length: 1000")
    assert talk.say(b"--x\r\n").status() == 408
    assert client.get("/api/v1/search", id=1).status == 200


def test_a_client_that_goes_away_before_its_body_has_come(serving, wire):
    client = serving(bytes=2**20)
    for _ in range(3):
        talk = wire(client).begin(
            "/api/v1/search", f"Content-Type: {PNG}", f"Content-Length: {2**20}"
        )
        talk.say(b"x" * 1000).close()
    until(lambda: count(client, "/api/v1/search", 400) == 3)
    assert client.post("/api/v1/search", png("cat", 1), PNG).status == 200


def test_bodies_together_take_only_so_much_room(serving, wire):
    client = serving(BEARER, writable=True, token=TOKEN, bytes=2**18)
    headers = ["Content-Type: multipart/form-data; boundary=x", f"Authorization: Bearer {TOKEN}"]
    kind, body = as_form([("picture", "a.png", b"x")])
    size = SLACK + 16 * 2**18
    talks = [wire(client).begin("/api/v1/items", *headers, f"Content-Length: {size}") for _ in "ab"]
    until(lambda: client.post("/api/v1/items", body, kind).status == 429)
    busy = client.post("/api/v1/items", body, kind)
    assert busy.headers["retry-after"] == "1"
    assert client.post("/api/v1/search", png("cat", 1), PNG).status == 200  # has other room
    talks[0].close()
    until(lambda: client.post("/api/v1/items", body, kind).status == 201)


def test_two_bodies_of_all_that_is_allowed_have_room(serving):
    client = serving(BEARER, writable=True, token=TOKEN, bytes=1000)
    fields = [("label", "x" * 1000)] * 200
    answer = client.form("/api/v1/items", [("picture", "a.png", b"x")], fields)
    assert answer.status == 201


def test_forms_with_too_many_fields(client):
    answer = client.form("/api/v1/search", fields=[("label", "x")] * 300)
    assert answer.status == 422
    assert "Too many fields" in answer.json["detail"]


def test_lengths_that_are_no_numbers(client):
    with closing(Wire(client)) as talk:
        talk.begin("/api/v1/search", f"Content-Type: {PNG}", "Content-Length: many")
        assert talk.status() == 400


def test_a_body_without_a_length_is_read(client, photos):
    picture = png("truck", 99)
    parts = iter([picture[:100], picture[100:]])
    answer = client.ask("POST", "/api/v1/search", parts, {"Content-Type": PNG})
    assert answer.status == 200
    assert answer.json["query"]["code"] == photos.search(picture).code.hex()
    assert client.ask("POST", "/api/v1/search", iter([b'{"id"', b": 1}"]), JSON).status == 200
