"""Any experiment: a row for each task, with what is varied and all scores."""

from typing import Any

from zshash.experiments.reproduction.report.document import Block, Table
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.statistics import shown
from zshash.experiments.reproduction.tasks import Task

__all__ = ["grid"]

HEADS = {
    "map": "MAP",
    "map_related": "MAP_related",
    "similarity": "cosine of unseen to seen names",
    "fit_seconds": "seconds to fit",
}
HIDDEN = ("seed", "n_train", "n_queries", "n_database", "n_categories")


def grid(found: Findings) -> list[Block]:
    """A table of all results."""
    facts = [_facts(result.task) for result in found.results]
    varied = [key for key in facts[0] if len({str(own.get(key)) for own in facts}) > 1]
    scores = [key for key, value in _first(found).items() if _is_score(key, value)]
    rows = [
        [*(_cell(own.get(key)) for key in varied), *(shown(result.values(key)) for key in scores)]
        for own, result in zip(facts, found.results, strict=True)
    ]
    heads = [HEADS.get(key, key) for key in (*varied, *scores)]
    return [Table(heads, rows, numbers_from=len(varied))]


def _facts(task: Task) -> dict[str, Any]:
    """What a task says, without the defaults of its method."""
    return task.facts() | {"parameters": dict(task.parameters)}


def _first(found: Findings) -> dict[str, Any]:
    return found.runs[0] if found.runs else {}


def _is_score(key: str, value: Any) -> bool:
    return isinstance(value, int | float) and key not in HIDDEN


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "defaults"
    return " + ".join(map(str, value)) if isinstance(value, list) else str(value)
