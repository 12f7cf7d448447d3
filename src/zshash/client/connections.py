"""Requests to one server, over connections that stay open."""

import json
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

__all__ = ["Connections", "ServerError"]

JSON = "application/json"
PIECE = 2**16  # bytes that are read at once


class ServerError(Exception):
    """A server refused a request, or could not answer it.

    Attributes
    ----------
    status : int
        Status of HTTP, such as 404.
    detail : str
        What is wrong, in one sentence of the server.
    suggestions : dict of str to list of str
        For names that nobody knows: known names that look like them.
    """

    def __init__(
        self, status: int, detail: str, suggestions: dict[str, list[str]] | None = None
    ) -> None:
        super().__init__(f"{detail} (status {status})")
        self.status, self.detail, self.suggestions = status, detail, suggestions or {}


class Connections:
    """Connections to a server, which threads may share: each request has one for itself.

    Parameters
    ----------
    address : str
        Such as ``http://127.0.0.1:8000`` or ``https://photos.example.org``.
    token : str, optional
    timeout : float
        Longest time in seconds to wait for the server.
    retries : int
        How often a request is sent again that the server was too busy for.
    """

    def __init__(self, address: str, token: str | None, timeout: float, retries: int) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{address!r} is no address such as http://127.0.0.1:8000")
        self._address = address
        self._kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._port = parts.hostname, parts.port
        self._start, self._timeout, self._retries = parts.path.rstrip("/"), timeout, retries
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._idle: list[HTTPConnection] = []
        self._mutex = threading.Lock()

    def ask(self, method: str, path: str, **request: Any) -> Any:
        """What the answer in JSON to a request says; None if it has no body."""
        content = self.read(method, path, **request)
        return json.loads(content) if content else None

    def read(self, method: str, path: str, **request: Any) -> bytes:
        """Body of the answer to a request."""
        connection, response = self._answer(method, path, **request)
        content = response.read()
        self._keep(connection, response)
        return content

    def lines(self, path: str, **request: Any) -> Iterator[Any]:
        """What the lines of an answer say, one after the other, as they come."""
        connection, response = self._answer("GET", path, accept="application/x-ndjson", **request)
        try:
            for line in response:
                if line.strip():
                    yield json.loads(line)
            self._keep(connection, response)
        finally:
            if not response.isclosed():  # nobody wants the rest
                connection.close()

    def close(self) -> None:
        """Close all connections that wait for a request."""
        with self._mutex:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _answer(
        self,
        method: str,
        path: str,
        *,
        query: Any = (),
        body: Any = None,
        kind: str = JSON,
        accept: str = JSON,
        again: bool = True,
    ) -> tuple[HTTPConnection, HTTPResponse]:
        """A connection with a good answer; with `again`, the request may be sent twice."""
        pairs = [(name, value) for name, value in dict(query).items() if value is not None]
        target = f"{self._start}/api/v1{path}"
        target += f"?{urlencode(pairs, doseq=True)}" if pairs else ""
        headers = self._headers | {"Accept": accept}
        if body is not None:
            headers |= {"Content-Type": kind}
            body = json.dumps(body).encode() if kind == JSON else body
        for attempt in range(self._retries + 1):
            connection, response = self._send(method, target, body, headers, again)
            if response.status != 429 or attempt == self._retries:
                break
            wait = response.getheader("Retry-After") or "1"
            response.read()
            self._keep(connection, response)
            time.sleep(float(wait) if wait.isdigit() else 1.0)
        if response.status < 400:
            return connection, response
        content = response.read()
        self._keep(connection, response)
        raise _error(response.status, content)

    def _send(
        self, method: str, target: str, body: Any, headers: dict[str, str], again: bool
    ) -> tuple[HTTPConnection, HTTPResponse]:
        """Send a request; once more if the server has closed the connection meanwhile."""
        connection, is_used = self._take()
        while True:
            try:
                connection.request(method, target, body, headers)
                return connection, connection.getresponse()
            except (HTTPException, ConnectionError) as error:
                connection.close()
                if not (is_used and again):
                    raise self._unanswered(error) from error
                connection, is_used = self._new(), False
            except OSError as error:  # too slow, a name that nobody knows, a wrong certificate
                connection.close()
                raise self._unanswered(error) from error
            except BaseException:
                connection.close()
                raise

    def _unanswered(self, error: Exception) -> OSError:
        """What is raised where a server gives no answer, or breaks off."""
        kind = TimeoutError if isinstance(error, TimeoutError) else ConnectionError
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return kind(f"{self._address} does not answer: {why}")

    def _take(self) -> tuple[HTTPConnection, bool]:
        """A connection for one request, and whether it has been used before."""
        with self._mutex:
            if self._idle:
                return self._idle.pop(), True
        return self._new(), False

    def _new(self) -> HTTPConnection:
        return self._kind(self._host, self._port, timeout=self._timeout)

    def _keep(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        """Keep a connection whose answer has been read, unless the server closes it."""
        if response.will_close:
            connection.close()
            return
        with self._mutex:
            self._idle.append(connection)


def _error(status: int, content: bytes) -> ServerError:
    try:
        told = json.loads(content)
        return ServerError(status, str(told["detail"]), told.get("suggestions"))
    except (ValueError, KeyError, TypeError):
        return ServerError(status, "the server answered without saying why")
