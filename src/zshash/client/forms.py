"""Forms with files, as browsers send them."""

import secrets
from collections.abc import Iterable

__all__ = ["as_form"]


def as_form(
    files: Iterable[tuple[str, bytes]], fields: Iterable[tuple[str, str]]
) -> tuple[str, bytes]:
    """Content type and body of a form with fields, and with files in its field `picture`."""
    mark = secrets.token_hex(16)
    parts = [_part(f'name="{name}"', value.encode()) for name, value in fields]
    parts += [_part(f'name="picture"; filename="{_quoted(name)}"', own) for name, own in files]
    body = b"".join(f"--{mark}\r\n".encode() + part + b"\r\n" for part in parts)
    return f"multipart/form-data; boundary={mark}", body + f"--{mark}--\r\n".encode()


def _part(about: str, content: bytes) -> bytes:
    return f"Content-Disposition: form-data; {about}\r\n\r\n".encode() + content


def _quoted(name: str) -> str:
    """The name of a file, which may hold quotes and line ends.

    >>> _quoted('a"b.png')
    'a%22b.png'
    """
    name = name.encode("utf-8", "replace").decode()
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
