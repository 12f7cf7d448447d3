"""Clients that send too much, too slowly, or what is no request, on a socket."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from tests.web.running import listening
from zshash.web import Settings, create_app, protocol

PLAIN = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@contextmanager
def on_a_port(app):
    """A server of an application; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener, listening(app, listener):
        yield listener.getsockname()[1]


@pytest.fixture(scope="module")
def port(digits):
    with on_a_port(create_app(digits, Settings(seconds=1))) as found:
        yield found


@pytest.fixture
def client(port):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        yield connection


def read_all(client):
    """All that comes until the server ends the connection."""
    parts = []
    try:
        while part := client.recv(65536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def send_all(client, part, n):
    """Send a part many times, or as often as the server lets one."""
    try:
        for _ in range(n):
            client.sendall(part)
    except ConnectionError:
        return False
    return True


def test_a_header_without_end_is_not_kept(client):
    client.sendall(PLAIN + b"A: ")
    assert not send_all(client, b"a" * 2**16, 400)


def test_headers_without_end_are_not_kept(client):
    client.sendall(PLAIN)
    assert not send_all(client, b"a: b\r\n" * 10_000, 400)


def test_long_headers_are_taken(client):
    client.sendall(PLAIN + b"A: " + b"a" * 30_000 + b"\r\nConnection: close\r\n\r\n")
    assert read_all(client).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("head", [b"", PLAIN], ids=["nothing", "half a head"])
def test_a_head_that_does_not_come_is_not_waited_for(monkeypatch, port, head):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    with socket.create_connection(("127.0.0.1", port), timeout=5) as slow:
        slow.sendall(head)
        assert read_all(slow) == b""


def test_a_second_head_that_does_not_come_is_not_waited_for(monkeypatch, client):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    client.sendall(PLAIN + b"\r\n" + PLAIN)
    assert read_all(client).count(b"HTTP/1.1 200 ") == 1


def test_a_body_that_does_not_come_is_not_waited_for(client):
    head = b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
    client.sendall(head + b"Content-Length: 50\r\nConnection: close\r\n\r\nabc")
    assert read_all(client).startswith(b"HTTP/1.1 408 ")


def test_requests_at_once_are_answered_in_order(client):
    targets = (b"/api/v1/items/3", b"/healthz", b"/api/v1/items/5")
    for target in targets:
        client.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    client.sendall(PLAIN + b"Connection: close\r\n\r\n")
    found = read_all(client)
    assert found.count(b"HTTP/1.1 200 ") == 4
    assert found.index(b'"id":3,') < found.index(b'"ok"') < found.index(b'"id":5,')


def test_a_request_learns_that_its_connection_has_ended(caplog):
    """Also where another one has come in behind it."""
    begun, ended = threading.Event(), threading.Event()

    async def app(scope, receive, send):
        if scope["type"] != "http":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        while (await receive())["type"] != "http.disconnect":
            begun.set()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        ended.set()

    with on_a_port(app) as port:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(PLAIN + b"\r\n" + PLAIN + b"\r\n")
            assert begun.wait(10)
        assert ended.wait(10)
    assert not caplog.records


def answering(content, ended):
    """An application that answers anything with the same bytes, and tells when it is through."""

    async def app(scope, receive, send):
        await receive()
        if scope["type"] != "http":
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        length = str(2 * len(content)).encode()
        headers = [(b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content, "more_body": True})
        await send({"type": "http.response.body", "body": content})
        ended.set()

    return app


def test_a_client_that_does_not_read_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    ended = threading.Event()
    with (
        on_a_port(answering(bytes(20_000_000), ended)) as port,
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        client.sendall(PLAIN + b"\r\n")
        assert ended.wait(10)
        assert len(read_all(client)) < 40_000_000


def test_a_client_that_reads_slowly_gets_all(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    with (
        on_a_port(answering(bytes(20_000_000), threading.Event())) as port,
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        client.sendall(PLAIN + b"Connection: close\r\n\r\n")
        n_bytes = 0
        while part := client.recv(4_000_000, socket.MSG_WAITALL):
            n_bytes += len(part)
            time.sleep(0.2)
        assert n_bytes > 40_000_000


def test_what_is_no_request_is_answered_after_the_one_before_it(client, caplog):
    client.sendall(PLAIN + b"\r\n" + b"no request\r\n\r\n")
    found = read_all(client)
    assert found.index(b"HTTP/1.1 200 ") < found.index(b"HTTP/1.1 400 ")
    assert not caplog.records
