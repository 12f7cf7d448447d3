"""The OpenAPI document: what FastAPI knows of the routes, and what their readers need besides."""

import hashlib
from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.routing import APIRoute

from zshash.web.answers import to_json
from zshash.web.freshness import has_tag
from zshash.web.routes import API, body_schemas
from zshash.web.routes.shared import NOTES
from zshash.web.settings import Settings

__all__ = ["ABOUT", "LICENSE", "TAGS", "access", "add_document", "complete", "routes_of"]

OWN = ("id", "code", "values", "model")  # parameters of GET that POST has in its body
ABOUT = """\
Search a collection of pictures by picture, by name and by code, and keep it in order.

Everything under `/api/v1` stays as it is described here; new fields may be added to answers, so a
client should pass over fields that it does not know. Bodies and answers are JSON unless an
operation says otherwise. An error is `{"detail": "one sentence"}` with a status that the operation
lists.

- Every answer has an `X-Request-Id`. A request may bring its own: at most 64 letters, digits, `.`,
  `_` and `-`.
- Answers with an `ETag` may be asked for again with `If-None-Match`: the server answers 304 without
  any work if nothing has changed.
- `Accept-Encoding: gzip` makes long answers in text shorter.
- `HEAD` works wherever `GET` does.
- `429` says that the server is busy: try again after the seconds in `Retry-After`.
"""
LICENSE = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
TAGS = {
    "Searching": "Find items by a picture, by names, by features, by an item or by a code.",
    "Items": "Read items and their pictures.",
    "Changes": "Add, label and remove items. These operations need the token and a server that was "
    "started with `--writable`.",
    "Review": "Look after the collection: copies of pictures, and learning again.",
    "Map": "All items in two dimensions.",
    "Collection": "Facts about the collection, its labels and names.",
    "Session": "For browsers: a cookie in exchange for the token.",
    "Server": "For those who run the server.",
}
SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token of the server: `Authorization: Bearer TOKEN`. For programs.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "description": "A cookie that `POST /api/v1/session` gives for the token. For the page of "
        "this server: a change with a cookie is refused to any other page.",
    },
}
JSON = "application/json"


def routes_of(router: APIRouter) -> Iterable[tuple[APIRoute, str]]:
    """Routes of a router with each of their methods."""
    for route in router.routes:
        if isinstance(route, APIRoute):
            for method in sorted(route.methods or ()):
                yield route, method


def access(route: APIRoute, method: str) -> str:
    """Who may call an operation: "open", "read", "write" or "token"."""
    given = ((route.openapi_extra or {}).get(NOTES) or {}).get("access")
    return str(given or ("read" if method in ("GET", "HEAD") else "write"))


def complete(app: FastAPI, router: APIRouter, settings: Settings) -> dict[str, Any]:
    """The document of an application, with what FastAPI can not know."""
    document = app.openapi()
    _add_bodies(document)
    document["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    document["servers"] = [{"url": "/", "description": "This server"}]
    cookie = SCHEMES["session"] | {"name": settings.cookie}
    document["components"]["securitySchemes"] = SCHEMES | {"session": cookie}
    for route, method in routes_of(router):
        operation = document["paths"].get(route.path, {}).get(method.lower())
        if operation is not None and route.include_in_schema:
            _finish(operation, access(route, method), settings)
    return document


def add_document(app: FastAPI, document: dict[str, Any]) -> None:
    """Add the route of the document, which is written once."""
    content = to_json(document)
    headers = {
        "Cache-Control": "private, no-cache",
        "ETag": f'W/"{hashlib.blake2b(content, digest_size=16).hexdigest()}"',
    }

    @app.get(f"{API}/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> Response:
        if has_tag(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=JSON)


def _add_bodies(document: dict[str, Any]) -> None:
    """Describe bodies of several content types."""
    schemas = document["components"]["schemas"]
    schemas |= body_schemas()
    search = document["paths"][f"{API}/search"]
    search["post"]["parameters"] = [
        dict(parameter) for parameter in search["get"]["parameters"] if parameter["name"] not in OWN
    ]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)


def _finish(operation: dict[str, Any], allowed: str, settings: Settings) -> None:
    """Complete the description of one operation."""
    notes = operation.pop(NOTES, {})
    text = operation.pop("description", operation.get("summary", ""))
    operation["summary"], _, more = (part.strip() for part in text.partition("\n"))
    if more:
        operation["description"] = more
    operation["security"] = _security(allowed, settings)
    _add_examples(operation, notes)


def _security(allowed: str, settings: Settings) -> list[dict[str, list[str]]]:
    """What an operation asks for: any one of these; nothing suffices if one is empty."""
    token: dict[str, list[str]] = {"token": []}
    session: dict[str, list[str]] = {"session": []}
    if allowed == "open" or (allowed == "read" and not settings.asks_readers):
        return [{}, token, session] if settings.token is not None else [{}]
    return [token] if allowed == "token" else [token, session]


def _add_examples(operation: dict[str, Any], notes: dict[str, Any]) -> None:
    asks = notes.get("asks", {})
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in asks:
            parameter["example"] = asks[parameter["name"]]
    if notes.get("body") is not None:
        operation["requestBody"]["content"][JSON]["example"] = notes["body"]
    good = next(answer for status, answer in operation["responses"].items() if status[0] == "2")
    if notes.get("answer") is not None and JSON in good.get("content", {}):
        good["content"][JSON]["example"] = notes["answer"]
