"""The page: its files, and the routes that send them.

The files are a fixed list that is read when the server starts. A request names a file of this list,
never a path on the disk.
"""

import hashlib
from importlib.resources import files
from typing import NamedTuple

from fastapi import APIRouter, Request, Response

from zshash.web.compressing import LEAST, accepts_gzip, packed
from zshash.web.errors import ApiError
from zshash.web.freshness import has_tag

__all__ = ["PageFile", "add_page", "page_files"]

PAGE, DOCS = "index.html", "docs.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class PageFile(NamedTuple):
    """A file of the page: its content, as it is and compressed, its media type and its ETag."""

    content: bytes
    packed: bytes
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
            found[file.name] = PageFile(content, packed(content, 9), kind, f'W/"{tag}"')
    return found


def add_page(router: APIRouter) -> None:
    """Add the routes of the page and of its files to a router."""
    known = page_files()

    def answer(request: Request, name: str) -> Response:
        found = known.get(name)
        if found is None:
            raise ApiError(404, "the page has no such file")
        headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
        if has_tag(request, found.tag):
            return Response(status_code=304, headers=headers)
        if len(found.content) >= LEAST and accepts_gzip(
            request.headers.get("accept-encoding", "").encode("latin-1")
        ):
            headers["Content-Encoding"] = "gzip"
            return Response(found.packed, media_type=found.type, headers=headers)
        return Response(found.content, media_type=found.type, headers=headers)

    @router.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return answer(request, PAGE)

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return answer(request, DOCS)

    @router.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        return answer(request, name)
