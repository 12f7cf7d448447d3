"""Results → document → Markdown, one HTML page, and plots."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from zshash._files import write_whole
from zshash.experiments.reproduction.configuration import Experiment
from zshash.experiments.reproduction.report import sections
from zshash.experiments.reproduction.report.circumstances import (
    circumstances,
    preface,
    subject,
    title,
)
from zshash.experiments.reproduction.report.claims import judge
from zshash.experiments.reproduction.report.document import (
    VERDICTS,
    Block,
    Claim,
    Claims,
    Document,
    Plot,
    Section,
    Table,
    Text,
)
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.introductions import introduction
from zshash.experiments.reproduction.report.markdown import to_markdown
from zshash.experiments.reproduction.report.page import to_html
from zshash.experiments.reproduction.results import Results

__all__ = ["Claim", "make_document", "require_plots", "write_report"]


def require_plots() -> None:
    """Find out before the work whether plots can be drawn.

    Raises
    ------
    MissingExtra
        If they can not.
    """
    from zshash.experiments.reproduction.report import plots  # noqa: F401, only now: it is slow


def make_document(
    experiments: Sequence[Experiment], results: Results, pictures: Path
) -> tuple[Document, dict[str, list[Claim]]]:
    """The report, from results alone, and the claims by experiment.

    Pictures of exemplars are shown as far as they are in the folder `pictures`.
    """
    found = [Findings.read(experiment, results) for experiment in experiments]
    judged = {own.experiment.name: judge(own) for own in found}
    parts = [_section(own, judged[own.experiment.name], pictures) for own in found]
    blocks = [Text(subject(found)), *_overview(experiments, judged), *preface(found)]
    return Document(title(found), blocks, parts), judged


def _section(found: Findings, judged: Sequence[Claim], pictures: Path) -> Section:
    experiment = found.experiment
    blocks: list[Block] = [*introduction(experiment), *circumstances(found)]
    blocks += [Claims(judged)] if judged else []
    blocks += _show(found, pictures) if found.runs else [Text("There are no results.")]
    small = " (small version)" if experiment.quick else ""
    return Section(experiment.title + small, blocks, experiment.name)


def _show(found: Findings, pictures: Path) -> list[Block]:
    kinds = {result.task.kind for result in found.results}
    if kinds == {"exemplars"}:
        return sections.exemplars(found, pictures)
    if kinds == {"convergence"}:
        return sections.SECTIONS["convergence"](found)
    if found.experiment.file:
        return sections.grid(found)
    return sections.SECTIONS[found.experiment.name](found)


def _overview(experiments: Sequence[Experiment], judged: dict[str, list[Claim]]) -> list[Block]:
    """How many claims of the paper hold; every one with its verdict, and a link to the evidence."""
    rows = [
        [f"**{claim.verdict}**", claim.statement, f"[{experiment.name}](#{experiment.name})"]
        for experiment in experiments
        for claim in judged[experiment.name]
    ]
    if not rows:
        return []
    counts = Counter(claim.verdict for claims in judged.values() for claim in claims)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    text = Text(f"Of {len(rows)} claims of the paper: {told}.")
    return [text, Table(["here", "the paper's claim", "experiment"], rows, numbers_from=3)]


def write_report(
    experiments: Sequence[Experiment], results: Results, output: Path, pictures: Path
) -> dict[str, list[Claim]]:
    """Write ``output.md``, ``output.html`` and the plots into the folder ``output``."""
    from zshash.experiments.reproduction.report.plots import draw

    document, judged = make_document(experiments, results, pictures)
    plots = [
        block for part in document.sections for block in part.blocks if isinstance(block, Plot)
    ]
    drawn = {plot.name: draw(plot) for plot in plots}
    output.mkdir(parents=True, exist_ok=True)
    for name, svg in drawn.items():
        write_whole(output / f"{name}.svg", svg.encode())
    write_whole(output.with_name(f"{output.name}.md"), to_markdown(document, output.name).encode())
    write_whole(output.with_name(f"{output.name}.html"), to_html(document, drawn).encode())
    return judged
