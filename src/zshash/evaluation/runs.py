"""The store of runs: JSON files with a line for each run, from which interrupted work goes on.

`RunFile` keeps the runs of many tasks in one file, `RunFolder` has a file for each task:

    {"task": …, "checksum": …, "runs": [
    {"seed": 0, "map": 0.31, …},
    {"seed": 1, "map": 0.29, …}
    ]}

Both are a `Store`: this is all that plans and runs need.
"""

import json
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from zshash._files import write_whole
from zshash._warnings import warn_user
from zshash.datasets import DataError
from zshash.evaluation.protocol import versions
from zshash.evaluation.tasks import FiledTask, Record, Task

__all__ = ["Result", "RunFile", "RunFolder", "Store", "named", "read_runs", "to_json", "write_runs"]

RUNS, OTHERS = "runs", "others"  # runs that the last command asked for, and all other runs
RENAMED = {"map_asymmetric": "map_real"}  # keys of runs that version 0.1.0 wrote
SECONDS_BETWEEN_SAVES = 10


class Store(Protocol):
    """A place that keeps runs."""

    def key(self, task: Any, seed: int) -> Hashable:
        """The key of a run: the store keeps one run for each key."""

    def find(self, task: Any, seed: int, checksum: str) -> Record | None:
        """The finished run of a task with this seed, on data with this checksum, or None."""

    def add(self, task: Any, checksum: str, run: Record) -> None:
        """Keep a run, in place of an earlier one of the same task and seed."""

    def save(self) -> None:
        """Write what has not been written yet."""


class RunFile:
    """Runs of many tasks in one file; the file need not exist yet.

    Parameters
    ----------
    path : Path or None
        None keeps runs only in memory.
    key_of : callable
        Record → key of the run. It also takes the record that `Task.planned` returns.
    is_run : callable
        Record → whether it looks like a run; anybody may have written the file.
    what : str
        Name for the kind of file, used in messages.

    Raises
    ------
    DataError
        If the file holds something else.
    """

    parts: tuple[str, ...] = (RUNS,)
    """Names of the lists in the file that hold runs."""

    def __init__(
        self,
        path: Path | None,
        key_of: Callable[[Record], Hashable],
        is_run: Callable[[Record], bool],
        what: str = "list of runs",
    ) -> None:
        self.path, self._key_of = path, key_of
        self._runs: dict[Hashable, Record] = {}
        self._saved = time.monotonic()
        self._changed = False
        if path is not None and path.exists():
            self._runs = {key_of(run): run for run in self._read(path, is_run, what)}

    def _read(self, path: Path, is_run: Callable[[Record], bool], what: str) -> list[Record]:
        try:
            content = read_runs(path)
            runs: list[Record] = [run for part in self.parts for run in content[part]]
            if not all(map(is_run, runs)):
                raise ValueError
        except (ValueError, KeyError):
            raise DataError(f"{path}: not a {what}; remove it or choose another name") from None
        return runs

    def __iter__(self) -> Iterator[Record]:
        return iter(self._runs.values())

    def __len__(self) -> int:
        return len(self._runs)

    def key(self, task: Task, seed: int) -> Hashable:
        """The key of a run, from what is known before the run."""
        return self._key_of(task.planned(seed))

    def find(self, task: Task, seed: int, checksum: str = "") -> Record | None:  # noqa: ARG002
        """The finished run of a task with this seed, or None; its key tells data sets apart."""
        run = self._runs.get(self.key(task, seed))
        return run if run is not None and task.is_finished(run) else None

    def add(self, task: Task, checksum: str, run: Record) -> None:  # noqa: ARG002
        """Keep a run, in place of an earlier one; the file is written every few seconds."""
        self._runs[self._key_of(run)] = run
        self._changed = True
        if time.monotonic() - self._saved > SECONDS_BETWEEN_SAVES:
            self.save()

    def save(self) -> None:
        """Write all runs, if there is a new one."""
        if self._changed and self.path is not None:
            self.write(self.path)
        self._changed, self._saved = False, time.monotonic()

    def write(self, path: Path) -> None:
        """Write all runs, sorted by key: the order does not depend on when each was run."""
        write_runs(path, sorted(self, key=lambda run: _order(self._key_of(run))))


def _order(key: Any) -> tuple[Any, ...]:
    """A key whose parts can be compared: None first, then numbers, then words."""
    return tuple((isinstance(part, str), part) if part is not None else (False, -1) for part in key)


