"""Bodies of requests: read within limits of size and time, and parsed by their content type."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, QueryParams, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from zshash.web.errors import ApiError
from zshash.web.fields import Query
from zshash.web.queries import BodyQuery, SearchParameters
from zshash.web.settings import Settings

__all__ = [
    "IN_BODY",
    "MOST_BATCH",
    "Body",
    "explain",
    "parsed",
    "read_batch",
    "read_order",
    "read_search",
    "read_upload",
    "room",
]

SHORT = 200  # bytes of a query string whose parameters are kept for the next request
SLACK = 2**20  # bytes of a form besides its files
MOST_JSON = 4 * 2**20
MOST_BATCH = 16 * 2**20
MOST_FIELDS = 256
MOST_LETTERS = 1000  # characters of a label
CHARSETS = ("", "utf-8", "utf8", "us-ascii")
IN_BODY = "with JSON all parameters are in the body, none in the query string"
TAGS = ("text", "numbers")  # the two forms of real values
SEVERAL = ("label", "name", "without")  # parameters that may be given more than once
BASE64 = "must be base64url without padding, of a float16 for each bit"
TYPES = "multipart/form-data, image/*, application/octet-stream or application/json"


Order = TypeVar("Order", bound=Query)


class Body(NamedTuple):
    """Body of a search: its parameters, and one of picture, features and query."""

    parameters: SearchParameters
    picture: bytes | None = None
    features: NDArray[np.float32] | None = None
    query: BodyQuery | None = None


async def read_batch(request: Request, settings: Settings) -> tuple[str, bytes]:
    """Content type and content of a batch of searches."""
    kind = _type(request)
    if kind not in ("application/json", "application/octet-stream"):
        raise ApiError(
            415,
            "a batch has a body of type application/json or application/octet-stream, "
            f"not {kind or 'none'}",
        )
    return kind, await _read(request, MOST_BATCH, settings.seconds)


async def read_search(request: Request, settings: Settings) -> Body:
    """Read the body of a search, of any content type."""
    kind = _type(request)
    if kind == "application/json":
        content = await _read(request, MOST_JSON, settings.seconds)
        query = _parsed_json(content, request, BodyQuery)
        features = query.features
        vector = None if features is None else as_vector(features)
        return Body(query, features=vector, query=None if features else query)
    if kind == "multipart/form-data":
        form = await _read_form(request, settings.bytes, 1, settings.seconds)
        try:
            files = await _files(form, settings.bytes)
            if len(files) != 1:
                raise ApiError(422, "picture: a form must have exactly one file in this field")
            fields = [(name, value) for name, value in form.multi_items() if name != "picture"]
            given = [*request.query_params.multi_items(), *fields]
            return Body(_parsed(given, SearchParameters), picture=files[0][1])
        finally:
            await form.close()
    if kind.startswith("image/"):
        content = await _read(request, settings.bytes, settings.seconds)
        return Body(parsed(request, SearchParameters), picture=content)
    if kind == "application/octet-stream":
        content = await _read(request, MOST_JSON, settings.seconds)
        if len(content) % 4:
            raise ApiError(422, "features are float32, four bytes each")
        vector = np.frombuffer(content, dtype="<f4").astype(np.float32, copy=False)
        return Body(parsed(request, SearchParameters), features=vector)
    raise ApiError(415, f"a search has a body of type {TYPES}, not {kind or 'none'}")


async def read_upload(
    request: Request, settings: Settings, most: int
) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Read the body of an upload: names and contents of its files, and labels for all of them."""
    if _type(request) != "multipart/form-data":
        raise ApiError(415, "pictures are sent as multipart/form-data")
    form = await _read_form(request, settings.bytes * most, most, settings.seconds * 4)
    try:
        files = await _files(form, settings.bytes)
        others = {name for name, _ in form.multi_items()} - {"picture", "label"}
        labels = [label for label in form.getlist("label") if isinstance(label, str)]
    finally:
        await form.close()
    if others:
        raise ApiError(422, f"{min(others)}: a form has fields picture and label only")
    if not files:
        raise ApiError(422, "picture: a form must have at least one file in this field")
    if any(len(label) > MOST_LETTERS for label in labels):
        raise ApiError(422, f"label: a label has at most {MOST_LETTERS} characters")
    return files, [label.strip() for label in labels if label.strip()]


async def read_order(request: Request, kind: type[Order], settings: Settings) -> Order:
    """Read a body in JSON that says what is to be done."""
    if _type(request) != "application/json":
        raise ApiError(415, "this request has a body of type application/json")
    return _parsed_json(await _read(request, MOST_JSON, settings.seconds), request, kind)


def as_vector(features: list[float]) -> NDArray[np.float32]:
    """Features as float32; numbers that are too large become infinity."""
    with np.errstate(over="ignore"):
        return np.array(features, dtype=np.float64).astype(np.float32)


def _type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _charset(request: Request) -> str:
    _, options = parse_options_header(request.headers.get("content-type"))
    return options.get(b"charset", b"").decode("latin-1").strip().lower()


