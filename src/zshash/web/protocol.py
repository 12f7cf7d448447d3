"""HTTP as uvicorn speaks it, with bounds on size and time that it has none for."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

__all__ = ["BoundedProtocol"]

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0


class BoundedProtocol(HttpToolsProtocol):
    """A connection whose client has only so many bytes and seconds for a line and its headers.

    The time begins with the connection, and anew with each answer: a body that goes on after its
    answer counts as well. It also begins when an answer can not be written, and ends the
    connection unless the client has read some of it. Where a connection ends while more requests
    wait in it, the one that is worked on learns of it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._reads_head, self._n_bytes = True, 0
        self._timer: asyncio.TimerHandle | None = None
        self._running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop()
        self._abandon()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        if self._reads_head:
            self._n_bytes += len(data)
        super().data_received(data)
        if self._reads_head and self._n_bytes > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("Headers are too long.")

    def on_headers_complete(self) -> None:
        """Note that the head is there."""
        self._stop()
        self._reads_head, self._n_bytes = False, 0
        super().on_headers_complete()
        if not self.pipeline:
            self._running = self.cycle

    def on_message_complete(self) -> None:
        """Note that what comes now is the next head."""
        self._reads_head = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._running = self.pipeline[-1][0] if self.pipeline else None
        super().on_response_complete()
        if self._running is None:
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, and end."""
        self._abandon()
        super().send_400_response(msg)

    def _abandon(self) -> None:
        if self._running is not None:
            self._running.disconnected = True
            self._running.message_event.set()

    def pause_writing(self) -> None:
        """Wait for a client that does not read its answer as fast as it is written."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Go on with an answer."""
        super().resume_writing()
        if self._running is not None:
            self._stop()

    def _wait(self) -> None:
        self._stop()
        unread = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._late, unread)

    def _late(self, unread: int) -> None:
        if 0 < self.transport.get_write_buffer_size() < unread:  # it reads, if slowly
            self._wait()
        else:
            self.transport.abort()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
