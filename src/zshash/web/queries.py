"""What clients may ask for, checked before any work is done."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from zshash.collection import Page
from zshash.collection.where import parse

__all__ = [
    "MOST_K",
    "MOST_LIMIT",
    "BodyQuery",
    "ItemsQuery",
    "SearchParameters",
    "SearchQuery",
    "WhyQuery",
    "condition",
]

MOST_K, MOST_LIMIT = 10_000, 200
LARGEST_ID = 2**63 - 1
Id = Annotated[int, Field(ge=0, le=LARGEST_ID, description="Id of an item.")]
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    Field(description="Name of a category, seen or never seen."),
]
Code = Annotated[
    str,
    Field(pattern="^([0-9a-fA-F]{2}){1,128}$", description="A packed code in hexadecimal digits."),
]
Label = Annotated[str, Field(min_length=1, max_length=1000)]


class Query(BaseModel):
    """What all questions have in common: unknown parameters are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ItemsQuery(Query):
    """Some of the items, by condition and page."""

    label: list[Label] = Field(
        default=[], max_length=100, description="Only items that have one of these labels."
    )
    where: str | None = Field(
        default=None,
        min_length=1,
        max_length=10_000,
        description="Only items that meet this condition, such as label = 'cat' and year > 2015.",
    )
    offset: int = Field(default=0, ge=0, le=LARGEST_ID, description="Where the page begins.")
    limit: int = Field(default=60, ge=1, le=MOST_LIMIT, description="How many a page has.")


class SearchParameters(ItemsQuery):
    """How to search, whatever for."""

    k: int = Field(default=60, ge=1, le=MOST_K, description="How many items to find, on all pages.")
    radius: int | None = Field(
        default=None, ge=0, le=1024, description="Only items within this Hamming distance."
    )
    distance: Literal["hamming", "asymmetric"] = Field(
        default="hamming",
        description="Whether the bits of a picture or of features are compared with those of the "
        "items, or, as an asymmetric distance, the real values before they became bits.",
    )

    @model_validator(mode="after")
    def _check_distance(self) -> Self:
        if self.is_asymmetric and self.radius is not None:
            raise ValueError(
                "a radius is a number of bits: leave it out, or search with distance=hamming"
            )
        return self

    @property
    def is_asymmetric(self) -> bool:
        """Whether real values are compared with bits."""
        return self.distance == "asymmetric"

    @property
    def page(self) -> Page:
        """The page that is wanted."""
        return Page(self.k, self.radius, self.offset, self.limit)


class SearchQuery(SearchParameters):
    """A search by exactly one of name, id and code."""

    name: Name | None = None
    id: Id | None = None
    code: Code | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_one(self, self.kinds())
        if self.name is not None and self.radius is not None:
            raise ValueError("a name is searched for by score, so there is no radius")
        if self.is_asymmetric and any(given is not None for given in (self.id, self.code)):
            raise ValueError(
                "an item or a code is known by its bits alone: for an asymmetric distance send a "
                "picture or features, or search with distance=hamming"
            )
        if self.is_asymmetric and self.name is not None:
            raise ValueError("a name is searched for by a score of its own: leave distance out")
        return self

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """What can be searched for."""
        return ("name", "id", "code")


class BodyQuery(SearchQuery):
    """A search by exactly one of name, id, code and features."""

    features: list[float] | None = Field(
        default=None,
        min_length=1,
        max_length=100_000,
        description="Features of a picture, as the network of the collection gives them.",
    )

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """What can be searched for."""
        return ("name", "id", "code", "features")


class WhyQuery(Query):
    """What is to be explained: exactly one of name, id and code."""

    name: Name | None = None
    id: Id | None = None
    code: Code | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_one(self, ("name", "id", "code"))
        return self


def _check_one(query: Any, names: tuple[str, ...]) -> None:
    if sum(getattr(query, name) is not None for name in names) != 1:
        raise ValueError(f"give exactly one of {', '.join(names)}")


def condition(query: ItemsQuery) -> str | None:
    """Labels and condition as one condition.

    >>> condition(ItemsQuery(label=["cat", "it's"], where="year > 2015"))
    "label in ('cat', 'it''s') and (year > 2015)"
    """
    parts = []
    if query.label:
        quoted = ["'" + label.replace("'", "''") + "'" for label in query.label]
        parts.append(f"label in ({', '.join(quoted)})")
    if query.where is not None:
        parse(query.where)  # by itself, so that it can not reach beyond its brackets
        parts.append(f"({query.where})" if parts else query.where)
    return " and ".join(parts) or None
