"""Scores of a method, or of a model at hand, on a feature file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zshash.datasets import DataError, Dataset, load_features
from zshash.experiments.protocol import Protocol, Setup, make_record, run, summarize
from zshash.experiments.training import find_categories
from zshash.hashing import load, read_header

__all__ = ["of_method", "of_model", "summarize"]

# What a model's notes say of its training, and what stands for a note that is missing.
TRAINING: dict[str, Any] = {"labels": [], "n_train": 0, "fit_seconds": 0.0}


def of_method(
    features: Path,
    hasher: Any,
    labels: Sequence[str],
    unseen: Sequence[str],
    *,
    seeds: int,
    **protocol: Any,
) -> Iterator[dict[str, Any]]:
    """Train and score on the splits of the seeds 0, 1, …; a record for each."""
    if not unseen:
        raise DataError("say which category to hide: --unseen NAME, or --unseen 10 for any ten")
    dataset = load_features(features)
    name = f"{type(hasher).__name__}, {hasher.n_bits} bits"
    setup = Setup(name, hasher, tuple(labels))
    hidden = Protocol(unseen=_hidden(dataset, unseen), **protocol)
    for record in run(dataset, [setup], hidden, range(seeds)):
        yield record | {"features": features.name}


def of_model(
    features: Path, model: Path, unseen: Sequence[str], *, seeds: int, **protocol: Any
) -> Iterator[dict[str, Any]]:
    """Score a saved model with queries drawn by the seeds 0, 1, …; a record for each."""
    hasher, notes = load(model), read_header(model)["notes"]
    names = list(unseen) or _names(notes, "unseen")
    if not names:
        raise DataError(f"{model}: it left out no category, so say which to query: --unseen NAME")
    dataset = load_features(features)
    numbers = find_categories(dataset, names)
    trained_on = set(_names(notes, "seen")) & {dataset.names[number] for number in numbers}
    if trained_on:
        raise DataError(f"{model}: it was trained on {'; '.join(sorted(trained_on))}")
    hidden = Protocol(unseen=numbers, **protocol)
    name = f"{model.name}, {hasher.n_bits} bits"
    training = {key: notes.get(key, missing) for key, missing in TRAINING.items()}
    for seed in range(seeds):
        split = hidden.split(dataset, seed)
        record = make_record(name, hasher, training, dataset, split, hidden, seed)
        yield record | {"features": features.name}


def _names(notes: dict[str, Any], key: str) -> list[str]:
    """Category names in a model's notes, which anybody may have written."""
    names = notes.get(key)
    return list(map(str, names)) if isinstance(names, list) else []


def _hidden(dataset: Dataset, unseen: Sequence[str]) -> Any:
    """Category numbers; or how many to draw, where a lone number is no category's name."""
    if len(unseen) == 1 and unseen[0].isdigit() and unseen[0] not in dataset.names:
        return int(unseen[0])
    return find_categories(dataset, unseen)
