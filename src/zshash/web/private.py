"""What clients do not see unless the server was started to show it: paths and places."""

from typing import Any

from zshash.collection.operations.where import named_fields
from zshash.images.exif import PLACE
from zshash.web.errors import ApiError
from zshash.web.settings import Settings

__all__ = ["check_condition", "shown"]


def check_condition(where: str, settings: Settings) -> None:
    """Refuse a condition on fields that clients do not see: its results would tell their values.

    Raises
    ------
    ApiError
        If the condition looks at such a field.
    WhereError
        If the text is not a condition.
    """
    fields = named_fields(where)
    if not settings.paths and ["path"] in fields:
        raise _refusal("path", "paths")
    for name in (name for names in fields for name in names):
        if not settings.places and _is_place(name):
            raise _refusal(name.lower(), "places")


def _refusal(field: str, what: str) -> ApiError:
    text = f"where: {field} can not be used: this server was not started to show {what}"
    return ApiError(422, text)


def shown(metadata: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Metadata of an item as clients see it."""
    return metadata if settings.places else dict(_without_places(metadata))


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_places(own) for key, own in value.items() if not _is_place(key)}
    return [_without_places(own) for own in value] if isinstance(value, list) else value


def _is_place(name: str) -> bool:
    return name.lower() in PLACE
