"""Routes that search, and that explain what was found."""

from time import perf_counter
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from zshash.collection.operations.queries import Sample
from zshash.datasets import Dataset
from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.bodies import MOST_JSON, read_search, room
from zshash.web.queries import BodyQuery, SearchParameters, SearchQuery, WhyQuery
from zshash.web.routes.items import ITEM
from zshash.web.routes.shared import API, BYTES, as_json, named, problems
from zshash.web.served import Question
from zshash.web.state import ServerState

__all__ = ["add_search", "add_why", "body_schema"]

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

FOUND = {
    "query": {
        "kind": "name",
        "code": None,
        "name": None,
        "words": {"dog": 2.0, "beach": 1.0},
        "id": None,
        "model": "0f3a9c51d2e4",
    },
    "total": 20,
    "offset": 0,
    "limit": 60,
    "results": [{"score": 0.81, "bits": None, **ITEM}],
    "seconds": 0.0021,
}
WHY = {"kind": "code", "nearest": [{"name": "motor scooter", "cosine": 0.62, "seen": True}]}


def add_search(router: APIRouter, state: ServerState) -> None:
    """Add the routes that search."""
    served = state.served

    async def by_query(query: SearchQuery, started: float) -> Response:
        given: dict[str, Any] = {} if query.id is None else {"item": query.id}
        if query.code is not None:
            given = {"code": bytes.fromhex(query.code), "model": query.model}
        question = Question(query.kind, query.query(**given), query.limit, started)
        return as_json(await state.search(question, query))

    async def by_picture(picture: bytes, how: SearchParameters, started: float) -> Response:
        question = Question("picture", how.query(picture=picture), how.limit, started)
        await state.pictures.run(served.prepare, question)
        return as_json(await state.search(question, how))

    @router.get(
        f"{API}/search",
        response_model=answers.SearchResults,
        responses=problems(404, 409, 422),
        **named(
            "search",
            "Searching",
            asks={"name": ["dog:2", "beach"], "k": 20},
            answer=FOUND,
            fresh=True,
        ),
    )
    async def search(query: Annotated[SearchQuery, Query()]) -> Response:
        """Find items by the names of what they show, by the id of an item, or by a code."""
        return await by_query(query, perf_counter())

    @router.post(
        f"{API}/search",
        response_model=answers.SearchResults,
        responses=problems(400, 404, 408, 409, 413, 415, 422),
        **named(
            "searchWith",
            "Searching",
            body={"name": ["dog:2", "beach"], "without": ["snow"], "k": 20},
            answer=FOUND,
            access="read",
            requestBody=SEARCH_BODY,
        ),
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
            return as_json(await state.search(question, how))


def add_why(router: APIRouter, state: ServerState) -> None:
    """Add the route that explains names and codes."""
    served = state.served

    @router.get(
        f"{API}/why",
        response_model=answers.WhyName | answers.WhyCode,
        responses=problems(404, 409, 422),
        **named("explain", "Searching", asks={"name": "segway"}, answer=WHY, fresh=True),
    )
    async def why(query: Annotated[WhyQuery, Query()]) -> Response:
        """What a name, a code or the code of an item means to the model."""
        if query.name is not None:
            meaning = await state.reading.run(served.why_name, query.name)
        else:
            meaning = await state.filtering.run(served.why_code, query)
        return as_json(to_json(meaning))


def body_schema() -> dict[str, Any]:
    """JSON schema of a search, for the description of the API."""
    return BodyQuery.model_json_schema()
