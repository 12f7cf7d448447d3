"""The route that exports items as a table, as JSON, or as an archive with their pictures."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from zshash.web.bodies import MOST_JSON, read_order, room
from zshash.web.errors import Busy
from zshash.web.export_forms import KINDS
from zshash.web.lanes import Lane
from zshash.web.orders import ExportOrder, body_of
from zshash.web.routes.shared import API, BYTES, named, only_post, problems
from zshash.web.state import ServerState

__all__ = ["add_export", "stream"]

NAMES = {"csv": "items.csv", "json": "items.json", "zip": "pictures.zip"}
PAUSE = 0.2  # seconds between tries to get a place in a lane for the next part
TEXT = {"schema": {"type": "string"}}
EXPORTED = {"csv": TEXT, "json": {"schema": {"type": "array"}}, "zip": BYTES}


def add_export(router: APIRouter, state: ServerState) -> None:
    """Add the route that exports items."""
    only_post(router, f"{API}/items/export")
    content = {KINDS[form].partition(";")[0]: what for form, what in EXPORTED.items()}

    @router.post(
        f"{API}/items/export",
        response_class=Response,
        responses=problems(400, 404, 408, 413, 415, 422) | {200: {"content": content}},
        **named(
            "exportItems",
            "Items",
            body={"form": "csv", "where": "year > 2020"},
            access="read",
            requestBody=body_of(ExportOrder),
        ),
    )
    async def export(request: Request) -> Response:
        """Export items, given by ids or by a condition: a table, JSON, or an archive.

        The archive holds pictures as JPEG, without what cameras note, and a table `items.csv`.
        """
        size = room(request, MOST_JSON)
        with state.budget(size).reserve(size):
            order = await read_order(request, ExportOrder, state.settings)
            ids = await state.filtering.run(state.exports.chosen, order)
        lane = state.pictures if order.form == "zip" else state.filtering
        parts = state.exports.parts(order.form, ids)
        first = await lane.run(next, parts, b"")
        headers = {"Content-Disposition": f'attachment; filename="{NAMES[order.form]}"'}
        headers["Cache-Control"] = "no-store"
        told = stream(lane, first, parts)
        return StreamingResponse(told, media_type=KINDS[order.form], headers=headers)


async def stream(lane: Lane, first: bytes, parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The first part, then all others; each waits for its turn behind other work of its kind."""
    try:
        part = first
        while part:
            yield part
            part = await _next(lane, parts)
    finally:
        with suppress(ValueError):  # a thread is still at work on a part
            parts.close()  # type: ignore[attr-defined]


async def _next(lane: Lane, parts: Iterator[bytes]) -> bytes:
    while True:
        try:
            return await lane.run(next, parts, b"")
        except Busy:
            await asyncio.sleep(PAUSE)
