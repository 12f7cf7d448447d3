"""Scores of a method, or of a model at hand, on a feature file."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from zshash.datasets import DataError, Dataset, load_features
from zshash.experiments.protocol import Protocol, Setup, run, score, summarize, versions
from zshash.experiments.training import find_categories
from zshash.hashing import load, read_header

__all__ = ["of_method", "of_model", "summarize"]


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
    for seed in range(seeds):
        split = hidden.split(dataset, seed)
        yield {
            "name": f"{model.name}, {hasher.n_bits} bits",
            "method": type(hasher).__name__,
            "parameters": hasher.get_params(),
            "labels": notes.get("labels", []),
            "seed": seed,
            "unseen": [dataset.names[number] for number in split.unseen],
            "n_train": notes.get("n_train", 0),
            "fit_seconds": notes.get("fit_seconds", 0.0),
            **score(dataset, hasher, split, hidden),
            "protocol": asdict(replace(hidden, unseen=names)),
            "versions": versions(),
            "features": features.name,
        }


def _names(notes: dict[str, Any], key: str) -> list[str]:
    """Category names in a model's notes, which anybody may have written."""
    names = notes.get(key)
    return list(map(str, names)) if isinstance(names, list) else []


def _hidden(dataset: Dataset, unseen: Sequence[str]) -> Any:
    """Category numbers; or how many to draw, where a lone number is no category's name."""
    if len(unseen) == 1 and unseen[0].isdigit() and unseen[0] not in dataset.names:
        return int(unseen[0])
    return find_categories(dataset, unseen)
