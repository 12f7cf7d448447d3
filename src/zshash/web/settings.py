"""Settings of a server: where it listens, who may ask it, and its limits."""

import hmac
import ipaddress
import math
import os
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["LOCAL", "Settings", "is_loopback"]

LOCAL = ("localhost", "127.0.0.1", "::1")
LEAST_TOKEN = 16
MOST_WORKERS = 64
VARIABLE = "ZSHASH_TOKEN"
ORIGIN = re.compile(r"(https?)://([\w.-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?", re.ASCII)
DEFAULT_PORTS = {"http": "80", "https": "443"}
HOST = re.compile(r"[\w.-]+|\[[0-9a-fA-F:.]+\]", re.ASCII)


@dataclass(frozen=True)
class Settings:
    """Settings of a server.

    Attributes
    ----------
    host, port : str, int
        Where the server listens; port 0 stands for any free port.
    writable : bool
        Whether pictures may be added and removed.
    token : str or None
        Secret that a client must send. Changes always need it. Reading needs it when other
        machines or a proxy can reach the server, and when a token is given for a server that is
        not writable. Default: the environment variable ZSHASH_TOKEN; if it is not set and a token
        is needed, a random one.
    hosts : tuple of str
        Names of proxies in front of a server on loopback. Such a server answers requests to these
        names and to the names of this machine, and no others.
    origins : tuple of str
        Origins such as https://app.example.org whose pages may ask the server; "*" stands for all.
        A page of another origin needs the token wherever a program does.
    log : str or None
        File that gets a line for each request; "-" stands for standard output.
    bytes, pixels : int
        Size of the largest picture that the server accepts.
    seconds : float
        Longest time for a request to arrive, and longest time to work on it.
    threads : int
        Number of pictures that are decoded and hashed at the same time.
    waiting : int
        Number of requests of one kind that may wait; more are refused with status 429.
    paths : bool
        Whether clients see where on the disk a picture is, or its file name only.
    places : bool
        Whether clients see where on earth a picture was taken.
    workers : int
        Number of processes that answer requests.
    picture_cache : int
        Bytes of large pictures that are kept in the cache folder of the user, so that they need not
        be made again; 0 keeps none.
    scratch : Path or None
        Private folder of one running server, for what all of its processes share. `serve` makes it,
        and removes it at the end.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    writable: bool = False
    token: str | None = field(default=None, repr=False)
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    log: str | None = None
    bytes: int = 20 * 2**20
    pixels: int = 40_000_000
    seconds: float = 30.0
    threads: int = 2
    waiting: int = 64
    paths: bool = False
    places: bool = False
    workers: int = 1
    picture_cache: int = 256 * 2**20
    scratch: Path | None = None

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
        if not isinstance(self.workers, int) or not 1 <= self.workers <= MOST_WORKERS:
            raise ValueError(
                f"workers must be a whole number from 1 to {MOST_WORKERS}, got {self.workers!r}"
            )
        if self.workers > 1 and not hasattr(os, "fork"):
            raise ValueError("this system can run one worker only: it can not fork processes")
        if not 0 < self.seconds < math.inf:
            raise ValueError(f"seconds must be a number above 0, got {self.seconds}")
        for name in self.hosts:
            if not HOST.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a host, such as photos.example.org")
        object.__setattr__(self, "origins", tuple(map(as_origin, self.origins)))

    @property
    def is_local(self) -> bool:
        """Whether only programs on this machine can reach the server directly."""
        return is_loopback(self.host)

    @property
    def is_reachable(self) -> bool:
        """Whether other machines can reach the server, directly or through a proxy."""
        return not self.is_local or bool(self.hosts)

    @property
    def needs_token(self) -> bool:
        """Whether the server must have a token: it is writable, or other machines can reach it."""
        return self.writable or self.is_reachable

    @property
    def asks_readers(self) -> bool:
        """Whether reading needs the token, too."""
        return self.is_reachable or (self.token is not None and not self.writable)

    @property
    def cookie(self) -> str:
        """Name of the cookie; servers on different ports have different names."""
        return f"zshash-{self.port}"

    def knows(self, token: str) -> bool:
        """Whether a token is the token of this server."""
        return self.token is not None and _equal(token, self.token)


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def as_origin(text: str) -> str:
    """An origin as browsers send it.

    >>> as_origin("HTTPS://App.example.org:443")
    'https://app.example.org'
    """
    found = ORIGIN.fullmatch(text.lower())
    if text == "*":
        return text
    if found is None:
        raise ValueError(f"{text!r} is no origin, such as https://app.example.org, and not *")
    scheme, host, port = found.groups()
    return f"{scheme}://{host}" + (f":{port}" if port and port != DEFAULT_PORTS[scheme] else "")


def is_loopback(host: str) -> bool:
    """Whether an address is one that only this machine can reach.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host in LOCAL:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
