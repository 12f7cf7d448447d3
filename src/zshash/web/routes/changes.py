"""Routes that change the collection."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.bodies import MOST_JSON, Order, read_order, read_upload, room
from zshash.web.orders import LabelOrder, RemoveOrder, RemoveQuery, RestoreOrder, body_of
from zshash.web.routes.shared import API, Number, as_json, named, only_post, problems
from zshash.web.served import MOST_FILES
from zshash.web.state import ServerState

__all__ = ["add_changes"]

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


def add_changes(router: APIRouter, state: ServerState) -> None:
    """Add the routes that change the collection."""
    served = state.served
    add_orders(router, state)  # their paths look like those of items

    @router.post(
        f"{API}/items",
        status_code=201,
        response_model=answers.AddedItems,
        responses=problems(400, 408, 409, 413, 415, 422),
        **named(
            "addPictures",
            "Changes",
            answer={"added": [180], "duplicates": [], "failures": []},
            requestBody=UPLOAD_BODY,
        ),
    )
    async def add(request: Request) -> Response:
        """Add pictures; the server keeps a copy of each."""
        size = room(request, state.settings.bytes * MOST_FILES)
        with state.large.reserve(size):
            files, labels = await read_upload(request, state.settings, MOST_FILES)
            added = await state.writing.run(served.add, files, labels)
        return as_json(to_json(added), 201)

    @router.delete(
        f"{API}/items/{{id}}",
        status_code=204,
        responses=problems(404, 409, 422),
        **named("removeItem", "Changes", asks={"id": 12}),
    )
    async def remove(number: Number, query: Annotated[RemoveQuery, Query()]) -> Response:
        """Remove an item; to undo that, remove items by POST /api/v1/items/remove."""
        await state.writing.run(served.remove, [number], query.for_good)
        return Response(status_code=204)


def add_orders(router: APIRouter, state: ServerState) -> None:
    """Add the routes that change many items at once."""
    for verb in ("remove", "restore", "label"):
        only_post(router, f"{API}/items/{verb}")

    async def read(request: Request, kind: type[Order]) -> Order:
        size = room(request, MOST_JSON)
        with state.budget(size).reserve(size):
            return await read_order(request, kind, state.settings)

    @router.post(
        f"{API}/items/remove",
        response_model=answers.RemovedItems,
        responses=problems(400, 404, 408, 409, 413, 415, 422),
        **named(
            "removeItems",
            "Changes",
            body={"ids": [12, 13]},
            answer={"removed": [12, 13], "undo": "5-2"},
            requestBody=body_of(RemoveOrder),
        ),
    )
    async def remove_many(request: Request) -> Response:
        """Remove items, all of them or, if an id is unknown, none."""
        order = await read(request, RemoveOrder)
        return as_json(to_json(await state.writing.run(state.changes.remove, order)))

    @router.post(
        f"{API}/items/restore",
        response_model=answers.RestoredItems,
        responses=problems(400, 404, 408, 409, 413, 415, 422),
        **named(
            "restoreItems",
            "Changes",
            body={"undo": "5-2"},
            answer={"restored": [12, 13]},
            requestBody=body_of(RestoreOrder),
        ),
    )
    async def restore(request: Request) -> Response:
        """Undo a removal: the items come back under their ids."""
        order = await read(request, RestoreOrder)
        return as_json(to_json(await state.writing.run(state.changes.restore, order)))

    @router.post(
        f"{API}/items/label",
        response_model=answers.LabelledItems,
        responses=problems(400, 404, 408, 409, 413, 415, 422),
        **named(
            "labelItems",
            "Changes",
            body={"ids": [12, 13], "label": "dog", "how": "also"},
            answer={"labelled": [12, 13], "changed": 2},
            requestBody=body_of(LabelOrder),
        ),
    )
    async def label(request: Request) -> Response:
        """Give items a label, add one, or take labels away; all at once or not at all."""
        order = await read(request, LabelOrder)
        return as_json(to_json(await state.writing.run(state.changes.label, order)))
