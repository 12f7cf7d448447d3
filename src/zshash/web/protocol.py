"""uvicorn's HTTP protocol, with limits for the size and time of headers that uvicorn lacks."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

__all__ = ["BoundedProtocol"]

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0


class BoundedProtocol(HttpToolsProtocol):
    """A connection with limits for the bytes and seconds of a request's line and headers.

    The time begins with the connection, and again after each answer; the rest of a body that
    arrives after its answer counts, too. The time also begins when the client does not read an
    answer: the connection ends unless the client has read some of it in that time. When a
    connection ends while further requests wait in it, the request that is worked on is told.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._reads_head, self._n_bytes = True, 0
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
        """Count the bytes of line and headers; end the connection if they are too many."""
        if self._reads_head:
            self._n_bytes += len(data)
        super().data_received(data)
        if self._reads_head and self._n_bytes > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("Headers are too long.")

    def on_headers_complete(self) -> None:
        """Stop the time: line and headers have arrived."""
        self._stop()
        self._reads_head, self._n_bytes = False, 0
        super().on_headers_complete()
        if not self.pipeline:
            self._running = self.cycle

    def on_message_complete(self) -> None:
        """Note that the next bytes belong to the next request."""
        self._reads_head = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start the time for the next request."""
        self._running = self.pipeline[-1][0] if self.pipeline else None
        super().on_response_complete()
        if self._running is None:
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP request, and end the connection."""
        self._abandon()
        super().send_400_response(msg)

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
