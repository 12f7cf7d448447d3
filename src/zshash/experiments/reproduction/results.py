"""Results on disk: a JSON file for each task, at a path that follows from it."""

import json
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash.experiments.protocol import versions
from zshash.experiments.reproduction.tasks import Record, Task

__all__ = ["Result", "Results"]


@dataclass
class Result:
    """What is known of a task: its runs by ascending seed, and the checksum of the data."""

    task: Task
    runs: list[Record] = field(default_factory=list)
    checksum: str = ""

    def values(self, *keys: str) -> list[Any]:
        """A score of all runs that have it; several keys lead into nested records."""
        found: list[Any] = [run for run in self.runs if "error" not in run]
        for key in keys:
            found = [item[key] for item in found if key in item]
        return found

    @property
    def error(self) -> str | None:
        """Why a run failed, if one did."""
        return next((run["error"] for run in self.runs if "error" in run), None)

    def missing(self, seeds: int, checksum: str) -> list[int]:
        """The seeds that have not been run, or failed, or were run on other data."""
        done = {run["seed"] for run in self.runs if "error" not in run}
        return [seed for seed in range(seeds) if checksum != self.checksum or seed not in done]


class Results:
    """A folder of results.

    Parameters
    ----------
    folder : Path
        Made when the first result is added.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, task: Task) -> Result:
        """What is known of a task, empty where nothing is.

        A file that is damaged, or is something else, is warned of and counts as none.
        """
        path = self.folder / task.path()
        if not path.exists():
            return Result(task)
        try:
            content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
            runs = content["runs"]
            if content["task"] != task.facts() or not _are_runs(runs):
                raise ValueError
            return Result(task, runs, str(content["checksum"]))
        except (ValueError, KeyError, TypeError, OSError):
            message = f"{path}: damaged, or not a result of this task: it does not count"
            warnings.warn(message, UserWarning, stacklevel=2)
            return Result(task)

    def add(self, task: Task, checksum: str, record: Record) -> None:
        """Keep one more run, with the versions it was made with; runs on other data go."""
        known = self.read(task)
        others = [run for run in known.runs if run["seed"] != record["seed"]]
        kept = others if known.checksum == checksum else []
        made = record | {"versions": versions()}
        runs = sorted([*kept, made], key=lambda run: run["seed"])
        path = self.folder / task.path()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _to_json(Result(task, runs, checksum)).encode())


def _refuse(constant: str) -> None:
    """Infinite numbers and the like are no scores."""
    raise ValueError(constant)


def _are_runs(runs: Any) -> bool:
    """Whether this looks like the runs of a task; anybody may have written it."""
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        return False
    seeds = [run.get("seed") for run in runs]
    return all(isinstance(seed, int) for seed in seeds) and len(set(seeds)) == len(seeds)


def _to_json(result: Result) -> str:
    """A line for each run, so that a change is easy to see."""
    head = {"task": result.task.facts(), "checksum": result.checksum}
    lines = [f"{json.dumps(key)}: {_dumps(value)}," for key, value in head.items()]
    runs = ",\n".join(map(_dumps, result.runs))
    return "\n".join(["{", *lines, '"runs": [', runs, "]", "}"]) + "\n"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
