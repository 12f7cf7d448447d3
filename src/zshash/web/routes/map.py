"""Routes of the map."""

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.errors import ApiError
from zshash.web.freshness import CACHING, has_tag
from zshash.web.routes.shared import API, BYTES, as_json, named, problems
from zshash.web.state import ServerState

__all__ = ["add_map"]

Generation = Annotated[int | None, Query(ge=0, le=2**63 - 1)]
Digest = Annotated[str | None, Query(max_length=64)]
FACTS = {
    "state": "ready",
    "generation": 3,
    "digest": "74a4e18d5a6c",
    "items": 180,
    "total": 180,
    "categories": [{"label": "beach", "seen": True, "items": 30, "recognised": False}],
    "regions": [
        {"name": "beach", "x": 20301, "y": 41877, "items": 34, "level": 0, "recognised": False}
    ],
}
POINTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": BYTES}},
    304: {"description": "The client has it already, as If-None-Match says."},
}


def add_map(router: APIRouter, state: ServerState) -> None:
    """Add the routes of the map."""

    @router.get(
        f"{API}/map",
        response_model=answers.Map,
        responses=problems(),
        **named("getMap", "Map", answer=FACTS),
    )
    async def facts() -> Response:
        """Facts about the map; the first request starts to make it."""
        return as_json(to_json(await state.reading.run(state.atlas.facts)))

    @router.get(
        f"{API}/map/points",
        response_class=Response,
        responses=problems(404, 422) | POINTS,
        **named("getMapPoints", "Map", asks={"generation": 3}),
    )
    async def points(
        request: Request, generation: Generation = None, digest: Digest = None
    ) -> Response:
        """The points of the newest map, or of the map with this generation and digest.

        Little-endian: uint32 n, uint32 m, float64 id[n], uint16 x[n], uint16 y[n], uint16
        category[n] and m bytes of JSON: what /api/v1/map says about this very map. A category is an
        index in its list of categories, or 65535 for none. The last two maps are kept.
        """
        headers = _lasting(generation, digest)
        if headers and has_tag(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        packed = await state.reading.run(state.atlas.points, generation, digest)
        if packed is None and generation is None and digest is None:
            raise ApiError(404, "there is no map yet")
        if packed is None:
            raise ApiError(404, f"this map is not kept any more: ask for {API}/map again")
        return Response(packed, media_type="application/octet-stream", headers=headers)


def _lasting(generation: int | None, digest: str | None) -> dict[str, str]:
    """Headers for the points of one map, which never change; others have none."""
    if generation is None or digest is None:
        return {}
    tag = hashlib.blake2b(f"{generation} {digest}".encode(), digest_size=16).hexdigest()
    return CACHING | {"ETag": f'"{tag}"'}
