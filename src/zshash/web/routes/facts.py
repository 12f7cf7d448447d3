"""Routes about the collection, the server and the session of a browser."""

from fastapi import APIRouter, Request, Response

from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.counting import CONTENT_TYPE
from zshash.web.errors import ApiError
from zshash.web.guard import is_encrypted
from zshash.web.routes.shared import API, as_json, named, problems
from zshash.web.state import ServerState

__all__ = ["add_facts", "add_sessions"]

INFO = {
    "name": "photos",
    "items": 180,
    "bits": 64,
    "method": "MTH",
    "extractor": "efficientnet-lite0",
    "version": "1.0",
    "generation": 3,
    "searches": {"picture": True, "name": True, "names": True, "features": 1280},
    "seen": [],
    "names": {},
    "examples": ["segway", "tabby cat"],
    "labels": [{"label": "beach", "name": "beach", "items": 30, "seen": True}],
    "n_labels": 1,
    "unlabelled": 150,
    "thumbnails": True,
    "writable": False,
    "authorised": True,
    "limits": {"bytes": 20971520, "pixels": 40000000, "k": 10000, "page": 200, "files": 16},
}
COUNTS = "zshash_items 180.0\n"


def add_facts(router: APIRouter, state: ServerState) -> None:
    """Add the routes about the collection and the server."""

    @router.get(
        "/healthz",
        response_model=answers.Health,
        responses=problems(),
        **named("getHealth", "Server", answer={"status": "ok"}, access="open"),
    )
    async def health() -> Response:
        """Whether the server runs."""
        return as_json(b'{"status":"ok"}')

    @router.get(
        "/metrics",
        response_class=Response,
        responses=problems()
        | {200: {"content": {"text/plain": {"schema": {"type": "string"}, "example": COUNTS}}}},
        **named("getMetrics", "Server"),
    )
    async def metrics() -> Response:
        """Counts of requests and their times, for Prometheus."""
        return Response(state.counts.text(), headers={"Content-Type": CONTENT_TYPE})

    @router.get(
        f"{API}/info",
        response_model=answers.Info,
        responses=problems(422),
        **named("getInfo", "Collection", answer=INFO, fresh=True),
    )
    async def info(request: Request) -> Response:
        """Facts about the collection and the server."""
        known = bool(request.scope["authorised"])
        answer = as_json(to_json(await state.filtering.run(state.served.info, known)))
        if not state.served.is_told_whole:
            answer.headers["Cache-Control"] = "no-store"
        return answer


def add_sessions(router: APIRouter, state: ServerState) -> None:
    """Add the routes that begin and end the sessions of browsers."""

    @router.post(
        f"{API}/session",
        status_code=204,
        responses=problems(),
        **named("openSession", "Session", access="open"),
    )
    async def log_in(request: Request) -> Response:
        """Begin a session: exchange the token for a cookie, for browsers.

        A session ends after 30 days without a request, with `DELETE /api/v1/session`, with the
        browser, and with the server.
        """
        answer = Response(status_code=204)
        if state.sessions is None:
            return answer
        if not request.scope["by_token"]:
            raise ApiError(401, "that is not the right token", {"WWW-Authenticate": "Bearer"})
        state.sessions.close(request.scope["session"])
        answer.set_cookie(
            state.settings.cookie,
            state.sessions.open(),
            httponly=True,
            samesite="strict",
            secure=is_encrypted(request.scope),
        )
        return answer

    @router.delete(
        f"{API}/session",
        status_code=204,
        responses=problems(),
        **named("closeSession", "Session", access="open"),
    )
    async def log_out(request: Request) -> Response:
        """End the session.

        Its cookie is worth nothing from now on, wherever it has been copied to.
        """
        answer = Response(status_code=204)
        if state.sessions is not None:
            state.sessions.close(request.scope["session"])
        answer.delete_cookie(state.settings.cookie, httponly=True, samesite="strict")
        return answer

    @router.delete(
        f"{API}/sessions",
        status_code=204,
        responses=problems(),
        **named("closeAllSessions", "Session", access="token"),
    )
    async def log_out_all() -> Response:
        """End the sessions of all browsers; this needs the token itself."""
        if state.sessions is not None:
            state.sessions.close_all()
        return Response(status_code=204)
