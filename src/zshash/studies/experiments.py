"""Experiments: their tasks, texts and claims, and the changes that a user asks for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zshash.evaluation.report.document import Block
from zshash.evaluation.tasks import Job
from zshash.studies.findings import Findings
from zshash.studies.tasks import MethodTask

__all__ = ["About", "Changes", "Check", "Experiment"]

Check = Callable[[Findings], tuple[str, str]]
"""Findings → the verdict on a claim, and the evidence."""


@dataclass(frozen=True)
class About:
    """All that the package has for one experiment, side by side in one module.

    Attributes
    ----------
    name : str
        Name of the experiment, of its section in the report and of its plots.
    runs : str
        The tasks, as a configuration in TOML.
    introduction : str
        Text on what the paper did, and what is done here.
    show : callable
        Findings → the blocks of its section.
    stand_in : str
        Text on the data used in place of the paper's; left out if a user gives other data.
    claims : mapping
        Claims of the paper, each with its check.
    at_all_lengths : bool
        Whether the experiment varies code lengths; claims of others are about 64 bits.
    kinds : tuple of MethodTask classes
        Kinds of tasks that this experiment defines.
    shows_kind : bool
        Whether `show` is also for other experiments with tasks of this kind, such as a user's.
    """

    name: str
    runs: str
    introduction: str
    show: Callable[[Findings], list[Block]]
    stand_in: str = ""
    claims: Mapping[str, Check] = field(default_factory=dict)
    at_all_lengths: bool = False
    kinds: tuple[type[MethodTask], ...] = ()
    shows_kind: bool = False


@dataclass(frozen=True)
class Changes:
    """A user's changes to a configuration; None and empty values change nothing.

    `data` and `training` replace the data to search and the data to learn from; `methods` and
    `bits` replace the values that are varied.
    """

    quick: bool = False
    seeds: int | None = None
    methods: tuple[str, ...] = ()
    bits: tuple[int, ...] = ()
    data: str | None = None
    training: str | None = None

    def without_effect(self, tasks: Sequence[MethodTask]) -> list[str]:
        """Those of "method", "data" and "training" that changed nothing in these tasks."""
        unused = []
        if self.methods and not set(self.methods) >= {task.method for task in tasks}:
            unused.append("method")
        if self.data and not any(task.data == self.data for task in tasks):
            unused.append("data")
        if self.training and not any(getattr(t, "training", "") == self.training for t in tasks):
            unused.append("training")
        return unused

    def options(self) -> list[str]:
        """The changes as options of the command line.

        >>> Changes(seeds=2, bits=(16, 32)).options()
        ['--seeds 2', '--bits 16', '--bits 32']
        """
        flags = ["--quick"] if self.quick else []
        single = {"--seeds": self.seeds, "--data": self.data, "--training": self.training}
        several = {"--method": self.methods, "--bits": self.bits}
        flags += [f"{flag} {value}" for flag, value in single.items() if value]
        return flags + [f"{flag} {item}" for flag, items in several.items() for item in items]


@dataclass(frozen=True)
class Experiment:
    """Tasks that belong together, and the number of seeds.

    Attributes
    ----------
    name : str
        Name of the experiment, of its section in the report and of its plots.
    title : str
    tasks : tuple of MethodTask
    seeds : int
    file : str
        Path of the configuration; empty for an experiment of the package.
    changes : Changes
        A user's changes to the configuration.
    about : About or None
        Texts and claims of the package; None for a user's own experiment.
    show : callable or None
        Findings → the blocks of its section; None shows a table of all tasks.
    """

    name: str
    title: str
    tasks: tuple[MethodTask, ...]
    seeds: int
    file: str = ""
    changes: Changes = Changes()
    about: About | None = None
    show: Callable[[Findings], list[Block]] | None = None

    @property
    def quick(self) -> bool:
        """Whether this is the small version."""
        return self.changes.quick

    def jobs(self) -> list[Job]:
        """Every task with every seed; after an interruption, the first seeds have all tasks."""
        return [Job(task, seed) for seed in range(self.seeds) for task in self.tasks]
