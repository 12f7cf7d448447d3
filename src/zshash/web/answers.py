"""What clients get: JSON, and its description for the API's."""

import json
from typing import Any, Literal

from pydantic import BaseModel, Field

__all__ = [
    "AddedItems",
    "Health",
    "Info",
    "Item",
    "Items",
    "Map",
    "Problem",
    "SearchResults",
    "WhyCode",
    "WhyName",
    "to_json",
]


def to_json(value: Any) -> bytes:
    """JSON in ASCII, because names of files need not be Unicode."""
    return _JSON.encode(value).encode()


_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


class Problem(BaseModel):
    """Why a request could not be met."""

    detail: str = Field(description="One sentence.")


class Health(BaseModel):
    """That the server is there."""

    status: Literal["ok"]


class Item(BaseModel):
    """An item of the collection."""

    id: int
    code: str = Field(description="Its packed code in hexadecimal digits.")
    labels: list[str]
    file: str | None = Field(description="Name of the picture's file.")
    path: str | None = Field(
        default=None, description="Where the file is, if the server was told to say so."
    )
    metadata: dict[str, Any]
    thumbnail: bool = Field(description="Whether there is a small picture of it.")


class Result(Item):
    """An item that was found."""

    distance: float = Field(
        description="Bits that differ; of a name, and by asymmetric distance, a score, the higher "
        "the better."
    )
    bits: int | None = Field(
        default=None,
        description="By asymmetric distance, how many bits differ from the query's code.",
    )


class Asked(BaseModel):
    """What was searched for."""

    kind: Literal["picture", "features", "name", "id", "code"]
    code: str | None = Field(
        description="The query's code: by Hamming distance, searching for it finds the same."
    )
    name: str | None
    id: int | None


class SearchResults(BaseModel):
    """A page of what was found, best first."""

    query: Asked
    unit: Literal["bits", "score"]
    total: int = Field(description="How many items there are on all pages.")
    offset: int
    limit: int
    results: list[Result]
    seconds: float = Field(description="Time that the search took on the server.")


class Items(BaseModel):
    """A page of items in the order of their ids."""

    total: int
    offset: int
    limit: int
    items: list[Item]


class LabelCount(BaseModel):
    """A label of items."""

    label: str
    items: int
    seen: bool = Field(description="Whether the model was trained on this category.")


class Searches(BaseModel):
    """What can be searched with."""

    picture: bool
    name: bool
    features: int = Field(description="How many numbers the features of a picture have.")


class Limits(BaseModel):
    """How much a request may ask for."""

    bytes: int
    pixels: int
    k: int
    page: int
    files: int


class Info(BaseModel):
    """What there is to know of the collection and its server."""

    name: str
    items: int
    bits: int
    method: str
    extractor: str | None
    version: str
    generation: int
    searches: Searches
    seen: list[str]
    labels: list[LabelCount] = Field(description="The most frequent labels.")
    n_labels: int
    unlabelled: int
    thumbnails: bool
    writable: bool
    authorised: bool = Field(
        description="Whether this client has shown the token, if there is one."
    )
    limits: Limits


class NearSeen(BaseModel):
    """A seen category that is near in meaning."""

    name: str
    cosine: float


class NearName(NearSeen):
    """A category that is near in meaning."""

    seen: bool


class Forecast(BaseModel):
    """How well a category may be found, from what its name means."""

    verdict: Literal["seen", "close", "usual", "far", "unknown"]
    similarity: float = Field(description="Average cosine to the names of the seen categories.")
    rank: float | None = Field(description="Share of the seen ones that are less similar to them.")
    text: str


class WhyName(BaseModel):
    """What a name means to the model."""

    kind: Literal["name"]
    name: str
    seen: bool
    nearest: list[NearSeen]
    forecast: Forecast


class WhyCode(BaseModel):
    """What a code means: the names that are nearest to it."""

    kind: Literal["code"]
    nearest: list[NearName]


class Failure(BaseModel):
    """A file that was not added."""

    file: str
    reason: str


class AddedItems(BaseModel):
    """What became of pictures that were to be added."""

    added: list[int]
    duplicates: list[int] = Field(description="Items that are the same as what was sent.")
    failures: list[Failure]


class Category(BaseModel):
    """A colour of the map."""

    label: str
    seen: bool
    items: int


class Map(BaseModel):
    """What the map shows; its points are at /api/map/points."""

    state: Literal["computing", "ready", "empty", "failed"]
    items: int
    total: int
    generation: int
    categories: list[Category]
