"""The experiment of the study, its table, and the opening of its page."""

from zshash.evaluation.report.document import Block, Table
from zshash.evaluation.runs import Result
from zshash.evaluation.statistics import mean, over_seeds
from zshash.studies.cnnh2014.experiment import Pixels
from zshash.studies.configuration import Study
from zshash.studies.experiments import About
from zshash.studies.findings import Findings

__all__ = ["PREFACE", "STUDY", "TITLE"]

TITLE = "CNNH from pixels"
PREFACE = (
    "MAP over the whole ranking, and precision within 2 bits, mean ± standard error over seeds. "
    "Scores are expected values over random orders within ties."
)
INTRODUCTION = (
    "The network of the paper learns the codes of its first stage from the pixels of CIFAR-10: 100 "
    "queries and 500 training pictures of each category, all but the queries in the database. "
    "Batches are normalised where the paper normalises responses across filters, and pictures are "
    "mirrored at random. EfficientNet-Lite0, which was trained on ImageNet, is beside it: its "
    "weights go on learning, from end to end."
)
AUTHORS = {  # what later papers quote: MAP by bits
    "CNNH": {12: 0.439, 24: 0.511, 32: 0.509, 48: 0.522},
    "CNNH+": {12: 0.465, 24: 0.521, 32: 0.521, 48: 0.532},
}
RUNS = """
title = "CNNH and CNNH+ from the pixels of CIFAR-10"
seeds = 1

[[parts]]
task = "pixels"
data = "cifar10"
method = "CNNH"
[parts.vary]
bits = [12, 24, 32, 48]
parameters = [{ classes = false }, { classes = true }]

[[parts]]
task = "pixels"
data = "cifar10"
method = "CNNH"
side = 96
epochs = 5
bits = 48
[parts.vary]
parameters = [{ classes = false }, { classes = true }]

[[quick]]
task = "pixels"
data = "digits"
method = "CNNH"
epochs = 8
n_queries = 10
n_train = 60
[quick.vary]
bits = [24]
parameters = [{ classes = false }, { classes = true }]
"""


def show(found: Findings) -> list[Block]:
    """A row for each variant and length."""
    rows = [
        _row(result, found.experiment.quick) for result in found.results if result.values("map")
    ]
    head = ["", "bits", "MAP", "the authors", "precision, 2 bits", "epochs", "fit, s", "device"]
    caption = "The figures of the authors are those that later papers quote"
    return [Table(head, rows, caption, numbers_from=1)] if rows else []


def _row(result: Result, quick: bool) -> list[str]:
    task = result.task
    authors = None if quick else AUTHORS.get(task.name, {}).get(task.bits)
    return [
        task.name,
        str(task.bits),
        over_seeds(result.values("map")),
        "–" if authors is None else f"{authors:.3f}",
        over_seeds(result.values("precision")),
        str(task.epochs),
        f"{mean(result.values('fit_seconds')):.0f}",
        ", ".join(sorted(set(result.values("device")))),
    ]


STUDY = Study([About("cnnh-pixels", RUNS, INTRODUCTION, show, kinds=(Pixels,))])
