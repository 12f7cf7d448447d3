"""The routes of the HTTP API: each reads a request, has its work done in a lane, and answers."""

from time import perf_counter
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from zshash.collection.operations.queries import Sample
from zshash.datasets import Dataset
from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.bodies import MOST_JSON, read_search, read_upload, room
from zshash.web.counting import CONTENT_TYPE
from zshash.web.errors import ApiError
from zshash.web.page import add_page
from zshash.web.queries import BodyQuery, ItemsQuery, SearchParameters, SearchQuery, WhyQuery
from zshash.web.served import MOST_FILES, Question
from zshash.web.state import ServerState

__all__ = ["make_router"]

Number = Annotated[int, Path(alias="id", ge=0, le=2**63 - 1, description="Id of an item.")]
REASONS = {
    400: "The client went away.",
    401: "The token is missing or wrong.",
    403: "The server only reads, or the request is from a foreign page.",
    404: "There is no such item.",
    405: "This address does not take this method.",
    408: "The request took too long to arrive.",
    409: "Another program is writing to the collection, or another model made the code.",
    413: "More bytes than the server accepts.",
    415: "A content type that the server does not accept.",
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
                "properties": {
                    "picture": {"type": "string", "format": "binary"},
                    "name": {"type": "array", "items": {"type": "string"}},
                    "without": {"type": "array", "items": {"type": "string"}},
                },
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
    """Error answers of a route, for its description."""
    wanted = sorted({401, 403, 429, 503, *statuses})
    return {status: {"model": answers.Problem, "description": REASONS[status]} for status in wanted}


def make_router(state: ServerState) -> APIRouter:
    """Router with all routes of a server."""
    router = APIRouter()
    add_page(router)
    for add in (_add_facts, _add_search, _add_why, _add_items, _add_changes, _add_map):
        add(router, state)
    return router


def _json(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="application/json")


def _picture(content: bytes) -> Response:
    return Response(
        content, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=300"}
    )


def _add_facts(router: APIRouter, state: ServerState) -> None:
    @router.get("/healthz", response_model=answers.Health, responses=problems())
    async def health() -> Response:
        """Whether the server runs."""
        return _json(b'{"status":"ok"}')

    @router.get(
        "/metrics",
        response_class=Response,
        responses=problems() | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        """Counts of requests and their times, for Prometheus."""
        return Response(state.counts.text(), headers={"Content-Type": CONTENT_TYPE})

    @router.get("/api/info", response_model=answers.Info, responses=problems(422))
    async def info(request: Request) -> Response:
        """Facts about the collection and the server."""
        known = bool(request.scope["authorised"])
        return _json(to_json(await state.filtering.run(state.served.info, known)))

    @router.post("/api/session", status_code=204, responses=problems())
    async def log_in(request: Request) -> Response:
        """Exchange the token for a cookie, for browsers."""
        settings = state.settings
        if settings.token is not None and not request.scope["by_token"]:
            raise ApiError(401, "that is not the right token", {"WWW-Authenticate": "Bearer"})
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
        """Delete the cookie."""
        answer = Response(status_code=204)
        answer.delete_cookie(state.settings.cookie, httponly=True, samesite="strict")
        return answer


def _add_search(router: APIRouter, state: ServerState) -> None:
    served = state.served

    async def by_query(query: SearchQuery, started: float) -> Response:
        given: dict[str, Any] = {} if query.id is None else {"item": query.id}
        if query.code is not None:
            given = {"code": bytes.fromhex(query.code), "model": query.model}
        question = Question(query.kind, query.query(**given), query.limit, started)
        return _json(await state.search(question, query))

    async def by_picture(picture: bytes, how: SearchParameters, started: float) -> Response:
        question = Question("picture", how.query(picture=picture), how.limit, started)
        await state.pictures.run(served.prepare, question)
        return _json(await state.search(question, how))

    @router.get(
        "/api/search", response_model=answers.SearchResults, responses=problems(404, 409, 422)
    )
    async def search(query: Annotated[SearchQuery, Query()]) -> Response:
        """Find items by the names of what they show, by the id of an item, or by a code."""
        return await by_query(query, perf_counter())

    @router.post(
        "/api/search",
        response_model=answers.SearchResults,
        responses=problems(400, 404, 408, 409, 413, 415, 422),
        openapi_extra={"requestBody": SEARCH_BODY},
    )
    async def search_with(request: Request) -> Response:
        """Find items by a picture or its features, also together with names, or by JSON.

        Parameters are in the query string; with a form they may also be its fields; with JSON they
        are in the body.
        """
        started = perf_counter()
        size = room(request, max(MOST_JSON, state.settings.bytes))
        with state.budget(size).reserve(size):
            body = await read_search(request, state.settings)
            if body.query is not None:
                return await by_query(body.query, started)
            how = body.parameters
            if body.picture is not None:
                return await by_picture(body.picture, how, started)
            assert body.features is not None
            sample = Sample(Dataset(body.features[None]))
            question = Question("features", how.query(sample=sample), how.limit, started)
            return _json(await state.search(question, how))


def _add_why(router: APIRouter, state: ServerState) -> None:
    served = state.served

    @router.get(
        "/api/why",
        response_model=answers.WhyName | answers.WhyCode,
        responses=problems(404, 409, 422),
    )
    async def why(query: Annotated[WhyQuery, Query()]) -> Response:
        """What a name, a code or the code of an item means to the model."""
        if query.name is not None:
            meaning = await state.reading.run(served.why_name, query.name)
        else:
            meaning = await state.filtering.run(served.why_code, query)
        return _json(to_json(meaning))


def _add_items(router: APIRouter, state: ServerState) -> None:
    served = state.served
    jpeg: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": BYTES}}}

    @router.get("/api/items", response_model=answers.Items, responses=problems(422))
    async def items(query: Annotated[ItemsQuery, Query()]) -> Response:
        """List items in the order of their ids."""
        is_filtered = query.label or query.where is not None
        lane = state.filtering if is_filtered else state.reading
        return _json(to_json(await lane.run(served.items, query)))

    @router.get("/api/items/{id}", response_model=answers.Item, responses=problems(404, 422))
    async def item(number: Number) -> Response:
        """One item."""
        return _json(to_json(await state.reading.run(served.item, number)))

    @router.get(
        "/api/items/{id}/thumbnail",
        response_class=Response,
        responses=problems(404, 422) | jpeg,
    )
    async def thumbnail(number: Number) -> Response:
        """The small picture of an item, as JPEG."""
        return _picture(await state.reading.run(served.thumbnail, number))

    @router.get(
        "/api/items/{id}/picture",
        response_class=Response,
        responses=problems(404, 422) | jpeg,
    )
    async def picture(number: Number) -> Response:
        """The picture of an item, as JPEG, at most as large as a screen."""
        return _picture(await state.pictures.run(served.picture, number))


def _add_changes(router: APIRouter, state: ServerState) -> None:
    served = state.served

    @router.post(
        "/api/items",
        status_code=201,
        response_model=answers.AddedItems,
        responses=problems(400, 408, 409, 413, 415, 422),
        openapi_extra={"requestBody": UPLOAD_BODY},
    )
    async def add(request: Request) -> Response:
        """Add pictures; the server keeps a copy of each."""
        size = room(request, state.settings.bytes * MOST_FILES)
        with state.large.reserve(size):
            files, labels = await read_upload(request, state.settings, MOST_FILES)
            added = await state.writing.run(served.add, files, labels)
        return _json(to_json(added), 201)

    @router.delete("/api/items/{id}", status_code=204, responses=problems(404, 409, 422))
    async def remove(number: Number) -> Response:
        """Remove an item."""
        await state.writing.run(served.remove, number)
        return Response(status_code=204)


def _add_map(router: APIRouter, state: ServerState) -> None:
    @router.get("/api/map", response_model=answers.Map, responses=problems())
    async def facts() -> Response:
        """Facts about the map; the first request starts to make it."""
        return _json(to_json(await state.reading.run(state.atlas.facts)))

    @router.get(
        "/api/map/points",
        response_class=Response,
        responses=problems(404) | {200: {"content": {"application/octet-stream": BYTES}}},
    )
    async def points() -> Response:
        """The points of the map.

        Little-endian: uint32 n, uint32 0, float64 id[n], uint16 x[n], uint16 y[n], uint16
        category[n]: the index of a category in the list of /api/map, or 65535 for none.
        """
        packed = await state.reading.run(state.atlas.points)
        if packed is None:
            raise ApiError(404, "there is no map yet")
        return Response(packed, media_type="application/octet-stream")


def body_schema() -> dict[str, Any]:
    """JSON schema of a search, for the description of the API."""
    return BodyQuery.model_json_schema()
