"""What routes share: their prefix, their descriptions, and forms of answers."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Response
from pydantic import BaseModel

from zshash.web import answers
from zshash.web.freshness import NOTES

__all__ = [
    "API",
    "BYTES",
    "NOTES",
    "Number",
    "as_json",
    "named",
    "only_post",
    "parameters_of",
    "problems",
]

API = "/api/v1"
Number = Annotated[int, Path(alias="id", ge=0, le=2**63 - 1, description="Id of an item.")]
Tag = Literal["Searching", "Items", "Changes", "Review", "Map", "Collection", "Session", "Server"]
REASONS = {
    400: "The client went away.",
    401: "The token is missing or wrong.",
    403: "The server only reads, or the request is from a foreign page.",
    404: "There is no such item.",
    405: "This address does not take this method.",
    408: "The request took too long to arrive.",
    409: "Another program is writing to the collection, or another model made the code.",
    413: "More bytes than the server accepts.",
    415: "A content type that the server does not accept.",
    422: "A value that can not be used.",
    429: "Busy: try again after as many seconds as Retry-After says.",
    503: "The server is being stopped, or the index in Milvus does not answer.",
}
BYTES = {"schema": {"type": "string", "format": "binary"}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Error answers of a route, for its description."""
    wanted = sorted({401, 403, 429, 503, *statuses})
    return {status: {"model": answers.Problem, "description": REASONS[status]} for status in wanted}


def named(
    operation: str,
    tag: Tag,
    *,
    asks: dict[str, Any] | None = None,
    body: Any = None,
    answer: Any = None,
    access: Literal["open", "read", "write", "token"] | None = None,
    fresh: bool = False,
    **extra: Any,
) -> dict[str, Any]:
    """Keywords of a route that name and describe its operation.

    Parameters
    ----------
    operation : str
        Name that clients build on, such as "searchByPicture"; it never changes.
    tag : str
        Group of operations that it belongs to.
    asks : dict, optional
        Example value of each parameter worth showing.
    body : optional
        Example of a body in JSON; `curl` of `extra` shows a body that is not JSON.
    answer : optional
        Example of the answer in JSON.
    access : {"open", "read", "write", "token"}, optional
        Who may call it: everybody, all readers, those who may change the collection, or those with
        the token itself. Default: "read" for GET, "write" for the other methods.
    fresh : bool
        Whether the answer depends on the address, the collection and the settings alone. It then
        has an ETag, and a client that has it already is answered without any work.
    **extra
        Parts of the description in OpenAPI, such as `requestBody`.

    Examples
    --------
    >>> named("getItem", "Items", asks={"id": 12}, fresh=True)["operation_id"]
    'getItem'
    """
    notes = {"asks": asks or {}, "body": body, "answer": answer, "access": access, "fresh": fresh}
    return {"operation_id": operation, "tags": [tag], "openapi_extra": {**extra, NOTES: notes}}


def parameters_of(query: type[BaseModel]) -> list[dict[str, Any]]:
    """Parameters in a query string, for the description of a route that reads them itself."""
    schema = query.model_json_schema()
    return [
        {"name": name, "in": "query", "required": False, "schema": own}
        for name, own in schema["properties"].items()
    ]


def as_json(content: bytes, status: int = 200) -> Response:
    """Response with JSON that has been encoded already."""
    return Response(content, status, media_type="application/json")


def only_post(router: APIRouter, path: str) -> None:
    """Refuse other methods at a path that looks like that of an item: `items/remove`."""

    @router.api_route(path, methods=["GET", "HEAD", "DELETE"], include_in_schema=False)
    async def refuse() -> None:
        raise HTTPException(405, headers={"Allow": "POST"})
