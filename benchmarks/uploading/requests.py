"""Requests that no proper client makes; the same seed and number give the same request."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from uploading.pictures import TYPES, bombs, hostile, whole

__all__ = ["HEAD", "TOKEN", "Request", "framed", "make"]

TOKEN = "0123456789abcdef"
SEARCH, ITEMS = "/api/v1/search", "/api/v1/items"
HEAD = f"Host: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
N_DIGITS = 1797  # ids of the items that stay
OWN = b"\r\n--x\r\n"
PICTURE = b'Content-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\n'
FIELD = b'Content-Disposition: form-data; name="%b"\r\n\r\n'
FORM = "multipart/form-data; boundary=x"


@dataclass(frozen=True)
class Request:
    """A request.

    Attributes
    ----------
    kind, about : str
        The kind of fault in a word, and a description.
    content : bytes
        Line, headers and body.
    answered : bool
        Whether there must be an answer; if not, the server may end the connection.
    leaves : bool
        Whether the client disconnects after sending the request.
    """

    kind: str
    about: str
    content: bytes
    answered: bool = True
    leaves: bool = False


def framed(target: str, kind: str | None, body: bytes, method: str = "POST") -> bytes:
    """A well-formed request."""
    head = HEAD + (f"Content-Type: {kind}\r\n".encode("latin-1") if kind is not None else b"")
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    return f"{method} {target} HTTP/1.1\r\n".encode() + head + length + body


def make(seed: int, number: int) -> Request:
    """The request with a number: first all requests with a name, then random ones."""
    rng = Random(f"{seed} {number}")
    if number < len(NAMED):
        named, args = NAMED[number]
        return named(rng, *args)
    (maker,) = rng.choices([maker for maker, _ in MAKERS], [weight for _, weight in MAKERS])
    return maker(rng)


def _target(rng: Random) -> str:
    return rng.choice((SEARCH, ITEMS))


def _form_of(*parts: bytes) -> bytes:
    return b"--x\r\n" + OWN.join(parts) + b"\r\n--x--\r\n"


def _raw(rng: Random) -> Request:
    about, content = hostile(rng)
    kind = f"image/{rng.choice((*TYPES, 'svg+xml', '*', ''))}"
    return Request("picture", about, framed(SEARCH, kind, content))


def _in_form(rng: Random) -> Request:
    about, content = hostile(rng)
    fields = [FIELD % b"k" + b"3"] * rng.randrange(2)
    return Request("form", about, framed(SEARCH, FORM, _form_of(*fields, PICTURE + content)))


def _added(rng: Random) -> Request:
    pictures = [hostile(rng) for _ in range(rng.choice((1, 1, 1, 3)))]
    labels = [FIELD % b"label" + rng.choice((b"odd", b"\xc3\xa4\xff", b" ", b"it's"))]
    parts = [PICTURE + content for _, content in pictures] + labels * rng.randrange(3)
    about = ", ".join(name for name, _ in pictures)
    return Request("added", about, framed(ITEMS, FORM, _form_of(*parts)))


def _whole(rng: Random) -> Request:
    """A request with nothing wrong, which must be answered among all the others."""
    name = rng.choice(list(whole()))
    if rng.random() < 0.5:
        return Request("whole", name, framed(SEARCH, "image/png", whole()[name]))
    return Request("whole", name, framed(ITEMS, FORM, _form_of(PICTURE + whole()[name])))


def _removed(rng: Random) -> Request:
    number = N_DIGITS + rng.choice((rng.randrange(600), 2**63 - 1 - N_DIGITS, 10**30))
    return Request("removed", str(number), framed(f"{ITEMS}/{number}", None, b"", "DELETE"))


def _bomb(_: Random, name: str, target: str) -> Request:
    body = _form_of(PICTURE + bombs()[name])
    return Request("bomb", f"{name} to {target}", framed(target, FORM, body))


TYPES_GIVEN: tuple[str | None, ...] = (
    None,
    "",
    "text/plain",
    "image",
    "image/",
    "IMAGE/PNG",
    "*/*",
)
TYPES_GIVEN += (
    "multipart/mixed",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "\xff\xfe",
    ";" * 999,
)
TYPES_GIVEN += ("application/json; charset=utf-16", "application/octet-stream;", "a" * 9999)


def _type(rng: Random) -> Request:
    kind, target = rng.choice(TYPES_GIVEN), _target(rng)
    body = rng.choice((whole()["png"], b"", b"{}", _form_of(PICTURE + whole()["png"])))
    return Request("type", f"{kind!r:.30} to {target}", framed(target, kind, body))


def _broken_form(rng: Random, name: str, target: str) -> Request:
    picture = PICTURE + rng.choice((whole()["png"], hostile(rng)[1]))
    kind, body = FORMS[name](rng, picture)
    return Request("broken form", f"{name} to {target}", framed(target, kind, body))


def _flipped(rng: Random, picture: bytes) -> tuple[str, bytes]:
    body = bytearray(_form_of(FIELD % b"label" + b"cat", picture))
    for _ in range(rng.randint(1, 6)):
        body[rng.randrange(min(len(body), 250))] = rng.randrange(256)
    return FORM, bytes(body)


def _cut_off(rng: Random, picture: bytes) -> tuple[str, bytes]:
    body = _form_of(FIELD % b"label" + b"cat", picture)
    return FORM, body[: rng.randrange(len(body))]


def _odd_field(rng: Random, picture: bytes) -> tuple[str, bytes]:
    names = (b"k", b"radius", b"label", b"where", b"offset", b"limit", b"name", b"", b"picture")
    values = (b"", b"\0", b"-1", b"nan", b"9" * 5000, b"(" * 5000, b"\xed\xa0\x80", b"id < 5")
    name, value = rng.choice(names), rng.choice(values)
    return FORM, _form_of(FIELD % name + value, picture)


def _odd_name(rng: Random, picture: bytes) -> tuple[str, bytes]:
    names = (b"../../etc/passwd", b"C:\\a\\b", b"\0", b"\xff" * 50, b"a" * 3000, b"", b"%00", b"'")
    return FORM, _form_of(picture.replace(b"a.png", rng.choice(names), 1))


def _set(kind: str, change: Callable[[bytes], bytes]) -> "Form":
    return lambda _, picture: (kind, change(picture))


def _in_charset(rng: Random, picture: bytes) -> tuple[str, bytes]:
    charset = rng.choice(("punycode", "idna", "utf-7", "utf-16", "unicode_escape", "no-such"))
    label = FIELD % b"label" + b"a" * 200_000 + b"-" + b"b" * 200_000
    return f"{FORM}; charset={charset}", _form_of(label, picture)


Form = Callable[[Random, bytes], tuple[str, bytes]]
FORMS: dict[str, Form] = {
    "no boundary": _set("multipart/form-data", _form_of),
    "an empty boundary": _set("multipart/form-data; boundary=", _form_of),
    "another boundary": _set("multipart/form-data; boundary=y", _form_of),
    "a long boundary": _set("multipart/form-data; boundary=" + "x" * 5000, _form_of),
    "two boundaries": _set(f"{FORM}; boundary=y", _form_of),
    "no final boundary": _set(FORM, lambda picture: b"--x\r\n" + picture),
    "doubled boundaries": _set(FORM, lambda picture: _form_of(picture).replace(b"--x", b"--x--x")),
    "boundaries alone": _set(FORM, lambda _: b"--x\r\n" * 20_000),
    "ends at once": _set(FORM, lambda _: b"--x--\r\n"),
    "line feeds": _set(FORM, lambda picture: _form_of(picture).replace(b"\r\n", b"\n")),
    "nothing": _set(FORM, lambda _: b""),
    "zeros": _set(FORM, lambda _: bytes(100_000)),
    "hyphens": _set(FORM, lambda _: b"-" * 500_000),
    "nested": _set(
        FORM,
        lambda picture: _form_of(
            b'Content-Disposition: form-data; name="picture"\r\n'
            b"Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n" + picture + b"\r\n--y--"
        ),
    ),
    "a text": _set(FORM, lambda _: _form_of(FIELD % b"picture" + b"text")),
    "no name": _set(FORM, lambda p: _form_of(p.replace(b' name="picture";', b"", 1))),
    "another name": _set(FORM, lambda p: _form_of(p.replace(b'"picture"', b'"file"', 1))),
    "no headers": _set(FORM, lambda _: _form_of(b"\r\nbody")),
    "many fields": _set(FORM, lambda p: _form_of(*[FIELD % b"label" + b"a"] * 2000, p)),
    "many files": _set(FORM, lambda p: _form_of(*[p] * 100)),
    "sixteen files": _set(FORM, lambda p: _form_of(*[p] * 16)),
    "a long name": _set(FORM, lambda p: _form_of(FIELD % (b"a" * 200_000) + b"1", p)),
    "a long field": _set(FORM, lambda p: _form_of(FIELD % b"label" + b"a" * 2_000_000, p)),
    "a long header": _set(FORM, lambda p: _form_of(b"A: " + b"a" * 500_000 + b"\r\n" + p)),
    "many headers": _set(FORM, lambda p: _form_of(b"A: b\r\n" * 5000 + p)),
    "base64": _set(FORM, lambda p: _form_of(b"Content-Transfer-Encoding: base64\r\n" + p)),
    "flipped": _flipped,
    "cut off": _cut_off,
    "odd field": _odd_field,
    "odd name": _odd_name,
    "charset": _in_charset,
}

TEXTS = (
    b'{"features": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    b'{"features": [NaN]}',
    b'{"features": [' + b"1e400," * 63 + b"-Infinity]}",
    b'{"features": [' + b"1," * 99_999 + b"1]}",
    b'{"features": [' + b"1" * 300_000 + b"]}",
    b'{"id": ' + b"9" * 300_000 + b"}",
    b'{"id": -1}',
    b'{"name": "\\ud800"}',
    b'{"name": "\\u0000"}',
    b'{"name": "\xff"}',
    b'{"name": "zero", "k": 1e400}',
    b'{"name": "zero", "where": "' + b"not " * 2000 + b'id = 1"}',
    b'{"code": "zz"}',
    b'{"code": "' + b"00" * 100_000 + b'"}',
    b'{"' + b"a" * 1_000_000 + b'": 1}',
    b"{" + b",".join(b'"%d": 0' % i for i in range(20_000)) + b"}",
    b"\xef\xbb\xbf{}",
    b"null",
    b"",
    b" " * 1_000_000,
    b'{"features": [' + b" " * 4_300_000 + b"1]}",
)


def _text(_: Random, number: int) -> Request:
    return Request("json", str(number), framed(SEARCH, "application/json", TEXTS[number]))


def _json(rng: Random) -> Request:
    numbers: list[Any] = [rng.choice((0.5, -3, 7, 16)) for _ in range(64)]
    if rng.random() < 0.5:
        numbers[rng.randrange(64)] = rng.choice((None, "1", [], {}, True, 2**70, 1e300))
    text = bytearray(json.dumps({"features": numbers, "k": 3, "label": ["zero"]}).encode())
    if rng.random() < 0.5:
        text[rng.randrange(len(text))] = rng.randrange(256)
    return Request("json", "flipped", framed(SEARCH, "application/json", bytes(text)))


def _features(rng: Random) -> Request:
    n = rng.choice((0, 1, 63, 64, 64, 64, 65, 1280, 500_000, 1_100_000))
    values = np.full(n, rng.choice((0, 1, -1e38, np.nan, np.inf, 1e-45)), dtype="<f4")
    body = values.tobytes() + b"a" * rng.choice((0, 0, 0, 0, 1, 3))
    query = rng.choice(
        ("", "", "", "?k=3", "?k=0", "?radius=-1", "?label=%00", "?where=%27", "?name=zero", "?x")
    )
    about = f"{len(body)} bytes {query}"
    return Request("features", about, framed(SEARCH + query, "application/octet-stream", body))


def _chunked(target: str, chunks: bytes, headers: bytes = b"") -> bytes:
    line = f"POST {target} HTTP/1.1\r\n".encode() + HEAD + b"Content-Type: image/png\r\n"
    return line + headers + b"Transfer-Encoding: chunked\r\n\r\n" + chunks


def _told(length: bytes, body: bytes = b"", more: bytes = b"") -> bytes:
    line = f"POST {SEARCH} HTTP/1.1\r\n".encode() + HEAD + b"Content-Type: image/png\r\n" + more
    return line + b"Content-Length: " + length + b"\r\n\r\n" + body


def _framing(rng: Random, name: str) -> Request:
    content = hostile(rng)[1]
    sent = FRAMES[name](content)
    leaves = name in LEAVING
    return Request("framing", name, sent, answered=name in ANSWERED, leaves=leaves)


def _in_chunks(content: bytes, size: int) -> bytes:
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


FRAMES: dict[str, Callable[[bytes], bytes]] = {
    "chunks": lambda c: _chunked(SEARCH, _in_chunks(c, 100)),
    "chunks of one": lambda c: _chunked(SEARCH, _in_chunks(c[:3000], 1)),
    "chunks with more": lambda c: _chunked(
        SEARCH, _in_chunks(c, 100).replace(b"64\r\n", b"64;a=b\r\n")
    ),
    "chunks, wrong sizes": lambda c: _chunked(SEARCH, b"zz\r\n" + c + b"\r\n0\r\n\r\n"),
    "chunks, huge size": lambda c: _chunked(SEARCH, b"f" * 40 + b"\r\n" + c),
    "chunks, negative": lambda c: _chunked(SEARCH, b"-5\r\n" + c),
    "chunks and a length": lambda c: _chunked(SEARCH, _in_chunks(c, 9), b"Content-Length: 5\r\n"),
    "chunks of a form": lambda c: _chunked(ITEMS, _in_chunks(c, 100)),
    "more than told": lambda c: _told(b"10", c + bytes(1000)),
    "no length": lambda c: _told(b"", c),
    "negative": lambda c: _told(b"-1", c),
    "words": lambda c: _told(b"ten", c),
    "plus": lambda c: _told(b"+10", c),
    "hexadecimal": lambda c: _told(b"0x10", c),
    "huge": lambda c: _told(b"9" * 30, c),
    "larger than is taken": lambda c: _told(b"99999999", c),
    "as large as can be": lambda c: _told(b"%d" % (2**63 - 1), c),
    "two lengths": lambda c: _told(b"%d" % len(c), c, b"Content-Length: 3\r\n"),
    "continue": lambda c: _told(b"%d" % len(c), c, b"Expect: 100-continue\r\n"),
    "expects": lambda c: _told(b"%d" % len(c), c, b"Expect: 200-maybe\r\n"),
    "packed": lambda c: _told(b"%d" % len(c), c, b"Content-Encoding: gzip\r\n"),
    "upgrade": lambda c: _told(
        b"%d" % len(c), c, b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n"
    ),
    "upgrade to 2": lambda c: _told(
        b"%d" % len(c), c, b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    ),
    "many headers": lambda c: _told(b"%d" % len(c), c, b"A: b\r\n" * 5000),
    "long header": lambda c: _told(b"%d" % len(c), c, b"A: " + b"b" * 50_000 + b"\r\n"),
    "longer header": lambda c: _told(b"%d" % len(c), c, b"A: " + b"b" * 9_000_000 + b"\r\n"),
    "odd header": lambda c: _told(b"%d" % len(c), c, b"A\xff\0: b\r\n"),
    "odd cookie": lambda c: _told(b"%d" % len(c), c, b"Cookie: \xff=\x80;;=;a=\x22\\\r\n"),
    "odd host": lambda c: _told(b"%d" % len(c), c).replace(b"127.0.0.1", b"[::1", 1),
    "foreign host": lambda c: _told(b"%d" % len(c), c).replace(b"127.0.0.1", b"example.org", 1),
    "no host": lambda c: _told(b"%d" % len(c), c).replace(b"Host: 127.0.0.1\r\n", b"", 1),
    "wrong token": lambda c: _told(b"%d" % len(c), c).replace(TOKEN.encode(), b"\xff" * 20, 1),
    "another line": lambda c: b"POST\r\n\r\n" + c,
    "old": lambda c: b"GET /\r\n\r\n" + c,
    "version 9": lambda c: framed(SEARCH, "image/png", c).replace(b"HTTP/1.1", b"HTTP/9.9", 1),
    "version 1.0": lambda c: framed(SEARCH, "image/png", c).replace(b"HTTP/1.1", b"HTTP/1.0", 1),
    "preface of 2": lambda c: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + c,
    "only bytes": lambda c: c,
    "TLS": lambda c: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + c,
    "odd address": lambda c: framed("/api/v1/search?\x7f#%zz&&&=;", "image/png", c),
    "whole address": lambda c: framed("http://example.org/api/v1/search", "image/png", c),
    "long address": lambda c: framed(SEARCH + "?where=" + "a" * 50_000, "image/png", c),
    "many parameters": lambda c: framed(SEARCH + "?" + "label=a&" * 5000, "image/png", c),
    "other method": lambda c: framed(ITEMS, "image/png", c, "PATCH"),
    "many at once": lambda c: framed(SEARCH, "image/png", c) * 20,
    "leaves in the head": lambda c: _told(b"1000", c)[:60],
    "leaves before the body": lambda _: _told(b"1000"),
    "leaves in the body": lambda c: _told(b"%d" % (len(c) + 1000), c),
    "leaves in a chunk": lambda c: _chunked(SEARCH, b"ffff\r\n" + c),
    "leaves in a form": lambda c: framed(ITEMS, FORM, _form_of(PICTURE + c))[:-9],
    "leaves before the answer": lambda c: framed(SEARCH, "image/png", c),
    "leaves while adding": lambda c: framed(ITEMS, FORM, _form_of(PICTURE + c)),
}
LEAVING = {name for name in FRAMES if name.startswith("leaves")}
ANSWERED = {"chunks", "chunks of one", "chunks with more", "more than told", "continue", "packed"}
ANSWERED |= {"odd cookie", "foreign host", "no host", "version 1.0", "other method", "expects"}
ANSWERED |= {"long header", "many at once", "odd host", "many headers", "long address"}

NAMED: list[tuple[Callable[..., Request], tuple[Any, ...]]] = [
    *((_bomb, (name, target)) for target in (SEARCH, ITEMS) for name in bombs()),
    *((_broken_form, (name, target)) for target in (SEARCH, ITEMS) for name in FORMS),
    *((_framing, (name,)) for name in FRAMES),
    *((_text, (number,)) for number in range(len(TEXTS))),
]
MAKERS: list[tuple[Callable[[Random], Request], int]] = [
    (_raw, 25),
    (_in_form, 15),
    (_added, 20),
    (_whole, 2),
    (_removed, 2),
    (_type, 4),
    (_json, 4),
    (_features, 4),
    (lambda rng: _bomb(rng, rng.choice(list(bombs())), _target(rng)), 2),
    (lambda rng: _broken_form(rng, rng.choice(list(FORMS)), _target(rng)), 12),
    (lambda rng: _framing(rng, rng.choice(list(FRAMES))), 9),
    (lambda rng: _text(rng, rng.randrange(len(TEXTS))), 1),
]
