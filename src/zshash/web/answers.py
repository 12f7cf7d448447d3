"""Answers of the API in JSON, as models that describe their fields."""

import json
from typing import Any, Literal

from pydantic import BaseModel, Field

__all__ = [
    "AddedItems",
    "BatchResults",
    "DuplicateGroups",
    "Facets",
    "GroupKey",
    "Health",
    "Info",
    "Item",
    "Items",
    "LabelledItems",
    "Map",
    "Names",
    "Problem",
    "Refit",
    "RemovedItems",
    "RestoredItems",
    "SearchResults",
    "WhyCode",
    "WhyName",
    "to_json",
]


def to_json(value: Any) -> bytes:
    """JSON in ASCII, because names of files need not be valid Unicode."""
    return _JSON.encode(value).encode()


_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


class Problem(BaseModel):
    """Why a request failed."""

    detail: str = Field(description="One sentence.")
    suggestions: dict[str, list[str]] | None = Field(
        default=None,
        description="For each name that nobody knows: known names that look like it, if any.",
        examples=[{"dgo": ["dog", "god"]}],
    )


class Health(BaseModel):
    """The server runs."""

    status: Literal["ok"]


class Item(BaseModel):
    """An item of the collection."""

    id: int
    code: str = Field(description="Packed code of the item, in hexadecimal digits.")
    labels: list[str]
    file: str | None = Field(description="Name of the picture's file.")
    path: str | None = Field(
        default=None, description="Where the file is, if the server was started to show paths."
    )
    metadata: dict[str, Any] = Field(
        description="What is known of the item; its place only if the server was started to show "
        "places."
    )
    thumbnail: bool = Field(description="Whether the item has a small picture.")
    size: list[int] | None = Field(
        min_length=2,
        max_length=2,
        description="Width and height of the picture in pixels, as it is seen; those of the small "
        "picture where no others are known; null where it has neither.",
    )


class Result(Item):
    """An item that was found."""

    score: float = Field(description="How well the item fits: higher is better, at most 1.")
    bits: int | None = Field(
        description="How many bits differ from the query's code; null for a name: it has no code."
    )


class OtherSense(BaseModel):
    """Another sense of a name; a search for its key finds it."""

    sense: str
    key: str


class Thing(BaseModel):
    """One thing that a name names, and the sense that was taken."""

    name: str
    sense: str = Field(description="The name with the sense that was taken.")
    synset: str | None = Field(description="WordNet id; null for a label nobody else knows.")
    key: str | None
    known: bool = Field(description="Whether the network or labels know it, or kinds of it.")
    others: list[OtherSense]


class Reading(BaseModel):
    """What was understood of a name."""

    text: str
    things: list[Thing]
    left_out: list[str] = Field(description="Words that were not understood.")
    labels: list[str] = Field(description="Labels whose items come first.")
    nothing: bool = Field(description="Whether nothing in the collection looks much like it.")


class Asked(BaseModel):
    """What was searched for."""

    kind: Literal["picture", "features", "name", "id", "code", "values"]
    code: str | None = Field(
        description="Code of the query: a search for this code finds the same as one with "
        "distance=bits; null for a name: it has no code."
    )
    name: str | None = Field(description="The name, if nothing else is searched for.")
    words: dict[str, float] | None = Field(
        default=None,
        description="Names with weights, if several are searched for, or one beside something "
        "else; negative for what is not wanted.",
    )
    id: int | None
    model: str = Field(description="First digits of the checksum of the model that made the codes.")
    values: str | None = Field(
        description="Real values of the query, as base64url without padding of one little-endian "
        "float16 for each bit: a search for these values finds the same. null for a name, and "
        "where only a code is known."
    )
    nothing: bool | None = Field(
        description="Whether nothing in the collection looks much like it; null where that can "
        "not be told."
    )
    reading: Reading | None = Field(
        default=None, description="What was understood of names; null if the network knows none."
    )


class SearchResults(BaseModel):
    """A page of the items that were found, best first."""

    query: Asked
    total: int = Field(description="Number of items on all pages together, at most k.")
    all: int = Field(
        description="Number of items that are searched, or that are within the radius: `total` is "
        "less where k ends the search. Of those within a radius, it counts k at most."
    )
    offset: int
    limit: int
    results: list[Result]
    seconds: float = Field(description="Time that the search took on the server.")


class BatchResults(BaseModel):
    """Answers to a batch of searches, in their order."""

    answers: list[SearchResults]


class CompletedName(BaseModel):
    """A name that can be searched for."""

    name: str = Field(description="What to search for.")
    text: str = Field(description="The name as it is shown, with its sense if there are several.")
    known: bool = Field(description="Whether it is a label, or the network knows it.")
    items: int | None = Field(description="How many items have this label; null for no label.")


class Names(BaseModel):
    """Names of which a word begins with some letters, the best first."""

    names: list[CompletedName]


class Items(BaseModel):
    """A page of items in the order of their ids."""

    total: int
    offset: int
    limit: int
    items: list[Item]


class YearCount(BaseModel):
    """A year, and how many items are from it."""

    year: int
    items: int
    where: str = Field(description="Condition that these items meet.")


class MonthCount(YearCount):
    """A month, and how many items are from it."""

    month: int


class CameraCount(BaseModel):
    """A camera, and how many items were taken with it."""

    camera: str
    items: int
    where: str = Field(description="Condition that these items meet.")


class PlaceCount(BaseModel):
    """A cell of a grid over the earth, and how many items were taken in it."""

    latitude: float = Field(description="Degrees of the middle of the cell.")
    longitude: float
    items: int
    where: str = Field(description="Condition that these items meet.")


