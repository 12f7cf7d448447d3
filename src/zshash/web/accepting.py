"""Which form of an answer a client asks for, by its header `Accept`."""

from starlette.requests import Request

__all__ = ["JSON", "LINES", "PACKED", "wanted"]

JSON, LINES, PACKED = "application/json", "application/x-ndjson", "application/octet-stream"


def wanted(request: Request, *kinds: str) -> str:
    """The one of some content types that a client likes best; the first one where it does not say.

    A type must be named in full: `*/*` stands for the first one.
    """
    liked = dict(map(_weighed, request.headers.get("accept", "").split(",")))
    return max(kinds, key=lambda kind: liked.get(kind, 0.0))


def _weighed(part: str) -> tuple[str, float]:
    """A content type, and how much it is liked.

    >>> _weighed(" text/html;q=0.5"), _weighed("*/*")
    (('text/html', 0.5), ('*/*', 1.0))
    """
    kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for name, _, value in (parameter.partition("=") for parameter in parameters):
        if name == "q":
            try:
                return kind, float(value)
            except ValueError:
                return kind, 0.0
    return kind, 1.0
