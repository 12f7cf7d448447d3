"""Bytes on the wire: limits, targets, and what proxies and servers understand differently."""

import json
import socket
import time

import pytest

from tests.web.conftest import SECONDS, TOKEN
from zshash.web import protocol
from zshash.web.protocol import HEAD_BYTES, MOST_HEADERS

HOST = b"Host: localhost\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\n" + HOST


class Wire:
    """A connection on which bytes are sent as they are."""

    def __init__(self, client):
        self.socket = socket.create_connection(("127.0.0.1", client.port), timeout=SECONDS)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def send(self, *packets):
        for packet in packets:
            self.socket.sendall(packet)
            if len(packets) > 1:
                time.sleep(0.05)
        return self

    def all(self):
        """All that comes until the server ends the connection."""
        return self.file.read()

    def answers(self, n):
        """Statuses and bodies of the next answers."""
        file, found = self.file, []
        for _ in range(n):
            status, length = int(file.readline().split()[1]), 0
            while (line := file.readline().strip()) != b"":
                name, _, value = line.partition(b": ")
                if name.lower() == b"content-length":
                    length = int(value)
            found.append((status, file.read(length)))
        return found


def ask(client, *packets):
    """Status and text of the answer to bytes after which the connection ends."""
    with Wire(client) as wire:
        head, _, body = wire.send(*packets).all().partition(b"\r\n\r\n")
    return int(head.split()[1]), head, body


def head_of(size, more=b""):
    """Line and headers of so many bytes."""
    start = HEALTH + more + b"Padding: "
    return start + b"a" * (size - len(start) - 4) + b"\r\n\r\n"


def statuses(client, n, *packets):
    with Wire(client) as wire:
        return [status for status, _ in wire.send(*packets).answers(n)]


def halves(data, place):
    return data[:place], data[place:]


POST = b"POST /api/v1/search HTTP/1.1\r\n" + HOST + b"Content-Type: text/plain\r\n"
BODY = b"x" * 50_000
BEFORE = POST + b"Content-Length: 50000\r\n\r\n" + BODY
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"c350\r\n" + BODY + b"\r\n0\r\n\r\n"


@pytest.mark.parametrize("before", [b"", BEFORE, CHUNKED, HEALTH + b"\r\n"], ids=range(4))
@pytest.mark.parametrize("place", [None, 10, 40_000, HEAD_BYTES - 3, HEAD_BYTES - 1])
def test_the_limit_of_the_headers_is_exact_whatever_the_packets_are(client, before, place):
    for size, status in ((HEAD_BYTES, 200), (HEAD_BYTES + 1, 431)):
        head = head_of(size)
        packets = [head] if place is None else halves(head, place)
        with Wire(client) as wire:
            wire.send(before + packets[0], *packets[1:])
            if status == 200:
                assert [own for own, _ in wire.answers(1 + bool(before))][-1] == 200
            else:
                parts = wire.all().split(b"HTTP/1.1 ")[1:]
                assert [own[:3] for own in parts][bool(before) :] == [b"431"]


def test_headers_behind_each_other_in_one_packet(client):
    assert statuses(client, 4, head_of(HEAD_BYTES) * 4) == [200] * 4
    assert statuses(client, 2, CHUNKED + head_of(HEAD_BYTES)) == [415, 200]


