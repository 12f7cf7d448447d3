"""Compression of answers in text, for clients that accept it.

Answers hold nothing that is secret from the client that asks: no token, no session, nothing of
another client. So their compressed length tells an eavesdropper nothing that could be guessed byte
by byte.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from typing import Any

__all__ = ["LEAST", "accepts_gzip", "compressing", "packed"]

LEAST = 1024  # bytes; shorter answers gain nothing
LEVEL = 1  # the fastest one: JSON becomes about a fifth
LARGE = 2**18  # bytes; longer answers are compressed in a thread
GZIP = 16 + zlib.MAX_WBITS
TYPES = (
    b"application/json",
    b"application/x-ndjson",
    b"text/html",
    b"text/javascript",
    b"text/css",
    b"text/csv",
    b"text/plain",
    b"image/svg+xml",
)
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


@lru_cache(256)
def accepts_gzip(accepted: bytes) -> bool:
    """Whether the value of Accept-Encoding allows gzip.

    >>> accepts_gzip(b"br, gzip;q=0.5"), accepts_gzip(b"*"), accepts_gzip(b"gzip;q=0, *")
    (True, True, False)
    """
    weights = dict(map(_weighed, accepted.lower().split(b",")))
    return weights.get(b"gzip", weights.get(b"x-gzip", weights.get(b"*", 0.0))) > 0.0


def _weighed(part: bytes) -> tuple[bytes, float]:
    name, *parameters = (own.strip() for own in part.split(b";"))
    weight = next((own[2:] for own in parameters if own.startswith(b"q=")), b"1")
    try:
        return name, float(weight)
    except ValueError:
        return name, 0.0


def packed(content: bytes, level: int = LEVEL) -> bytes:
    """Content in the format of gzip."""
    packer = zlib.compressobj(level, wbits=GZIP)
    return packer.compress(content) + packer.flush()


def compressing(send: Send, accepted: bytes) -> Send:
    """A way to send an answer that compresses it, if the client accepts that and it pays."""
    return _Packer(send) if accepts_gzip(accepted) else send


class _Packer:
    """Sends one answer, compressed if it is a long text. Parts of a stream go out as they come."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._packer: Any = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_text(message):
            self._start = message  # waits for the body, whose length decides
        elif self._start is not None and message["type"] == "http.response.body":
            start, self._start = self._start, None
            await self._begin(start, message)
        elif self._packer is not None:
            await self._go_on(message)
        else:
            await self._send(message)

    async def _begin(self, start: Message, message: Message) -> None:
        body = message.get("body", b"")
        if message.get("more_body"):
            self._packer = zlib.compressobj(LEVEL, wbits=GZIP)
            await self._send(_encoded(start, None))
            await self._go_on(message)
            return
        if len(body) < LEAST:
            await self._send(start)
            await self._send(message)
            return
        short = await asyncio.to_thread(packed, body) if len(body) > LARGE else packed(body)
        await self._send(_encoded(start, len(short)))
        await self._send({**message, "body": short})

    async def _go_on(self, message: Message) -> None:
        more = message.get("more_body", False)
        part = self._packer.compress(message.get("body", b""))
        part += self._packer.flush(zlib.Z_SYNC_FLUSH if more else zlib.Z_FINISH)
        await self._send({**message, "body": part})


def _is_text(start: Message) -> bool:
    """Whether an answer has a body in text that is not encoded yet."""
    headers = dict(start.get("headers", ()))
    if start["status"] in (204, 206, 304) or b"content-encoding" in headers:
        return False
    return headers.get(b"content-type", b"").partition(b";")[0] in TYPES


def _encoded(start: Message, length: int | None) -> Message:
    """The beginning of an answer, as that of a compressed one."""
    headers = [pair for pair in start["headers"] if pair[0] != b"content-length"]
    headers.append((b"content-encoding", b"gzip"))
    if length is not None:
        headers.append((b"content-length", b"%d" % length))
    return {**start, "headers": headers}
