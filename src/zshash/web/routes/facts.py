"""Routes about the collection, the server and the session of a browser."""

from fastapi import APIRouter, Request, Response

from zshash.web import answers
from zshash.web.answers import to_json
from zshash.web.counting import CONTENT_TYPE
from zshash.web.errors import ApiError
from zshash.web.routes.shared import API, as_json, problems
from zshash.web.state import ServerState

__all__ = ["add_facts"]


def add_facts(router: APIRouter, state: ServerState) -> None:
    """Add the routes about the collection, the server and the session of a browser."""

    @router.get("/healthz", response_model=answers.Health, responses=problems())
    async def health() -> Response:
        """Whether the server runs."""
        return as_json(b'{"status":"ok"}')

    @router.get(
        "/metrics",
        response_class=Response,
        responses=problems() | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        """Counts of requests and their times, for Prometheus."""
        return Response(state.counts.text(), headers={"Content-Type": CONTENT_TYPE})

    @router.get(f"{API}/info", response_model=answers.Info, responses=problems(422))
    async def info(request: Request) -> Response:
        """Facts about the collection and the server."""
        known = bool(request.scope["authorised"])
        return as_json(to_json(await state.filtering.run(state.served.info, known)))

    @router.post(f"{API}/session", status_code=204, responses=problems())
    async def log_in(request: Request) -> Response:
        """Exchange the token for a cookie, for browsers."""
        settings = state.settings
        if settings.token is not None and not request.scope["by_token"]:
            raise ApiError(401, "that is not the right token", {"WWW-Authenticate": "Bearer"})
        answer = Response(status_code=204)
        if settings.token is not None:
            is_secure = request.url.scheme == "https"
            answer.set_cookie(
                settings.cookie,
                settings.cookie_value,
                httponly=True,
                samesite="strict",
                secure=is_secure,
            )
        return answer

    @router.delete(f"{API}/session", status_code=204, responses=problems())
    async def log_out() -> Response:
        """Delete the cookie."""
        answer = Response(status_code=204)
        answer.delete_cookie(state.settings.cookie, httponly=True, samesite="strict")
        return answer
