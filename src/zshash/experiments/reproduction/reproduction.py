"""Experiments and the place where their results and report are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from zshash.experiments.reproduction.configuration import Experiment
from zshash.experiments.reproduction.data import Sources
from zshash.experiments.reproduction.pictures import keep_pictures
from zshash.experiments.reproduction.report import Claim, require_plots, write_report
from zshash.experiments.reproduction.results import Results
from zshash.experiments.reproduction.running import Job, Plan, make_plan, run_jobs

__all__ = ["Reproduction"]


@dataclass(frozen=True)
class Reproduction:
    """Experiments, and a name for what becomes of them.

    Attributes
    ----------
    experiments : sequence of Experiment
    output : Path
        The report is ``output.md`` and ``output.html``; the folder ``output`` holds its plots and,
        in ``runs``, the results.
    sources : Sources
        Where data comes from.
    fresh : bool
        Run again what has been run.
    """

    experiments: Sequence[Experiment]
    output: Path
    sources: Sources
    fresh: bool = False

    @cached_property
    def results(self) -> Results:
        """What has been run."""
        return Results(self.output / "runs")

    @property
    def pictures(self) -> Path:
        """Where pictures are kept that the report shows."""
        return self.output / "pictures"

    @cached_property
    def plan(self) -> Plan:
        """What is missing, and what can not be run."""
        require_plots()  # before the work, which is for nothing without them
        return make_plan(self.experiments, self.results, self.sources, self.fresh)

    def has_results(self) -> bool:
        """Whether anything has been run."""
        tasks = (task for experiment in self.experiments for task in experiment.tasks)
        return any(self.results.read(task).runs for task in tasks)

    def run(self, n_processes: int) -> Iterator[Job]:
        """Run what is missing; yields each run when its result is kept."""
        yield from run_jobs(self.plan.jobs, self.results, self.sources, n_processes)
        for experiment in self.experiments:
            if experiment.name not in self.plan.impossible:
                keep_pictures(experiment, self.results, self.pictures, self.sources)

    def report(self) -> dict[str, list[Claim]]:
        """Write the report from the results that are there; the paper's claims, by experiment."""
        return write_report(self.experiments, self.results, self.output, self.pictures)