def _parsed_json(content: bytes, request: Request, kind: type[Order]) -> Order:
    if request.query_params:
        raise ApiError(422, IN_BODY)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        raise ApiError(422, explain(error.errors(include_context=False))) from None


def parsed(request: Request, kind: type[Order]) -> Order:
    """Parameters in the query string of a request."""
    text = request.scope["query_string"]
    if len(text) > SHORT:
        return _parsed(request.query_params.multi_items(), kind)
    return _parsed_before(text, kind)  # type: ignore[no-any-return]


@lru_cache(maxsize=256)  # programs send the same parameters with each search
def _parsed_before(text: bytes, kind: type[Any]) -> Any:
    return _parsed(QueryParams(text).multi_items(), kind)


def _parsed(given: Iterable[tuple[str, Any]], kind: type[Order]) -> Order:
    values: dict[str, Any] = {}
    for name, value in given:
        if not isinstance(value, str):
            raise ApiError(422, f"{name}: this field must be a text, not a file")
        if name in SEVERAL:
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise ApiError(422, explain(error.errors(include_context=False))) from None


def explain(problems: Iterable[Any]) -> str:
    """One sentence that says what is wrong with parameters.

    >>> explain([{"loc": ("query", "k"), "msg": "Input should be a valid integer"}])
    'k: input should be a valid integer'
    """
    parts = []
    for problem in problems:
        steps = [str(step) for step in problem["loc"] if step not in ("query", "path")]
        steps = [step for step in steps if step not in TAGS]
        steps = steps[:1] if steps[:1] and steps[0] in SEVERAL else steps
        place = ".".join(step if len(step) <= 50 else f"{step[:50]}…" for step in steps)
        text = str(problem["msg"]).removeprefix("Value error, ")
        if problem.get("type") == "string_pattern_mismatch":  # plain words in place of the pattern
            is_code = "values" not in steps
            text = "must be hexadecimal digits, two for each byte" if is_code else BASE64
        elif problem.get("type") == "string_too_short":
            text = "must not be empty"
        elif problem.get("type") == "string_too_long":
            text = f"has at most {re.findall('[0-9]+', text)[0]} characters"
        elif problem.get("type") == "too_long":
            text = f"give at most {re.findall('[0-9]+', text)[0]} of them"
        text = text[:1].lower() + text[1:]
        parts.append(f"{place}: {text}" if place else text)
    return "; ".join(dict.fromkeys(parts[:5]))


async def _read(request: Request, most: int, seconds: float) -> bytes:
    """Read all of a body; 413 if it is too large, 408 if it takes too long."""
    async with _in_time(seconds):
        parts = [part async for part in _limited(request, most)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _read_form(request: Request, most: int, files: int, seconds: float) -> FormData:
    """Read a form with files; large files are kept on the disk, not in memory.

    Only UTF-8 is accepted: some of Python's other encodings take minutes for a megabyte.
    """
    if _charset(request) not in CHARSETS:
        raise ApiError(415, "a form must be in UTF-8")
    parser = MultiPartParser(
        request.headers,
        _limited(request, most + SLACK),
        max_files=files,
        max_fields=MOST_FIELDS,
        max_part_size=SLACK,
    )
    try:
        async with _in_time(seconds):
            return await parser.parse()
    except MultiPartException as error:
        raise ApiError(422, f"the form can not be read: {error.message}") from None
    except (KeyError, ValueError, HTTPException) as error:  # a header without its boundary
        raise ApiError(422, "the form can not be read") from error


@asynccontextmanager
async def _in_time(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise ApiError(408, f"the request took longer than {seconds:g} s to arrive") from None
    except ClientDisconnect:
        raise ApiError(400, "the client went away") from None


async def _limited(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    if announced(request, 0) > most:
        raise _too_large(most)
    total = 0
    async for part in request.stream():
        total += len(part)
        if total > most:
            raise _too_large(most)
        if part:
            yield part


def announced(request: Request, otherwise: int) -> int:
    """Number of bytes that a request announces; `otherwise` if it does not."""
    length = request.headers.get("content-length", "")
    return int(length[:20]) if length.isascii() and length.isdigit() else otherwise


def room(request: Request, most: int) -> int:
    """Bytes of memory to reserve for a body: its announced size, or `most` if it has none."""
    size = announced(request, most)
    if size > most + SLACK:
        raise _too_large(most)
    return size


def _too_large(most: int) -> ApiError:
    return ApiError(413, f"more than {most} bytes, which is the limit", {"Connection": "close"})


async def _files(form: FormData, most: int) -> list[tuple[str, bytes]]:
    """Names and contents of the files in the field `picture`; 413 if one is too large."""
    files = []
    for value in form.getlist("picture"):
        if not isinstance(value, UploadFile):
            raise ApiError(422, "picture: this field must be a file")
        if value.size is not None and value.size > most:
            raise _too_large(most)
        files.append((_name(value.filename), await value.read()))
    return files


def _name(name: str | None) -> str:
    """The last part of a file's name, without characters that can not be printed."""
    last = (name or "").replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in last if letter.isprintable())[:200]
