"""What goes wrong, as status and sentence."""

import os
from collections.abc import Iterable
from pathlib import Path

from zshash._extras import MissingExtra
from zshash.collection.errors import BusyError, CollectionError, DamagedError

__all__ = ["WRONG", "ApiError", "Busy", "describe"]

WRONG = (ValueError, TypeError, ArithmeticError, MissingExtra)
"""What the rest of the package raises where an input can not be used."""


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
