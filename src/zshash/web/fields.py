"""What the parameters of requests may be: numbers, texts and lists, each within its limits."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag

__all__ = [
    "LARGEST_ID",
    "MOST_K",
    "MOST_LETTERS",
    "MOST_LIMIT",
    "MOST_NAMES",
    "Code",
    "Distance",
    "Features",
    "Id",
    "Label",
    "Model",
    "Name",
    "Query",
    "Radius",
    "TextOrNumbers",
    "Values",
]

MOST_K, MOST_LIMIT = 10_000, 200
MOST_NAMES, MOST_LETTERS = 32, 1000  # names of one search, wanted or not; letters of a name
LARGEST_ID = 2**63 - 1
Id = Annotated[int, Field(ge=0, le=LARGEST_ID, description="Id of an item.")]
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MOST_LETTERS),
    Field(
        description="Name of what pictures show, also of something that nobody labelled: a word, "
        "one of its senses such as `crane (bird)`, a label, or a phrase.",
        examples=["crane", "crane (bird)", "a dog on a beach"],
    ),
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
Values = Annotated[
    str,
    Field(
        pattern="^[0-9A-Za-z_-]{11,2731}$",
        description="Real values of a query, as in `query.values` of an answer: base64url without "
        "padding of one little-endian float16 for each bit.",
        examples=["VTFVtQA8AQA"],
    ),
]
Features = Annotated[
    list[float],
    Field(
        min_length=1,
        max_length=100_000,
        description="Features of a picture, computed by the network of the collection.",
    ),
]
Numbers = Annotated[
    list[float], Field(min_length=8, max_length=1024, description="A real value for each bit.")
]
TextOrNumbers = Annotated[
    Annotated[Values, Tag("text")] | Annotated[Numbers, Tag("numbers")],
    Discriminator(lambda given: "text" if isinstance(given, str) else "numbers"),
]
Radius = Annotated[
    int, Field(ge=0, le=1024, description="Only items within this Hamming distance.")
]
Distance = Annotated[
    Literal["real", "bits"],
    Field(
        description="What of a picture or of features is compared with the codes of the items: "
        "its real values (real, the default) or its bits (bits, the default with a radius). An id "
        "or a code has bits only, so both give the same."
    ),
]
Label = Annotated[str, Field(min_length=1, max_length=1000)]


class Query(BaseModel):
    """Base of all queries: refuses unknown parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)
