"""Checks of who may make a request, and what every answer has: headers for browsers, and an id."""

import asyncio
import ipaddress
import itertools
import logging
import math
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import cookie_parser

from zshash.web.answers import to_json
from zshash.web.compressing import compressing
from zshash.web.errors import ApiError, Busy
from zshash.web.failures import Failures
from zshash.web.origins import Header, Origins
from zshash.web.sessions import Sessions
from zshash.web.settings import LOCAL, Settings, is_loopback

__all__ = ["Guard", "answer_error", "client_address", "is_encrypted"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Mapping[bytes, bytes]

PUBLIC = ("/", "/docs")
SAFE = ("GET", "HEAD", "OPTIONS")
ONCE = (b"host", b"authorization", b"origin", b"sec-fetch-site", b"content-type")
REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
NO_STORE = (b"cache-control", b"no-store")
MOST_HOSTS = 256  # values of the header Host that are remembered
CLOSE = {"Connection": "close"}
log = logging.getLogger("zshash.web")


class _EnoughError(Exception):
    """The headers of a stream have been sent, and nobody wants more."""


class Guard:
    """ASGI layer that refuses requests that the client may not make.

    It sets `scope["authorised"]`: the request has the token or a session, or the server has no
    token; `scope["by_token"]`: the request has the token itself; `scope["session"]`: the id in its
    cookie; `scope["address"]`: the client's address; and `scope["request_id"]`. HEAD is answered as
    GET would be, without the body.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    rules : dict
        Who may call an operation ("open", "read", "write" or "token") by method and path. Others
        are for all readers if they have a safe method, else for those who may write.
    sessions : Sessions or None
        None if the server has no token.
    failures : Failures
        Wrong tokens.
    """

    def __init__(
        self,
        app: App,
        settings: Settings,
        rules: Mapping[tuple[str, str], str],
        sessions: Sessions | None,
        failures: Failures,
    ) -> None:
        self._app, self._settings, self._rules = app, settings, rules
        self._open = {*PUBLIC, *(path for (_, path), who in rules.items() if who == "open")}
        self._reading = {
            path for (method, path), who in rules.items() if who == "read" and method not in SAFE
        }
        self._sessions, self._failures, self._origins = sessions, failures, Origins(settings)
        self._hosts = {name.lower() for name in (*LOCAL, settings.host, *settings.hosts)}
        self._answered: dict[bytes, bool] = {}
        self._start, self._numbers = secrets.token_hex(4), itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        headers: dict[bytes, bytes] = dict(scope["headers"])
        own = self._own_headers(scope, headers)
        has_begun = False

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                given = message.get("headers", ())
                may_store = any(name == b"cache-control" for name, _ in given)
                message["headers"] = [*given, *own] if may_store else [*given, *own, NO_STORE]
            await send(message)

        try:
            told = self._check(scope, headers)
        except ApiError as error:
            await answer_error(error, send_guarded)
            return
        if told is not None:
            await send_guarded({"type": "http.response.start", "status": 204, "headers": told})
            await send_guarded({"type": "http.response.body", "body": b""})
            return
        try:
            await self._pass_on(scope, headers, receive, send_guarded)
        except asyncio.CancelledError:  # the server is stopping and does not wait for this request
            if has_begun:
                raise
            await answer_error(ApiError(503, "the server has been stopped"), send_guarded)
        except Exception:
            number = scope["request_id"]
            log.error("request %s failed: %s %a", number, scope["method"], scope["path"][:200])
            if not has_begun:
                text = f"something is wrong with the server: its log tells more of {number}"
                await answer_error(ApiError(500, text), send_guarded)
            raise  # into the server's log

    def _own_headers(self, scope: Scope, headers: Headers) -> list[Header]:
        """Headers of the answer that do not depend on what is asked; notes the request's id."""
        given = headers.get(b"x-request-id")
        if given is not None and REQUEST_ID.fullmatch(given):
            number = given
        else:
            number = b"%b-%x" % (self._start.encode(), next(self._numbers))
        scope["request_id"] = number.decode()
        scope["address"] = client_address(scope, headers, self._settings)
        return [*self._origins.headers(headers.get(b"origin")), (b"x-request-id", number)]

    async def _pass_on(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Have the application answer, in the encoding that the client accepts."""
        accepted = headers.get(b"accept-encoding")
        if accepted is not None:
            send = compressing(send, accepted)
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        asked = {**scope, "method": "GET"}  # uvicorn leaves the body out of an answer to HEAD
        try:
            await self._app(asked, receive, _without_stream(send))
        except _EnoughError:
            pass
        finally:
            scope["route"] = asked.get("route")

    def _check(self, scope: Scope, headers: Headers) -> list[Header] | None:
        """Refuse what the client may not ask; headers of an answer to a browser's own question."""
        if len(headers) != len(scope["headers"]):
            _check_once(scope["headers"])
        self._check_host(scope, headers)
        path, method = scope["path"], scope["method"]
        if method == "OPTIONS":
            told = self._origins.preflight(headers)
            if told is not None:
                return told
        elif method not in SAFE:
            self._origins.check(headers)
        self._identify(scope, headers)
        if path in self._open or path.startswith("/static/"):
            return None
        if self._settings.asks_readers and not scope["authorised"]:
            raise _unauthorised("this server asks for a token")
        if method not in SAFE:
            usual = "read" if path in self._reading else "write"
            self._check_changing(self._rules.get((method, path), usual), scope, headers)
        return None

    def _check_host(self, scope: Scope, headers: Headers) -> None:
        """Refuse foreign host names for this machine, with which a foreign page could reach it."""
        host = headers.get(b"host")
        if host is None and scope["http_version"] == "1.1":
            raise ApiError(400, "a request names its host: the header Host is missing")
        if self._settings.is_local and not self._answers_to(host or b""):
            raise ApiError(
                403, "this server does not answer to that host name: it was not started to allow it"
            )

    def _answers_to(self, host: bytes) -> bool:
        known = self._answered.get(host)
        if known is None:
            try:
                name = urlsplit(f"//{host.decode('latin-1')}").hostname or ""
            except ValueError:
                name = ""
            known = name in self._hosts or is_loopback(name)
            if len(self._answered) < MOST_HOSTS:
                self._answered[host] = known
        return known

    def _identify(self, scope: Scope, headers: Headers) -> None:
        """Note who asks; a wrong token is counted, and after several of them one has to wait."""
        settings, by_token = self._settings, False
        scope["session"] = ""
        if settings.token is not None:
            if b"authorization" in headers:
                by_token = self._has_token(scope["address"], _bearer(headers))
            if b"cookie" in headers:
                scope["session"] = self._session(headers)
        scope["by_token"] = by_token
        scope["authorised"] = by_token or bool(scope["session"]) or settings.token is None

    def _has_token(self, address: str, token: str) -> bool:
        if not token:
            return False
        seconds = self._failures.wait(address)
        if seconds:
            raise Busy(math.ceil(seconds), "too many wrong tokens came from this address")
        if self._settings.knows(token):
            self._failures.forget(address)
            return True
        self._failures.note(address, token)
        return False

    def _session(self, headers: Headers) -> str:
        """Id of the session in the cookie of this server, perhaps beside those of others."""
        cookies = cookie_parser(headers[b"cookie"].decode("latin-1"))
        own = cookies.get(self._settings.cookie)
        return own if own and self._sessions and self._sessions.knows(own) else ""

    def _check_changing(self, who: str, scope: Scope, headers: Headers) -> None:
        if who == "read":
            return
        if who == "token":
            if not scope["by_token"]:
                raise _unauthorised("that needs the token itself")
            return
        if not self._settings.writable:
            raise ApiError(403, "this server only reads: it was not started as writable")
        if not scope["authorised"]:
            raise _unauthorised("changing the collection needs the token")
        if not scope["by_token"] and not self._origins.is_own_page(headers):
            raise ApiError(
                403, "only this server's own page may do that with a cookie: send the token"
            )


def _without_stream(send: Send) -> Send:
    """A way to send an answer to HEAD: a stream ends with its first part, and so does its work."""

    async def send_head(message: MutableMapping[str, Any]) -> None:
        await send(message)
        if message.get("more_body"):
            await send({"type": "http.response.body", "body": b""})
            raise _EnoughError

    return send_head


def _check_once(headers: list[Header]) -> None:
    """Refuse headers that a proxy and this server could understand differently."""
    names = [name for name, _ in headers]
    for name in ONCE:
        if names.count(name) > 1:
            text = name.decode().title()
            raise ApiError(400, f"a request has the header {text} only once", CLOSE)


def client_address(scope: Scope, headers: Headers, settings: Settings) -> str:
    """Address of the client, as its connection or a proxy that the settings allow tells it."""
    own = scope.get("client")
    address = own[0] if own else ""
    forwarded = headers.get(b"x-forwarded-for") if settings.hosts else None
    if forwarded is not None and is_loopback(address):
        last = forwarded.decode("latin-1").rpartition(",")[2].strip()
        with suppress(ValueError):
            return str(ipaddress.ip_address(last))
    return address


def is_encrypted(scope: Scope) -> bool:
    """Whether the client's connection is encrypted, as a proxy on this machine may tell."""
    if scope["scheme"] == "https":
        return True
    own, told = scope.get("client"), dict(scope["headers"]).get(b"x-forwarded-proto", b"")
    return told.strip().lower() == b"https" and own is not None and is_loopback(own[0])


def _bearer(headers: Headers) -> str:
    kind, _, token = headers[b"authorization"].decode("latin-1").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _unauthorised(text: str) -> ApiError:
    return ApiError(401, text, {"WWW-Authenticate": "Bearer"})


async def answer_error(error: ApiError, send: Send) -> None:
    """Send an error as an answer."""
    body = to_json({"detail": error.detail})
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **error.headers,
    }
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
