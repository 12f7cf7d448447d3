"""Clients that send one prepared request after another, on one thread and without a library.

A client sends its next request when the answer to the last one is complete.
"""

import selectors
import socket
import time
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

__all__ = ["Load", "get", "post", "put_load"]

READ_BYTES = 1 << 18
PATIENCE = 30.0  # seconds without any answer, after which something is wrong


class Load(NamedTuple):
    """Seconds of each answer, seconds of the whole run, and number of answers by status."""

    latencies: NDArray[np.float64]
    seconds: float
    statuses: dict[int, int]

    @property
    def rate(self) -> float:
        """Answers per second."""
        return len(self.latencies) / self.seconds

    def percentile(self, percent: float) -> float:
        """Milliseconds within which `percent` of the answers came."""
        return 1000 * float(np.percentile(self.latencies, percent))


@dataclass
class _Client:
    connection: socket.socket
    place: int
    sent: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    def send(self, requests: list[bytes]) -> None:
        """Send the next request."""
        self.sent = time.perf_counter()
        self.connection.sendall(requests[self.place % len(requests)])
        self.place += 1

    def status(self) -> int | None:
        """Status of the answer if all of it has come, which is then removed; otherwise None."""
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = bytes(self.received[:end]).lower()
        start = head.find(b"content-length:")
        length = int(head[start + 15 :].split(b"\r\n", 1)[0]) if start >= 0 else 0
        if len(self.received) < end + 4 + length:
            return None
        del self.received[: end + 4 + length]
        return int(head.split(b" ", 2)[1])


def get(path: str) -> bytes:
    """A request without a body."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def post(path: str, kind: str, body: bytes, accept: str = "*/*") -> bytes:
    """A request with a body."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
    head += f"Accept: {accept}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def put_load(address: str, requests: list[bytes], clients: int, seconds: float) -> Load:
    """Let clients send requests for some seconds; each client begins at another request."""
    parts = urlsplit(address)
    place = (parts.hostname or "", parts.port or 80)
    open_clients = [_Client(socket.create_connection(place), 7 * i) for i in range(clients)]
    latencies: list[float] = []
    statuses: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        for client in open_clients:
            client.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(client.connection, selectors.EVENT_READ, client)
        start = time.perf_counter()
        for client in open_clients:
            client.send(requests)
        busy = len(open_clients)
        while busy:
            ready = selector.select(PATIENCE)
            if not ready:
                raise TimeoutError(f"{busy} clients got no answer in {PATIENCE:g} s")
            for key, _ in ready:
                client = key.data
                received = client.connection.recv(READ_BYTES)
                if not received:
                    raise ConnectionError("the server has closed a connection")
                client.received += received
                status = client.status()
                if status is None:
                    continue
                now = time.perf_counter()
                latencies.append(now - client.sent)
                statuses[status] = statuses.get(status, 0) + 1
                if now - start < seconds:
                    client.send(requests)
                else:
                    busy -= 1
        took = time.perf_counter() - start
    for client in open_clients:
        client.connection.close()
    return Load(np.array(latencies), took, statuses)
