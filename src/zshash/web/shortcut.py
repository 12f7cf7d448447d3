"""A shortcut around FastAPI for the routes that must be fastest.

FastAPI's work for a request (five layers, the list of routes, parameters) takes about as long as a
search. A route on the shortcut is found by its method and path alone and reads its request itself.
FastAPI still describes it in the OpenAPI document.
"""

from collections.abc import Callable

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from zshash.web.errors import WRONG, ApiError
from zshash.web.guard import App, Receive, Scope, Send

__all__ = ["Shortcut"]


class Shortcut:
    """ASGI layer that calls some routes directly and leaves all others to the application.

    Parameters
    ----------
    app : ASGI application
        Handles all other routes.
    router : APIRouter
        Router with all routes.
    routes : list of pairs of method and path
        Routes to call directly; their functions take the request and nothing else.
    answer : callable
        Turns an exception into a response.
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
