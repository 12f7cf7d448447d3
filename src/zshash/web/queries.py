"""Parameters of requests, checked before any work is done."""

from typing import Any, NamedTuple, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from zshash.codes import values_of_text
from zshash.collection import Query as Wanted
from zshash.collection.operations.where import parse
from zshash.web.fields import (
    LARGEST_ID,
    MOST_K,
    MOST_LETTERS,
    MOST_LIMIT,
    MOST_NAMES,
    Code,
    Distance,
    Features,
    Id,
    Label,
    Model,
    Name,
    Query,
    Radius,
    TextOrNumbers,
    Values,
)

__all__ = [
    "BodyQuery",
    "Conditions",
    "ItemsQuery",
    "NamesQuery",
    "Question",
    "SearchParameters",
    "SearchQuery",
    "WhyQuery",
    "condition",
]

MOST_WEIGHT = 1000  # of a name
BESIDE = ("features", "values")  # what names can be searched for together with


class Conditions(Query):
    """Which items count."""

    label: list[Label] = Field(
        default=[], max_length=100, description="Only items that have one of these labels."
    )
    where: str | None = Field(
        default=None,
        min_length=1,
        max_length=10_000,
        description="Only items that meet this condition, such as label = 'cat' and year > 2015.",
    )


class ItemsQuery(Conditions):
    """A list of items: which ones, and which page."""

    offset: int = Field(
        default=0, ge=0, le=LARGEST_ID, description="How many items come before the page."
    )
    limit: int = Field(default=60, ge=1, le=MOST_LIMIT, description="How many items a page has.")


class SearchParameters(ItemsQuery):
    """Parameters of every search: names, and everything but the picture, id, code or features."""

    name: list[Name] = Field(
        default=[],
        max_length=MOST_NAMES,
        description="Names of what pictures show. Several names are searched for together, also "
        "together with a picture or features, but not with an id or a code. `dog:2` counts twice. "
        "A collection takes several if its `searches.names` in /api/v1/info is true.",
        examples=[["crane (bird)"], ["dog:2", "beach"]],
    )
    without: list[Name] = Field(
        default=[],
        max_length=MOST_NAMES,
        description="Names of what is not wanted, beside something that is searched for.",
        examples=[["snow"]],
    )
    k: int = Field(
        default=60, ge=1, le=MOST_K, description="How many items to find, on all pages together."
    )
    radius: Radius | None = None
    distance: Distance | None = None

    @field_validator("name", "without", mode="before")
    @classmethod
    def _listed(cls, names: Any) -> Any:
        return [names] if isinstance(names, str) else names

    @property
    def words(self) -> dict[str, float]:
        """Names with their weights, which are negative for what is not wanted."""
        unwanted = {word: -abs(weight) for word, weight in map(_weighed, self.without)}
        return dict(map(_weighed, self.name)) | unwanted

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        words = self.words
        if any(not 0 < abs(weight) <= MOST_WEIGHT for weight in words.values()):
            raise ValueError(
                f"name: the weight of a name is a number from {-MOST_WEIGHT} to {MOST_WEIGHT}, "
                "and not 0"
            )
        unwanted = {word for word, _ in map(_weighed, self.without)}
        twice = [word for word, _ in map(_weighed, self.name) if word in unwanted]
        if twice:
            raise ValueError(f"without: {twice[0]!r} is also a name that is searched for")
        if words and self.radius is not None:
            raise ValueError("a name is searched for by score, so there is no radius")
        if words and self.distance is not None:
            raise ValueError("a name is searched for by a score of its own: leave distance out")
        return self

    @model_validator(mode="after")
    def _check_distance(self) -> Self:
        if self.distance == "real" and self.radius is not None:
            raise ValueError(
                "a radius is a number of bits: leave it out, or search with distance=bits"
            )
        return self

    def query(self, *, page: int | None = None, **given: Any) -> Wanted:
        """Query of the collection for what is given and the names, with these parameters.

        The number of results on a page is `limit`, unless `page` says another one.
        """
        words = self.words
        if len(words) == 1 and max(words.values()) > 0 and not given:
            given = {"name": next(iter(words))}
        elif words:
            given = given | {"words": words}
        return Wanted(
            **given,
            k=self.limit if page is None else page,
            radius=self.radius,
            offset=self.offset,
            distance=self.distance,
            most=self.k,
        )


class SearchQuery(SearchParameters):
    """A search by names, or by an id, a code or real values."""

    id: Id | None = None
    code: Code | None = None
    values: Values | None = None
    model: Model | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [kind for kind in self.kinds() if getattr(self, kind) is not None]
        if len(given) > 1 or not (given or self.words):
            raise ValueError(f"give exactly one of name, {', '.join(self.kinds())}")
        if self.words and given and given[0] not in BESIDE:
            raise ValueError(
                "names can be searched for beside a picture, features or values, not beside an id "
                f"or a code: give exactly one of name, {', '.join(self.kinds())}"
            )
        if not given and max(self.words.values()) < 0:
            raise ValueError("say what to search for, not only what is not wanted")
        _check_model(self)
        return self

    @property
    def given(self) -> dict[str, Any]:
        """What is searched for besides names, as arguments of the collection's query."""
        if self.id is not None:
            return {"item": self.id}
        if self.code is not None:
            return {"code": bytes.fromhex(self.code), "model": self.model}
        if self.values is None:
            return {}
        is_text = isinstance(self.values, str)
        values = values_of_text(self.values) if is_text else np.array(self.values)
        return {"values": values, "model": self.model}

    @property
    def kind(self) -> str:
        """What is searched for: id, code, values or features if one is given, else name."""
        given = (kind for kind in self.kinds() if getattr(self, kind) is not None)
        return next(given, "name")

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """Parameters that say what is searched for, besides names; at most one is given."""
        return ("id", "code", "values")


class BodyQuery(SearchQuery):
    """A search by names, by features, also with names, or by an id, a code or real values."""

    values: TextOrNumbers | None = None  # type: ignore[assignment]
    features: Features | None = None

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """Parameters that say what is searched for, besides names; at most one is given."""
        return ("id", "code", "values", "features")


class NamesQuery(Query):
    """What a name begins with."""

    begins: str = Field(
        min_length=1, max_length=MOST_LETTERS, description="First letters of a name."
    )
    limit: int = Field(default=8, ge=1, le=100, description="How many names to give at most.")


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


class Question(NamedTuple):
    """A search that a client asks for.

    Attributes
    ----------
    kind : {"picture", "features", "name", "id", "code", "values"}
        What is searched with.
    query : zshash.collection.Query
    limit : int
        Number of results on a page.
    started : float
        Time when the request came, from `perf_counter`.
    """

    kind: str
    query: Wanted
    limit: int = 60
    started: float = 0.0


def _weighed(name: str) -> tuple[str, float]:
    """A name and its weight.

    >>> _weighed("dog:2"), _weighed("crane (bird)"), _weighed("scene: night")
    (('dog', 2.0), ('crane (bird)', 1.0), ('scene: night', 1.0))
    """
    word, _, weight = name.rpartition(":")
    try:
        return (word.strip(), float(weight)) if word.strip() else (name, 1.0)
    except ValueError:
        return name, 1.0


def _check_one(query: Any, names: tuple[str, ...]) -> None:
    if sum(getattr(query, name) is not None for name in names) != 1:
        raise ValueError(f"give exactly one of {', '.join(names)}")


def _check_model(query: Any) -> None:
    made = (query.code, getattr(query, "values", None))
    if query.model is not None and made == (None, None):
        raise ValueError("model: only a code or values have a model")


def condition(query: Conditions) -> str | None:
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
