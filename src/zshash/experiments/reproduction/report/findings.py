"""The results of one experiment, asked for by what was varied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zshash.experiments.reproduction.configuration import Experiment
from zshash.experiments.reproduction.report.document import Line, Table
from zshash.experiments.reproduction.report.statistics import (
    Difference,
    deviation,
    mean,
    paired,
    shown,
)
from zshash.experiments.reproduction.results import Result, Results
from zshash.experiments.reproduction.tasks import Record

__all__ = ["Findings", "Missing"]


class Missing(Exception):  # noqa: N818, what is missing is the error
    """Results that a claim can not be judged without."""


@dataclass(frozen=True)
class Findings:
    """An experiment and the results of its tasks."""

    experiment: Experiment
    results: Sequence[Result]

    @classmethod
    def read(cls, experiment: Experiment, results: Results) -> "Findings":
        """What is there of the seeds that the experiment has; other experiments may have more."""
        known = [results.read(task) for task in experiment.tasks]
        for result in known:
            result.runs = [run for run in result.runs if run["seed"] < experiment.seeds]
        return cls(experiment, known)

    @property
    def runs(self) -> list[Record]:
        """All runs that did not fail."""
        return [run for result in self.results for run in result.runs if "error" not in run]

    @property
    def is_complete(self) -> bool:
        """Whether every task has a run for every seed."""
        seeds = self.experiment.seeds
        return all(len(result.values("seed")) >= seeds for result in self.results)

    def along(self, name: str) -> list[Any]:
        """The values of a field of the tasks, in the order of the configuration."""
        found: list[Any] = []
        for result in self.results:
            value = getattr(result.task, name)
            if value not in found:
                found.append(value)
        return found

    def where(self, **fields: Any) -> "Findings":
        """Only the tasks with these fields."""
        chosen = [
            result
            for result in self.results
            if all(getattr(result.task, name) == value for name, value in fields.items())
        ]
        return Findings(self.experiment, chosen)

    def values(self, *keys: str, **fields: Any) -> list[Any]:
        """A score of all runs of the tasks with these fields, by seed."""
        return [value for result in self.where(**fields).results for value in result.values(*keys)]

    def mean(self, key: str, **fields: Any) -> float | None:
        """The mean of a score, None where there is no run."""
        values = self.values(key, **fields)
        return mean(values) if values else None

    def need(self, key: str, **fields: Any) -> float:
        """The mean of a score that a claim can not do without.

        Raises
        ------
        Missing
            If there is no run.
        """
        value = self.mean(key, **fields)
        if value is None:
            raise Missing
        return value

    def by_seed(self, key: str, **fields: Any) -> dict[int, float]:
        """A score of the one task with these fields, by seed."""
        runs = [run for result in self.where(**fields).results for run in result.runs]
        return {run["seed"]: run[key] for run in runs if key in run}

    def gain(
        self, key: str, left: Mapping[str, Any], right: Mapping[str, Any], **fields: Any
    ) -> Difference:
        """How much a score is higher with the fields `left` than with `right`, paired by seed.

        Raises
        ------
        Missing
            If there is no seed that both have been run with.
        """
        a, b = (self.by_seed(key, **side, **fields) for side in (left, right))
        seeds = sorted(set(a) & set(b))
        if not seeds:
            raise Missing
        return paired([a[seed] for seed in seeds], [b[seed] for seed in seeds])

    def line(
        self, label: str, key: str, along: str, *, emphasis: bool = False, **fields: Any
    ) -> Line:
        """A score along a field, as it is plotted."""
        x = self.along(along)
        values = [self.values(key, **{along: value}, **fields) for value in x]
        means = [mean(own) if own else None for own in values]
        return Line(label, x, means, [deviation(own) for own in values], emphasis)

    def table(self, key: str, rows: str, columns: str, heads: Sequence[str]) -> Table:
        """A score with its deviation, the best mean of each column in bold."""
        names, across = self.along(rows), self.along(columns)
        best = {value: self._best(key, rows, **{columns: value}) for value in across}
        cells = [
            [
                str(name),
                *(self._cell(key, best[value], **{rows: name, columns: value}) for value in across),
            ]
            for name in names
        ]
        return Table(heads, cells)

    def _best(self, key: str, rows: str, **fields: Any) -> float | None:
        means = [self.mean(key, **{rows: name}, **fields) for name in self.along(rows)]
        known = [value for value in means if value is not None]
        return max(known) if len(known) > 1 else None

    def _cell(self, key: str, best: float | None, **fields: Any) -> str:
        values = self.values(key, **fields)
        text = shown(values)
        return f"**{text}**" if values and mean(values) == best else text
