"""Tables of all runs, as Markdown, and the figure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zshash._files import write_whole
from zshash.experiments.reproduction.report.document import Block, Document, Section, Text
from zshash.experiments.reproduction.report.markdown import to_markdown
from zshash.experiments.transfer import tables
from zshash.experiments.transfer.figure import tradeoff_plot
from zshash.experiments.transfer.statistics import Findings

__all__ = ["Files", "files", "write_report"]

PREFACE = (
    "Written by `python -m zshash.experiments.transfer`. A cell is one split of the data with one "
    "seed; ± is a standard error over cells; differences are paired by cell; “lost” counts the "
    "cells in which the first of the two is worse; t is that of the splits’ mean differences, in "
    "brackets how many splits. “Development” splits, 0 to 4, were looked at while MTH was made, "
    "“fresh” ones, 5 to 9, were not."
)
SECTIONS = {
    "summary": ("MTH and the hardest rival", tables.summary),
    "comparison": ("All methods, all splits", tables.comparison),
    "fresh": ("All methods, fresh splits", tables.fresh_comparison),
    "cosine": ("Features without codes", tables.cosines),
    "asymmetric": ("Real-valued queries", tables.asymmetric),
    "lookup": ("Look-up", tables.lookup),
    "tradeoff": ("Ranking against look-up", tables.tradeoff),
    "related": ("Related categories", tables.related),
    "names": ("Search by name", tables.naming),
    "all-seen": ("Trained on all seen samples", tables.all_seen),
    "ablations": ("Variants of MTH", tables.ablations),
    "zsh": ("Variants of ZSH", tables.zsh),
    "sizes": ("More and fewer training samples", tables.sizes),
    "whitening": ("Whitening alone", tables.whitening),
    "centred": ("Another origin", tables.centred),
    "hidden": ("Nothing but hidden categories", tables.hidden),
    "time": ("Seconds of a fit", tables.seconds),
}


class Files(NamedTuple):
    """What is written for a name."""

    records: Path
    tables: Path
    figure: Path


def files(output: Path) -> Files:
    """The files of the name `output`.

    >>> files(Path("docs/transfer.json")).tables.as_posix()
    'docs/transfer-tables.md'
    """
    stem = output.with_suffix("") if output.suffix in (".json", ".md") else output
    names = (".json", "-tables.md", "-tradeoff.svg")
    return Files(*(stem.with_name(stem.name + name) for name in names))


def write_report(records: Sequence[Mapping[str, Any]], output: Path) -> None:
    """Write the tables and the figure from records alone."""
    from zshash.experiments.reproduction.report.plots import draw  # only now: it is slow

    found, paths = Findings(records), files(output)
    plot = tradeoff_plot(found, paths.figure.stem)
    parts = []
    for name, (title, make) in SECTIONS.items():
        blocks: list[Block] = [plot] if plot and name == "tradeoff" else []
        blocks += make(found)
        parts += [Section(title, blocks, name)] if blocks else []
    opening: list[Block] = [Text(PREFACE if parts else "There are no runs.")]
    document = Document("Metric-transfer hashing: tables", opening, parts)
    if plot:
        write_whole(paths.figure, draw(plot).encode())
    write_whole(paths.tables, to_markdown(document, ".").encode())
