"""Checks of configurations; messages name the place of a mistake and the cure."""

from collections.abc import Mapping, Sequence
from typing import Any

from zshash.datasets import DataError
from zshash.evaluation.protocol import COMMON
from zshash.hashing.registry import METHODS

__all__ = [
    "check_method",
    "check_number",
    "check_parameters",
    "check_text",
    "checked",
    "refuse_unknown",
]

WORDS = {"data", "method", "extractor", "training", "pictures", "rule", "coder", "coding"}
FLAGS = {"in_turn", "unlabelled"}
LISTS = {"labels", "known_to", "unseen", "tags"}
LEAST = {"bits": 8, "radius": 0, "n_labelled": 0, "pool": 0, "n_seen_queries": 0, "reduced": 0}


def refuse_unknown(
    origin: str, given: Mapping[str, Any], known: Sequence[str] | Mapping[str, Any] | set[str]
) -> None:
    """Refuse unknown keys; the message lists the known ones."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        cure = f"use {', '.join(sorted(known))}" if known else "leave it out"
        raise DataError(f"{origin}: {unknown[0]!r} means nothing here: {cure}")


def checked(origin: str, key: str, value: Any) -> Any:
    """Check the type of a value and return it; lists become tuples."""
    if key == "parameters":
        if not isinstance(value, dict):
            raise DataError(f"{origin}: parameters must be a table")
        return value
    if key in WORDS:
        if not isinstance(value, str) or not value:
            raise DataError(f"{origin}: {key} is {value!r}, and must be a text")
        return value
    if key in FLAGS:
        if not isinstance(value, bool):
            raise DataError(f"{origin}: {key} is {value!r}, and must be true or false")
        return value
    if key in LISTS and isinstance(value, list):
        if not all(isinstance(item, str) for item in value):
            raise DataError(f"{origin}: {key} must be a list of texts")
        return tuple(value)
    if key in LISTS and (key != "unseen" or not isinstance(value, int)):
        also = " or a number of at least 1" if key == "unseen" else ""
        raise DataError(f"{origin}: {key} is {value!r}, and must be a list of texts{also}")
    check_number(origin, key, value, LEAST.get(key, 1))
    return value


def check_text(origin: str, key: str, value: Any) -> None:
    """Refuse a value that is no text."""
    if not isinstance(value, str):
        raise DataError(f"{origin}: {key} is {value!r}, and must be a text")


def check_number(origin: str, key: str, value: Any, least: int = 1) -> None:
    """Refuse a value that is no whole number, or too small."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise DataError(f"{origin}: {key} is {value!r}, and must be a number of at least {least}")


def check_method(origin: str, method: str) -> None:
    """Refuse the name of an unknown method."""
    if method not in METHODS:
        raise DataError(f"{origin}: {method!r} is no method: there are {', '.join(METHODS)}")


def check_parameters(origin: str, method: str, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that the method does not have, or that a task or the seed decides."""
    known = METHODS[method].parameters.keys() - {*COMMON}
    refuse_unknown(origin, parameters, known)
