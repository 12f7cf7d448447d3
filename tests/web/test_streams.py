"""Long answers in lines, for clients that read slowly or go away: nothing is held for them."""

import json
import socket
import time
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.web.running import running
from zshash import LSH, Collection
from zshash.web import app
from zshash.web.served import ServedCollection
from zshash.web.state import ServerState

N = 20_000
AWAY, SLOW = 20, 12  # clients; there are four threads for reading


class Watched:
    """A server, its state, the streams that are open in it, and the items that they have read."""

    def __init__(self):
        self.address, self.state, self.open, self.n_read = "", None, 0, 0

    def settle(self):
        """Wait until no more items are read."""
        seen = -1
        while seen != self.n_read:
            seen = self.n_read
            time.sleep(1)

    def wait_for_end(self):
        """Wait until no stream is open and no thread at work."""
        end = time.monotonic() + 60
        while self.open or self.state.reading.n or self.state.filtering.n:
            assert time.monotonic() < end, (self.open, self.state.reading.n)
            time.sleep(0.05)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A collection of many items, about 12 MB in lines."""
    place = tmp_path_factory.mktemp("streams") / "large"
    X = np.random.RandomState(0).randn(N, 8).astype(np.float32)
    with Collection.create(place, LSH(n_bits=16, random_state=0).fit(X)) as collection:
        collection.add(X, metadata=[{"note": "x" * 500}] * N)
    return place


@pytest.fixture
def watched(large, monkeypatch):
    seen, lines, portraits = Watched(), ServedCollection.lines, ServedCollection.portraits

    def make_state(*args):
        seen.state = ServerState(*args)
        return seen.state

    def watched_lines(self, query):
        seen.open += 1
        try:
            yield from lines(self, query)
        finally:
            seen.open -= 1

    def watched_portraits(self, ids):
        seen.n_read += len(ids)
        return portraits(self, ids)

    monkeypatch.setattr(app, "ServerState", make_state)
    monkeypatch.setattr(ServedCollection, "lines", watched_lines)
    monkeypatch.setattr(ServedCollection, "portraits", watched_portraits)
    with running(large) as seen.address:
        yield seen


@contextmanager
def asking(address, path="/api/v1/items"):
    """A connection on which the first bytes of all items have come; little fits into it."""
    place = urlsplit(address)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect((place.hostname, place.port))
        lines = [f"GET {path} HTTP/1.1", f"Host: {place.netloc}", "Accept: application/x-ndjson"]
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        assert connection.recv(12) == b"HTTP/1.1 200"
        yield connection


def rest(connection):
    """All that still comes."""
    parts = []
    while part := connection.recv(2**20):
        parts.append(part)
    return b"".join(parts)


def items_of(content):
    """Ids of the items in an answer whose parts are sent one by one."""
    return [json.loads(line)["id"] for line in content.split(b"\n") if line.startswith(b'{"id"')]


@pytest.mark.parametrize("path", ["/api/v1/items", "/api/v1/items?where=id>=0"])
def test_clients_that_go_away_leave_nothing_behind(watched, path):
    for _ in range(AWAY):
        with asking(watched.address, path):
            pass
    watched.wait_for_end()
    assert watched.n_read < AWAY * N


def test_slow_readers_hold_no_thread_and_little_memory(watched):
    with ExitStack() as stack:
        slow = [stack.enter_context(asking(watched.address)) for _ in range(SLOW)]
        watched.settle()
        assert watched.open == SLOW
        assert (watched.state.reading.n, watched.state.filtering.n) == (0, 0)
        assert watched.n_read < SLOW * N / 2  # the rest waits until somebody wants it
        with asking(watched.address, "/api/v1/items?limit=3") as other:
            assert items_of(rest(other)) == [0, 1, 2]
        content = rest(slow[0])
        assert content.count(b'"note":') == N
    watched.wait_for_end()
