"""The route that exports items as a table, as JSON, or as an archive with their pictures."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from zshash.web.bodies import MOST_JSON, read_order, room
from zshash.web.errors import Busy
from zshash.web.export_forms import KINDS
from zshash.web.lanes import Lane
from zshash.web.orders import ExportOrder, body_of
from zshash.web.routes.shared import API, BYTES, named, only_post, problems
from zshash.web.state import ServerState

__all__ = ["Parts", "add_export", "stream"]

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
        parts = Parts(state.exports.parts(order.form, ids))
        first = await lane.run(parts.take)
        headers = {"Content-Disposition": f'attachment; filename="{NAMES[order.form]}"'}
        headers["Cache-Control"] = "no-store"
        told = stream(lane, first, parts)
        return StreamingResponse(told, media_type=KINDS[order.form], headers=headers)


class Parts:
    """Parts of an answer, which are ended at once when the client has gone away.

    A thread may be at work on a part then: it ends them when it is done with that part.
    """

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._lock, self._is_left = parts, threading.Lock(), False

    def take(self) -> bytes:
        """The next part, or no bytes at the end."""
        with self._lock:
            part = next(self._parts, b"")
        if self._is_left:
            self._end()
        return part

    def leave(self) -> None:
        """End the parts, as nobody waits for more."""
        self._is_left = True
        self._end()

    def _end(self) -> None:
        if self._lock.acquire(blocking=False):
            try:
                self._parts.close()  # type: ignore[attr-defined]
            finally:
                self._lock.release()


async def stream(lane: Lane, first: bytes, parts: Parts) -> AsyncIterator[bytes]:
    """The first part, then all others; each waits for its turn behind other work of its kind."""
    try:
        part = first
        while part:
            yield part
            part = await _next(lane, parts)
    finally:
        parts.leave()


async def _next(lane: Lane, parts: Parts) -> bytes:
    while True:
        try:
            return await lane.run(parts.take)
        except Busy:
            await asyncio.sleep(PAUSE)
