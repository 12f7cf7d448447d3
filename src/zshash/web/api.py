"""The HTTP API: routes that read a request, have its work done, and answer."""

from contextlib import suppress
from time import perf_counter
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from zshash.collection.searching import OtherModel
from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.bodies import MOST_JSON, read_search, read_upload, room
from zshash.web.counting import CONTENT_TYPE
from zshash.web.errors import ApiError
from zshash.web.files import PAGE
from zshash.web.queries import BodyQuery, ItemsQuery, SearchParameters, SearchQuery, WhyQuery
from zshash.web.server import Server
from zshash.web.service import MOST_FILES, Question

__all__ = ["make_router"]

Number = Annotated[int, Path(alias="id", ge=0, le=2**63 - 1, description="Id of an item.")]
REASONS = {
    400: "The client went away.",
    401: "The token is missing or wrong.",
    403: "The server only reads, or the request is from a foreign page.",
    404: "There is no such item.",
    405: "The method has no meaning here.",
    408: "The request took too long to arrive.",
    409: "Another program is writing to the collection.",
    413: "More bytes than are taken.",
    415: "A type of content that is not taken.",
    422: "A value that can not be used.",
    429: "Busy: try again after as many seconds as Retry-After says.",
    503: "The server is being stopped, or the index in Milvus does not answer.",
}
BYTES = {"schema": {"type": "string", "format": "binary"}}
SEARCH_BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["picture"],
                "properties": {"picture": {"type": "string", "format": "binary"}},
            }
        },
        "image/*": BYTES,
        "application/octet-stream": BYTES,
        "application/json": {"schema": {"$ref": "#/components/schemas/BodyQuery"}},
    },
}
UPLOAD_BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["picture"],
                "properties": {
                    "picture": {"type": "array", "minItems": 1, "maxItems": MOST_FILES}
                    | {"items": {"type": "string", "format": "binary"}},
                    "label": {"type": "array", "items": {"type": "string"}},
                },
            }
        }
    },
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Answers other than the wanted one, for the description of a route."""
    wanted = sorted({401, 403, 429, 503, *statuses})
    return {status: {"model": answers.Problem, "description": REASONS[status]} for status in wanted}


def make_router(server: Server) -> APIRouter:
    """All routes of a server."""
    router = APIRouter()
    for add in (_add_page, _add_facts, _add_search, _add_why, _add_items, _add_changes, _add_map):
        add(router, server)
    return router


def _json(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="application/json")


def _picture(content: bytes) -> Response:
    return Response(
        content, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=300"}
    )


def _add_page(router: APIRouter, server: Server) -> None:
    def file(request: Request, name: str) -> Response:
        found = server.files.get(name)
        if found is None:
            raise ApiError(404, "the page has no such file")
        headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == found.tag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, media_type=found.type, headers=headers)

    @router.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return file(request, PAGE)

    @router.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        return file(request, name)


def _add_facts(router: APIRouter, server: Server) -> None:
    @router.get("/healthz", response_model=answers.Health, responses=problems())
    async def health() -> Response:
        """Whether the server is there."""
        return _json(b'{"status":"ok"}')

    @router.get(
        "/metrics",
        response_class=Response,
        responses=problems() | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        """Numbers for Prometheus."""
        return Response(server.counts.text(), headers={"Content-Type": CONTENT_TYPE})

    @router.get("/api/info", response_model=answers.Info, responses=problems(422))
    async def info(request: Request) -> Response:
        """What there is to know of the collection and its server."""
        known = bool(request.scope["authorised"])
        return _json(to_json(await server.filtering.run(server.service.info, known)))

    @router.post("/api/session", status_code=204, responses=problems())
    async def log_in(request: Request) -> Response:
        """A cookie in place of the token, for browsers."""
        settings = server.settings
        if settings.token is not None and not request.scope["by_token"]:
            raise ApiError(401, "that is not the token", {"WWW-Authenticate": "Bearer"})
        answer = Response(status_code=204)
        if settings.token is not None:
            is_secure = request.url.scheme == "https"
            answer.set_cookie(
                settings.cookie,
                settings.cookie_value,
                httponly=True,
                samesite="strict",
                secure=is_secure,
            )
        return answer

    @router.delete("/api/session", status_code=204, responses=problems())
    async def log_out() -> Response:
        """Forget the cookie."""
        answer = Response(status_code=204)
        answer.delete_cookie(server.settings.cookie, httponly=True, samesite="strict")
        return answer


def _add_search(router: APIRouter, server: Server) -> None:
    service = server.service

    async def by_query(query: SearchQuery, started: float) -> Response:
        if query.name is not None:
            lane = server.filtering if query.label or query.where is not None else server.reading
            return _json(await lane.run(service.search_name, query.name, query, started))
        kind = "id" if query.id is not None else "code"
        code = None if query.code is None else bytes.fromhex(query.code)
        question = Question(kind, query.page, code=code, id=query.id, started=started)
        return _json(await server.search(question, query))

    async def by_picture(picture: bytes, how: SearchParameters, started: float) -> Response:
        while True:
            values, encoder = await server.pictures.run(service.project_picture, picture)
            question = Question(
                "picture",
                how.page,
                values=values,
                encoder=encoder,
                started=started,
                is_asymmetric=how.is_asymmetric,
            )
            with suppress(OtherModel):
                return _json(await server.search(question, how))

    @router.get(
        "/api/search", response_model=answers.SearchResults, responses=problems(404, 409, 422)
    )
    async def search(query: Annotated[SearchQuery, Query()]) -> Response:
        """Find items by the name of a category, by the id of an item, or by a code."""
        return await by_query(query, perf_counter())

    @router.post(
        "/api/search",
        response_model=answers.SearchResults,
        responses=problems(400, 404, 408, 409, 413, 415, 422),
        openapi_extra={"requestBody": SEARCH_BODY},
    )
    async def search_with(request: Request) -> Response:
        """Find items by a picture, by its features, or by anything else as JSON.

        The parameters are in the address, for a form in its fields or in the address, and for JSON
        in the body.
        """
        started = perf_counter()
        size = room(request, max(MOST_JSON, server.settings.bytes))
        with server.budget(size).reserve(size):
            body = await read_search(request, server.settings)
            if body.query is not None:
                return await by_query(body.query, started)
            how = body.parameters
            if body.picture is not None:
                return await by_picture(body.picture, how, started)
            question = Question(
                "features",
                how.page,
                body.features,
                started=started,
                is_asymmetric=how.is_asymmetric,
            )
            return _json(await server.search(question, how))


def _add_why(router: APIRouter, server: Server) -> None:
    service = server.service

    @router.get(
        "/api/why",
        response_model=answers.WhyName | answers.WhyCode,
        responses=problems(404, 422),
    )
    async def why(query: Annotated[WhyQuery, Query()]) -> Response:
        """What a name, or the code of an item or of a picture, means to the model."""
        if query.name is not None:
            meaning = await server.reading.run(service.why_name, query.name)
        else:
            meaning = await server.filtering.run(service.why_code, query.code, query.id)
        return _json(to_json(meaning))


def _add_items(router: APIRouter, server: Server) -> None:
    service = server.service
    jpeg: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": BYTES}}}

    @router.get("/api/items", response_model=answers.Items, responses=problems(422))
    async def items(query: Annotated[ItemsQuery, Query()]) -> Response:
        """Items in the order of their ids."""
        is_filtered = query.label or query.where is not None
        lane = server.filtering if is_filtered else server.reading
        return _json(to_json(await lane.run(service.items, query)))

    @router.get("/api/items/{id}", response_model=answers.Item, responses=problems(404, 422))
    async def item(number: Number) -> Response:
        """One item."""
        return _json(to_json(await server.reading.run(service.item, number)))

    @router.get(
        "/api/items/{id}/thumbnail",
        response_class=Response,
        responses=problems(404, 422) | jpeg,
    )
    async def thumbnail(number: Number) -> Response:
        """The small picture of an item."""
        return _picture(await server.reading.run(service.thumbnail, number))

    @router.get(
        "/api/items/{id}/picture",
        response_class=Response,
        responses=problems(404, 422) | jpeg,
    )
    async def picture(number: Number) -> Response:
        """The picture of an item, as large as a screen."""
        return _picture(await server.pictures.run(service.picture, number))


def _add_changes(router: APIRouter, server: Server) -> None:
    service = server.service

    @router.post(
        "/api/items",
        status_code=201,
        response_model=answers.AddedItems,
        responses=problems(400, 408, 409, 413, 415, 422),
        openapi_extra={"requestBody": UPLOAD_BODY},
    )
    async def add(request: Request) -> Response:
        """Add pictures; the server keeps a copy of each."""
        size = room(request, server.settings.bytes * MOST_FILES)
        with server.large.reserve(size):
            files, labels = await read_upload(request, server.settings, MOST_FILES)
            added = await server.writing.run(service.add, files, labels)
        return _json(to_json(added), 201)

    @router.delete("/api/items/{id}", status_code=204, responses=problems(404, 409, 422))
    async def remove(number: Number) -> Response:
        """Remove an item."""
        await server.writing.run(service.remove, number)
        return Response(status_code=204)


def _add_map(router: APIRouter, server: Server) -> None:
    @router.get("/api/map", response_model=answers.Map, responses=problems())
    async def facts() -> Response:
        """What the map shows; asking for it has it made."""
        return _json(to_json(await server.reading.run(server.atlas.facts)))

    @router.get(
        "/api/map/points",
        response_class=Response,
        responses=problems(404) | {200: {"content": {"application/octet-stream": BYTES}}},
    )
    async def points() -> Response:
        """The points of the map.

        Little-endian: uint32 n, uint32 0, float64 id[n], uint16 x[n], uint16 y[n], uint16
        category[n], which counts the categories of /api/map; 65535 stands for none.
        """
        packed = await server.reading.run(server.atlas.points)
        if packed is None:
            raise ApiError(404, "there is no map yet")
        return Response(packed, media_type="application/octet-stream")


def body_schema() -> dict[str, Any]:
    """What a search in JSON looks like, for the description of the API."""
    return BodyQuery.model_json_schema()
