"""The study with the file of its runs, as the command line runs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from zshash.evaluation.report.document import Claim
from zshash.evaluation.runs import RunFile
from zshash.evaluation.tasks import Job, Record
from zshash.studies.mth2026.cells import KEYS, Part, Size, Work, key_of
from zshash.studies.mth2026.report import files, write_report
from zshash.studies.reproduction import Reproduction

__all__ = ["MTHReproduction", "open_runs", "plan"]


@dataclass(frozen=True)
class MTHReproduction(Reproduction):
    """Parts of the study, and the name of its files.

    Attributes
    ----------
    output : Path
        Runs are kept in ``output.json``; the tables go to ``output-tables.md``, and a figure to
        ``output-tradeoff.svg``.
    every_part, parts : sequence of Part
        Parts that the tables show, and parts that are run.
    size : Size
        The full study or the small version.
    n_seeds : int or None
        Runs of each cell; None for the number of each part.
    device : str or None
        Where MTH is trained.
    fresh : bool
        Run finished runs again.
    """

    output: Path
    every_part: Sequence[Part]
    parts: Sequence[Part]
    size: Size
    n_seeds: int | None = None
    device: str | None = None
    fresh: bool = False

    @cached_property
    def store(self) -> RunFile:
        """The file of runs."""
        return open_runs(self.place)

    @property
    def place(self) -> Path:
        """The file of runs."""
        return files(self.output).runs

    @property
    def page(self) -> Path:
        """File of the tables."""
        return files(self.output).tables

    @property
    def files(self) -> str:
        """All files that are written, as a text for a person."""
        written = files(self.output)
        return f"{written.tables} and {written.figure}, from the runs in {written.runs}"

    @property
    def context(self) -> Work:
        """The size of the study, and where MTH is trained."""
        return Work(self.size, self.device)

    def jobs(self) -> dict[str, Sequence[Job]]:
        """All runs of each part."""
        return {part.name: part.jobs(self.size, self.n_seeds) for part in self.parts}

    def has_results(self) -> bool:
        """Whether the file has any run."""
        return len(self.store) > 0

    def report(self) -> dict[str, list[Claim]]:
        """Write the tables of all stored runs; this study has no claims to judge."""
        write_report(list(self.store), self.output, self.every_part)
        return {}


def plan(size: Size, parts: Sequence[Part], n_seeds: int | None = None) -> list[Job]:
    """All runs of some parts, each once."""
    jobs = (job for part in parts for job in part.jobs(size, n_seeds))
    return list({key_of(job.task.planned(job.seed)): job for job in jobs}.values())


def open_runs(path: Path) -> RunFile:
    """The runs of the study in a file; the file need not exist yet."""
    return RunFile(path, key_of, _is_run)


def _is_run(record: Record) -> bool:
    """Whether a record looks like a run; anybody may have written the file."""
    needed = [key for key in KEYS if key != "names"]
    return all(key in record for key in needed) and ("map" in record or "error" in record)
