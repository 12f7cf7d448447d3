"""Answers that a client has already: tags that are known before any work is done."""

import hashlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

import zshash
from zshash.collection import Collection
from zshash.collection.storage.catalogue import NAME
from zshash.collection.storage.files import noted_generation
from zshash.web.settings import Settings

__all__ = ["CACHING", "NOTES", "Tags", "has_tag", "tagging"]

NOTES = "x-zshash"  # where a route keeps what FastAPI has no place for, until `openapi.py` reads it
CACHING = {"Cache-Control": "private, no-cache"}  # keep it, but ask whether it is still right
Handler = Callable[[Request], Awaitable[Response]]


class Tags:
    """ETags of answers that depend on the request, the collection and the settings alone.

    A tag is weak: two answers with the same tag tell the same, but perhaps in other bytes (how many
    seconds a search took, or compressed). It is made of the generation of the collection, as the
    last change wrote it down, and the state of the catalogue's log. Both are written after a change
    can be read: an answer may be newer than its tag, but never older. All processes of a server
    make the same tags.

    Parameters
    ----------
    collection : Collection
    settings : Settings
    """

    def __init__(self, collection: Collection, settings: Settings) -> None:
        self._collection, self._log = collection, collection.path / f"{NAME}-wal"
        chosen = {name: str(value) for name, value in asdict(settings).items() if name != "token"}
        text = f"{zshash.__version__} {collection.path} {sorted(chosen.items())}"
        self._start = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16)

    def tag(self, request: Request) -> str:
        """Tag of the answer to a request."""
        scope, headers = request.scope, request.headers
        parts = (
            scope["path"].encode("utf-8", "replace"),
            scope["query_string"],
            headers.get("accept", "").encode("latin-1"),
            f"{noted_generation(self._collection.path)} {self._logged()}".encode(),
            str(scope.get("authorised")).encode(),
        )
        digest = self._start.copy()
        for part in parts:
            digest.update(len(part).to_bytes(8, "little") + part)
        return f'W/"{digest.hexdigest()}"'

    def _logged(self) -> str:
        """State of the catalogue's log, which grows with each change."""
        with suppress(OSError):
            status = self._log.stat()
            return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
        return ""


def has_tag(request: Request, tag: str) -> bool:
    """Whether a client says that it has the answer with this tag."""
    given = request.headers.get("if-none-match")
    if given is None:
        return False
    return tag.removeprefix("W/") in (one.strip().removeprefix("W/") for one in given.split(","))


def tagging(tags: Tags) -> type[APIRoute]:
    """A class of routes that give tags to answers, where their notes say `fresh`."""

    class TaggedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Any]:
            answer = super().get_route_handler()
            notes = (self.openapi_extra or {}).get(NOTES) or {}
            return _tagged(answer, tags) if notes.get("fresh") else answer

    return TaggedRoute


def _tagged(answer: Handler, tags: Tags) -> Handler:
    async def handle(request: Request) -> Response:
        tag = tags.tag(request)
        if has_tag(request, tag):
            return Response(status_code=304, headers=CACHING | {"ETag": tag})
        response = await answer(request)
        own = response.headers
        if response.status_code == 200 and "etag" not in own and "cache-control" not in own:
            own.update(CACHING | {"ETag": tag})
        return response

    return handle
