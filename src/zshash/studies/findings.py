"""The results of one experiment, selected by the fields of its tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zshash.evaluation.report.document import Line, Series, Table
from zshash.evaluation.runs import Result, RunFolder
from zshash.evaluation.statistics import (
    Difference,
    deviation,
    mean,
    paired,
    shown,
)
from zshash.evaluation.tasks import Record

if TYPE_CHECKING:
    from zshash.studies.experiments import Experiment

__all__ = ["Findings", "Missing"]


class Missing(Exception):  # noqa: N818
    """Raised where results are missing that a claim needs."""


@dataclass(frozen=True)
class Findings:
    """An experiment, the results of its tasks, and the folder of its pictures."""

    experiment: "Experiment"
    results: Sequence[Result]
    pictures: Path = Path()

    @classmethod
    def read(
        cls, experiment: "Experiment", results: RunFolder, pictures: Path = Path()
    ) -> "Findings":
        """Read the results of the experiment's seeds; the folder may have runs of more seeds."""
        known = [results.read(task) for task in experiment.tasks]
        for result in known:
            result.runs = [run for run in result.runs if run["seed"] < experiment.seeds]
        return cls(experiment, known, pictures)

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
        """The different values of a field of the tasks, in the order of the configuration."""
        found: list[Any] = []
        for result in self.results:
            value = getattr(result.task, name)
            if value not in found:
                found.append(value)
        return found

    def where(self, **fields: Any) -> "Findings":
        """The findings of the tasks with these field values."""
        chosen = [
            result
            for result in self.results
            if all(getattr(result.task, name) == value for name, value in fields.items())
        ]
        return Findings(self.experiment, chosen)

    def values(self, *keys: str, **fields: Any) -> list[Any]:
        """One score of all runs of the tasks with these field values, in the order of seeds."""
        return [value for result in self.where(**fields).results for value in result.values(*keys)]

    def mean(self, key: str, **fields: Any) -> float | None:
        """The mean of a score, or None if there is no run."""
        values = self.values(key, **fields)
        return mean(values) if values else None

    def need(self, key: str, **fields: Any) -> float:
        """The mean of a score that a claim needs.

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
        """Seed → score, of the one task with these field values."""
        runs = [run for result in self.where(**fields).results for run in result.runs]
        return {run["seed"]: run[key] for run in runs if key in run}

    def gain(
        self, key: str, left: Mapping[str, Any], right: Mapping[str, Any], **fields: Any
    ) -> Difference:
        """The difference of a score between the fields `left` and `right`, paired by seed.

        Raises
        ------
        Missing
            If no seed was run with both.
        """
        a, b = (self.by_seed(key, **side, **fields) for side in (left, right))
        seeds = sorted(set(a) & set(b))
        if not seeds:
            raise Missing
        return paired([a[seed] for seed in seeds], [b[seed] for seed in seeds])

    def line(
        self, label: str, key: str, along: str, *, emphasis: bool = False, **fields: Any
    ) -> Line:
        """A score along a field of the tasks, as a curve."""
        return Line(label, self.along(along), *self._spread(key, along, **fields), emphasis)

    def series(self, label: str, key: str, along: str, **fields: Any) -> Series:
        """A score along a field of the tasks, as bars."""
        return Series(label, *self._spread(key, along, **fields))

    def _spread(
        self, key: str, along: str, **fields: Any
    ) -> tuple[list[float | None], list[float | None]]:
        """Means and deviations of a score, for each value of a field."""
        values = [self.values(key, **{along: value}, **fields) for value in self.along(along)]
        return [mean(own) if own else None for own in values], [deviation(own) for own in values]

    def table(self, key: str, rows: str, columns: str, heads: Sequence[str]) -> Table:
        """A table of a score with its deviation; the best mean of each column is bold."""
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