@dataclass
class Result:
    """The stored runs of a task, by ascending seed, and the checksum of the data."""

    task: Any
    runs: list[Record] = field(default_factory=list)
    checksum: str = ""

    def values(self, *keys: str) -> list[Any]:
        """One score of every run that has it; several keys lead into nested records."""
        found: list[Any] = [run for run in self.runs if "error" not in run]
        for key in keys:
            found = [item[key] for item in found if key in item]
        return found

    @property
    def error(self) -> str | None:
        """The error of the first run that failed, or None."""
        return next((run["error"] for run in self.runs if "error" in run), None)


class RunFolder:
    """A folder with one file of runs for each task, at the path that the task gives.

    Parameters
    ----------
    folder : Path
        Created when the first run is added.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, task: FiledTask) -> Result:
        """The stored runs of a task, or an empty result.

        A file that is damaged, or holds something else, causes a warning and does not count.
        """
        path = self.folder / task.path()
        if not path.exists():
            return Result(task)
        try:
            content = read_runs(path)
            if content["task"] != task.facts() or not _have_seeds(content[RUNS]):
                raise ValueError
            return Result(task, content[RUNS], str(content["checksum"]))
        except (ValueError, KeyError, OSError):
            message = f"{path}: damaged, or not a result of this task: it does not count"
            warn_user(message)
            return Result(task)

    def key(self, task: FiledTask, seed: int) -> Hashable:
        """The key of a run: the path of its file, and its seed."""
        return task.path(), seed

    def find(self, task: FiledTask, seed: int, checksum: str) -> Record | None:
        """The finished run of a task with this seed, on data with this checksum, or None."""
        known = self.read(task)
        runs = known.runs if known.checksum == checksum else []
        return next((run for run in runs if run["seed"] == seed and task.is_finished(run)), None)

    def add(self, task: FiledTask, checksum: str, run: Record) -> None:
        """Keep one more run and the versions of the software; runs on other data are removed."""
        known = self.read(task)
        kept = known.runs if known.checksum == checksum else []
        others = [other for other in kept if other["seed"] != run["seed"]]
        runs = sorted([*others, run | {"versions": versions()}], key=lambda run: run["seed"])
        write_runs(self.folder / task.path(), runs, task=task.facts(), checksum=checksum)

    def save(self) -> None:
        """Do nothing: each run is written when it is added."""


def _have_seeds(runs: Sequence[Record]) -> bool:
    """Whether every run has a seed, and no two runs have the same one."""
    seeds = [run.get("seed") for run in runs]
    return all(isinstance(seed, int) for seed in seeds) and len(set(seeds)) == len(seeds)


def read_runs(path: Path) -> dict[str, Any]:
    """The content of a file of runs; keys of old runs are renamed to their names of today.

    Version 0.1.0 wrote a bare list for a study: it is read as a file that has only "runs".

    Raises
    ------
    ValueError
        If the file holds something else.
    """
    content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    if isinstance(content, list):
        content = {RUNS: content}
    if not isinstance(content, dict) or RUNS not in content:
        raise ValueError("there are no runs")
    return content | {part: _renamed(content[part]) for part in (RUNS, OTHERS) if part in content}


def _refuse(constant: str) -> None:
    """Refuse NaN and infinite numbers: they are no scores."""
    raise ValueError(constant)


def _renamed(runs: Any) -> list[Record]:
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise ValueError("runs must be a list of records")
    return [{RENAMED.get(key, key): value for key, value in run.items()} for run in runs]


def write_runs(path: Path, runs: Sequence[Record], **before: Any) -> None:
    """Write a file of runs in one step; a missing folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, to_json({**before, RUNS: runs}).encode())


def named(output: Path, ending: str) -> Path:
    """The file with a name and an ending; ".json" or ".md" at the end of the name is dropped.

    >>> named(Path("docs/transfer.json"), "-tables.md").as_posix()
    'docs/transfer-tables.md'
    """
    stem = output.with_suffix("") if output.suffix in (".json", ".md") else output
    return stem.with_name(stem.name + ending)


def to_json(parts: Mapping[str, Any]) -> str:
    """A JSON object with one line for each item of its lists, so that a change is easy to see."""
    texts = [f"{json.dumps(name)}: {_lines(value)}" for name, value in parts.items()]
    return "{\n" + ",\n".join(texts) + "\n}\n"


def _lines(value: Any) -> str:
    if not isinstance(value, list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n]"
