"""A client that sends any bytes, and reads the answer, if there is one."""

import socket
import time
from contextlib import suppress
from dataclasses import dataclass

from uploading.requests import Request

__all__ = ["SECONDS", "Answer", "ask", "trickle"]

SECONDS = 30.0  # for an answer


@dataclass(frozen=True)
class Answer:
    """An answer: its status, 0 if the connection ended without one, -1 if nothing came."""

    status: int
    body: bytes = b""


def ask(port: int, request: Request) -> Answer:
    """Send a request on a new connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        with suppress(ConnectionError):  # the server may answer before it has seen all of it
            connection.sendall(request.content)
        if request.leaves:
            return Answer(0)
        return _read(connection)


def trickle(port: int, head: bytes, piece: bytes, seconds: float) -> Answer:
    """Send a head, then a piece from time to time until there is an answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(head)
        connection.settimeout(0.2)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            with suppress(ConnectionError):
                connection.sendall(piece)
            try:
                answered = connection.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                continue
            except ConnectionError:
                return Answer(0)
            connection.settimeout(SECONDS)
            return _read(connection) if answered else Answer(0)
        return Answer(-1)


def _read(connection: socket.socket) -> Answer:
    """The first final answer: one that is more than "100 Continue"."""
    file = connection.makefile("rb")
    try:
        while True:
            line = file.readline()
            if not line:
                return Answer(0)
            status, length = int(line.split()[1]), 0
            while (header := file.readline()) not in (b"\r\n", b""):
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            if status >= 200:
                return Answer(status, file.read(length))
    except TimeoutError:
        return Answer(-1)
    except ConnectionError:
        return Answer(0)
    finally:
        file.close()
