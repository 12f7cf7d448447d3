"""The report of experiments: findings → document → Markdown, one HTML page, and plots."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash.evaluation.report.document import (
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
from zshash.evaluation.report.markdown import to_markdown
from zshash.evaluation.report.page import to_html
from zshash.evaluation.statistics import shown
from zshash.studies.circumstances import circumstances, preface, subject, title
from zshash.studies.claims import judge
from zshash.studies.experiments import Experiment
from zshash.studies.findings import Findings
from zshash.studies.tasks import MethodTask

__all__ = ["make_document", "require_plots", "write_document", "write_report"]

HEADS = {
    "map": "MAP",
    "map_related": "MAP_related",
    "similarity": "cosine of unseen to seen names",
    "fit_seconds": "seconds to fit",
}
HIDDEN = ("seed", "n_train", "n_queries", "n_database", "n_categories")


def require_plots() -> None:
    """Check, before the work starts, that plots can be drawn.

    Raises
    ------
    MissingExtra
        If the packages that draw plots are not installed.
    """
    from zshash.evaluation.report import plots  # noqa: F401, only now: it is slow


def make_document(
    found: Sequence[Findings], names: Sequence[str] = ()
) -> tuple[Document, dict[str, list[Claim]]]:
    """The report, and the judged claims by experiment; `names` are all experiments there are."""
    judged = {own.experiment.name: judge(own) for own in found}
    parts = [_section(own, judged[own.experiment.name]) for own in found]
    blocks = [Text(subject(found)), *_overview(judged), *preface(found, names)]
    return Document(title(found), blocks, parts), judged


def _section(found: Findings, judged: Sequence[Claim]) -> Section:
    experiment = found.experiment
    blocks: list[Block] = [*_introduction(experiment), *circumstances(found)]
    blocks += [Claims(judged)] if judged else []
    blocks += _show(found) if found.runs else [Text("There are no results.")]
    small = " (small version)" if experiment.quick else ""
    return Section(experiment.title + small, blocks, experiment.name)


def _introduction(experiment: Experiment) -> list[Block]:
    """Opening paragraphs of an experiment; none for small versions and a user's own."""
    about = experiment.about
    if about is None or experiment.quick:
        return []
    texts = [about.introduction]
    if about.stand_in and not experiment.changes.data:
        texts.append(about.stand_in)
    return [Text(text) for text in texts]


def _show(found: Findings) -> list[Block]:
    show = found.experiment.show
    return _every_task(found) if show is None else show(found)


def _every_task(found: Findings) -> list[Block]:
    """A table of a user's own experiment: a row for each task, with varied fields and scores."""
    facts = [_facts(result.task) for result in found.results]
    varied = [key for key in facts[0] if len({str(own.get(key)) for own in facts}) > 1]
    scores = [key for key, value in found.runs[0].items() if _is_score(key, value)]
    rows = [
        [*(_cell(own.get(key)) for key in varied), *(shown(result.values(key)) for key in scores)]
        for own, result in zip(facts, found.results, strict=True)
    ]
    heads = [HEADS.get(key, key) for key in (*varied, *scores)]
    return [Table(heads, rows, numbers_from=len(varied))]


def _facts(task: MethodTask) -> dict[str, Any]:
    """The facts of a task, without the default parameters of its method."""
    return task.facts() | {"parameters": dict(task.parameters)}


def _is_score(key: str, value: Any) -> bool:
    return isinstance(value, int | float) and key not in HIDDEN


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "defaults"
    return " + ".join(map(str, value)) if isinstance(value, list) else str(value)


def _overview(judged: dict[str, list[Claim]]) -> list[Block]:
    """The number of claims for each verdict, and a table of all claims with links to evidence."""
    rows = [
        [f"**{claim.verdict}**", claim.statement, f"[{name}](#{name})"]
        for name, claims in judged.items()
        for claim in claims
    ]
    if not rows:
        return []
    counts = Counter(claim.verdict for claims in judged.values() for claim in claims)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    text = Text(f"Of {len(rows)} claims of the paper: {told}.")
    return [text, Table(["here", "the paper's claim", "experiment"], rows, numbers_from=3)]


def write_report(
    found: Sequence[Findings], output: Path, names: Sequence[str] = ()
) -> dict[str, list[Claim]]:
    """Write the report of experiments; returns the judged claims by experiment."""
    document, judged = make_document(found, names)
    write_document(document, output)
    return judged


def write_document(document: Document, output: Path) -> None:
    """Write ``output.md``, ``output.html`` and the plots into the folder ``output``."""
    from zshash.evaluation.report.plots import draw  # only now: it is slow

    plots = [
        block for part in document.sections for block in part.blocks if isinstance(block, Plot)
    ]
    drawn = {plot.name: draw(plot) for plot in plots}
    output.mkdir(parents=True, exist_ok=True)
    for name, svg in drawn.items():
        write_whole(output / f"{name}.svg", svg.encode())
    write_whole(output.with_name(f"{output.name}.md"), to_markdown(document, output.name).encode())
    write_whole(output.with_name(f"{output.name}.html"), to_html(document, drawn).encode())
