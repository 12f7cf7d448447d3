"""Routes that read items and their pictures."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.queries import ItemsQuery
from zshash.web.routes.shared import API, BYTES, Number, as_json, named, problems
from zshash.web.state import ServerState

__all__ = ["ITEM", "add_items"]

ITEM = {  # an example, for the description of the API
    "id": 12,
    "code": "9f03c1a2b4d5e6f7",
    "labels": ["beach"],
    "file": "holiday.jpg",
    "metadata": {"year": 2023, "camera": "X100"},
    "thumbnail": True,
}


def add_items(router: APIRouter, state: ServerState) -> None:
    """Add the routes that read items and their pictures."""
    served = state.served
    jpeg: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": BYTES}}}

    @router.get(
        f"{API}/items",
        response_model=answers.Items,
        responses=problems(422),
        **named(
            "listItems",
            "Items",
            asks={"label": ["beach"], "where": "year >= 2020", "limit": 20},
            answer={"total": 1, "offset": 0, "limit": 20, "items": [ITEM]},
            fresh=True,
        ),
    )
    async def items(query: Annotated[ItemsQuery, Query()]) -> Response:
        """List items in the order of their ids."""
        is_filtered = query.label or query.where is not None
        lane = state.filtering if is_filtered else state.reading
        return as_json(to_json(await lane.run(served.items, query)))

    @router.get(
        f"{API}/items/{{id}}",
        response_model=answers.Item,
        responses=problems(404, 422),
        **named("getItem", "Items", asks={"id": 12}, answer=ITEM, fresh=True),
    )
    async def item(number: Number) -> Response:
        """One item."""
        return as_json(to_json(await state.reading.run(served.item, number)))

    @router.get(
        f"{API}/items/{{id}}/thumbnail",
        response_class=Response,
        responses=problems(404, 422) | jpeg,
        **named("getThumbnail", "Items", asks={"id": 12}),
    )
    async def thumbnail(number: Number) -> Response:
        """The small picture of an item, as JPEG."""
        return _picture(await state.reading.run(served.thumbnail, number))

    @router.get(
        f"{API}/items/{{id}}/picture",
        response_class=Response,
        responses=problems(404, 422) | jpeg,
        **named("getPicture", "Items", asks={"id": 12}),
    )
    async def picture(number: Number) -> Response:
        """The picture of an item, as JPEG, at most as large as a screen."""
        return _picture(await state.pictures.run(served.picture, number))


def _picture(content: bytes) -> Response:
    return Response(
        content, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=300"}
    )
