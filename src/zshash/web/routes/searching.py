"""Routes that search, and that explain what was found."""

import json
from time import perf_counter
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from zshash.collection.operations.queries import Sample
from zshash.datasets import Dataset
from zshash.web import answers
from zshash.web.accepting import JSON, LINES, PACKED, wanted
from zshash.web.answers import to_json
from zshash.web.batches import BatchBody, BatchParameters, of_json, of_rows
from zshash.web.bodies import IN_BODY, MOST_BATCH, MOST_JSON, parsed, read_batch, read_search, room
from zshash.web.completing import Completing
from zshash.web.errors import ApiError
from zshash.web.queries import (
    BodyQuery,
    NamesQuery,
    Question,
    SearchParameters,
    SearchQuery,
    WhyQuery,
)
from zshash.web.routes.items import ITEM
from zshash.web.routes.shared import API, BYTES, as_json, named, parameters_of, problems
from zshash.web.state import ServerState

__all__ = ["add_batch", "add_names", "add_search", "add_why", "body_schemas"]

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
        "values": None,
        "nothing": False,
    },
    "total": 20,
    "all": 4100,
    "offset": 0,
    "limit": 60,
    "results": [{"score": 0.81, "bits": None, **ITEM}],
    "seconds": 0.0021,
}
WHY = {"kind": "code", "nearest": [{"name": "motor scooter", "cosine": 0.62, "seen": True}]}


NAMES = {"names": [{"name": "n04467665", "text": "trailer truck", "known": True, "items": 12}]}
BATCH_BODY = {
    "required": True,
    "content": {
        JSON: {"schema": {"$ref": "#/components/schemas/BatchBody"}},
        PACKED: BYTES,
    },
}
BATCH_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {LINES: {"schema": {"type": "string"}}, PACKED: BYTES},
        "description": "Answers in the order of the searches: as JSON, a line each, or packed: "
        "uint32 n, uint32 k, n·k int64 ids (−1: no more), n·k float32 scores, little-endian.",
    }
}


def add_search(router: APIRouter, state: ServerState) -> None:
    """Add the routes that search."""
    served = state.served

    async def by_query(request: Request, query: SearchQuery, started: float) -> Response:
        question = Question(query.kind, query.query(**query.given), query.limit, started)
        return told(request, await state.search(question, query))

    async def by_picture(
        request: Request, picture: bytes, how: SearchParameters, started: float
    ) -> Response:
        question = Question("picture", how.query(picture=picture), how.limit, started)
        await state.pictures.run(served.prepare, question)
        return told(request, await state.search(question, how))

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
    async def search(request: Request, query: Annotated[SearchQuery, Query()]) -> Response:
        """Find items by names of what they show, by the id of an item, a code or real values."""
        return await by_query(request, query, perf_counter())

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
                return await by_query(request, body.query, started)
            how = body.parameters
            if body.picture is not None:
                return await by_picture(request, body.picture, how, started)
            assert body.features is not None
            sample = Sample(Dataset(body.features[None]))
            question = Question("features", how.query(sample=sample), how.limit, started)
            return told(request, await state.search(question, how))


def told(request: Request, content: bytes) -> Response:
    """An answer to a search, as JSON or in lines: all but the results, then a result a line."""
    if wanted(request, JSON, LINES) == JSON:
        return as_json(content)
    answer = json.loads(content)
    results = answer.pop("results")
    lines = b"".join(to_json(part) + b"\n" for part in (answer, *results))
    return Response(lines, media_type=LINES)


def add_names(router: APIRouter, state: ServerState) -> None:
    """Add the route that completes names."""
    names = Completing(state.served.collection)

    @router.get(
        f"{API}/names",
        response_model=answers.Names,
        responses=problems(422),
        **named("completeName", "Searching", asks={"begins": "tru"}, answer=NAMES, fresh=True),
    )
    async def complete(query: Annotated[NamesQuery, Query()]) -> Response:
        """Names of which a word begins so: labels, then what the network knows, then nouns."""
        found = await state.reading.run(names.names, query.begins, query.limit)
        return as_json(to_json(found))


def add_batch(router: APIRouter, state: ServerState) -> None:
    """Add the route that answers many searches at once."""
    served = state.served

    @router.post(
        f"{API}/search/batch",
        response_model=answers.BatchResults,
        responses=problems(400, 408, 409, 413, 415, 422) | BATCH_ANSWERS,
        **named(
            "searchBatch",
            "Searching",
            body={"queries": [{"id": 12}, {"name": ["dog:2", "beach"]}], "k": 10},
            answer={"answers": [FOUND]},
            access="read",
            requestBody=BATCH_BODY,
            parameters=parameters_of(BatchParameters),
        ),
    )
    async def search_batch(request: Request) -> Response:
        """Answer many searches at once: any kinds as JSON, or rows of features as float32.

        With float32, the parameters that all searches share are in the query string; with JSON they
        are in the body. If one search can not be answered, none is, and the error says which one.
        """
        started = perf_counter()
        form = wanted(request, JSON, LINES, PACKED)
        size = room(request, MOST_BATCH)
        with state.budget(size).reserve(size):
            kind, content = await read_batch(request, state.settings)
            width = served.width
            if kind == JSON:
                if request.query_params:
                    raise ApiError(422, IN_BODY)
                batch = of_json(content, width, started)
            else:
                batch = of_rows(content, parsed(request, BatchParameters), width, started)
            return Response(await state.search_batch(batch, form), media_type=form)


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


def body_schemas() -> dict[str, Any]:
    """JSON schemas of searches, by name, for the description of the API."""
    schemas: dict[str, Any] = {}
    for body in (BodyQuery, BatchBody):
        own = body.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= own.pop("$defs", {}) | {body.__name__: own}
    return schemas
