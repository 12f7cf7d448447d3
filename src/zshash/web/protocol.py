"""uvicorn's HTTP protocol, with limits for the size and time of headers that uvicorn lacks."""

import asyncio
import re
from typing import Any, NoReturn

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from zshash.web.answers import to_json
from zshash.web.origins import HEADERS, raw

__all__ = ["BoundedProtocol"]

HEAD_BYTES = 64 * 1024
MOST_HEADERS = 100
HEAD_SECONDS = 10.0
LINGER_SECONDS, LINGER_BYTES = 2.0, 2**20
VERSIONS = ("1.1", "1.0")
BESIDE = 4  # bytes of a header besides its name and value
BESIDE_LINE = 14  # bytes of a request's line besides its method and target, and of the empty line
REASONS = {
    400: ("Bad Request", "this is no HTTP request that the server understands"),
    414: ("URI Too Long", f"the address of a request has less than {HEAD_BYTES} bytes"),
    431: (
        "Request Header Fields Too Large",
        f"a request has at most {MOST_HEADERS} headers, and {HEAD_BYTES} bytes before its body",
    ),
    505: ("HTTP Version Not Supported", "the server speaks HTTP/1.1"),
}


class _RefusedError(Exception):
    """A request that is not passed on, with the status of its answer."""


class BoundedProtocol(HttpToolsProtocol):
    """A connection with limits for the bytes and seconds of a request's line and headers.

    Line and headers have at most `HEAD_BYTES` bytes, where a header counts as its name, its value
    and four bytes more. That does not depend on the packets in which they arrive, nor on a body or
    another request in the same packet. What has not ended yet is limited, too: at most so many
    bytes may come without an end of the headers or a piece of a body. Headers behind a body
    (trailers) are left out, because nobody has checked them.

    A request that is refused here is answered after those that came before it, and then the
    connection ends.

    The time begins with the connection, and again after each answer; the rest of a body that
    arrives after its answer counts, too. The time also begins when the client does not read an
    answer: the connection ends unless the client has read some of it in that time. When a
    connection ends while further requests wait in it, the request that is worked on is told.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._reads_head, self._n_bytes = True, 0
        self._has_turned = self._is_refused = False
        self._status, self.url = 400, b""
        self._timer: asyncio.TimerHandle | None = None
        self._running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time, and tell the request that is worked on."""
        self._stop()
        self._abandon()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read bytes; end the connection if too many come without an end of anything."""
        if self._is_refused:
            self._pass_over(data)
            return
        self._has_turned = False
        super().data_received(data)
        self._n_bytes = 0 if self._has_turned else self._n_bytes + len(data)
        if self._n_bytes > HEAD_BYTES and not self._is_refused:
            self._status = 414 if self._reads_head and len(self.url) > HEAD_BYTES // 2 else 431
            self.send_400_response("")

    def _pass_over(self, data: bytes) -> None:
        self._n_bytes += len(data)
        if self._n_bytes > LINGER_BYTES:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        """Stop the time: line and headers have arrived. Check them before anybody sees them."""
        self._stop()
        self._check_head()
        self._reads_head, self._has_turned = False, True
        super().on_headers_complete()
        self.headers = []  # takes the trailers, which the application does not see
        if self.parser.should_upgrade():
            self.cycle.keep_alive = False  # what follows may be of another protocol
        if not self.pipeline:
            self._running = self.cycle

    def _check_head(self) -> None:
        headers, method = self.headers, self.parser.get_method()
        size = len(method) + len(self.url) + BESIDE_LINE + BESIDE * len(headers)
        size += sum([len(name) + len(value) for name, value in headers])
        if size > HEAD_BYTES or len(headers) > MOST_HEADERS:
            self._refuse(414 if len(self.url) > HEAD_BYTES // 2 else 431)
        if self.parser.get_http_version() not in VERSIONS:
            self._refuse(505)
        if not self.url.startswith(b"/") and self.url != b"*":
            self._take_host()

    def _take_host(self) -> None:
        """Take the host from a target such as http://host/path, as HTTP wants it.

        The header Host is ignored then, so that what is checked is what a proxy has seen.
        """
        scheme, found, rest = self.url.partition(b"://")
        host = re.split(rb"[/?#]", rest, maxsplit=1)[0]
        if not found or scheme.lower() not in (b"http", b"https") or not host or b"@" in host:
            self._refuse(400)
        self.headers[:] = [(b"host", host), *(pair for pair in self.headers if pair[0] != b"host")]

    def _refuse(self, status: int) -> NoReturn:
        self._status = status
        raise _RefusedError

    def on_body(self, body: bytes) -> None:
        """Note that a piece of a body has come."""
        self._has_turned = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the next bytes belong to the next request."""
        self._reads_head = self._has_turned = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start the time for the next request."""
        self._running = self.pipeline[-1][0] if self.pipeline else None
        super().on_response_complete()
        if self._running is None:
            if self._is_refused and not self.transport.is_closing():
                self._end(is_told=True)
            else:
                self._wait()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002, these are uvicorn's words
        """Answer bytes that are no request, or one that is refused, and end the connection."""
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused, self._n_bytes = True, 0
        running = self._running
        if running is None or not (self._reads_head or self.pipeline):  # it is wrong itself
            self._abandon()
            self._end(is_told=running is None or not running.response_started)
        elif not self._reads_head:  # one that waits will never be complete
            self._abandon()
            self._end(is_told=False)

    def _end(self, *, is_told: bool) -> None:
        """End the connection soon: the client may finish sending before it reads the answer."""
        if is_told:
            self.transport.write(_answer(self._status))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._stop()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _abandon(self) -> None:
        if self._running is not None:
            self._running.disconnected = True
            self._running.message_event.set()

    def pause_writing(self) -> None:
        """Start the time for a client that does not read its answer."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Stop the time: the client has read some of its answer."""
        super().resume_writing()
        if self._running is not None:
            self._stop()

    def _wait(self) -> None:
        self._stop()
        unread = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._late, unread)

    def _late(self, unread: int) -> None:
        if 0 < self.transport.get_write_buffer_size() < unread:  # the client reads slowly
            self._wait()
        else:
            self.transport.abort()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _answer(status: int) -> bytes:
    """An answer that ends a connection."""
    reason, text = REASONS[status]
    body = to_json({"detail": text})
    own = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    headers = raw(own | {"Connection": "close", "Cache-Control": "no-store"} | HEADERS)
    lines = [b"HTTP/1.1 %d %b" % (status, reason.encode())]
    lines += [name + b": " + value for name, value in headers]
    return b"\r\n".join([*lines, b"", body])
