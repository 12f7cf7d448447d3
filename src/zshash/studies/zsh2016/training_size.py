"""The number of training pictures: how many are needed."""

from zshash.evaluation.report.document import Block, Line, Lines, Plot, Table
from zshash.evaluation.statistics import shown, signed
from zshash.studies.claims import by_parts, is_above_zero
from zshash.studies.experiments import About, Check
from zshash.studies.findings import Findings

INTRODUCTION = "The number of training pictures, all else as in the first comparison."
RUNS = """
title = "Number of training pictures"
seeds = 5
quick_seeds = 2

[[parts]]
task = "retrieval"
data = "features/cifar10_lite0_pca256.npz"
labels = ["words/huang2012_50d.txt"]
unseen = ["truck"]
n_queries = 1000
k = 5000

[parts.vary]
n_train = [
    1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000, 20_000, 30_000, 40_000, 50_000,
]

[[quick]]
task = "retrieval"
data = "digits"
labels = ["wordnet"]
unseen = ["three"]
bits = 32
n_queries = 60
k = 100

[quick.vary]
n_train = [100, 400, 1600]
"""


def show(found: Findings) -> list[Block]:
    """MAP and precision by the number of training pictures."""
    sizes = {number: float(number) for number in found.along("n_train")}
    return curve(found, "n_train", "training pictures", sizes, log_x=True)


def curve(
    found: Findings, field: str, title: str, places: dict[int, float], *, log_x: bool = False
) -> list[Block]:
    """A plot and a table of MAP and precision of ZSH by a field of the tasks.

    `places` maps each value of the field to its place on the axis.
    """
    task = found.results[0].task.facts()
    scores = {"map": f"MAP@{task['k']}", "precision": f"precision, radius {task['radius']}"}
    panels = []
    for key, text in scores.items():
        line = found.line("ZSH", key, field, emphasis=True)
        x = [places[value] for value in found.along(field)]
        panels.append(
            Lines(text, title, "", [Line("", x, line.y, line.deviation, True)], log_x=log_x)
        )
    rows = [
        [f"{places[value]:,g}", *(shown(found.values(key, **{field: value})) for key in scores)]
        for value in found.along(field)
    ]
    alt = f"{' and '.join(scores.values())} of ZSH by {title}"
    return [
        Plot(found.experiment.name, panels, alt),
        Table([title, *scores.values()], rows),
    ]


def rises_to_ten_thousand(found: Findings) -> tuple[str, str]:
    """Check for a gain up to 10,000 pictures, and a smaller gain, or none, up to 50,000."""
    sizes = [{"n_train": size} for size in (1000, 10_000, 50_000)]
    early = found.gain("precision", sizes[1], sizes[0])
    late = found.gain("precision", sizes[2], sizes[1])
    less = None if late.high is None else late.high < early.mean
    evidence = f"1,000 to 10,000: {signed(early)}; 10,000 to 50,000: {signed(late)}."
    return by_parts([is_above_zero(early), less]), evidence


CLAIMS: dict[str, Check] = {
    "Precision rises rapidly from 1,000 to 10,000 training pictures, and not noticeably "
    "beyond.": rises_to_ten_thousand,
}


EXPERIMENT = About(
    name="training-size",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    claims=CLAIMS,
)
