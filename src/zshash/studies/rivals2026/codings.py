"""Bits of MTH, or a product quantiser of its teacher: a task, and its tables."""

from dataclasses import dataclass
from typing import ClassVar

from zshash.datasets import Dataset, Split
from zshash.evaluation.protocol import Protocol
from zshash.evaluation.report.document import Block, Table
from zshash.evaluation.runs import Result
from zshash.evaluation.statistics import over_seeds
from zshash.evaluation.tasks import Record
from zshash.studies.findings import Findings
from zshash.studies.rivals2026.coding import EqualBytes, rounded
from zshash.studies.rivals2026.tables import KINDS, caption, gain
from zshash.studies.rivals2026.teachers import BITS, Contest, inductive, with_unlabelled

__all__ = ["Codings", "show"]


@dataclass(frozen=True, kw_only=True)
class Codings(EqualBytes):
    """Store what the teacher of MTH says in bits and in a product quantiser, and score both."""

    kind: ClassVar[str] = "codings"

    def _scores(self, dataset: Dataset, split: Split, protocol: Protocol, seed: int) -> Record:
        """Scores of each coding, by its name."""
        contest = Contest(dataset, split, protocol, seed, self.parameters["effort"])
        score = with_unlabelled if self.unlabelled else inductive
        return {name: rounded(own) for name, own in score(contest, self.bits // 8)}


def show(found: Findings) -> list[Block]:
    """A table for each world and kind of training, with a row for each coding."""
    return [_table(own) for own in found.results if own.values(BITS)]


def _table(result: Result) -> Table:
    names = [name for name, own in result.runs[0].items() if isinstance(own, dict)]
    rows = [_row(result, name) for name in names if name != "versions"]
    head = ["", *KINDS.values(), *(f"it − bits: {kind}" for kind in KINDS.values())]
    return Table(head, rows, caption([result]), numbers_from=1)


def _row(result: Result, name: str) -> list[str]:
    keys = [f"map_real{suffix}" for suffix in KINDS]
    means = [over_seeds(result.values(name, key)) for key in keys]
    if name == BITS:
        return [name, *means, *("–" for _ in keys)]
    pairs = ((result.values(name, key), result.values(BITS, key)) for key in keys)
    return [name, *means, *(gain(*pair) if pair[0] else "–" for pair in pairs)]