@pytest.mark.parametrize(
    "start",
    [b"GET /", HEALTH + b"Padding: ", HEALTH + b"Padding",
     POST + b"Transfer-Encoding: chunked\r\n\r\n1;",
     POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: "],
    ids=["address", "value", "name", "chunk", "trailer"],
)  # fmt: skip
def test_what_never_ends_is_ended(client, start):
    with Wire(client) as wire:
        try:
            wire.send(start)
            for _ in range(200):
                wire.socket.sendall(b"a" * 4096)
                time.sleep(0.001)
            answer = wire.all()
        except (BrokenPipeError, ConnectionResetError):
            return
    assert answer[9:12] in (b"400", b"414", b"415", b"431")


def test_answers_to_what_is_too_long_are_like_others(client):
    status, head, body = ask(client, head_of(HEAD_BYTES + 1))
    assert status == 431
    assert b"content-security-policy: default-src 'none'" in head
    assert b"connection: close" in head
    assert "at most 100 headers" in json.loads(body)["detail"]
    status, _, body = ask(client, b"GET /" + b"a" * HEAD_BYTES + b" HTTP/1.1\r\n" + HOST + b"\r\n")
    assert status == 414
    assert "address" in json.loads(body)["detail"]


def test_many_headers(client):
    for n, status in ((MOST_HEADERS - 2, 200), (MOST_HEADERS, 431)):
        more = b"".join(b"X-%d: 1\r\n" % i for i in range(n))
        assert statuses(client, 1, HEALTH + more + b"\r\n") == [status]


def test_a_client_that_sends_on_still_gets_the_answer(client):
    with Wire(client) as wire:
        wire.send(head_of(HEAD_BYTES + 1))
        for _ in range(20):
            wire.socket.sendall(b"b" * 4096)
            time.sleep(0.005)
        assert wire.all()[9:12] == b"431"


STRANGE = {
    "two hosts": b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    "another host": b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two lengths": POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "other lengths": POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
    "lengths in one": POST + b"Content-Length: 3, 3\r\n\r\nabc",
    "length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "other coding": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "coding and other": POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "coding twice": POST
    + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
    "space before colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "folded": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "plus": POST + b"Content-Length: +3\r\n\r\nabc",
    "minus": POST + b"Content-Length: -3\r\n\r\nabc",
    "huge": POST + b"Content-Length: 99999999999999999999999\r\n\r\nabc",
    "hexadecimal": POST + b"Content-Length: 0x3\r\n\r\nabc",
    "odd chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
    "huge chunk": POST
    + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc\r\n0\r\n\r\n",
    "line feeds": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "carriage return": HEALTH + b"X: a\rY: b\r\n\r\n",
    "null in a value": HEALTH + b"X: a\0b\r\n\r\n",
    "null in the target": b"GET /\0 HTTP/1.1\r\n" + HOST + b"\r\n",
    "space in the target": b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n",
    "no version": b"GET /healthz\r\n" + HOST + b"\r\n",
    "connect": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "user in the target": b"GET http://localhost@evil.example/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "another scheme": b"GET ftp://localhost/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "two tokens": HEALTH + b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
    "two origins": HEALTH + b"Origin: null\r\nOrigin: http://localhost\r\n\r\n",
}


@pytest.mark.parametrize("request_", STRANGE.values(), ids=STRANGE)
def test_what_could_be_understood_in_two_ways_is_refused(client, request_):
    status, _, body = ask(client, request_ + b"GET /healthz HTTP/1.0\r\n\r\n")
    assert status == (505 if request_ == STRANGE["no version"] else 400)
    assert set(json.loads(body.partition(b"HTTP/1.1 ")[0])) == {"detail"}


def test_the_host_of_the_target_counts(client):
    for target, host, status in [
        (b"http://evil.example/healthz", b"localhost", 403),
        (b"http://localhost/healthz", b"evil.example", 200),
        (b"HTTP://127.0.0.1:%d/healthz?a=b" % client.port, b"127.0.0.1", 200),
        (b"http://evil.example#@localhost/healthz", b"localhost", 400),
    ]:
        line = b"GET " + target + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"
        assert statuses(client, 1, line) == [status], target


def test_versions(client):
    assert ask(client, b"GET /healthz HTTP/1.0\r\n" + HOST + b"\r\n")[0] == 200
    for version in (b"2.0", b"0.9"):
        assert ask(client, b"GET /healthz HTTP/" + version + b"\r\n" + HOST + b"\r\n")[0] == 505


PATHS = [b"//", b"//evil.example/", b"/static/../api/v1/info", b"/static/%2e%2e/%2e%2e/etc/passwd",
         b"/static/..%2f..%2fguard.py", b"/static/%00", b"/static/app.js%00.html", b"/.",
         b"/%2e%2e/", b"/static//app.js", b"/%2fapi/v1/info", b"/API/v1/info", b"/healthz/",
         b"/healthz%2f",
         b"/%68ealthz/../api/v1/info", b"/static/\xc3\xa9", b"/static/%ff", b"/docs/",
         b"/static", b"/static/", b"/;/api/v1/info",
         b"/api/v1/info/", b"/static/app.js/"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_paths_that_lead_nowhere(serving, path):
    client = serving(token=TOKEN)
    for method in (b"GET", b"HEAD", b"POST"):
        line = method + b" " + path + b" HTTP/1.0\r\nHost: localhost\r\n\r\n"
        status, head, body = ask(client, line)
        assert status in (400, 401, 403, 404, 405), (method, path)
        assert b"\r\nlocation" not in head.lower()
        assert (body == b"") == (method == b"HEAD" and status != 400)


@pytest.mark.parametrize("method", [b"TRACE", b"PROPFIND", b"PURGE", b"PUT", b"OPTIONS"])
def test_methods_that_do_nothing(client, method):
    lines = method + b" /healthz HTTP/1.1\r\n" + HOST + b"X-Secret: secret\r\n\r\n"
    with Wire(client) as wire:
        ((status, body),) = wire.send(lines).answers(1)
    assert status == 405
    assert b"secret" not in body


def test_an_upgrade_is_not_taken(client):
    lines = HEALTH + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    with Wire(client) as wire:
        answers = wire.send(lines + b"GET /nothing HTTP/1.1\r\n" + HOST + b"\r\n").all()
    assert answers[9:12] == b"200"
    assert answers.count(b"HTTP/1.1 ") == 1


def test_trailers_are_not_headers(serving):
    client = serving(token=TOKEN)
    trailers = b"0\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\nHost: evil.example\r\n\r\n"
    for packets in ([CHUNKED[:-5] + trailers], halves(CHUNKED[:-5] + trailers, 200)):
        assert statuses(client, 1, *packets) == [401]


def test_expectations(client):
    lines = POST + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"
    with Wire(client) as wire:
        (status, _), *_ = wire.send(lines).answers(1)
        assert status in (100, 415)


def test_an_answer_is_never_taken_for_that_to_an_earlier_request(client):
    with Wire(client) as wire:
        wire.send(POST + b"Content-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nbad header\r\n\r\n")
        found = wire.all()
        assert found.index(b"HTTP/1.1 415") < found.index(b"HTTP/1.1 400")


def test_slow_headers_end(client, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    with Wire(client) as wire:
        wire.send(b"GET / HT")
        started = time.monotonic()
        assert wire.all() == b""
        assert time.monotonic() - started < SECONDS / 2
