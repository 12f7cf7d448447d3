"""Checks of who may make a request, and headers that limit what browsers do with answers."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import cookie_parser

from zshash.web.answers import to_json
from zshash.web.errors import ApiError
from zshash.web.settings import LOCAL, Settings, is_loopback

__all__ = ["Guard"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PUBLIC = ("/", "/healthz", "/api/v1/session")
READING = tuple(f"/api/v1/{path}" for path in ("search", "search/batch", "items/export"))
SAFE = ("GET", "HEAD", "OPTIONS")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class Guard:
    """ASGI layer that refuses requests that the client may not make.

    It sets `scope["authorised"]`: the request has the token or the cookie, or the server has no
    token; and `scope["by_token"]`: the request has the token itself.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    """

    def __init__(self, app: App, settings: Settings) -> None:
        self._app, self._settings = app, settings
        self._hosts = {name.lower() for name in (*LOCAL, settings.host, *settings.hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        has_begun = False

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message["headers"] = [*message.get("headers", ()), *RAW_HEADERS]
            await send(message)

        try:
            self._check(scope)
        except ApiError as error:
            await _answer(error, send_guarded)
            return
        try:
            await self._app(scope, receive, send_guarded)
        except asyncio.CancelledError:  # the server is stopping and does not wait for this request
            if has_begun:
                raise
            await _answer(ApiError(503, "the server has been stopped"), send_guarded)
        except Exception:
            if not has_begun:
                await _answer(ApiError(500, "something is wrong with the server"), send_guarded)
            raise  # into the server's log

    def _check(self, scope: Scope) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        self._check_host(headers)
        by_token = self._settings.knows(_bearer(headers))
        by_cookie = not by_token and self._has_cookie(headers)
        scope["authorised"] = by_token or by_cookie or self._settings.token is None
        scope["by_token"] = by_token
        path, method = scope["path"], scope["method"]
        if path in PUBLIC or path.startswith("/static/"):
            return
        if self._settings.asks_readers and not scope["authorised"]:
            raise _unauthorised("this server asks for a token")
        if method not in SAFE and path not in READING:
            self._check_writing(scope, headers, by_token)

    def _check_host(self, headers: dict[bytes, str]) -> None:
        """Refuse foreign host names for this machine, with which a foreign page could reach it."""
        if not self._settings.is_local:
            return
        try:
            name = urlsplit(f"//{headers.get(b'host', '')}").hostname or ""
        except ValueError:
            name = ""
        if name not in self._hosts and not is_loopback(name):
            raise ApiError(
                403, "this server does not answer to that host name: it was not started to allow it"
            )

    def _check_writing(self, scope: Scope, headers: dict[bytes, str], by_token: bool) -> None:
        if not self._settings.writable:
            raise ApiError(403, "this server only reads: it was not started as writable")
        if not scope["authorised"]:
            raise _unauthorised("changing the collection needs the token")
        if not by_token and not _is_own_page(headers):
            raise ApiError(
                403, "only this server's own page may do that with a cookie: send the token"
            )

    def _has_cookie(self, headers: dict[bytes, str]) -> bool:
        """Whether the request has the cookie of this server, perhaps beside those of others."""
        own = cookie_parser(headers.get(b"cookie", "")).get(self._settings.cookie)
        return own is not None and self._settings.knows_cookie(own)


def _bearer(headers: dict[bytes, str]) -> str:
    kind, _, token = headers.get(b"authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _is_own_page(headers: dict[bytes, str]) -> bool:
    """Whether the browser says that a page of this server makes the request."""
    origin = headers.get(b"origin")
    if origin is not None:
        return origin.partition("://")[2] == headers.get(b"host")
    return headers.get(b"sec-fetch-site") == "same-origin"


def _unauthorised(text: str) -> ApiError:
    return ApiError(401, text, {"WWW-Authenticate": "Bearer"})


async def _answer(error: ApiError, send: Send) -> None:
    body = to_json({"detail": error.detail})
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **error.headers,
    }
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