class Facets(BaseModel):
    """What the collection can be narrowed by."""

    years: list[YearCount] = Field(description="The latest first.")
    months: list[MonthCount] = Field(description="The latest first.")
    cameras: list[CameraCount] = Field(description="The most frequent first, at most 100.")
    places: list[PlaceCount] = Field(
        description="The most frequent first, at most 100; none unless the server was started to "
        "show places."
    )


class LabelCount(BaseModel):
    """A label, and how many items have it."""

    label: str
    name: str = Field(description="The label, or what it means if it is a WordNet id.")
    items: int
    seen: bool = Field(description="Whether the model was trained on this category.")


class Searches(BaseModel):
    """Kinds of search that the collection supports."""

    picture: bool
    name: bool
    names: bool = Field(
        description="Whether several names can be searched for together, also with a picture."
    )
    features: int = Field(description="How many numbers the features of a picture have.")


class Limits(BaseModel):
    """Largest sizes: of a picture, of a search, of a page, and of one upload in files."""

    bytes: int
    pixels: int
    k: int
    page: int
    files: int


class Info(BaseModel):
    """Facts about the collection and the server."""

    name: str
    items: int
    bits: int
    method: str
    extractor: str | None
    version: str
    generation: int
    searches: Searches
    seen: list[str]
    names: dict[str, str] = Field(
        description="What labels and known categories mean that are WordNet ids.",
        examples=[{"n02084071": "dog"}],
    )
    examples: list[str] = Field(
        description="Names to begin with: what the network recognises in most items; empty if it "
        "knows no names."
    )
    labels: list[LabelCount] = Field(description="The most frequent labels.")
    n_labels: int
    unlabelled: int
    n_unlearned: int = Field(
        description="Items that came after the model was learned, if learning again would pay; "
        "else 0."
    )
    thumbnails: bool
    writable: bool
    authorised: bool = Field(
        description="Whether this client has shown the token; true if the server has none."
    )
    limits: Limits


class NearName(BaseModel):
    """A category that is near in meaning."""

    name: str
    cosine: float
    seen: bool = Field(description="Whether the model learned from pictures with this label.")


class Forecast(BaseModel):
    """Forecast of how well a category is found, from the meaning of its name."""

    verdict: Literal["seen", "close", "usual", "far", "unknown"]
    similarity: float = Field(description="Cosine to the nearest name of a known category.")
    rank: float | None = Field(
        description="Share of the known categories that are harder to find by their names alone; "
        "null if the name is known itself, or nobody can say."
    )
    text: str


class WhyName(BaseModel):
    """What a name means to the model."""

    kind: Literal["name"]
    name: str
    seen: bool = Field(description="Whether the model learned from pictures with this label.")
    nearest: list[NearName]
    forecast: Forecast


class WhyCode(BaseModel):
    """What a code means to the model: the names that are nearest to it."""

    kind: Literal["code"]
    nearest: list[NearName]


class Failure(BaseModel):
    """A file that was not added."""

    file: str
    reason: str


class AddedItems(BaseModel):
    """Report about pictures that a client has sent."""

    added: list[int]
    duplicates: list[int] = Field(
        description="Items that have the same picture as one that was sent."
    )
    failures: list[Failure]


class RemovedItems(BaseModel):
    """Items that were removed."""

    removed: list[int]
    undo: str | None = Field(
        description="Key that /api/v1/items/restore takes to undo this; null if it can not be "
        "undone."
    )


class RestoredItems(BaseModel):
    """Items that are there again."""

    restored: list[int]


class LabelledItems(BaseModel):
    """Items that were labelled."""

    labelled: list[int]
    changed: int = Field(description="How many of them had other labels before.")


class DuplicateGroup(BaseModel):
    """Items that are copies of one picture, or look alike."""

    key: str = Field(description="What /api/v1/duplicates/keep takes.")
    level: Literal["identical", "same", "alike"]
    keep: int | None = Field(
        description="The item with most pixels, then most bytes; null for items that look alike."
    )
    items: list[Item]


class DuplicateGroups(BaseModel):
    """A page of groups, which are those of an earlier search while a new one is computing."""

    state: Literal["computing", "ready", "failed"]
    done: float = Field(description="Share of the search that is done.")
    text: str = Field(description="A sentence about the search, which may be empty.")
    total: int
    unknown: int = Field(description="Items that could not be compared.")
    offset: int
    limit: int
    groups: list[DuplicateGroup]


class GroupKey(BaseModel):
    """The key of a group; /api/v1/duplicates/forget takes it."""

    key: str


class Refit(BaseModel):
    """How far learning again is."""

    state: Literal["idle", "running", "done", "failed"]
    part: str = Field(description="What is done now.")
    done: float = Field(description="Share of the work that is done.")
    text: str = Field(description="A sentence about the outcome.")
    n_unlearned: int = Field(
        description="Items that came after the model was learned, if learning again would pay; "
        "else 0."
    )


class Category(BaseModel):
    """A category that has a colour on the map."""

    label: str
    seen: bool
    items: int
    recognised: bool = Field(
        description="Whether the network recognises it in items without labels; else it is a label."
    )


class Region(BaseModel):
    """A part of the map that has a name; x and y are the middle of its upper edge, as of points."""

    name: str
    x: int
    y: int
    items: int
    level: int = Field(description="0 for the largest regions; their parts have larger numbers.")
    recognised: bool = Field(
        description="Whether the name is what the network recognises there; else it is a label."
    )


class Map(BaseModel):
    """Facts about the map; its points are at /api/v1/map/points."""

    state: Literal["computing", "ready", "empty", "failed"]
    generation: int = Field(description="State of the collection that the map shows.")
    digest: str = Field(
        description="Tells maps of one generation apart; empty while there is no map."
    )
    items: int = Field(description="Number of items on the map.")
    total: int
    categories: list[Category]
    regions: list[Region] = Field(description="Large ones first.")
