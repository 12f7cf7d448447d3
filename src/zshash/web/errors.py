"""What goes wrong, as status and sentence."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

from zshash._extras import MissingExtra
from zshash.collection.errors import BusyError, CollectionError, DamagedError
from zshash.index.milvus import MilvusError

__all__ = ["WRONG", "ApiError", "Busy", "describe"]

WRONG = (ValueError, TypeError, ArithmeticError, MissingExtra, MilvusError)
"""What the rest of the package raises where an input can not be used, or an index not reached."""
SECONDS = 5  # until an index that does not answer is worth another try
log = logging.getLogger("zshash.web")


class ApiError(Exception):
    """An answer other than the one that was asked for."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers or {}


class Busy(ApiError):  # noqa: N818, reads like what it says
    """More work than there is room for."""

    def __init__(self, seconds: int = 1) -> None:
        text = f"the server is busy: try again in {seconds} s"
        super().__init__(429, text, {"Retry-After": str(seconds)})


def describe(error: Exception, folders: Iterable[Path]) -> ApiError:
    """The answer to a request that could not be met; it tells nothing of the server's disk."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, MilvusError) or isinstance(error.__cause__, MilvusError):
        return _unreachable(error)
    status = 422
    if isinstance(error, BusyError):
        status = 409
    elif isinstance(error, DamagedError):
        status = 500
    elif isinstance(error, CollectionError) and "there is no item" in str(error):
        status = 404
    text = str(error)
    for folder in folders:
        text = text.replace(f"{folder}: ", "").replace(f"{folder}{os.sep}", "")
    return ApiError(status, " ".join(text.split()) or type(error).__name__)


def _unreachable(error: Exception) -> ApiError:
    """The answer where the index is on another server, which clients need not know of."""
    log.warning("%s", error)
    text = "the index of this collection does not answer: try again later"
    if isinstance(error, CollectionError):
        text = "what was written is safe, but the index does not answer: it is taken over later"
    return ApiError(503, text, {"Retry-After": str(SECONDS)})
