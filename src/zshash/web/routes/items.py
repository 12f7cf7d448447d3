"""Routes that read items and their pictures."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from zshash.images.thumbnails import media_type
from zshash.web import answers
from zshash.web.accepting import JSON, LINES, wanted
from zshash.web.answers import to_json
from zshash.web.fields import Query as Fields
from zshash.web.pictures import JPEG, SIDES, WEBP, attachment, tag_of
from zshash.web.queries import ItemsQuery
from zshash.web.routes.exporting import Parts, stream
from zshash.web.routes.shared import API, BYTES, Number, as_json, named, problems
from zshash.web.state import ServerState

__all__ = ["ITEM", "add_items", "add_pictures"]

ITEM = {  # an example, for the description of the API
    "id": 12,
    "code": "9f03c1a2b4d5e6f7",
    "labels": ["beach"],
    "file": "holiday.jpg",
    "metadata": {"year": 2023, "camera": "X100"},
    "thumbnail": True,
    "size": [4000, 3000],
}


IMAGES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/webp": BYTES, "image/jpeg": BYTES}},
    304: {"description": "The client has it already, as If-None-Match says."},
}


class Look(Fields):
    """How large a picture is wanted, and whether to look at it or to keep it."""

    side: int = Field(
        1600,
        ge=1,
        le=SIDES[-1],
        description="Longer side in pixels; of "
        f"{', '.join(map(str, SIDES))} the next larger one is taken. No picture is enlarged, and "
        "long and thin ones get more.",
    )
    download: bool = Field(
        False, description="Send it as a JPEG file to keep, under the name of the original."
    )


def add_items(router: APIRouter, state: ServerState) -> None:
    """Add the routes that read items."""
    served = state.served

    @router.get(
        f"{API}/items",
        response_model=answers.Items,
        responses=problems(422) | {200: {"content": {LINES: {"schema": {"type": "string"}}}}},
        **named(
            "listItems",
            "Items",
            asks={"label": ["beach"], "where": "year >= 2020", "limit": 20},
            answer={"total": 1, "offset": 0, "limit": 20, "items": [ITEM]},
            fresh=True,
        ),
    )
    async def items(request: Request, query: Annotated[ItemsQuery, Query()]) -> Response:
        """List items in the order of their ids.

        With `Accept: application/x-ndjson` all of them come, a line each, unless `limit` is given:
        those that are there at the beginning, without what is removed meanwhile.
        """
        is_filtered = query.label or query.where is not None
        lane = state.filtering if is_filtered else state.reading
        if wanted(request, JSON, LINES) == LINES:
            parts = Parts(served.lines(query))
            first = await lane.run(parts.take)
            return StreamingResponse(stream(lane, first, parts), media_type=LINES)
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


def add_pictures(router: APIRouter, state: ServerState) -> None:
    """Add the routes that send the pictures of items."""
    served = state.served
    pictures = served.pictures

    @router.get(
        f"{API}/items/{{id}}/thumbnail",
        response_class=Response,
        responses=problems(404, 422) | IMAGES,
        **named("getThumbnail", "Items", asks={"id": 12}),
    )
    async def thumbnail(request: Request, number: Number) -> Response:
        """The small picture of an item, as WebP, or as JPEG in albums of earlier versions."""
        small = await state.reading.run(served.thumbnail, number)
        return _sent(request, tag_of(small), small, media_type(small))

    @router.get(
        f"{API}/items/{{id}}/picture",
        response_class=Response,
        responses=problems(404, 422) | IMAGES,
        **named("getPicture", "Items", asks={"id": 12, "side": 1600}),
    )
    async def picture(
        request: Request, number: Number, query: Annotated[Look, Query()]
    ) -> Response:
        """The picture of an item, made from its original, without the metadata of the camera.

        It is WebP where the client takes that, else JPEG. Downloads are JPEG.
        """
        takes_webp = wanted(request, "image/jpeg", "image/webp") == "image/webp"
        kind = WEBP if takes_webp and not query.download else JPEG
        asked = await state.reading.run(pictures.wanted, number, query.side, kind)
        headers = {"Vary": "Accept"}
        if query.download:
            file = await state.reading.run(served.file, number)
            headers["Content-Disposition"] = attachment(file, number)
        tag = f'"{asked.key}"'
        if _has(request, tag):
            return _sent(request, tag, b"", "", **headers)
        content = await state.reading.run(pictures.kept, asked)
        if content is None:
            content = await state.pictures.run(pictures.make, asked)
        return _sent(request, tag, content, f"image/{kind.lower()}", **headers)


def _has(request: Request, tag: str) -> bool:
    """Whether a client says that it has the content with this ETag."""
    known = request.headers.get("if-none-match", "").split(",")
    return tag in (one.strip().removeprefix("W/") for one in known)


def _sent(request: Request, tag: str, content: bytes, kind: str, **headers: str) -> Response:
    """Answer with a picture, or without one for a client that has it."""
    headers |= {"ETag": tag, "Cache-Control": "private, max-age=300"}
    if _has(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
