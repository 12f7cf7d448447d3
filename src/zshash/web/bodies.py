"""Bodies of requests: read within limits of size and time, and told apart by their types."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from zshash.web.errors import ApiError
from zshash.web.queries import BodyQuery, SearchParameters
from zshash.web.settings import Settings

__all__ = ["Body", "explain", "read_search", "read_upload", "room"]

SLACK = 2**20  # bytes of a form besides its files
MOST_JSON = 4 * 2**20
MOST_FIELDS = 256
MOST_LETTERS = 1000  # of a label
CHARSETS = ("", "utf-8", "utf8", "us-ascii")
SEVERAL = ("label",)  # parameters that may be given more than once
TYPES = "multipart/form-data, image/*, application/octet-stream or application/json"


class Body(NamedTuple):
    """What a search asks for: one of picture, features and query, and how to search."""

    parameters: SearchParameters
    picture: bytes | None = None
    features: NDArray[np.float32] | None = None
    query: BodyQuery | None = None


async def read_search(request: Request, settings: Settings) -> Body:
    """The body of a search, whatever its type."""
    kind = _type(request)
    if kind == "application/json":
        content = await _read(request, MOST_JSON, settings.seconds)
        query = _parsed_json(content, request)
        features = query.features
        vector = None if features is None else as_vector(features)
        return Body(query, features=vector, query=None if features else query)
    if kind == "multipart/form-data":
        form = await _read_form(request, settings.bytes, 1, settings.seconds)
        try:
            files = await _files(form, settings.bytes)
            if len(files) != 1:
                raise ApiError(422, "picture: a form has exactly one file under this name")
            fields = [(name, value) for name, value in form.multi_items() if name != "picture"]
            given = [*request.query_params.multi_items(), *fields]
            return Body(_parsed(given), picture=files[0][1])
        finally:
            await form.close()
    if kind.startswith("image/"):
        content = await _read(request, settings.bytes, settings.seconds)
        return Body(_parsed(request.query_params.multi_items()), picture=content)
    if kind == "application/octet-stream":
        content = await _read(request, MOST_JSON, settings.seconds)
        if len(content) % 4:
            raise ApiError(422, "features are float32, four bytes each")
        vector = np.frombuffer(content, dtype="<f4").astype(np.float32, copy=False)
        return Body(_parsed(request.query_params.multi_items()), features=vector)
    raise ApiError(415, f"a search has a body of type {TYPES}, not {kind or 'none'}")


async def read_upload(
    request: Request, settings: Settings, most: int
) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Names and contents of files that were sent, and the labels that go with them."""
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
        raise ApiError(422, "picture: a form has at least one file under this name")
    if any(len(label) > MOST_LETTERS for label in labels):
        raise ApiError(422, f"label: a label has at most {MOST_LETTERS} characters")
    return files, [label.strip() for label in labels if label.strip()]


def as_vector(features: list[float]) -> NDArray[np.float32]:
    """Numbers as they are hashed; what float32 can not hold becomes infinity."""
    with np.errstate(over="ignore"):
        return np.array(features, dtype=np.float64).astype(np.float32)


def _type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _charset(request: Request) -> str:
    _, options = parse_options_header(request.headers.get("content-type"))
    return options.get(b"charset", b"").decode("latin-1").strip().lower()


def _parsed_json(content: bytes, request: Request) -> BodyQuery:
    if request.query_params:
        raise ApiError(422, "with JSON all parameters are in the body, none in the address")
    try:
        return BodyQuery.model_validate_json(content)
    except ValidationError as error:
        raise ApiError(422, explain(error.errors(include_context=False))) from None


def _parsed(given: Iterable[tuple[str, Any]]) -> SearchParameters:
    values: dict[str, Any] = {}
    for name, value in given:
        if not isinstance(value, str):
            raise ApiError(422, f"{name}: there is a file where a text is wanted")
        if name in SEVERAL:
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    try:
        return SearchParameters.model_validate(values)
    except ValidationError as error:
        raise ApiError(422, explain(error.errors(include_context=False))) from None


def explain(problems: Iterable[Any]) -> str:
    """What is wrong with parameters, in one sentence.

    >>> explain([{"loc": ("query", "k"), "msg": "Input should be a valid integer"}])
    'k: input should be a valid integer'
    """
    parts = []
    for problem in problems:
        steps = [str(step) for step in problem["loc"] if step not in ("query", "path")]
        place = ".".join(step if len(step) <= 50 else f"{step[:50]}…" for step in steps)
        text = str(problem["msg"]).removeprefix("Value error, ")
        if problem.get("type") == "string_pattern_mismatch":  # nobody wants to read the pattern
            text = "hexadecimal digits are wanted, two for each byte"
        text = text[:1].lower() + text[1:]
        parts.append(f"{place}: {text}" if place else text)
    return "; ".join(dict.fromkeys(parts[:5]))


async def _read(request: Request, most: int, seconds: float) -> bytes:
    """All of a body, or 413 or 408."""
    async with _in_time(seconds):
        parts = [part async for part in _limited(request, most)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _read_form(request: Request, most: int, files: int, seconds: float) -> FormData:
    """A form with files; large ones are on the disk meanwhile.

    It has to be UTF-8: some of Python's other encodings take minutes for a megabyte.
    """
    if _charset(request) not in CHARSETS:
        raise ApiError(415, "a form is in UTF-8")
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
        raise ApiError(422, f"a form that can not be read: {error.message}") from None
    except (KeyError, ValueError, HTTPException) as error:  # a header without its boundary
        raise ApiError(422, "a form that can not be read") from error


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
    """How many bytes a request says that it has."""
    length = request.headers.get("content-length", "")
    return int(length[:20]) if length.isascii() and length.isdigit() else otherwise


def room(request: Request, most: int) -> int:
    """How many bytes to keep free for a body: what it announces, or all that it may have."""
    size = announced(request, most)
    if size > most + SLACK:
        raise _too_large(most)
    return size


def _too_large(most: int) -> ApiError:
    return ApiError(413, f"more than {most} bytes, which is the limit", {"Connection": "close"})


async def _files(form: FormData, most: int) -> list[tuple[str, bytes]]:
    """Files under the name `picture`, each within the limit."""
    files = []
    for value in form.getlist("picture"):
        if not isinstance(value, UploadFile):
            raise ApiError(422, "picture: a file is wanted")
        if value.size is not None and value.size > most:
            raise _too_large(most)
        files.append((_name(value.filename), await value.read()))
    return files


def _name(name: str | None) -> str:
    """The last part of a file's name, as a text that can be stored."""
    last = (name or "").replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in last if letter.isprintable())[:200]
