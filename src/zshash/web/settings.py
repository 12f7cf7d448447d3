"""How a collection is served."""

import hashlib
import hmac
import ipaddress
import math
import os
import re
import secrets
from dataclasses import dataclass, field

__all__ = ["LOCAL", "Settings", "is_loopback"]

LOCAL = ("localhost", "127.0.0.1", "::1")
LEAST_TOKEN = 16
VARIABLE = "ZSHASH_TOKEN"
HOST = re.compile(r"[\w.-]+|\[[0-9a-fA-F:.]+\]", re.ASCII)


@dataclass(frozen=True)
class Settings:
    """How a collection is served.

    Attributes
    ----------
    host, port : str, int
        Where to listen; port 0 takes any that is free.
    writable : bool
        Whether pictures may be added and removed.
    token : str or None
        What a client has to know to write, and to read unless the server listens on loopback
        alone, without a proxy in front, and the token is there for writing. By default that in the
        environment variable ZSHASH_TOKEN; where one is needed and none is given, a random one.
    hosts : tuple of str
        Names, besides that of this machine, under which a server on loopback may be asked for:
        those of a proxy in front of it.
    bytes, pixels : int
        The largest picture that is taken.
    seconds : float
        The longest that a request may take to arrive, or to be worked on.
    threads : int
        Pictures that are looked at at a time.
    waiting : int
        Requests of a kind that may wait for their turn; those beyond are turned away (429).
    paths : bool
        Whether clients are told where on the disk a picture comes from, and not its name alone.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    writable: bool = False
    token: str | None = field(default=None, repr=False)
    hosts: tuple[str, ...] = ()
    bytes: int = 20 * 2**20
    pixels: int = 40_000_000
    seconds: float = 30.0
    threads: int = 2
    waiting: int = 64
    paths: bool = False

    def __post_init__(self) -> None:
        token = self.token if self.token is not None else os.environ.get(VARIABLE) or None
        if token is None and self.needs_token:
            token = secrets.token_urlsafe(24)
        if token is not None and (len(token) < LEAST_TOKEN or not token.isascii()):
            raise ValueError(
                f"a token has at least {LEAST_TOKEN} characters, all of them ASCII: "
                "openssl rand -hex 16 makes one"
            )
        object.__setattr__(self, "token", token)
        if not 0 < self.seconds < math.inf:
            raise ValueError(f"seconds must be a number above 0, got {self.seconds}")
        for name in self.hosts:
            if not HOST.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a host, such as photos.example.org")

    @property
    def is_local(self) -> bool:
        """Whether only programs on this machine can reach it."""
        return is_loopback(self.host)

    @property
    def is_reachable(self) -> bool:
        """Whether others may reach it, directly or by way of a proxy."""
        return not self.is_local or bool(self.hosts)

    @property
    def needs_token(self) -> bool:
        """Whether there is something that not everybody who can reach it may do."""
        return self.writable or self.is_reachable

    @property
    def asks_readers(self) -> bool:
        """Whether reading takes the token, too; one that is given for nothing else is for that."""
        return self.is_reachable or (self.token is not None and not self.writable)

    @property
    def cookie(self) -> str:
        """The name of the cookie, another one for each port."""
        return f"zshash-{self.port}"

    @property
    def cookie_value(self) -> str:
        """What a client holds in place of the token once it has shown it."""
        return hmac.new((self.token or "").encode(), b"cookie", hashlib.sha256).hexdigest()

    def knows(self, token: str) -> bool:
        """Whether a token is the one that is asked for."""
        return self.token is not None and _equal(token, self.token)

    def knows_cookie(self, value: str) -> bool:
        """Whether a cookie is one that this server has given out."""
        return self.token is not None and _equal(value, self.cookie_value)


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def is_loopback(host: str) -> bool:
    """Whether an address is that of this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host in LOCAL:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
