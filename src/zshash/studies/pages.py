"""Studies whose page has a section for each experiment, and no claims to judge."""

from dataclasses import dataclass

from zshash.evaluation.report.document import Block, Claim, Code, Document, Section, Text
from zshash.studies.findings import Findings
from zshash.studies.report import write_document
from zshash.studies.reproduction import PaperReproduction

__all__ = ["PageReproduction"]


@dataclass(frozen=True)
class PageReproduction(PaperReproduction):
    """The experiments of such a study; files as those of the paper's experiments.

    Attributes
    ----------
    title : str
        Title of the page.
    preface : str
        Text that says how to read all scores.
    """

    title: str = ""
    preface: str = ""

    def report(self) -> dict[str, list[Claim]]:
        """Write the page from the stored runs; there are no claims."""
        found = [Findings.read(own, self.store, self.pictures) for own in self.experiments]
        changes = found[0].experiment.changes.options()
        command = " ".join(["zshash reproduce", *(own.experiment.name for own in found), *changes])
        n_runs = sum(len(own.runs) for own in found)
        opening: list[Block] = [
            Text(self.preface),
            Text(f"Written from {n_runs} runs, by"),
            Code(command),
        ]
        write_document(Document(self.title, opening, list(map(_section, found))), self.output)
        return {}


def _section(found: Findings) -> Section:
    experiment, about = found.experiment, found.experiment.about
    assert about is not None
    missing: list[Block] = [] if found.is_complete else [Text("**Not all runs are there.**")]
    failed = [
        Text(f"{result.task.label}: {result.error}.") for result in found.results if result.error
    ]
    small = " (small version)" if experiment.quick else ""
    blocks = [Text(about.introduction), *missing, *failed, *about.show(found)]
    return Section(experiment.title + small, blocks, experiment.name)
