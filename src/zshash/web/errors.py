"""Errors of the API: each is an HTTP status and one sentence."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

from zshash._extras import MissingExtra
from zshash.collection.errors import BusyError, CollectionError, DamagedError, OtherModel
from zshash.index.milvus import MilvusError
from zshash.semantics import UnknownNames

__all__ = ["WRONG", "ApiError", "Busy", "describe"]

WRONG = (ValueError, TypeError, ArithmeticError, MissingExtra, MilvusError)
"""Errors that the package raises for an input it can not use or an index it can not reach."""
ABSENT = ("there is no item", "nothing is kept under the key")
SECONDS = 5  # Retry-After, where the index does not answer
log = logging.getLogger("zshash.web")


class ApiError(Exception):
    """An answer with an error status and a sentence that says what is wrong.

    Attributes
    ----------
    suggestions : dict of str to list of str
        Known names that look like each unknown name of a search, if there are any; empty for
        other errors.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        headers: dict[str, str] | None = None,
        suggestions: dict[str, list[str]] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers or {}
        self.suggestions = suggestions or {}


class Busy(ApiError):  # noqa: N818, reads better without Error
    """The answer 429: too many requests are waiting, or too many tokens were wrong."""

    def __init__(self, seconds: int = 1, why: str = "the server is busy") -> None:
        super().__init__(429, f"{why}: try again in {seconds} s", {"Retry-After": str(seconds)})


def describe(error: Exception, folders: Iterable[Path]) -> ApiError:
    """The answer to a request that raised an error; its text does not show `folders`."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, MilvusError) or isinstance(error.__cause__, MilvusError):
        return _unreachable(error)
    status = 422
    if isinstance(error, BusyError | OtherModel):
        status = 409
    elif isinstance(error, DamagedError):
        status = 500
    elif isinstance(error, CollectionError) and any(text in str(error) for text in ABSENT):
        status = 404
    text = str(error)
    for folder in folders:
        text = text.replace(f"{folder}: ", "").replace(f"{folder}{os.sep}", "")
    answer = ApiError(status, " ".join(text.split()) or type(error).__name__)
    for own in (error, error.__cause__):
        if isinstance(own, UnknownNames):
            answer.suggestions = {name: list(near) for name, near in own.suggestions.items()}
    return answer


def _unreachable(error: Exception) -> ApiError:
    """The answer where the index is on another server; clients do not see its address."""
    log.warning("%s", error)
    text = "the index of this collection does not answer: try again later"
    if isinstance(error, CollectionError):
        text = "what was written is safe, but the index does not answer: it gets the change later"
    return ApiError(503, text, {"Retry-After": str(SECONDS)})
