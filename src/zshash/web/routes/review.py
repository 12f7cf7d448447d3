"""Routes for looking after a collection: copies of pictures to review, and learning again."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.bodies import MOST_JSON, read_order, room
from zshash.web.orders import DuplicatesQuery, KeyOrder, body_of
from zshash.web.routes.shared import API, as_json, named, problems
from zshash.web.state import ServerState

__all__ = ["add_duplicates", "add_refit"]

KEY: dict[str, Any] = {"key": "8d5a1c2e9f007b31"}
ORDERS = (400, 404, 408, 409, 413, 415, 422)
RUNNING = {
    "state": "running",
    "part": "encoding items",
    "done": 0.4,
    "text": "learning again from 180 items",
    "n_unlearned": 30,
}


def add_duplicates(router: APIRouter, state: ServerState) -> None:
    """Add the routes for copies of pictures."""

    async def read(request: Request) -> KeyOrder:
        size = room(request, MOST_JSON)
        with state.budget(size).reserve(size):
            return await read_order(request, KeyOrder, state.settings)

    @router.get(
        f"{API}/duplicates",
        response_model=answers.DuplicateGroups,
        responses=problems(422),
        **named("listDuplicates", "Review", asks={"level": "same"}),
    )
    async def duplicates(query: Annotated[DuplicatesQuery, Query()]) -> Response:
        """Groups of copies of one picture, or of items that look alike, to review.

        The first request begins to look for them in the background. Groups that were kept are left
        out. To keep one item of a group, remove the others; /api/v1/items/restore undoes that.
        """
        return as_json(to_json(await state.filtering.run(state.review.page, query)))

    @router.post(
        f"{API}/duplicates/keep",
        response_model=answers.GroupKey,
        responses=problems(*ORDERS),
        **named("keepDuplicates", "Review", body=KEY, answer=KEY, requestBody=body_of(KeyOrder)),
    )
    async def keep(request: Request) -> Response:
        """Keep all items of a group: the group is not shown again."""
        order = await read(request)
        return as_json(to_json(await state.writing.run(state.review.keep, order.key)))

    @router.post(
        f"{API}/duplicates/forget",
        response_model=answers.GroupKey,
        responses=problems(*ORDERS),
        **named("forgetDuplicates", "Review", body=KEY, answer=KEY, requestBody=body_of(KeyOrder)),
    )
    async def forget(request: Request) -> Response:
        """Show a group again that was kept."""
        order = await read(request)
        return as_json(to_json(await state.writing.run(state.review.forget, order.key)))


def add_refit(router: APIRouter, state: ServerState) -> None:
    """Add the routes for learning again."""

    @router.get(
        f"{API}/refit",
        response_model=answers.Refit,
        responses=problems(),
        **named("getRefit", "Review", answer=RUNNING),
    )
    async def look() -> Response:
        """How far learning again is, whichever process of the server does it."""
        return as_json(to_json(await state.reading.run(state.changes.refit_state)))

    @router.post(
        f"{API}/refit",
        status_code=202,
        response_model=answers.Refit,
        responses=problems(),
        **named("refit", "Review", answer=RUNNING),
    )
    async def start() -> Response:
        """Learn again from all pictures and labels, in the background.

        Searches go on with the codes from before, until all items have new ones. Other changes wait
        meanwhile, or are refused with 409.
        """
        return as_json(to_json(await state.reading.run(state.changes.refit)), 202)
