"""Address of a collection in Milvus: ``milvus://host:port/name``."""

import os
import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = ["Address", "is_address"]

SCHEME = "milvus://"
PORT = 19530
SECONDS = 60.0
TOKEN = "ZSHASH_MILVUS_TOKEN"
SHAPE = "write milvus://host:port/name, where a name has letters, digits and _"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")


@dataclass(frozen=True)
class Address:
    """Address of a collection of a Milvus server; as a text it holds no secrets.

    >>> Address.parse("milvus://me:secret@example.org/birds?secure=true")
    Address(host='example.org', port=19530, name='birds', secure=True, timeout=60.0)
    >>> str(_)
    'milvus://example.org:19530/birds?secure=true'
    """

    host: str
    port: int
    name: str
    secure: bool = False
    timeout: float = SECONDS
    token: str = field(default="", repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Address in a text; ValueError if the text is no address."""
        try:
            parts = urlsplit(text)
            options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
            name, port = parts.path.removeprefix("/"), parts.port or PORT
            own = _token(parts.username, parts.password, options.pop("token", ""))
            secure = {"true": True, "false": False}[options.pop("secure", "false")]
            timeout = float(options.pop("timeout", SECONDS))
        except (ValueError, KeyError):
            raise _wrong(text, SHAPE) from None
        if not text.startswith(SCHEME) or not parts.hostname or not _NAME.fullmatch(name):
            raise _wrong(text, SHAPE)
        if options or parts.fragment or not 0 < timeout < float("inf"):
            raise _wrong(text, "after the name come secure=true, token=… or timeout=… in seconds")
        return cls(parts.hostname, port, name, secure, timeout, own)

    def __str__(self) -> str:
        options = ["secure=true"] if self.secure else []
        options += [f"timeout={self.timeout:g}"] if self.timeout != SECONDS else []
        return f"{SCHEME}{self._place}/{self.name}{'?' if options else ''}{'&'.join(options)}"

    @property
    def uri(self) -> str:
        """URI of the server, for the client library."""
        return f"{'https' if self.secure else 'http'}://{self._place}"

    @property
    def _place(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def is_address(text: object) -> bool:
    """Whether a text is meant as a Milvus address."""
    return isinstance(text, str) and text.startswith(SCHEME)


def _token(user: str | None, password: str | None, token: str) -> str:
    """Token for the server, from the address or from the environment."""
    if user and not token:
        token = f"{unquote(user)}:{unquote(password or '')}"
    return token or os.environ.get(TOKEN, "")


def _wrong(text: str, cure: str) -> ValueError:
    return ValueError(f"{_shown(text)}: not the address of a collection in Milvus: {cure}")


def _shown(text: str) -> str:
    """Part of a wrong address that may be shown: a password may be anywhere in it.

    >>> _shown("milvus://host/a-b"), _shown("milvus://host/name?tokn=a"), _shown("milvus://a/b@c/d")
    ('milvus://host/a-b', 'milvus://host/name?…', 'milvus://…')
    """
    if "@" in text:
        return f"{SCHEME}…"
    return re.sub(r"(?<=[?#]).+", "…", text)
