"""Batches: many searches in one request, and their answers as JSON, in lines or packed."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from zshash.collection import Query as Wanted
from zshash.collection.operations.queries import Sample, samples_of
from zshash.collection.operations.ranking import Ranking
from zshash.datasets import Dataset
from zshash.web.bodies import as_vector, explain
from zshash.web.errors import ApiError
from zshash.web.fields import (
    MOST_K,
    MOST_NAMES,
    Code,
    Distance,
    Features,
    Id,
    Model,
    Name,
    Query,
    Radius,
    TextOrNumbers,
)
from zshash.web.queries import BodyQuery, Conditions, Question

__all__ = ["MOST_QUERIES", "Batch", "BatchBody", "BatchParameters", "of_json", "of_rows", "packed"]

MOST_QUERIES = 1024
MOST_RESULTS, MOST_RANKED = (
    20 * MOST_QUERIES,
    1000 * MOST_QUERIES,
)  # of a batch: with all their fields, or ids alone
Names = Annotated[
    list[Name],
    Field(max_length=MOST_NAMES),
    BeforeValidator(
        lambda given: [given] if isinstance(given, str) else given,
        json_schema_input_type=Name | Annotated[list[Name], Field(max_length=MOST_NAMES)],
    ),
]


class BatchParameters(Conditions):
    """Parameters that all searches of a batch share."""

    k: int = Field(default=10, ge=1, le=MOST_K, description="How many items to find for each.")
    offset: int = Field(
        default=0, ge=0, lt=MOST_K, description="How many of these k items to leave out."
    )
    radius: Radius | None = None
    distance: Distance | None = None

    @model_validator(mode="after")
    def _check_offset(self) -> Self:
        if self.offset >= self.k:
            raise ValueError(f"offset: it must be less than k, which is {self.k}")
        return self

    @property
    def page(self) -> int:
        """Number of results for each query."""
        return self.k - self.offset


class BatchQuery(Query):
    """One search of a batch: as a search by JSON, without the parameters that all share."""

    id: Id | None = None
    code: Code | None = None
    values: TextOrNumbers | None = None
    features: Features | None = None
    name: Names = Field(default=[])
    without: Names = Field(default=[])
    model: Model | None = None


class BatchBody(BatchParameters):
    """Many searches, each of any kind, and the parameters that they share."""

    queries: list[BatchQuery] = Field(min_length=1, max_length=MOST_QUERIES)


class Batch(NamedTuple):
    """Searches that a client asks for together.

    Attributes
    ----------
    how : BatchParameters
    questions : list of Question
    """

    how: BatchParameters
    questions: Sequence[Question]

    def check_size(self, *, are_items_told: bool) -> None:
        """Refuse a batch whose answer would be too large."""
        n, most = len(self.questions), MOST_RESULTS if are_items_told else MOST_RANKED
        if n * self.how.k > most:
            raise ApiError(
                422,
                f"{n} searches for {self.how.k} items each are more than {most} items: "
                "send fewer in one request",
            )


def of_json(content: bytes, width: int, started: float) -> Batch:
    """Batch of searches from JSON; features have `width` numbers."""
    try:
        body = BatchBody.model_validate_json(content)
    except ValidationError as error:
        raise ApiError(422, explain(error.errors(include_context=False))) from None
    shared = body.model_dump(exclude={"queries"})
    samples = _samples(body.queries, width)
    questions = []
    for place, own in enumerate(body.queries):
        try:
            query = BodyQuery(**own.model_dump(exclude_unset=True) | shared)
            given = {"sample": samples[place]} if place in samples else query.given
            wanted = query.query(page=body.page, **given)
        except ValidationError as error:
            raise _wrong(place, explain(error.errors(include_context=False))) from None
        except (ValueError, TypeError) as error:
            raise _wrong(place, str(error)) from None
        questions.append(Question(query.kind, wanted, body.page, started))
    return Batch(body, questions)


def of_rows(content: bytes, how: BatchParameters, width: int, started: float) -> Batch:
    """Batch of searches by features, from rows of `width` float32."""
    n, rest = divmod(len(content), 4 * width)
    if rest or not 0 < n <= MOST_QUERIES:
        raise ApiError(
            422,
            f"a batch has 1 to {MOST_QUERIES} rows of {width} features, four bytes each, and this "
            f"one has {len(content)} bytes",
        )
    rows = np.frombuffer(content, dtype="<f4").astype(np.float32, copy=False).reshape(n, width)
    page: dict[str, Any] = {"k": how.page, "offset": how.offset, "most": how.k}
    page |= {"radius": how.radius, "distance": how.distance}
    samples = _as_samples(rows, list(range(n)))
    queries = [Wanted(sample=sample, **page) for sample in samples.values()]
    return Batch(how, [Question("features", query, how.page, started) for query in queries])


def _samples(queries: Sequence[BatchQuery], width: int) -> dict[int, Sample]:
    """Samples of the queries that have features, by place, all of the same data."""
    vectors = {}
    for place, own in enumerate(queries):
        if own.features is not None:
            if len(own.features) != width:
                told = f"{len(own.features)} features, and the collection's have {width}"
                raise _wrong(place, told)
            vectors[place] = as_vector(own.features)
    return _as_samples(np.stack(list(vectors.values())), list(vectors)) if vectors else {}


def _as_samples(rows: NDArray[np.float32], places: Sequence[int]) -> dict[int, Sample]:
    """Samples for rows of features, by place in the batch."""
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        told = "features must be finite numbers, and these hold NaN or infinity"
        raise _wrong(places[wrong[0]], told)
    return dict(zip(places, samples_of(Dataset(rows)), strict=True))


def _wrong(place: int, told: str) -> ApiError:
    """The error of one search of a batch."""
    return ApiError(422, f"queries.{place}: {told}")


def packed(rankings: Sequence[Ranking], k: int) -> bytes:
    """Ids and scores as bytes, little-endian.

    uint32 n, uint32 k; n·k int64 ids, −1 where there are no more; n·k float32 scores, NaN there.
    """
    ids = np.full((len(rankings), k), -1, dtype="<i8")
    scores = np.full((len(rankings), k), np.nan, dtype="<f4")
    for row, ranking in enumerate(rankings):
        n = len(ranking.ids)
        ids[row, :n], scores[row, :n] = ranking.ids, ranking.scores
    head = np.array(ids.shape, dtype="<u4")
    return head.tobytes() + ids.tobytes() + scores.tobytes()
