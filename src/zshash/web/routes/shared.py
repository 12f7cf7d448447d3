"""What routes share: their prefix, the errors in their descriptions, and forms of answers."""

from typing import Annotated, Any

from fastapi import Path, Response

from zshash.web import answers

__all__ = ["API", "BYTES", "Number", "as_json", "problems"]

API = "/api/v1"
Number = Annotated[int, Path(alias="id", ge=0, le=2**63 - 1, description="Id of an item.")]
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


def as_json(content: bytes, status: int = 200) -> Response:
    """Response with JSON that has been encoded already."""
    return Response(content, status, media_type="application/json")
