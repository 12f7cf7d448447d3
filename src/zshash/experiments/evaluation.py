"""Scores of a method, or of a model at hand, on pictures or features."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zshash.datasets import DataError
from zshash.encoding import Encoder
from zshash.experiments.protocol import (
    Protocol,
    Setup,
    make_record,
    run,
    setup_name,
    summarize,
)
from zshash.experiments.training import find_categories, find_unseen
from zshash.images import PictureReader

__all__ = ["of_method", "of_model", "summarize"]

# What a model's notes say of its training, and what stands for a note that is missing.
TRAINING: dict[str, Any] = {"labels": [], "n_train": 0, "fit_seconds": 0.0}


def of_method(
    source: str,
    reader: PictureReader,
    hasher: Any,
    labels: Sequence[str],
    unseen: Sequence[str] | None,
    *,
    seeds: int,
    **protocol: Any,
) -> Iterator[dict[str, Any]]:
    """Train and score on the splits of the seeds 0, 1, …; a record for each.

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
    model: Path,
    unseen: Sequence[str],
    *,
    seeds: int,
    **protocol: Any,
) -> Iterator[dict[str, Any]]:
    """Score a saved model with queries drawn by the seeds 0, 1, …; a record for each."""
    encoder = Encoder(model, reader)
    notes = encoder.notes
    names = list(unseen) or _names(notes, "unseen")
    if not names:
        raise DataError(f"{model}: it left out no category, so say which to query: --unseen NAME")
    dataset = encoder.read(source)
    numbers = find_categories(dataset, names)
    trained_on = set(_names(notes, "seen")) & {dataset.names[number] for number in numbers}
    if trained_on:
        raise DataError(f"{model}: it was trained on {'; '.join(sorted(trained_on))}")
    hidden = Protocol(unseen=numbers, **protocol)
    name = f"{model.name}, {encoder.hasher.n_bits} bits"
    training = {key: notes.get(key, missing) for key, missing in TRAINING.items()}
    for seed in range(seeds):
        split = hidden.split(dataset, seed)
        record = make_record(name, encoder.hasher, training, dataset, split, hidden, seed)
        yield record | {"features": Path(source).name}


def _names(notes: dict[str, Any], key: str) -> list[str]:
    """Category names in a model's notes, which anybody may have written."""
    names = notes.get(key)
    return list(map(str, names)) if isinstance(names, list) else []
