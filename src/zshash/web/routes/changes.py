"""Routes that change the collection."""

from fastapi import APIRouter, Request, Response

from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.bodies import read_upload, room
from zshash.web.routes.shared import API, Number, as_json, named, problems
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
    async def remove(number: Number) -> Response:
        """Remove an item."""
        await state.writing.run(served.remove, number)
        return Response(status_code=204)
