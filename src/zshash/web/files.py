"""The files of the page: a fixed list, read when the server starts, never by path."""

import hashlib
from importlib.resources import files
from typing import NamedTuple

__all__ = ["PAGE", "PageFile", "page_files"]

PAGE = "index.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class PageFile(NamedTuple):
    """A file of the page."""

    content: bytes
    type: str
    tag: str


def page_files() -> dict[str, PageFile]:
    """All files of the page by name.

    >>> page_files()["index.html"].type
    'text/html; charset=utf-8'
    """
    found = {}
    for file in files("zshash.web").joinpath("static").iterdir():
        kind = TYPES.get(file.name[file.name.rfind(".") :])
        if kind and file.is_file():
            content = file.read_bytes()
            tag = hashlib.blake2b(content, digest_size=12).hexdigest()
            found[file.name] = PageFile(content, kind, f'"{tag}"')
    return found
