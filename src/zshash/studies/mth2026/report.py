"""The page of the study: tables of all runs, as Markdown, and the figure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zshash._files import write_whole
from zshash.evaluation.report.document import Block, Document, Plot, Section, Text
from zshash.evaluation.report.markdown import to_markdown
from zshash.evaluation.runs import named
from zshash.studies.mth2026.cells import Part
from zshash.studies.mth2026.findings import Findings

__all__ = ["Files", "files", "write_report"]

PREFACE = (
    "Written by `zshash reproduce mth`. A cell is one split of the data with one "
    "seed; ± is a standard error over cells; differences are paired by cell; “lost” counts the "
    "cells in which the first of the two is worse; t is that of the splits’ mean differences, in "
    "brackets how many splits. “Development” splits, 0 to 4, were looked at while MTH was made, "
    "“fresh” ones, 5 to 9, were not."
)
ORDER = (
    *("summary", "comparison", "fresh", "cosine", "real", "lookup", "tradeoff", "related"),
    *("names", "all-seen", "ablations", "zsh", "sizes", "whitening", "centred", "hidden", "time"),
    *("unlabelled", "pools", "folders"),
)
"""Sections of the page."""


class Files(NamedTuple):
    """The files of the study."""

    runs: Path
    tables: Path
    figure: Path


def files(output: Path) -> Files:
    """The files of a study named `output`.

    >>> files(Path("docs/transfer.json")).tables.as_posix()
    'docs/transfer-tables.md'
    """
    return Files(*(named(output, end) for end in (".json", "-tables.md", "-tradeoff.svg")))


def write_report(records: Sequence[Mapping[str, Any]], output: Path, parts: Sequence[Part]) -> None:
    """Write the tables and the figure from records."""
    from zshash.evaluation.report.plots import draw  # only now: it is slow

    paths = files(output)
    found = Findings(records, paths.runs.stem)
    made = {name: section for part in parts for name, section in part.sections.items()}
    sections = []
    for name in ORDER:
        title, make = made[name]
        blocks = make(found)
        sections += [Section(title, blocks, name)] if blocks else []
    opening: list[Block] = [Text(PREFACE if sections else "There are no runs.")]
    document = Document("Metric-transfer hashing: tables", opening, sections)
    for block in (block for section in sections for block in section.blocks):
        if isinstance(block, Plot):
            write_whole(paths.figure, draw(block).encode())
    write_whole(paths.tables, to_markdown(document, ".").encode())
