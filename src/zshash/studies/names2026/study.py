"""The study with its store of runs and its page, as the command line runs it."""

from dataclasses import dataclass

from zshash.evaluation.report.document import Block, Claim, Code, Document, Section, Text
from zshash.studies.configuration import Study
from zshash.studies.findings import Findings
from zshash.studies.names2026 import any_name, name_baselines
from zshash.studies.report import write_document
from zshash.studies.reproduction import PaperReproduction

__all__ = ["STUDY", "NamesReproduction"]

STUDY = Study([any_name.EXPERIMENT, name_baselines.EXPERIMENT])
TITLE = "Names of categories that nobody labelled"
SCORES = (
    "Scores are expected values over random orders within ties, mean ± standard error over splits. "
    "A split deals the categories into groups at random, and each group is hidden in its turn. All "
    "pictures are searched, labelled ones included."
)


@dataclass(frozen=True)
class NamesReproduction(PaperReproduction):
    """The experiments of this study; files as those of the paper's experiments."""

    def report(self) -> dict[str, list[Claim]]:
        """Write the page from the stored runs; this study has no claims to judge."""
        found = [Findings.read(own, self.store, self.pictures) for own in self.experiments]
        changes = found[0].experiment.changes.options()
        command = " ".join(["zshash reproduce", *(own.experiment.name for own in found), *changes])
        n_runs = sum(len(own.runs) for own in found)
        opening: list[Block] = [
            Text(SCORES),
            Text(f"Written from {n_runs} runs, by"),
            Code(command),
        ]
        write_document(Document(TITLE, opening, list(map(_section, found))), self.output)
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
