"""A short way for the routes that matter most.

What FastAPI does for every request (five layers, the list of routes, parameters) takes about as
long as a search. A route on the short way is found by its address alone and reads its request
itself; it is described by FastAPI all the same.
"""

from collections.abc import Callable

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from zshash.web.errors import WRONG, ApiError
from zshash.web.guard import App, Receive, Scope, Send

__all__ = ["Express"]


class Express:
    """Calls some routes directly, and leaves the others to the application.

    Parameters
    ----------
    app : ASGI application
    router : APIRouter
        Of all routes.
    routes : pairs of method and path
        Those that only take the request.
    answer : callable
        Gives the answer to an error.
    """

    def __init__(
        self,
        app: App,
        router: APIRouter,
        routes: list[tuple[str, str]],
        answer: Callable[[Exception], Response],
    ) -> None:
        self._app, self._answer = app, answer
        self._short = {
            (method, route.path): route
            for route in router.routes
            if isinstance(route, APIRoute)
            for method in route.methods or ()
            if (method, route.path) in routes
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        route = self._short.get((scope.get("method", ""), scope.get("path", "")))
        if route is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = route
        try:
            response = await route.endpoint(Request(scope, receive))
        except (ApiError, *WRONG) as error:
            response = self._answer(error)
        await response(scope, receive, send)
