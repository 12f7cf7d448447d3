"""Tasks: all that decides a run except its seed."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["FiledTask", "Job", "Record", "Task"]

Record = dict[str, Any]
"""The parameters, scores and notes of one run, ready for JSON."""


class Task(ABC):
    """One thing to run with any seed; comparisons and studies are lists of tasks.

    Tasks are sent from one process to another, so they must be picklable.
    """

    @abstractmethod
    def run(self, seed: int, context: Any) -> Record:
        """Run the task with one seed; `context` is the same for all tasks that run together."""

    @abstractmethod
    def rehearse(self, context: Any) -> str:
        """Check data and labels before the work starts; returns the checksum of both."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Text that a progress bar shows while the task runs."""

    def planned(self, seed: int) -> Record:
        """The part of the record that is known before the run."""
        return {"seed": seed}

    def is_finished(self, run: Record) -> bool:
        """Whether a stored run is good enough, so that the task need not run again."""
        return "error" not in run


class FiledTask(Task):
    """A task whose runs have a file of their own."""

    @abstractmethod
    def facts(self) -> Record:
        """All that decides the scores, ready for JSON."""

    @abstractmethod
    def path(self) -> Path:
        """Path of the file, below the folder of all runs."""


class Job(NamedTuple):
    """One run of a task, on data with this checksum."""

    task: Task
    seed: int
    checksum: str = ""
