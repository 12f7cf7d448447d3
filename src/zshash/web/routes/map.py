"""Routes of the map."""

from fastapi import APIRouter, Response

from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.errors import ApiError
from zshash.web.routes.shared import API, BYTES, as_json, named, problems
from zshash.web.state import ServerState

__all__ = ["add_map"]

FACTS = {
    "state": "ready",
    "items": 180,
    "total": 180,
    "generation": 3,
    "categories": [{"label": "beach", "seen": True, "items": 30}],
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
        responses=problems(404) | {200: {"content": {"application/octet-stream": BYTES}}},
        **named("getMapPoints", "Map"),
    )
    async def points() -> Response:
        """The points of the map.

        Little-endian: uint32 n, uint32 0, float64 id[n], uint16 x[n], uint16 y[n], uint16
        category[n]: the index of a category in the list of /api/v1/map, or 65535 for none.
        """
        packed = await state.reading.run(state.atlas.points)
        if packed is None:
            raise ApiError(404, "there is no map yet")
        return Response(packed, media_type="application/octet-stream")
