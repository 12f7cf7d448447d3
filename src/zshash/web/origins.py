"""Pages of other origins: which of them may ask, and the headers that tell browsers so."""

from collections.abc import Mapping

from zshash.web.errors import ApiError
from zshash.web.settings import Settings

__all__ = ["Header", "Origins"]

Header = tuple[bytes, bytes]

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
    "Vary": "Accept, Accept-Encoding",
}
ALLOWED = {
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Access-Control-Expose-Headers": "ETag, X-Request-Id, Retry-After, Content-Disposition",
}
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, DELETE",
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type, If-None-Match, "
    "X-Request-Id",
    "Access-Control-Max-Age": "600",
}
LOCAL_NETWORK = (b"access-control-allow-private-network", b"true")


class Origins:
    """Origins whose pages may ask: that of the server's own page, and those of the settings.

    Pages of other origins never get credentials (`Access-Control-Allow-Credentials` is never sent):
    they send the token. All lists of headers are made once.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._any = "*" in settings.origins
        self._hosts = {name.lower().encode() for name in settings.hosts}
        more = {"Vary": f"{HEADERS['Vary']}, Origin"} if settings.origins else {}
        if self._any:
            more |= ALLOWED | {"Access-Control-Allow-Origin": "*"}
        self._usual = raw(HEADERS | more)
        own = {origin: {"Access-Control-Allow-Origin": origin} for origin in settings.origins}
        self._own = {} if self._any else {
            origin.encode(): raw(HEADERS | more | ALLOWED | allow) for origin, allow in own.items()
        }  # fmt: skip

    def headers(self, origin: bytes | None) -> list[Header]:
        """Headers of every answer to a request of this origin."""
        return self._own.get(origin, self._usual) if origin else self._usual

    def allows(self, origin: bytes | None) -> bool:
        """Whether the settings name this origin."""
        return origin is not None and (self._any or origin in self._own)

    def preflight(self, headers: Mapping[bytes, bytes]) -> list[Header] | None:
        """What to tell a browser that asks whether a page may ask; None for other requests."""
        if b"access-control-request-method" not in headers or not self.allows(
            headers.get(b"origin")
        ):
            return None
        private = b"access-control-request-private-network" in headers
        return [*raw(PREFLIGHT), LOCAL_NETWORK] if private else raw(PREFLIGHT)

    def is_own_page(self, headers: Mapping[bytes, bytes]) -> bool:
        """Whether the browser says that a page of this server makes the request."""
        origin = headers.get(b"origin")
        if origin is None:
            return headers.get(b"sec-fetch-site") == b"same-origin"
        host = origin.partition(b"://")[2]
        return host == headers.get(b"host") or host.partition(b":")[0] in self._hosts

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Refuse what a foreign page sends; requests without word of a page are of programs."""
        origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site")
        if origin is None and site in (None, b"none"):
            return
        if not self.is_own_page(headers) and not self.allows(origin):
            raise ApiError(
                403, "a page of another origin may not do that: the server was not started to "
                "allow its origin"
            )  # fmt: skip


def raw(headers: Mapping[str, str]) -> list[Header]:
    """Headers as ASGI has them."""
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
