"""The ASGI application: its layers, the answers to errors, and the description of the API."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

import zshash
from zshash.web.answers import to_json
from zshash.web.bodies import explain
from zshash.web.counting import Meter
from zshash.web.errors import WRONG, ApiError, describe
from zshash.web.guard import Guard
from zshash.web.openapi import ABOUT, LICENSE, access, add_document, complete, routes_of
from zshash.web.routes import API, make_router
from zshash.web.settings import Settings
from zshash.web.shortcut import Shortcut
from zshash.web.state import ServerState

__all__ = ["create_app"]

SHORT = [("POST", f"{API}/search"), ("POST", f"{API}/search/batch")]  # around FastAPI


def create_app(folder: str | Path, settings: Settings | None = None) -> Any:
    """ASGI application that serves a collection.

    Parameters
    ----------
    folder : path-like
        Folder of the collection.
    settings : Settings, optional

    Returns
    -------
    ASGI application
        It closes the collection when its lifespan ends.

    Raises
    ------
    CollectionError
        If the folder holds no collection, or one that can not be used.
    """
    settings = settings or Settings()
    state = ServerState(Path(folder).absolute(), settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await anyio.to_thread.run_sync(state.close)

    app = FastAPI(
        title="zshash",
        summary="Search a collection of pictures by picture, by name and by code.",
        description=ABOUT,
        license_info=LICENSE,
        version=zshash.__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    router = make_router(state)
    app.include_router(router)
    _add_handlers(app, router, state.served.folders)
    add_document(app, complete(app, router, settings))
    shortcut = Shortcut(
        app, router, SHORT, lambda error: _answer(describe(error, state.served.folders))
    )
    rules = {(method, route.path): access(route, method) for route, method in routes_of(router)}
    guard = Guard(shortcut, settings, rules, state.sessions, state.failures)
    return Meter(guard, state.counts, state.log)


def _answer(error: ApiError) -> Response:
    more = {"suggestions": error.suggestions} if error.suggestions else {}
    body = to_json({"detail": error.detail} | more)
    return Response(body, error.status, error.headers, media_type="application/json")


def _add_handlers(app: FastAPI, router: APIRouter, folders: Sequence[Path]) -> None:
    async def wrong(_: Request, error: Exception) -> Response:
        return _answer(describe(error, folders))

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _answer(ApiError(422, explain(error.errors())))

    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        text = {404: "there is nothing here", 405: "this address does not take this method"}
        detail, headers = text.get(error.status_code, str(error.detail)), dict(error.headers or {})
        if error.status_code == 405:  # several routes may have the path, and the error names one
            headers["Allow"] = ", ".join(_methods(router, request.url.path)) or headers["Allow"]
        return _answer(ApiError(error.status_code, detail, headers))

    for kind in (ApiError, *WRONG):
        app.add_exception_handler(kind, wrong)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, unknown)


def _methods(router: APIRouter, path: str) -> list[str]:
    """Methods that some route has for a path."""
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    own = [route for route in routes if route.path == path]  # it may also look like that of an item
    fitting = own or [route for route in routes if route.path_regex.match(path)]
    found = [route.methods or set() for route in fitting if route.include_in_schema]
    known = {method for methods in found for method in methods}
    return sorted(known | ({"HEAD"} if "GET" in known else set()))
