"""The route that tells what a collection can be narrowed by."""

from fastapi import APIRouter, Response

from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.routes.shared import API, as_json, named, problems
from zshash.web.state import ServerState

__all__ = ["add_facets"]

FACETS = {
    "years": [{"year": 2021, "items": 12, "where": "year = 2021"}],
    "months": [{"year": 2021, "month": 8, "items": 12, "where": "year = 2021 and month = 8"}],
    "cameras": [{"camera": "X100", "items": 7, "where": "camera = 'X100'"}],
    "places": [],
}


def add_facets(router: APIRouter, state: ServerState) -> None:
    """Add the route that tells what a collection can be narrowed by."""

    @router.get(
        f"{API}/facets",
        response_model=answers.Facets,
        responses=problems(),
        **named("listFacets", "Searching", answer=FACETS, fresh=True),
    )
    async def facets() -> Response:
        """Years, months, cameras and places of the items, each with its condition for `where`.

        Places are told only if the server was started to show them.
        """
        return as_json(to_json(await state.filtering.run(state.served.facets)))
