"""Scores of a method, or of a saved model, on pictures or features."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zshash.datasets import DataError
from zshash.evaluation.protocol import (
    Protocol,
    Setup,
    make_record,
    run,
    setup_name,
    summarize,
)
from zshash.hashing.hasher import Hasher
from zshash.images import PictureReader
from zshash.learning.categories import find_categories, find_unseen
from zshash.learning.model import Model

__all__ = ["of_method", "of_model", "summarize"]

# Notes of a model about its training, with the values for missing notes.
TRAINING: dict[str, Any] = {"labels": [], "n_train": 0, "fit_seconds": 0.0}


def of_method(
    source: str,
    reader: PictureReader,
    hasher: Hasher,
    labels: Sequence[str],
    unseen: Sequence[str] | None,
    *,
    seeds: int,
    **protocol: Any,
) -> Iterator[dict[str, Any]]:
    """Train and score a method on the splits of the seeds 0, 1, …; yields one record each.

    With None for `unseen`, no category is hidden.
    """
    dataset = reader.read(source)
    setup = Setup(setup_name(hasher), hasher, tuple(labels))
    hidden = None if unseen is None else find_unseen(dataset, unseen)
    for record in run(dataset, [setup], Protocol(unseen=hidden, **protocol), range(seeds)):
        yield record | {"features": Path(source).name}


def of_model(
    source: str,
    reader: PictureReader,
    path: Path,
    unseen: Sequence[str],
    *,
    seeds: int,
    **protocol: Any,
) -> Iterator[dict[str, Any]]:
    """Score a saved model with queries drawn by the seeds 0, 1, …; yields one record each."""
    model = Model.load(path, reader)
    notes = model.notes
    names = list(unseen) or _names(notes, "unseen")
    if not names:
        raise DataError(
            f"{path}: the model left out no category of its training data, so name the unseen "
            "categories to query"
        )
    dataset = model.read(source)
    numbers = find_categories(dataset, names)
    trained_on = set(_names(notes, "seen")) & {dataset.names[number] for number in numbers}
    if trained_on:
        raise DataError(f"{path}: it was trained on {'; '.join(sorted(trained_on))}")
    hidden = Protocol(unseen=numbers, **protocol)
    name = f"{path.name}, {model.hasher.n_bits} bits"
    training = {key: notes.get(key, missing) for key, missing in TRAINING.items()}
    for seed in range(seeds):
        split = hidden.split(dataset, seed)
        record = make_record(name, model.hasher, training, dataset, split, hidden, seed)
        yield record | {"features": Path(source).name}


def _names(notes: dict[str, Any], key: str) -> list[str]:
    """Category names in the notes of a model; anybody may have written these notes."""
    names = notes.get(key)
    return list(map(str, names)) if isinstance(names, list) else []
