"""The application: routes, what becomes of errors, and the description of the API."""

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
from zshash.web.api import body_schema, make_router
from zshash.web.bodies import explain
from zshash.web.counting import Meter
from zshash.web.errors import WRONG, ApiError, describe
from zshash.web.express import Express
from zshash.web.guard import Guard
from zshash.web.server import Server
from zshash.web.settings import Settings

__all__ = ["create_app"]

SHORT = [("POST", "/api/search")]
OWN = ("name", "id", "code")  # parameters that a body takes the place of


def create_app(folder: str | Path, settings: Settings | None = None) -> Any:
    """A collection as an ASGI application.

    Parameters
    ----------
    folder : path-like
        Of the collection.
    settings : Settings, optional

    Returns
    -------
    ASGI application
        Its state ends with the lifespan of the application.

    Raises
    ------
    CollectionError
        If there is no collection, or it can not be used.
    """
    settings = settings or Settings()
    server = Server(Path(folder).absolute(), settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await anyio.to_thread.run_sync(server.close)

    app = FastAPI(
        title="zshash",
        summary="Search a collection of pictures by picture, by name and by code.",
        version=zshash.__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    router = make_router(server)
    app.include_router(router)
    _add_handlers(app, router, server.service.folders)
    _complete(app)
    express = Express(
        app, router, SHORT, lambda error: _answer(describe(error, server.service.folders))
    )
    return Meter(Guard(express, settings), server.counts)


def _answer(error: ApiError) -> Response:
    body = to_json({"detail": error.detail})
    return Response(body, error.status, error.headers, media_type="application/json")


def _add_handlers(app: FastAPI, router: APIRouter, folders: Sequence[Path]) -> None:
    async def wrong(_: Request, error: Exception) -> Response:
        return _answer(describe(error, folders))

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _answer(ApiError(422, explain(error.errors())))

    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        text = {404: "there is nothing here", 405: "this method has no meaning here"}
        detail, headers = text.get(error.status_code, str(error.detail)), dict(error.headers or {})
        if error.status_code == 405:  # by several routes, and the error knows one of them
            headers["Allow"] = ", ".join(_methods(router, request.url.path)) or headers["Allow"]
        return _answer(ApiError(error.status_code, detail, headers))

    for kind in (ApiError, *WRONG):
        app.add_exception_handler(kind, wrong)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, unknown)


def _methods(router: APIRouter, path: str) -> list[str]:
    """What may be done with an address."""
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    found = [route.methods or set() for route in routes if route.path_regex.match(path)]
    return sorted(method for methods in found for method in methods)


def _complete(app: FastAPI) -> None:
    """Describe what FastAPI can not know: bodies that are told apart by their types."""
    description = app.openapi()
    schemas = description["components"]["schemas"]
    schemas["BodyQuery"] = body_schema()
    search = description["paths"]["/api/search"]
    search["post"]["parameters"] = [
        parameter for parameter in search["get"]["parameters"] if parameter["name"] not in OWN
    ]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
