"""Parameters of requests, checked before any work is done."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from zshash.collection import Query as Wanted
from zshash.collection.operations.where import parse

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
Model = Annotated[
    str,
    Field(
        pattern="^[0-9a-f]{8,64}$",
        description="The model that made the code, as in `query.model` of an answer: if the "
        "collection has another model now, the code is refused.",
    ),
]
Label = Annotated[str, Field(min_length=1, max_length=1000)]


class Query(BaseModel):
    """Base of all queries: refuses unknown parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ItemsQuery(Query):
    """A list of items: which ones, and which page."""

    label: list[Label] = Field(
        default=[], max_length=100, description="Only items that have one of these labels."
    )
    where: str | None = Field(
        default=None,
        min_length=1,
        max_length=10_000,
        description="Only items that meet this condition, such as label = 'cat' and year > 2015.",
    )
    offset: int = Field(
        default=0, ge=0, le=LARGEST_ID, description="How many items come before the page."
    )
    limit: int = Field(default=60, ge=1, le=MOST_LIMIT, description="How many items a page has.")


class SearchParameters(ItemsQuery):
    """Parameters of every search, without what is searched for."""

    k: int = Field(
        default=60, ge=1, le=MOST_K, description="How many items to find, on all pages together."
    )
    radius: int | None = Field(
        default=None, ge=0, le=1024, description="Only items within this Hamming distance."
    )
    distance: Literal["real", "bits"] | None = Field(
        default=None,
        description="What of a picture or of features is compared with the codes of the items: "
        "its real values (real, the default) or its bits (bits, the default with a radius). An id "
        "or a code has bits only, so both give the same.",
    )

    @model_validator(mode="after")
    def _check_distance(self) -> Self:
        if self.distance == "real" and self.radius is not None:
            raise ValueError(
                "a radius is a number of bits: leave it out, or search with distance=bits"
            )
        return self

    def query(self, **given: Any) -> Wanted:
        """Query of the collection for what is given, with these parameters."""
        return Wanted(
            **given,
            k=self.limit,
            radius=self.radius,
            offset=self.offset,
            distance=self.distance,
            most=self.k,
        )


class SearchQuery(SearchParameters):
    """A search by exactly one of name, id and code."""

    name: Name | None = None
    id: Id | None = None
    code: Code | None = None
    model: Model | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_one(self, self.kinds())
        if self.name is not None and self.radius is not None:
            raise ValueError("a name is searched for by score, so there is no radius")
        if self.name is not None and self.distance is not None:
            raise ValueError("a name is searched for by a score of its own: leave distance out")
        _check_model(self)
        return self

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """Parameters that say what is searched for; a search has exactly one of them."""
        return ("name", "id", "code")


class BodyQuery(SearchQuery):
    """A search by exactly one of name, id, code and features."""

    features: list[float] | None = Field(
        default=None,
        min_length=1,
        max_length=100_000,
        description="Features of a picture, computed by the network of the collection.",
    )

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """Parameters that say what is searched for; a search has exactly one of them."""
        return ("name", "id", "code", "features")


class WhyQuery(Query):
    """What to explain: exactly one of name, id and code."""

    name: Name | None = None
    id: Id | None = None
    code: Code | None = None
    model: Model | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_one(self, ("name", "id", "code"))
        _check_model(self)
        return self


def _check_one(query: Any, names: tuple[str, ...]) -> None:
    if sum(getattr(query, name) is not None for name in names) != 1:
        raise ValueError(f"give exactly one of {', '.join(names)}")


def _check_model(query: Any) -> None:
    if query.model is not None and query.code is None:
        raise ValueError("model: only a code has a model")


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
        parse(query.where)  # parsed alone, so that it can not close the brackets around it
        parts.append(f"({query.where})" if parts else query.where)
    return " and ".join(parts) or None
