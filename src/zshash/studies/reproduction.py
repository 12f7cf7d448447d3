"""A study and its files: plan what is missing, run it, write the report."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from zshash.evaluation.report.document import Claim
from zshash.evaluation.running import run_jobs
from zshash.evaluation.runs import RunFolder, Store
from zshash.evaluation.tasks import Job
from zshash.studies.data import Sources
from zshash.studies.experiments import Experiment
from zshash.studies.findings import Findings
from zshash.studies.planning import Plan, make_plan
from zshash.studies.report import require_plots, write_report

__all__ = ["PaperReproduction", "Reproduction"]


class Reproduction(ABC):
    """A study with its store of runs and its report; every study is run by these methods."""

    fresh: bool
    """Whether finished runs are run again."""

    @property
    @abstractmethod
    def store(self) -> Store:
        """The store of runs."""

    @property
    @abstractmethod
    def place(self) -> Path:
        """File or folder of the store."""

    @property
    @abstractmethod
    def page(self) -> Path:
        """File of the report."""

    @property
    @abstractmethod
    def files(self) -> str:
        """All files that are written, as a text for a person."""

    @property
    @abstractmethod
    def context(self) -> Any:
        """The object that every task gets when it is checked and when it is run."""

    @property
    def quiet(self) -> Any:
        """The context without progress bars, for tasks that run side by side."""
        return self.context

    @abstractmethod
    def jobs(self) -> Mapping[str, Sequence[Job]]:
        """All runs of each experiment, by the name of the experiment."""

    @abstractmethod
    def has_results(self) -> bool:
        """Whether the store has any run."""

    @abstractmethod
    def report(self) -> dict[str, list[Claim]]:
        """Write the report from the stored runs; returns the claims of each experiment."""

    @cached_property
    def plan(self) -> Plan:
        """The runs that are missing, and the experiments that can not be run."""
        require_plots()  # without plots the work would be for nothing
        return make_plan(self.jobs(), self.store, self.context, self.fresh)

    def run(self, n_processes: int) -> Iterator[Job]:
        """Run what is missing; yields each job when its run is in the store."""
        for job, _ in run_jobs(self.plan.jobs, self.store, self.quiet, n_processes):
            yield job


@dataclass(frozen=True)
class PaperReproduction(Reproduction):
    """Experiments of the paper, or of a user's own configurations.

    Attributes
    ----------
    experiments : sequence of Experiment
    output : Path
        The report is ``output.md`` and ``output.html``; the folder ``output`` holds its plots and,
        in ``runs``, the store.
    sources : Sources
        Where data comes from.
    fresh : bool
        Run finished runs again.
    names : sequence of str
        Names of all experiments of the paper, so that the report knows whether it has them all.
    """

    experiments: Sequence[Experiment]
    output: Path
    sources: Sources
    fresh: bool = False
    names: Sequence[str] = ()

    @cached_property
    def store(self) -> RunFolder:
        """The folder of runs."""
        return RunFolder(self.output / "runs")

    @property
    def pictures(self) -> Path:
        """Folder of the pictures that the report shows."""
        return self.output / "pictures"

    @property
    def place(self) -> Path:
        """The folder of runs."""
        return self.store.folder

    @property
    def page(self) -> Path:
        """File of the report."""
        return self.output.with_name(f"{self.output.name}.html")

    @property
    def files(self) -> str:
        """All files that are written, as a text for a person."""
        written = f"{self.output}.html and {self.output}.md"
        return f"{written}, from the results in {self.output}/runs"

    @property
    def context(self) -> Sources:
        """Where data comes from."""
        return self.sources

    @property
    def quiet(self) -> Sources:
        """Where data comes from, without progress bars."""
        return replace(self.sources, progress=False)

    def jobs(self) -> dict[str, Sequence[Job]]:
        """All runs of each experiment."""
        return {experiment.name: experiment.jobs() for experiment in self.experiments}

    def has_results(self) -> bool:
        """Whether any task has a run."""
        tasks = (task for experiment in self.experiments for task in experiment.tasks)
        return any(self.store.read(task).runs for task in tasks)

    def run(self, n_processes: int) -> Iterator[Job]:
        """Run what is missing, then keep the pictures that the report shows."""
        yield from super().run(n_processes)
        for experiment in self.experiments:
            if experiment.name not in self.plan.impossible:
                for task in experiment.tasks:
                    task.keep_pictures(self.store.read(task).runs, self.pictures, self.sources)

    def report(self) -> dict[str, list[Claim]]:
        """Write the report from the stored runs; returns the paper's claims, by experiment."""
        found = [Findings.read(own, self.store, self.pictures) for own in self.experiments]
        return write_report(found, self.output, self.names)
