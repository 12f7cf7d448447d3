"""Convergence: how the objective falls."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from zshash.evaluation.protocol import fit_setup
from zshash.evaluation.report.document import Block, Line, Lines, Plot, Table
from zshash.evaluation.statistics import deviation, mean, shown
from zshash.evaluation.tasks import Record
from zshash.studies.claims import by_parts
from zshash.studies.data import Sources
from zshash.studies.experiments import About, Check
from zshash.studies.findings import Findings, Missing
from zshash.studies.tasks import MethodTask, ZeroShot

FIRST_OBJECTIVE = 30_000
"""Roughly the objective at the start, with 30,000 samples of ImageNet."""
MARKED = (1, 2, 3, 5, 10, 20, 30)
INTRODUCTION = (
    "The paper trains on 30,000 pictures of ImageNet with 64 bits and 1,000 anchors and plots "
    "the objective against the iteration. It leaves the width of W's random start open, so two "
    "are shown: the package's default, and one so small that the first codes ignore it."
)
STAND_IN = "100 categories of Tiny-ImageNet stand in for ImageNet, WordNet for its words."
RUNS = """
title = "Convergence"
seeds = 5
quick_seeds = 2

[[parts]]
task = "convergence"
data = "features/tiny100_lite0_pca256.npz"
labels = ["wordnet"]
unseen = 10
n_train = 30_000

[parts.vary]
parameters = [{ max_iter = 30 }, { max_iter = 30, init_scale = 0.01 }]

[[quick]]
task = "convergence"
data = "digits"
labels = ["wordnet"]
unseen = 2
bits = 32

[quick.vary]
parameters = [{ max_iter = 30 }, { max_iter = 30, init_scale = 0.01 }]
"""


@dataclass(frozen=True, kw_only=True)
class Convergence(ZeroShot):
    """Learn from seen categories and note the objective after each iteration."""

    kind: ClassVar[str] = "convergence"

    def run(self, seed: int, sources: Sources) -> Record:
        """The objective of one seed's fit."""
        dataset = self.dataset(sources)
        split = self.protocol(dataset).split(dataset, seed)
        hasher, seconds = fit_setup(dataset, self.setup(), split, seed)
        if not hasattr(hasher, "objective_"):
            raise ValueError(f"{self.method} does not keep an objective to follow")
        return {
            "seed": seed,
            "objective": [round(float(value), 3) for value in hasher.objective_],
            "n_train": len(split.train),
            "fit_seconds": seconds,
        }


def show(found: Findings) -> list[Block]:
    """The objective after each iteration; a fit that has ended keeps its last value."""
    known = [result for result in found.results if result.values("objective")]
    steps = range(1, max(len(curve) for curve in found.values("objective")) + 1)
    marked = [step for step in steps if step in MARKED or step == steps[-1]]
    lines, rows = [], []
    for result in known:
        curves, label = result.values("objective"), _start(found, result.task)
        own = [at_iteration(curves, step) for step in steps]
        lines.append(Line(label, steps, [mean(v) for v in own], [deviation(v) for v in own]))
        cells = [_large(at_iteration(curves, step)) for step in marked]
        rows.append([label, *cells, shown([float(len(curve)) for curve in curves], 1)])
    heads = ["after iteration", *map(str, marked), "iterations until the codes repeat"]
    panel = Lines("objective", "iteration", "", lines, log_y=True)
    alt = "The objective of ZSH after each iteration, falling from two starts"
    return [Plot(found.experiment.name, [panel], alt), Table(heads, rows)]


def _start(found: Findings, task: MethodTask) -> str:
    """Label of a task: its start, and the method and bits if tasks differ in them."""
    others = [str(getattr(task, key)) for key in ("method", "bits") if len(found.along(key)) > 1]
    return ", ".join([*others, f"start of W: {task.parameters.get('init_scale', 'default')}"])


def _large(values: Sequence[float]) -> str:
    """Mean and deviation as text, without decimals for large values."""
    return shown(values, 0 if values and mean(values) >= 100 else 2)


def at_iteration(curves: Sequence[Any], step: int) -> list[float]:
    """The objective of every fit after `step` iterations, or its last value.

    >>> at_iteration([[9.0, 4.0, 3.0], [8.0]], 2)
    [4.0, 8.0]
    """
    return [curve[min(step, len(curve)) - 1] for curve in curves]


def falls(found: Findings) -> tuple[str, str]:
    """Check that the objective never rises."""
    curves = _curves(found)
    rises = sum(b > a for curve in curves for a, b in pairwise(curve))
    return by_parts([rises == 0]), f"{rises} rises in {len(curves)} fits."


def falls_early(found: Findings) -> tuple[str, str]:
    """Check the start (about n), the fall within ten iterations, and the end at twenty."""
    curves = _curves(found, parameters=found.along("parameters")[0])
    first, tenth, twentieth = (mean(at_iteration(curves, step)) for step in (1, 10, 20))
    end = mean([curve[-1] for curve in curves])
    early = (first - tenth) / (first - end) if first > end else 0.0
    near = abs(first - FIRST_OBJECTIVE) < 0.1 * FIRST_OBJECTIVE
    evidence = (
        f"From the default start {first:,.0f} after the first iteration, about the squared length "
        "of as many label vectors, which codes that explain nothing leave (another start begins "
        f"elsewhere, see the table); {end:,.0f} at the end; {early:.1%} of the fall within 10 "
        "iterations."
    )
    return by_parts([near, early > 0.9, abs(twentieth - end) <= 0.01 * end]), evidence


def few_iterations(found: Findings) -> tuple[str, str]:
    """Check that codes repeat within ten iterations."""
    most = max(map(len, _curves(found, parameters=found.along("parameters")[0])))
    return by_parts([most < 10]), f"Codes repeat, and the fit ends, after {most} at most."


def _curves(found: Findings, **fields: Any) -> list[Any]:
    curves = found.values("objective", **fields)
    if not curves:
        raise Missing
    return curves


CLAIMS: dict[str, Check] = {
    "The objective falls in every iteration.": falls,
    f"It starts at roughly {FIRST_OBJECTIVE:,}, falls dramatically within 10 iterations and is "
    "stable at the 20th.": falls_early,
    "The algorithm converges in less than 10 iterations.": few_iterations,
}


EXPERIMENT = About(
    name="convergence",
    runs=RUNS,
    introduction=INTRODUCTION,
    stand_in=STAND_IN,
    show=show,
    claims=CLAIMS,
    kinds=(Convergence,),
    shows_kind=True,
)
