"""What clients order in a JSON body: changes to items, and exports; checked before any work."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from zshash.web.fields import LARGEST_ID, Query
from zshash.web.queries import Conditions

__all__ = [
    "MOST_IDS",
    "MOST_PICTURES",
    "DuplicatesQuery",
    "ExportOrder",
    "KeyOrder",
    "LabelOrder",
    "RemoveOrder",
    "RemoveQuery",
    "RestoreOrder",
    "body_of",
]

MOST_IDS = 10_000  # of one request
MOST_PICTURES = 500  # of one archive
Ids = Annotated[
    list[Annotated[int, Field(strict=True, ge=0, le=LARGEST_ID)]],
    Field(min_length=1, max_length=MOST_IDS, description="Ids of items."),
]
FOR_GOOD = (
    "Keep nothing: the removal can not be undone, and copies of pictures that the server has made "
    "are deleted at once."
)
Word = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, strict=True)
]


class RemoveOrder(Query):
    """Items to remove."""

    ids: Ids
    for_good: bool = Field(default=False, strict=True, description=FOR_GOOD)


class RemoveQuery(Query):
    """How an item is removed."""

    for_good: bool = Field(default=False, description=FOR_GOOD)


class RestoreOrder(Query):
    """A removal to undo."""

    undo: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        description="The key that the answer to the removal has in `undo`."
    )


class LabelOrder(Query):
    """Items, and what becomes of their labels."""

    ids: Ids
    label: Word | None = Field(description="A label; null takes all labels away.")
    how: Literal["set", "also", "without"] = Field(
        default="set",
        description="Whether the label takes the place of the labels that the items have (set), "
        "comes beside them (also), or is taken away from them (without).",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.label is None and self.how != "set":
            raise ValueError(f"label: say which one, because how is {self.how}")
        return self


class ExportOrder(Conditions):
    """Items to export, and in what form; without ids, label and where, all items."""

    form: Literal["csv", "json", "zip"] = Field(
        description="A table, the items as JSON, or an archive with the pictures and a table."
    )
    ids: Ids | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.ids is not None and (self.label or self.where is not None):
            raise ValueError("ids: give them alone, or label and where")
        return self


class DuplicatesQuery(Query):
    """Copies to review: of what kind, and which page."""

    level: Literal["same", "alike"] = Field(
        default="same",
        description="Copies of one picture (same), or items whose codes differ in a few bits "
        "(alike), which are often different pictures.",
    )
    offset: int = Field(default=0, ge=0, le=LARGEST_ID, description="Groups before the page.")
    limit: int = Field(default=20, ge=1, le=100, description="How many groups a page has.")


class KeyOrder(Query):
    """A group of copies."""

    key: Annotated[str, Field(pattern="^[0-9a-f]{16}$", strict=True, description="Its `key`.")]


def body_of(order: type[Query]) -> dict[str, Any]:
    """Description of a body that holds an order, for the OpenAPI document."""
    content = {"application/json": {"schema": order.model_json_schema()}}
    return {"required": True, "content": content}
